import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MAX_HELD_BYTES } from "../../../src/service/approvals/held-files.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { attach } from "../files/envelope.ts";
import { type FakeS3, startFakeS3 } from "../files/fake-s3.ts";
import { openStoreOf } from "../find-store.ts";
import { call, execute } from "../http-calls.ts";
import { decideHeld } from "./owner.ts";

/** What files of held calls may take, and that they are gone as soon as their call has ended. */

let s3: FakeS3 | undefined;
let service: TestService;
let clock: number;

async function start(place: "folder" | "bucket"): Promise<void> {
  s3 = place === "bucket" ? await startFakeS3(() => clock) : undefined;
  service = await startTestService({
    approvals: "owner",
    heartbeatMs: 20,
    now: () => clock,
    ...(s3 && { files: { ...s3.place, prefix: "svc/" } }),
  });
}
beforeEach(() => {
  clock = Date.parse("2026-11-25T12:00:00Z");
});
afterEach(async () => {
  await service.close();
  await s3?.close();
});

const file = (s3key: string) => ({ name: "plan.bin", mimetype: "application/octet-stream", s3key });
const save = (text: string, apiKey = service.apiKey, name = "plan.bin") =>
  execute({ url: service.url, apiKey }, "drive_upload_file", {
    arguments: { file: { ...file("plan"), name } },
    files: [attach("plan", Buffer.from(text), { name })],
  });
const hold = async (text: string, name?: string): Promise<string> =>
  (await save(text, service.apiKey, name)).json.error.approval.id;
const read = async (id: string) => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;
const reaches = (id: string, status: string) => expect.poll(async () => (await read(id)).approval.status).toBe(status);

/** How many files the store has: each has its bytes and its facts. */
async function countKept(): Promise<number> {
  const isOne = (name: string) => /(^|\/)(bytes|keys)\/[^/]+$/.test(name);
  if (s3 !== undefined) return [...s3.objects.keys()].filter(isOne).length / 2;
  const names = await readdir(join(service.dataDir, "blobs"), { recursive: true }).catch(() => []);
  return names.filter(isOne).length / 2;
}

describe.each(["folder", "bucket"] as const)("in a %s", (place) => {
  beforeEach(() => start(place));

  test("the files of a call that was withdrawn, declined or approved are gone with its end, and no others", async () => {
    const ids = [
      await hold("1", "1.bin"),
      await hold("2", "2.bin"),
      await hold("3", "3.bin"),
      await hold("4", "4.bin"),
    ];
    const [withdrawn = "", declined = "", approved = "", waiting = ""] = ids;
    expect(await countKept()).toBe(4);
    await call(`${service.url}/api/approvals/${withdrawn}/cancel`, { method: "POST", key: service.apiKey });
    expect(await countKept()).toBe(3);
    await decideHeld(service, declined, "decline");
    expect(await countKept()).toBe(2);
    await decideHeld(service, approved, "approve");
    await reaches(approved, "done");
    expect((await read(approved)).result.ok).toBe(true);
    await expect.poll(countKept).toBe(1);
    await decideHeld(service, waiting, "approve");
    await reaches(waiting, "done");
    expect((await read(waiting)).result.ok).toBe(true);
    await expect.poll(countKept).toBe(0);
  });

  test("those of a call that expired, is void or is declined by a rule go too", async () => {
    const expired = await hold("expired");
    clock += 25 * 60 * 60_000;
    await expect.poll(countKept).toBe(0);
    await reaches(expired, "expired");
    const changed = await hold("void");
    const [drive] = await service.service.connections.list("drive");
    await service.service.connections.update(drive?.id ?? "", { label: "Other" });
    await decideHeld(service, changed, "approve");
    await reaches(changed, "void");
    await expect.poll(countKept).toBe(0);
    const blocked = await hold("blocked");
    const rules = await openRules(service);
    await rules.add({ effect: "block", tool: "drive_*" }, "test");
    await rules.close();
    await reaches(blocked, "declined");
    await expect.poll(countKept).toBe(0);
  });

  test("a duplicate keeps no bytes of its own, and a file under a storage key stays as long as the key", async () => {
    const id = await hold("same");
    expect(await hold("same")).toBe(id);
    expect(await countKept()).toBe(1);
    const missing = await execute(service, "drive_upload_file", { arguments: { file: file("/x") } });
    const { url, headers } = missing.json.error.upload;
    const { json } = await call(url, { method: "POST", headers, body: "uploaded before" });
    const args = { arguments: { file: file(json.s3key) } };
    const named = (await execute(service, "drive_upload_file", args)).json.error.approval.id;
    await decideHeld(service, named, "decline");
    const again = await execute(service, "drive_upload_file", args);
    expect(again.json.error.approval).toMatchObject({ id: named, status: "declined" });
    expect(await countKept()).toBe(2);
    await decideHeld(service, id, "approve");
    await reaches(id, "done");
    await expect.poll(countKept).toBe(1);
  });

  test("beyond its share a key is refused, keeps nothing, and is told the limit and the way out; others go on", async () => {
    const first = await hold("first");
    const store = await openStoreOf(service.dataDir);
    await store
      .updateTable("approvals")
      .set({ file_bytes: MAX_HELD_BYTES - 10 })
      .where("id", "=", first)
      .execute();
    expect((await save("ten bytes.")).status).toBe(412);
    const refused = await save("one more");
    expect(refused.status).toBe(429);
    expect(refused.json.error).toMatchObject({ code: "held_files_full", retryable: true });
    expect(refused.json.error.message).toContain("1,024 MB");
    expect(refused.json.hint).toMatch(/inbox.*\/cancel/);
    expect(await countKept()).toBe(2);
    // A call without files needs no room, and that of another key has its own.
    const noFile = await execute(service, "drive_create_folder", { arguments: { path: "New" } });
    expect(noFile.status).toBe(412);
    expect((await save("one more", await service.createKey("Other"))).status).toBe(412);
    await call(`${service.url}/api/approvals/${first}/cancel`, { method: "POST", key: service.apiKey });
    expect((await save("one more")).status).toBe(412);
    await store.destroy();
  });
});
