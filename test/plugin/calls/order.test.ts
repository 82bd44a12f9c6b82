import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { PreparedCall } from "../../../src/plugin/calls/continue.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { breakPage } from "../../approvals/contract.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayYes, type TestSession } from "./open-test-session.ts";

/** Approved calls of one account run in the order in which they were made, and what is behind a failure waits again. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
  await breakPage(service, "a");
});
afterEach(closeAll);

const note = (title: string) => ({ callId: title, toolName: "notes_create_page", arguments: { title, body: "text" } });
const failing = (title: string) => ({
  callId: title,
  toolName: "notes_update_page",
  arguments: { page_id: `${title}.md`, title, body: "text" },
});
const WHY = "a call of notes_update_page before it on the same account failed";

const readTitles = async () => (await service.effects()).map(({ arguments: args }) => args.title ?? args.folder);

async function prepare(session: TestSession, call: Parameters<TestSession["prepare"]>[0]): Promise<string> {
  const prepared = await session.prepare(call);
  expect(prepared.kind).toBe("approval");
  return prepared.state;
}

it("sends a call first whose file takes long to read", async () => {
  const session = await openTestSession(service, { answer: sayYes });
  const path = join(session.media, "large.txt");
  await writeFile(path, "x".repeat(5_000_000));
  const upload = { callId: "u", toolName: "drive_upload_file", arguments: { folder: "In", file: path } };
  const small = { callId: "s", toolName: "drive_create_folder", arguments: { path: "New" } };
  const outcomes = await Promise.all([session.call(upload), session.call(small)]);
  expect(outcomes.map(({ status }) => status)).toEqual(["succeeded", "succeeded"]);
  expect((await service.effects()).map(({ arguments: args }) => args.folder ?? args.path)).toEqual(["In", "New"]);
});

it("asks again about a prepared call behind a failure, also in another process", async () => {
  const stateDir = await makeFolder();
  const first = await openTestSession(service, { stateDir });
  const states = [await prepare(first, failing("a")), await prepare(first, note("b")), await prepare(first, note("c"))];
  expect((await first.continue(states[0] ?? "", { type: "approve" })).outcome.status).toBe("failed");
  const second = await openTestSession(service, { stateDir });
  const waiting = await second.continue(states[1] ?? "", { type: "approve" });
  expect(waiting.outcome).toMatchObject({ status: "needs_approval", code: "behind_failure" });
  expect(waiting.outcome.message).toContain(WHY);
  expect(await readTitles()).toEqual(["a"]);
  const next = waiting.next as Extract<PreparedCall, { kind: "approval" }>;
  expect(next.request.reason).toContain(WHY);
  expect((await second.continue(next.state, { type: "approve" })).outcome.status).toBe("succeeded");
  // A no needs no second question.
  expect((await second.continue(states[2] ?? "", { type: "decline" })).outcome.status).toBe("declined");
  expect(await readTitles()).toEqual(["a", "b"]);
});

it("runs a call that was prepared after the failure without another question", async () => {
  const session = await openTestSession(service, { stateDir: await makeFolder() });
  await session.continue(await prepare(session, failing("a")), { type: "approve" });
  const state = await prepare(session, note("b"));
  expect((await session.continue(state, { type: "approve" })).outcome.status).toBe("succeeded");
});

it("lets a call of another account pass a failure", async () => {
  const session = await openTestSession(service, { stateDir: await makeFolder() });
  const folder = { callId: "f", toolName: "drive_create_folder", arguments: { path: "New" } };
  const [failed, other] = [await prepare(session, failing("a")), await prepare(session, folder)];
  await session.continue(failed, { type: "approve" });
  expect((await session.continue(other, { type: "approve" })).outcome.status).toBe("succeeded");
});

it("lets a call that was declined pass, and asks about one that a permission allows behind a failure", async () => {
  const session = await openTestSession(service, { answer: (request) => ({ ...sayYes(request), always: true }) });
  await session.call(note("first"));
  expect(session.asked).toHaveLength(1);
  const outcomes = await Promise.all([session.call(failing("a")), session.call(note("b"))]);
  expect(outcomes.map(({ status }) => status)).toEqual(["failed", "succeeded"]);
  expect(session.asked.map(({ tool, reason }) => [tool, reason.includes(WHY)])).toEqual([
    ["notes_create_page", false],
    ["notes_update_page", false],
    ["notes_create_page", true],
  ]);
});
