import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openStateFile } from "../../src/plugin/calls/journal/state-file.ts";
import { type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { watchProcess } from "../e2e/watch-process.ts";
import { createTool, type ScriptedService, startScriptedService } from "../plugin/calls/scripted-service.ts";
import { choose, isLongForm } from "./kit/fault-form.ts";
import { approveAll, checkOutcome, nameOutcome, openFaultSession } from "./kit/fault-lab.ts";
import { FAULT_PLACES, type FaultPlace } from "./kit/fault-places.ts";
import { type FaultProxy, openFaultProxy } from "./kit/fault-proxy.ts";
import { createOutcomeTable } from "./kit/outcome-table.ts";
import type { DoomedCall } from "./kit/plugin-child.ts";

/**
 * The process of the plugin is killed with calls at every step: while the human is asked, after the yes, at every byte
 * class of the request that acts and of its answer, and after the end. Then another process makes the same calls.
 */

const CHILD = fileURLToPath(new URL("kit/plugin-child.ts", import.meta.url));
const ROUNDS = choose({ short: 1, long: 5 });
const DESCRIPTIONS = 3;

let service: ProbeService;
let vague: ScriptedService;
const table = createOutcomeTable("step, made again");

beforeAll(async () => {
  service = await startProbeService();
  vague = await startScriptedService();
  vague.offer(createTool("probe_vague", "read", { canonical: undefined }));
  vague.answer("/api/tools/probe_vague/execute", { hang: true });
});
afterAll(async () => {
  await vague.close();
  await service.close();
  if (isLongForm) console.log(table.print());
});

type Step = "probing" | "pending" | "approved" | "done" | FaultPlace;
const STEPS: readonly Step[] = ["probing", "pending", "approved", "done", ...FAULT_PLACES];

interface Doomed {
  readonly step: Step;
  readonly call: DoomedCall;
  readonly proxy: FaultProxy;
}

const countEffects = (callId: string) => service.probe.calls.filter(({ args }) => args.text === callId).length;

/** A call that will stop at its step, each behind a proxy of its own. */
async function prepare(step: Step, isKeyed: boolean, folder: string): Promise<Doomed> {
  const proxy = await openFaultProxy(step === "probing" ? vague.url : service.url);
  const stop = () => new Promise(() => {});
  let descriptions = 0;
  if (step === "approved") {
    // Described to find it, to see who decides, and once more after the yes, to see whether keys are still kept.
    const kind = () => (++descriptions < DESCRIPTIONS ? Promise.resolve() : stop());
    proxy.arm({ place: "request line", kind, request: /^GET \/api\/tools\/probe_write_text /, times: DESCRIPTIONS });
  } else if (step === "probing") {
    proxy.arm({ place: "before the answer", kind: stop, request: /^POST / });
  } else if (step !== "pending" && step !== "done") {
    proxy.arm({ place: step, kind: stop, request: /^POST / });
  }
  const callId = `${step}, ${isKeyed ? "under a key" : "without a key"}, ${folder}`;
  const call: DoomedCall = {
    url: proxy.url,
    apiKey: service.apiKey,
    stateDir: join(folder, callId.replaceAll(/\W/g, "-")),
    callId,
    toolName: step === "probing" ? "probe_vague" : "probe_write_text",
    idempotencyKeys: isKeyed ? "when_known" : "off",
    isLeftWaiting: step === "pending",
  };
  return { step, call, proxy };
}

/** Of a copy: the first to open the file itself has to be the process that makes the call again. */
async function readLastState({ call }: Doomed): Promise<string | undefined> {
  const copy = `${call.stateDir}-copy`;
  await cp(call.stateDir, copy, { recursive: true });
  const state = await openStateFile(copy);
  const row = state?.prepare("SELECT state FROM calls").get();
  state?.close();
  return row && String(row.state);
}

/** Makes the call once more in this process and checks what came of both. */
async function makeAgain({ step, call, proxy }: Doomed, state: string | undefined): Promise<void> {
  proxy.arm({ place: "request line", kind: "delay", request: /./, times: 0 });
  const before = countEffects(call.callId);
  let questions = 0;
  const { session, close } = await openFaultSession(
    { url: call.url, apiKey: call.apiKey },
    {
      stateDir: call.stateDir,
      idempotencyKeys: call.idempotencyKeys,
      approve: (...asked) => {
        questions += 1;
        return approveAll(...asked);
      },
    },
  );
  const made = { callId: call.callId, toolName: call.toolName, arguments: { text: call.callId } };
  const outcome = await session.call(made);
  table.add(`${step}, ${call.idempotencyKeys === "off" ? "without" : "under"} a key`, nameOutcome(outcome));
  const effects = countEffects(call.callId);
  checkOutcome(outcome, effects, call.callId);
  expect(questions, call.callId).toBe(step === "pending" ? 1 : 0);
  const isLost = state === "probing" || (state === "sending" && call.idempotencyKeys === "off");
  expect([outcome.status, effects], call.callId).toEqual(isLost ? ["unknown", before] : ["succeeded", 1]);
  if (step === "probing") expect(vague.executed()).toHaveLength(probed);
  else {
    const next = { callId: `${call.callId} next`, toolName: call.toolName, arguments: { text: `${call.callId} next` } };
    expect((await session.call(next)).status, call.callId).toBe("succeeded");
  }
  await close();
}

let probed = 0;

test("the plugin is killed at every step: made again, each call has acted once or says that it is not known", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const folder = await mkdtemp(join(tmpdir(), "svc-doomed-"));
    const doomed: Doomed[] = [];
    for (const step of STEPS) {
      for (const isKeyed of [true, false]) {
        // Only under a key is anything asked of the service between the yes and the sending.
        const hasStep = isKeyed ? step !== "probing" : step !== "approved";
        if (hasStep) doomed.push(await prepare(step, isKeyed, folder));
      }
    }
    const calls = JSON.stringify(doomed.map(({ call }) => call));
    const child = watchProcess(process.execPath, [CHILD, calls], {
      env: { ...process.env, TMPDIR: folder },
      timeoutMs: 240_000,
    });
    try {
      for (const { step, call, proxy } of doomed) {
        if (step === "pending") await child.waitFor(new RegExp(`^asked ${call.callId}$`, "m"));
        else if (step === "done") await child.waitFor(new RegExp(`^succeeded ${call.callId}$`, "m"));
        else await expect.poll(() => proxy.struck, { timeout: 30_000 }).toBe(step === "approved" ? DESCRIPTIONS : 1);
      }
    } finally {
      child.kill("SIGKILL");
      await child.done;
    }
    probed += 1;
    for (const one of doomed) {
      const state = await readLastState(one);
      const isSent = FAULT_PLACES.some((place) => place === one.step);
      expect(state, one.call.callId).toMatch(isSent ? /^(?:sending|done)$/ : new RegExp(`^${one.step}$`));
      await makeAgain(one, state);
    }
    for (const { proxy } of doomed) await proxy.close();
    await rm(folder, { recursive: true, force: true });
  }
}, 300_000);
