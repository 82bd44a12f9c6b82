import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { createFingerprint } from "../../../src/plugin/calls/ask/fingerprint.ts";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

/** kill -9 at each state of the journal, then the same call again in a new process. */

afterEach(closeAll);

const CHILD = fileURLToPath(new URL("./crash-child.ts", import.meta.url));

function startChild(at: string, service: { url: string; apiKey: string }, stateDir: string, tool: string) {
  return spawn(process.execPath, [CHILD, service.url, service.apiKey, stateDir, tool, at], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

async function kill(child: ChildProcess): Promise<void> {
  child.kill("SIGKILL");
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
}

/** Runs one call in a child process and kills it as soon as it prints `at`. */
async function killAt(...[at, ...rest]: Parameters<typeof startChild>): Promise<void> {
  const child = startChild(at, ...rest);
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (printed.includes(`at ${at}\n`)) break;
  }
  await kill(child);
  expect(printed).toContain(`at ${at}\n`);
}

describe("after a crash", () => {
  it.each(["asked", "finished"])("killed when %s", async (at) => {
    const service: ProbeService = closeLater(await startProbeService());
    const stateDir = await makeFolder();
    await killAt(at, service, stateDir, "probe_write_text");
    const session = await openTestSession(service, { stateDir, answer: sayYes });
    const outcome = await session.call({ callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } });
    expect(outcome.status).toBe("succeeded");
    expect(session.asked).toHaveLength(at === "asked" ? 1 : 0);
    expect(service.probe.calls).toHaveLength(1);
    if (at === "finished") expect(outcome.notes.join(" ")).toContain("answered from the journal");
  });

  it("killed when asked, and declined in the new process: nothing ran", async () => {
    const service: ProbeService = closeLater(await startProbeService());
    const stateDir = await makeFolder();
    await killAt("asked", service, stateDir, "probe_write_text");
    const session = await openTestSession(service, { stateDir, answer: sayNo });
    const outcome = await session.call({ callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } });
    expect(outcome.status).toBe("declined");
    expect(service.probe.calls).toEqual([]);
  });

  it.each([
    ["an approval that was not used yet is used", "same", 0, 0],
    ["an expired one is asked for again", "same", 11 * 60_000, 1],
    ["one from before the clock was set back is asked for again", "same", -60_000, 1],
    ["one for another call is asked for again", "other", 0, 1],
    ["one for a milder tool is asked for again", "milder", 0, 1],
  ])("between yes and sending: %s", async (_name, which, laterMs, questions) => {
    const service: ProbeService = closeLater(await startProbeService());
    const clock = { now: Date.now() };
    const call = { callId: "c1", toolName: "probe_write_text", arguments: { text: "once" } };
    const session = await openTestSession(service, { answer: sayNo, now: () => clock.now });
    const principal = new SvcClient({ baseUrl: service.url, apiKey: service.apiKey }).principal;
    const subject = { tool: call.toolName, arguments: call.arguments, files: [], principal };
    await session.journal.record({
      callId: call.callId,
      fingerprint: createFingerprint({ ...subject, connection: undefined }),
      state: "approved",
      at: clock.now,
      tool: call.toolName,
      approval: {
        id: "request",
        fingerprint: createFingerprint({
          ...subject,
          effect: which === "milder" ? "read" : "write",
          connection: which === "other" ? "con_other" : service.connectionId,
        }),
        expiresAt: new Date(clock.now + 10 * 60_000).toISOString(),
      },
    });
    clock.now += laterMs;
    const outcome = await session.call(call);
    expect(outcome.status).toBe(questions === 0 ? "succeeded" : "declined");
    expect(session.asked).toHaveLength(questions);
    expect(service.probe.calls).toHaveLength(1 - questions);
  });

  it("killed while sending, beside a process that was open before: that one does not send again either", async () => {
    const service = closeLater(await startScriptedService());
    service.offer(createTool("probe_write", "write"));
    service.answer("/api/tools/probe_write/execute", { hang: true });
    const stateDir = await makeFolder();
    const beside = await openTestSession(service, { stateDir, answer: sayYes });
    const child = startChild("", { url: service.url, apiKey: "svc_live_test" }, stateDir, "probe_write");
    await service.whenExecuted;
    await kill(child);
    const call = { callId: "c1", toolName: "probe_write", arguments: { text: "once" }, keepsAnswers: true };
    expect(await beside.call(call)).toMatchObject({ status: "unknown" });
    service.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
    await beside.call({ ...call, callId: "c2" });
    expect(beside.asked.map(({ reason }) => reason)).toEqual([expect.stringContaining("may already have happened")]);
  });

  it("killed while sending: the outcome is unknown and it is never sent again", async () => {
    const service = closeLater(await startScriptedService());
    service.offer(createTool("probe_write", "write"));
    service.offer(createTool("probe_read", "read"));
    service.answer("/api/tools/probe_write/execute", { hang: true });
    const stateDir = await makeFolder();
    const child = startChild("", { url: service.url, apiKey: "svc_live_test" }, stateDir, "probe_write");
    await service.whenExecuted;
    await kill(child);
    service.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
    const session = await openTestSession(service, { stateDir, answer: sayYes });
    await session.catalog.load();
    const call = { callId: "c1", toolName: "probe_write", arguments: { text: "once" } };
    expect(await session.call(call)).toMatchObject({ status: "unknown", code: "outcome_unknown" });
    expect((await session.call(call)).hint).toContain("probe_read");
    expect(session.asked).toEqual([]);
    expect(service.executed()).toHaveLength(1);
  });
});
