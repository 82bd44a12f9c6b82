import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { attach } from "../files/envelope.ts";
import { type FakeS3, startFakeS3 } from "../files/fake-s3.ts";
import { call, execute } from "../http-calls.ts";
import { decideHeld } from "./owner.ts";

/** Bytes that were exchanged in the file store behind a call: neither approved nor sent as the file they replace. */

const GOOD = Buffer.from("good text ".repeat(20_000));
const EVIL: Readonly<Record<string, Buffer>> = {
  "other bytes of the same length": Buffer.from("evil text ".repeat(20_000)),
  "one other byte at the end": Buffer.concat([GOOD.subarray(0, -1), Buffer.from("!")]),
};

let s3: FakeS3 | undefined;
let service: TestService;
async function start(place: "folder" | "bucket", approvals: "owner" | "device") {
  s3 = place === "bucket" ? await startFakeS3(() => Date.now()) : undefined;
  service = await startTestService({ approvals, ...(s3 && { files: { ...s3.place, prefix: "svc/" } }) });
}
beforeEach(() => {
  s3 = undefined;
});
afterEach(async () => {
  await service.close();
  await s3?.close();
});

/** Puts other bytes where the store keeps those of every upload. */
async function exchange(evil: Buffer): Promise<void> {
  for (const [name, object] of s3?.objects ?? []) if (name.includes("/bytes/")) object.bytes = evil;
  if (s3 !== undefined) return;
  const blobs = join(service.dataDir, "blobs");
  const names = await readdir(blobs, { recursive: true });
  const bytes = names.filter((name) => /\/bytes\/./.test(name));
  expect(bytes).toHaveLength(1);
  for (const name of bytes) await writeFile(join(blobs, name), evil);
}

const file = (s3key: string) => ({ name: "plan.bin", mimetype: "application/octet-stream", s3key });

/** Uploads the good bytes and returns their storage key. */
async function upload(): Promise<string> {
  const refused = await execute(service, "drive_upload_file", { arguments: { file: file("/x") }, confirmed: true });
  const { url, headers } = refused.json.error.upload;
  const { json } = await call(url, { method: "POST", headers, body: GOOD });
  return json.s3key;
}

/** What apps keep in the data folder, whole or in part, without what the service itself keeps there. */
async function readKept(): Promise<string> {
  const texts: string[] = [];
  for (const folder of ["drive", "mail"]) {
    const entries = await readdir(join(service.dataDir, folder), { recursive: true, withFileTypes: true }).catch(
      () => [],
    );
    for (const entry of entries)
      if (entry.isFile()) texts.push((await readFile(join(entry.parentPath, entry.name))).toString("latin1"));
  }
  return texts.join("\n");
}

const mail = (s3key: string) => ({ to: ["a@example.org"], subject: "Plan", body: "See.", attachments: [file(s3key)] });
const WRITES = {
  drive: ["drive_upload_file", (s3key: string) => ({ file: file(s3key) })],
  mail: ["mail_send_message", mail],
} as const;

describe.each(["folder", "bucket"] as const)("in a %s", (place) => {
  test.each(Object.keys(EVIL))("an approved call is void for %s", async (what) => {
    await start(place, "owner");
    const body = { arguments: { file: file("plan") }, files: [attach("plan", GOOD, { name: "plan.bin" })] };
    const held = await execute(service, "drive_upload_file", body);
    const { id } = held.json.error.approval;
    await exchange(EVIL[what] as Buffer);
    await decideHeld(service, id, "approve");
    const read = () => call(`${service.url}/api/approvals/${id}?wait=10`, { key: service.apiKey });
    await expect.poll(async () => (await read()).json.approval.status, { timeout: 30_000 }).toBe("void");
    expect((await read()).json.approval.reason).toContain("are not those that were stored");
    expect(await service.effects()).toEqual([]);
    expect(await readKept()).not.toContain("evil");
  });

  test.each(Object.keys(WRITES) as (keyof typeof WRITES)[])(
    "a call of %s by storage key fails and says why",
    async (app) => {
      const [tool, args] = WRITES[app];
      for (const evil of Object.values(EVIL)) {
        await start(place, "device");
        const key = await upload();
        await exchange(evil);
        const byName = await execute(service, tool, { arguments: args(key), confirmed: true });
        expect(byName.json).toMatchObject({ ok: false, error: { code: "file_changed" } });
        expect(byName.status).toBe(409);
        const canonical = await call(`${service.url}/api/executions`, {
          method: "POST",
          key: service.apiKey,
          body: JSON.stringify({
            integration_id: app,
            action_id: tool.slice(app.length + 1),
            input: args(key),
            confirm: true,
          }),
        });
        expect(canonical.json).toMatchObject({ status: "failed", message: expect.stringContaining("were stored") });
        const kept = await readKept();
        for (const part of ["evil", "plan.bin", "good text"]) expect(kept).not.toContain(part);
        await service.close();
        await s3?.close();
      }
    },
  );

  test("the right bytes are sent", async () => {
    await start(place, "device");
    const key = await upload();
    const done = await execute(service, "drive_upload_file", { arguments: { file: file(key) }, confirmed: true });
    expect(done.status).toBe(200);
    expect(await readKept()).toContain(GOOD.toString());
  });
});
