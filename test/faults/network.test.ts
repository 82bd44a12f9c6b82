import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import type { ToolCall } from "../../src/plugin/calls/pipeline.ts";
import { type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { choose, isLongForm } from "./kit/fault-form.ts";
import { checkOutcome, type FaultSession, nameOutcome, openFaultSession } from "./kit/fault-lab.ts";
import { FAULT_KINDS, FAULT_PLACES, type FaultKind, type FaultPlace } from "./kit/fault-places.ts";
import { openFaultProxy } from "./kit/fault-proxy.ts";
import { createTurns } from "./kit/in-turns.ts";
import { createOutcomeTable } from "./kit/outcome-table.ts";

/** What a network does to one exchange, at every class of bytes and in both directions. */

/** How long a call waits for bytes that never come; all calls that do so wait side by side. */
const TIMEOUT_MS = 10_000;
/** Everything that does not wait is done a few at a time, so that it is never the machine that is too slow. */
const WIDTH = 8;
const inTurns = createTurns(WIDTH);
/** Strikes in a row: 1 is a hiccup that a repeated request gets over, 9 outlasts every repetition. */
const TIMES = choose({ short: [1], long: [1, 9] });

let service: ProbeService;
const table = createOutcomeTable("call, fault");

beforeAll(async () => {
  service = await startProbeService();
});
afterAll(async () => {
  await service.close();
  if (isLongForm) console.log(table.print());
});

interface Way {
  /** Matches the request that carries the call. */
  readonly request: RegExp;
  readonly action: string;
  readonly settings?: Parameters<typeof openFaultSession>[1];
  readonly args: (session: FaultSession, marker: string) => Promise<Record<string, unknown>>;
}

const WAYS: Readonly<Record<string, Way>> = {
  "a read": {
    request: /^POST \/api\/tools\/probe_echo\/execute /,
    action: "echo",
    args: async (_session, text) => ({ text }),
  },
  "a write under a key": {
    request: /^POST \/api\/executions /,
    action: "write_text",
    args: async (_session, text) => ({ text }),
  },
  "a write without a key": {
    request: /^POST \/api\/tools\/probe_write_text\/execute /,
    action: "write_text",
    settings: { idempotencyKeys: "off" },
    args: async (_session, text) => ({ text }),
  },
  "a write with a file": {
    request: /^POST \/api\/tools\/probe_store_file\/execute /,
    action: "store_file",
    args: async (session, marker) => ({ file: await session.makeFile(`${marker}.txt`, marker.repeat(500)) }),
  },
};

/** Effects of the call that bears this marker. */
function countEffects(marker: string): number {
  return service.probe.calls.filter(
    ({ action, args, files }) => action !== "echo" && (args.text === marker || files[0]?.name === `${marker}.txt`),
  ).length;
}

async function strikeOnce(name: string, place: FaultPlace, kind: FaultKind, times: number): Promise<void> {
  const way = WAYS[name];
  if (way === undefined) throw new Error(`There is no way named ${name}.`);
  const what = `${name}, ${kind} at ${place}${times === 1 ? "" : ", again and again"}`;
  const proxy = await openFaultProxy(service.url);
  const address = { url: proxy.url, apiKey: service.apiKey };
  const opened = await openFaultSession(address, { timeoutMs: TIMEOUT_MS, ...way.settings });
  const { session } = opened;
  try {
    const marker = randomUUID();
    const args = await way.args(opened, marker);
    const call = { callId: marker, toolName: `probe_${way.action}`, arguments: args };
    await inTurns(() => session.catalog.find(call.toolName));
    proxy.arm({ place, kind, request: way.request, times });
    const outcome = await session.call(call);
    proxy.arm({ place, kind, request: way.request, times: 0 });
    expect(proxy.struck, `${what}: ${JSON.stringify(outcome)}`).toBeGreaterThan(0);
    table.add(`${name}, ${kind}`, nameOutcome(outcome));
    const effects = countEffects(marker);
    // Nothing in the API tells a second copy of a whole request from a second request; a key does.
    const isSentTwice = kind === "duplicate" && place === "before the answer" && !name.endsWith("under a key");
    if (isSentTwice) expect(outcome.status, what).toBe("succeeded");
    else if (way.action === "echo") expect(outcome.status, what).toMatch(/^(?:succeeded|failed)$/);
    else checkOutcome(outcome, effects, what);
    // Its second copy may still be on its way.
    if (isSentTwice) return;
    if (kind === "drop" && place === "after the answer") await useDeadConnection(opened, what);
    await inTurns(() => checkAfterwards(opened, { call, outcome, effects, what }));
  } finally {
    await opened.close();
    await proxy.close();
  }
}

/** A connection that died unnoticed while it was kept costs the next call its time, and then it is gone. */
async function useDeadConnection({ session }: FaultSession, what: string): Promise<void> {
  const next = { callId: "next", toolName: "probe_fail", arguments: { how: "not_found" } };
  expect(await session.call(next), `${what}: the next call`).toMatchObject({
    status: "failed",
    code: expect.stringMatching(/^(?:timeout|file_not_found)$/),
  });
}

interface Struck {
  readonly call: ToolCall;
  readonly outcome: ToolOutcome;
  readonly effects: number;
  readonly what: string;
}

/** What is not known stays so until somebody looks, and nothing of an ended call happens once more. */
async function checkAfterwards(opened: FaultSession, { call, outcome, effects, what }: Struck): Promise<void> {
  if (outcome.status === "unknown" || outcome.status === "succeeded") {
    const again = await opened.session.call(call);
    const seen = [again.status, countEffects(call.callId)];
    // Under a key the lost answer is asked for again, now that it can be had.
    const isFound = outcome.status === "unknown" && what.startsWith("a write under a key");
    expect(seen, `${what}: made again`).toEqual(isFound ? ["succeeded", 1] : [outcome.status, effects]);
  }
  await checkWorks(opened, what);
}

/** The same session goes on as if nothing had been. */
async function checkWorks({ session }: FaultSession, what: string): Promise<void> {
  const marker = randomUUID();
  const read = { callId: `${marker}-read`, toolName: "probe_echo", arguments: { text: marker } };
  const seen = await session.call(read);
  expect(seen, `${what}: a read afterwards: ${seen.message}`).toMatchObject({ result: { args: { text: marker } } });
  const write = { callId: marker, toolName: "probe_write_text", arguments: { text: marker } };
  expect((await session.call(write)).status, `${what}: a write afterwards`).toBe("succeeded");
  expect(countEffects(marker), `${what}: a write afterwards`).toBe(1);
}

for (const times of TIMES) {
  test.each(FAULT_KINDS)(
    `%s, ${times} in a row, at every place of every call`,
    async (kind) => {
      const cases = Object.keys(WAYS).flatMap((name) => FAULT_PLACES.map((place) => [name, place] as const));
      const inPool = createTurns(kind === "drop" || kind === "duplicate" ? cases.length : WIDTH);
      await Promise.all(cases.map(([name, place]) => inPool(() => strikeOnce(name, place, kind, times))));
    },
    120_000,
  );
}
