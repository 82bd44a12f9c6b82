import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { openPins } from "../../../src/plugin/calls/catalog/pins.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "./scripted-service.ts";

/** A pin file that another process changes under an open session. */

let service: ScriptedService;
let file: string;
let stateDir: string;

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  service.offer(createTool("probe_write", "write"));
  service.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
  stateDir = await makeFolder();
  file = join(stateDir, "tools.lock.json");
});
afterEach(closeAll);

const call = (callId: string) => ({ callId, toolName: "probe_write", arguments: { text: callId } });
const openElsewhere = () => openPins({ file, mode: undefined, service: service.url, now: Date.now });
const entry = (schemaHash: string) => ({ name: "probe_write", effect: "write" as const, schemaHash });

it("counts at once when it appears, when it changes and when it goes", async () => {
  const session = await openTestSession(service, { stateDir, answer: sayNo });
  const reasons = async (callId: string) => {
    await session.call(call(callId));
    return session.asked.at(-1)?.reason;
  };
  expect(await reasons("c1")).not.toContain("pinned");
  expect(session.pins.mode).toBe("off");
  const elsewhere = await openElsewhere();
  await elsewhere.pin([]);
  expect(session.pins.mode).toBe("ask");
  expect(await reasons("c2")).toContain("This tool is new");
  await elsewhere.pin([entry("another")]);
  expect(await reasons("c3")).toContain("its arguments");
  await writeFile(file, "{");
  expect(session.pins.problem).toContain("damaged");
  expect(await reasons("c4")).toContain("counts as new");
  await rm(file);
  expect(session.pins.problem).toBeUndefined();
  expect(await reasons("c5")).not.toContain("pinned");
});

it("a tool that was accepted in another process is not asked about again", async () => {
  const one = await openElsewhere();
  await one.pin([]);
  const session = await openTestSession(service, { stateDir, answer: sayYes });
  const change = session.pins.judge(entry("a"));
  expect(change?.kind).toBe("new");
  await one.accept(entry("a"));
  expect(session.pins.judge(entry("a"))).toBeUndefined();
});

it("a tool that is pinned otherwise while a human is asked is asked about again, and not accepted behind their back", async () => {
  const elsewhere = await openElsewhere();
  const session = await openTestSession(service, {
    stateDir,
    async answer(request) {
      if (session.asked.length > 1) return sayNo(request);
      await elsewhere.pin([entry("another")]);
      return sayYes(request);
    },
  });
  expect((await session.call(call("c1"))).status).toBe("declined");
  expect(session.asked.map(({ reason }) => reason.includes("has changed since it was pinned"))).toEqual([false, true]);
  expect(service.executed()).toEqual([]);
  expect(session.pins.judge(entry("another"))).toBeUndefined();
});
