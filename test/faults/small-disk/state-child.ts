import { readdir } from "node:fs/promises";
import { join } from "node:path";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import type { ToolSession } from "../../../src/plugin/calls/session.ts";
import { isSvcError } from "../../../src/shared/errors.ts";
import { startProbeService } from "../../contract/probe-service.ts";
import { approveAll, openFaultSession } from "../kit/fault-lab.ts";
import { openFaultProxy } from "../kit/fault-proxy.ts";
import { useSmallDisk } from "./disk.ts";

/** The plugin's state folder is full, and then read-only. Prints what came of it. */

const disk = useSmallDisk(process.argv[2] ?? "");
const stateDir = join(disk.folder, "state");
const service = await startProbeService();
const proxy = await openFaultProxy(service.url);
const address = { url: proxy.url, apiKey: service.apiKey };
/** True when the disk fills up while the human reads. */
let isFilledByQuestion = false;
const settings = {
  stateDir,
  idempotencyKeys: "off",
  maxResultChars: 1_000,
  timeoutMs: 4_000,
  approve: async (...asked: Parameters<typeof approveAll>) => {
    if (isFilledByQuestion) disk.fill();
    return approveAll(...asked);
  },
} as const;

const calls: { text: string; outcome: ToolOutcome; effects: number }[] = [];
const countEffects = (text: string) =>
  service.probe.calls.filter((one) => one.action === "write_text" && one.args.text === text).length;
async function write(session: ToolSession, text: string): Promise<ToolOutcome> {
  const outcome = await session.call({ callId: text, toolName: "probe_write_text", arguments: { text } });
  calls.push({ text, outcome, effects: countEffects(text) });
  return outcome;
}

async function tryToOpen(): Promise<unknown> {
  try {
    await (await openFaultSession(address, settings)).close();
    return "opened";
  } catch (error) {
    if (!isSvcError(error)) throw error;
    return { code: error.code, field: error.field, message: error.message, hint: error.hint };
  }
}

const first = await openFaultSession(address, settings);
await write(first.session, "before");
disk.fill();
for (let turn = 0; turn < 30; turn += 1) await write(first.session, `full ${turn}`);
const long = { callId: "r", toolName: "probe_echo", arguments: { text: "long ".repeat(1_000) } };
const read = await first.session.call(long);
const whileFull = await tryToOpen();
const leftovers = (await readdir(stateDir, { recursive: true })).filter((name) => name.endsWith(".tmp"));
disk.free();
await write(first.session, "freed");

// The disk fills up between the question and the sending.
const unsent = "unsent";
isFilledByQuestion = true;
await write(first.session, unsent);
isFilledByQuestion = false;
disk.free();
proxy.arm({ place: "before the answer", kind: "drop", request: /^POST \/api\/tools\/probe_write_text\/execute / });
await write(first.session, unsent);
const second = await openFaultSession(address, settings);
await write(second.session, unsent);
await second.close();
await first.close();
await service.close();
await proxy.close();

disk.setReadOnly(true);
const whileReadOnly = await tryToOpen();
disk.setReadOnly(false);
console.log(JSON.stringify({ calls, unsent, read, whileFull, leftovers, whileReadOnly }));
