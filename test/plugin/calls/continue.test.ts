import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { PreparedCall } from "../../../src/plugin/calls/continue.ts";
import type { SessionSettings } from "../../../src/plugin/calls/session.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, openTestSession } from "./open-test-session.ts";

let service: TestService;
let stateDir: string;
beforeEach(async () => {
  service = closeLater(await startTestService());
  stateDir = await makeFolder();
});
afterEach(closeAll);

/** Without keys the journal alone keeps a write from being made twice. */
const open = (settings: SessionSettings = {}) =>
  openTestSession(service, { stateDir, idempotencyKeys: "off", ...settings });

const create = { callId: "c1", toolName: "notes_create_page", arguments: { title: "Once", body: "text" } };

async function prepare(
  session: Awaited<ReturnType<typeof open>>,
  call: Parameters<typeof session.prepare>[0] = create,
) {
  const prepared = await session.prepare(call);
  if (prepared.kind !== "approval") throw new Error(`Nobody is asked: ${prepared.kind}`);
  return prepared;
}

/** One letter of the text replaced by another, at each of some places. */
function alter(state: string): string[] {
  return [0, 6, 20, Math.floor(state.length / 2), state.lastIndexOf(".") + 3, state.length - 2].map(
    (at) => `${state.slice(0, at)}${state[at] === "A" ? "B" : "A"}${state.slice(at + 1)}`,
  );
}

describe("a prepared call", () => {
  it("has its card and runs nothing", async () => {
    const session = await open();
    const { card, request } = await prepare(session);
    expect(card.join("\n")).toContain("notes_create_page, writes");
    expect(request).toMatchObject({ tool: "notes_create_page", arguments: create.arguments });
    expect(await service.effects()).toEqual([]);
    expect(session.events).toEqual([]);
  });

  it("runs in another session after a yes, once however often it is continued", async () => {
    const { state } = await prepare(await open());
    const other = await open();
    const first = await other.continue(state, { type: "approve" });
    expect(first).toMatchObject({ outcome: { status: "succeeded" } });
    for (const session of [other, await open()]) {
      const again = await session.continue(state, { type: "approve" });
      expect(again.outcome).toMatchObject({ status: "succeeded", result: first.outcome.result });
    }
    expect(await service.effects()).toHaveLength(1);
  });

  it("runs once when two sessions continue it at the same time", async () => {
    const { state } = await prepare(await open());
    const sessions = await Promise.all([open(), open(), open()]);
    await Promise.all(sessions.map((session) => session.continue(state, { type: "approve" })));
    expect(await service.effects()).toHaveLength(1);
  });

  it("stays declined, whatever is answered later", async () => {
    const { state } = await prepare(await open());
    expect((await (await open()).continue(state, { type: "decline", message: "no" })).outcome).toMatchObject({
      status: "declined",
      message: expect.stringContaining("no"),
    });
    expect((await (await open()).continue(state, { type: "approve" })).outcome.status).toBe("declined");
    expect(await service.effects()).toEqual([]);
  });

  it("runs what the human typed", async () => {
    const { state } = await prepare(await open());
    const edited = { title: "Typed", body: "text" };
    const { outcome } = await (await open()).continue(state, { type: "edit", arguments: edited });
    expect(outcome.status).toBe("succeeded");
    expect((await service.effects()).map(({ arguments: args }) => args)).toEqual([edited]);
  });

  it("shows an edit that is not sent as typed again", async () => {
    const { state } = await prepare(await open());
    const { outcome, next } = await (await open()).continue(state, { type: "edit", arguments: { title: ["x"] } });
    expect(outcome).toMatchObject({ status: "needs_approval", code: "approval_changed" });
    expect(next?.request.reason).toContain("Your edit cannot be used");
    const last = await (await open()).continue(String(next?.state), { type: "approve" });
    expect(last.outcome.status).toBe("succeeded");
    expect((await service.effects()).map(({ arguments: args }) => args)).toEqual([create.arguments]);
  });

  it("counts for nothing after it was changed, in another folder or for another key", async () => {
    const { state } = await prepare(await open());
    const key = await service.createKey("other");
    for (const settings of [{ stateDir: await makeFolder() }, { stateDir: undefined }, { stateDir, key }]) {
      const session = await openTestSession(service, settings);
      const { outcome } = await session.continue(state, { type: "approve" });
      expect(outcome).toMatchObject({ status: "needs_approval", code: "approval_malformed" });
    }
    const session = await open();
    for (const text of [...alter(state), "", "svc1", "svc1..", `${state}.x`, state.toUpperCase()]) {
      const { outcome } = await session.continue(text, { type: "approve" });
      expect(outcome, text).toMatchObject({ status: "needs_approval", code: "approval_malformed" });
    }
    expect(await service.effects()).toEqual([]);
  });

  it("takes no answer that names another request, no word that is no answer, and none for another call", async () => {
    const session = await open();
    const { state, request } = await prepare(session);
    const answers = [
      { type: "approve", id: "another" },
      { type: "approve", fingerprint: "another" },
      { type: "yes" },
      undefined,
    ];
    for (const answer of answers) {
      expect((await session.continue(state, answer as never)).outcome.status).toBe("needs_approval");
    }
    const expected = { toolName: create.toolName, arguments: { title: "Other", body: "text" } };
    const { outcome } = await session.continue(state, { type: "approve" }, { expected });
    expect(outcome.code).toBe("approval_wrong_fingerprint");
    expect(await service.effects()).toEqual([]);
    const { id, fingerprint } = request;
    expect((await session.continue(state, { type: "approve", id, fingerprint })).outcome.status).toBe("succeeded");
  });

  it("expires", async () => {
    let now = Date.now();
    const session = await open({ now: () => now });
    const { state, request } = await prepare(session);
    now = Date.parse(request.expiresAt);
    expect((await session.continue(state, { type: "approve" })).outcome.code).toBe("approval_expired");
    expect(await service.effects()).toEqual([]);
  });

  it("is asked about again when its file changed after the yes", async () => {
    const session = await open();
    const path = join(session.media, "a.txt");
    await writeFile(path, "shown");
    const call = { callId: "f1", toolName: "drive_upload_file", arguments: { folder: "In", file: path } };
    const { state, request } = await prepare(session, call);
    await writeFile(path, "other");
    const { outcome, next } = await session.continue(state, { type: "approve" });
    expect(outcome).toMatchObject({ status: "needs_approval", code: "approval_changed" });
    expect(await service.effects()).toEqual([]);
    expect(next?.request.files[0]?.sha256).not.toBe(request.files[0]?.sha256);
    expect((await session.continue(String(next?.state), { type: "approve" })).outcome.status).toBe("succeeded");
    expect(await service.effects()).toHaveLength(1);
  });

  it.each<[string, string, Record<string, unknown>]>([
    ["a read", "notes_search", { query: "x" }],
    ["an unknown tool", "no_such_tool", {}],
    ["arguments that cannot be sent", "notes_create_page", {}],
    ["a search", "svc_search_tools", { query: "page" }],
  ])("asks nothing for %s, which runs when it is continued", async (_what, toolName, args) => {
    const session = await open();
    const prepared: PreparedCall = await session.prepare({ callId: "n1", toolName, arguments: args });
    expect(prepared.kind).toBe("none");
    expect(await session.reopen(prepared.state)).toEqual(prepared);
    const { outcome, next } = await session.continue(prepared.state);
    expect(["succeeded", "failed"]).toContain(outcome.status);
    expect(next).toBeUndefined();
  });

  it("may be one of svc_call_tool or of a flow", async () => {
    const session = await open();
    const args = { name: "notes_create_page", arguments: create.arguments };
    const called = await prepare(session, { callId: "s1", toolName: "svc_call_tool", arguments: args });
    expect(called.request.tool).toBe("notes_create_page");
    expect((await session.continue(called.state, { type: "approve" })).outcome.status).toBe("succeeded");
    const { templates } = await session.client.listFlowTemplates();
    const template = templates[0]?.key;
    const flow = await prepare(session, { callId: "s2", toolName: "svc_start_flow", arguments: { template } });
    expect(flow.request.tool).toBe("svc_start_flow");
    expect((await session.client.listFlows()).flows).toEqual([]);
    expect((await session.continue(flow.state, { type: "decline" })).outcome.status).toBe("declined");
    expect((await session.client.listFlows()).flows).toEqual([]);
  });
});
