import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createApprovalCard } from "../../../src/plugin/calls/ask/card.ts";
import type { ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../../service/access/open-rules.ts";
import { decideHeld } from "../../service/approvals/owner.ts";
import { callTool } from "../../service/mcp/mcp-calls.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";

/** Calls that do more than their tool says, seen from the plugin: "always" never covers them, and the card says why. */

const CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:gus\r\nFN:Gus\r\nTEL:+1\r\nEND:VCARD\r\n";

let service: TestService;
let folder: string;

async function open(options: Parameters<typeof startTestService>[0] = {}) {
  service = closeLater(await startTestService(options));
  folder = await makeFolder();
  const put = async (path: string, text: string) => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text);
  };
  await put("drive/Deed.txt", "ours");
  await put("drive/a.txt", "a");
  await put("drive/b.txt", "b");
  await put("contacts/own/gus.vcf", CARD);
  for (const integration of ["drive", "contacts"]) {
    const settings = { folder: join(folder, integration) };
    await service.service.connections.add({ integration, label: `My ${integration}`, settings, isDefault: true });
  }
}

const readCard = () => readFile(join(folder, "contacts/own/gus.vcf"), "utf8");
const move = (path: string, destination: string, more: object = {}) => ({
  callId: `${path} to ${destination}`,
  toolName: "drive_move_file",
  arguments: { path, destination, ...more },
});
const change = (callId: string, more: object) => ({
  callId,
  toolName: "contacts_update_contact",
  arguments: { contact_id: "own/gus.vcf", name: "Gus", ...more },
});

/** Says yes for good to what is written, and no to what deletes. */
function allowWrites(request: ApprovalRequest) {
  return request.effect === "write" ? { ...sayYes(request), always: true } : sayNo(request);
}

afterEach(closeAll);

describe("a device that allows a tool for good", () => {
  beforeEach(() => open());

  test("asks about a call that its arguments make a deletion, and says why on the card", async () => {
    const session = await openTestSession(service, { answer: allowWrites });
    const connections = { drive: await findAccount("drive") };
    expect(await session.call({ ...move("a.txt", "x/a.txt"), connections })).toMatchObject({ status: "succeeded" });
    expect(await session.call({ ...move("x/a.txt", "a.txt"), connections })).toMatchObject({ status: "succeeded" });
    expect(session.asked).toHaveLength(1);
    const replace = { ...move("b.txt", "Deed.txt", { if_exists: "replace" }), connections };
    expect(await session.call(replace)).toMatchObject({ status: "declined" });
    const [, asked] = session.asked;
    expect(asked).toMatchObject({ effect: "delete", does: "replaces the file of that name, if there is one" });
    if (asked === undefined) throw new Error("Nobody was asked.");
    const rows = createApprovalCard(asked)
      .join(" ")
      .replaceAll(/[\s│]+/g, " ");
    expect(rows).toContain("DELETES something: it replaces the file of that name");
    expect(await readFile(join(folder, "drive/Deed.txt"), "utf8")).toBe("ours");
    // Nor does a yes for good to that call make a permission.
    const other = await openTestSession(service, { answer: (one) => ({ ...sayYes(one), always: true }) });
    expect(await other.call(replace)).toMatchObject({ status: "succeeded" });
    expect(other.rules.list()).toEqual([]);
    const [kept = ""] = await readdir(join(folder, "drive/.trash"));
    expect(await readFile(join(folder, "drive/.trash", kept, "Deed.txt"), "utf8")).toBe("ours");
  });

  test("asks again when the service finds that a call would take away what is there", async () => {
    const session = await openTestSession(service, { answer: allowWrites });
    const connections = { contacts: await findAccount("contacts") };
    const phones = [{ number: "+1" }, { number: "+2" }];
    expect(await session.call({ ...change("1", { phones }), connections })).toMatchObject({ status: "succeeded" });
    const before = await readCard();
    const less = { ...change("2", { phones: [{ number: "+3" }] }), connections };
    expect(await session.call(less)).toMatchObject({ status: "declined" });
    expect(session.asked.map(({ effect }) => effect)).toEqual(["write", "delete"]);
    expect(session.asked[1]?.does).toBe("takes away or replaces what is there now: phones");
    expect(await readCard()).toBe(before);
  });

  test("runs such a call once its human has seen what it does", async () => {
    const session = await openTestSession(service, { answer: sayYes });
    const less = change("1", { phones: [{ number: "+3" }] });
    expect(await session.call(less)).toMatchObject({ status: "succeeded" });
    expect(session.asked.map(({ effect }) => effect)).toEqual(["delete"]);
    expect(await readCard()).toContain("+3");
  });
});

test("a held call is held and logged as a deletion, whatever rule allows its action", async () => {
  await open({ approvals: "owner" });
  const rules = await openRules(service);
  closeLater(rules);
  await rules.add({ effect: "allow", tool: "contacts/*" }, "test");
  const ids: string[] = [];
  const session = await openTestSession(service, {
    approve: "owner",
    onEvent: (event) => {
      if (event.type === "awaiting_owner") ids.push(event.approvalId);
    },
    approvalTtlMs: 1,
  });
  const less = change("1", { phones: [{ number: "+3" }] });
  expect(await session.call(less)).toMatchObject({ status: "needs_approval" });
  await decideHeld(service, ids[0] ?? "", "approve");
  expect(await session.call(less)).toMatchObject({ status: "succeeded" });
  expect((await service.effects()).map(({ level }) => level)).toEqual(["delete"]);
});

test("an approved call is void when it would take away more than its owner was shown", async () => {
  await open({ approvals: "owner" });
  const ids: string[] = [];
  const session = await openTestSession(service, {
    approve: "owner",
    onEvent: (event) => {
      if (event.type === "awaiting_owner") ids.push(event.approvalId);
    },
    approvalTtlMs: 1,
  });
  const more = change("1", { phones: [{ number: "+1" }, { number: "+2" }] });
  expect(await session.call(more)).toMatchObject({ status: "needs_approval" });
  const changed = CARD.replace("TEL:+1", "TEL:+9");
  await writeFile(join(folder, "contacts/own/gus.vcf"), changed);
  await decideHeld(service, ids[0] ?? "", "approve");
  expect(await session.call(more)).toMatchObject({ status: "failed", code: "approval_void" });
  expect(await readCard()).toBe(changed);
});

test("a key that may not delete may not take away what is there", async () => {
  await open();
  const apiKey = await service.createKey("Writer", { levels: ["read", "write"] });
  const session = await openTestSession({ url: service.url, apiKey }, { answer: sayYes });
  expect(await session.call(change("1", { phones: [] }))).toMatchObject({ status: "failed", code: "forbidden" });
  expect(await readCard()).toBe(CARD);
});

test("no rule lets such a call run at /api/mcp", async () => {
  await open();
  const rules = await openRules(service);
  closeLater(rules);
  await rules.add({ effect: "allow", tool: "contacts/*" }, "test");
  const input = { contact_id: "own/gus.vcf", name: "Gus", phones: [{ number: "+3" }] };
  const args = { integration_id: "contacts", action_id: "update_contact", input, confirm: true };
  const answer = await callTool(service, "svc.execute", args);
  expect(answer.structuredContent).toMatchObject({ status: "blocked", error_code: "policy_blocked" });
  expect(await readCard()).toBe(CARD);
});

async function findAccount(integration: string): Promise<string> {
  const all = await service.service.connections.list();
  return all.find(({ label }) => label === `My ${integration}`)?.id ?? "";
}
