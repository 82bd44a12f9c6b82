import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { renderOutcome } from "../../../src/plugin/calls/outcome.ts";
import { startTestService } from "../../../src/testing.ts";
import { runSvc } from "../../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";

afterEach(closeAll);

async function saveFile(answers: readonly (typeof sayYes)[]) {
  const service = closeLater(await startTestService());
  const left = [...answers];
  const session = await openTestSession(service, { answer: (request) => (left.shift() ?? sayNo)(request) });
  const path = join(session.media, "hello.txt");
  await writeFile(path, "hello\n");
  const saved = await session.call({
    callId: "1",
    toolName: "drive_upload_file",
    arguments: { file: { s3key: path } },
  });
  const list = async () => (await readdir(join(service.dataDir, "drive"))).filter((name) => !name.startsWith("."));
  return { service, session, saved, list };
}

test("the outcome of a write has the call that takes it back, which a human approves", async () => {
  const { session, saved, list } = await saveFile([sayYes, sayYes]);
  expect(await list()).toEqual(["hello.txt"]);
  const shown = JSON.parse(renderOutcome(saved));
  expect(shown.undo).toMatchObject({ tool: "svc_call_tool", arguments: { name: "drive_undo" } });
  const tool = session.staticTools.find(({ name }) => name === shown.undo.tool);
  const undone = await tool?.run(shown.undo.arguments, { callId: "2" });
  expect(undone).toMatchObject({ status: "succeeded", result: { undone: saved.undo?.arguments.execution_id } });
  expect(session.asked).toHaveLength(2);
  expect(session.asked[1]).toMatchObject({ tool: "drive_undo", effect: "delete" });
  expect(session.asked[1]?.preview?.summary).toContain("hello.txt");
  expect(await list()).toEqual([]);
});

test("a declined undo changes nothing", async () => {
  const { session, saved, list } = await saveFile([sayYes, sayNo]);
  const { toolName = "", arguments: args = {} } = saved.undo ?? {};
  expect((await session.call({ callId: "2", toolName, arguments: args })).status).toBe("declined");
  expect(await list()).toEqual(["hello.txt"]);
});

test("svc undo takes a call back once it is approved in its terminal, and says why it cannot", async () => {
  const { service, saved, list } = await saveFile([sayYes]);
  const env = { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
  const home = await makeFolder();
  const id = String(saved.undo?.arguments.execution_id);
  const run = await runSvc(["undo", id], home, { env, input: "a\n" });
  expect(run, run.stderr).toMatchObject({ code: 0 });
  expect(await list()).toEqual([]);
  const again = await runSvc(["undo", id], home, { env, input: "a\n" });
  expect(again.code).not.toBe(0);
  expect(again.stdout + again.stderr).toContain("it was undone before");
});
