import { Agent } from "undici";
import type { ToolOutcome } from "../../src/index.ts";
import { createToolSession } from "../../src/plugin/calls/session.ts";
import { readCpu } from "../processes/read-usage.ts";

/*
 * One measurement in a fresh process: `node sample.ts CANDIDATE TOOL CONCURRENCY URL KEY [MS]` makes calls of one tool for a
 * while and prints a line of JSON. A thousand calls before it do not count: code is slow until it is known to be used.
 */

/** What one process measured. */
export interface Sample {
  readonly callsPerSecond: number;
  /** Median time of one call. */
  readonly callMs: number;
  /** CPU time of this process per call. */
  readonly cpuMs: number;
}

const WARM_UP = { calls: 1_000, ms: 5_000 };
const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  bench_find: { query: "budget", limit: 10, labels: ["work", "2026"], range: { from: "2026-01-01" } },
  bench_send: { query: "budget", limit: 10, labels: ["work", "2026"], range: { from: "2026-01-01" } },
  drive_list_files: {},
};

const [candidate = "", tool = "", concurrency = "1", baseUrl = "", apiKey = "", duration = "1000"] =
  process.argv.slice(2);
const args = ARGUMENTS[tool] ?? {};
let count = 0;

/** Each write is another one: a human is told of an equal one under way, which is not what is measured here. */
function nextArguments(): Record<string, unknown> {
  count += 1;
  return tool === "bench_send" ? { ...args, query: `budget ${count}` } : args;
}

const { call, close } = await (candidate === "bare" ? prepareBare() : prepareSession());
await run(WARM_UP);
const times: number[] = [];
const begun = performance.now();
const cpuBefore = process.cpuUsage();
await run({ calls: Number.POSITIVE_INFINITY, ms: Number(duration) }, times);
const seconds = (performance.now() - begun) / 1_000;
const cpuMs = readCpu(cpuBefore) / times.length;
times.sort((a, b) => a - b);
const sample: Sample = {
  callsPerSecond: times.length / seconds,
  callMs: times[Math.floor(times.length / 2)] ?? Number.NaN,
  cpuMs,
};
console.log(JSON.stringify(sample));
await close();

/** Calls until either bound is reached. */
async function run(bounds: { readonly calls: number; readonly ms: number }, into?: number[]): Promise<void> {
  const end = performance.now() + bounds.ms;
  let left = bounds.calls;
  const work = async () => {
    for (let start = performance.now(); start < end && left > 0; start = performance.now()) {
      left -= 1;
      await call();
      into?.push(performance.now() - start);
    }
  };
  await Promise.all(Array.from({ length: Number(concurrency) }, work));
}

/** Every step of the pipeline, with a human who approves at once. */
async function prepareSession() {
  const session = await createToolSession({
    baseUrl,
    apiKey,
    approve: async ({ id, fingerprint }) => ({ type: "approve", id, fingerprint }),
  });
  await session.catalog.load();
  const check = ({ status, message }: ToolOutcome) => {
    if (status !== "succeeded") throw new Error(`The call ended as ${status}: ${message}`);
  };
  return {
    call: async () => {
      const call = { toolName: tool, arguments: nextArguments() };
      check(await session.call({ ...call, callId: `call-${count}` }));
    },
    close: () => session.close(),
  };
}

/** The same body to the same address, and the answer parsed. */
async function prepareBare() {
  const agent = new Agent();
  const { origin } = new URL(baseUrl);
  const path = `/api/tools/${tool}/execute`;
  const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
  const confirmed = tool === "bench_send" ? { confirmed: true } : {};
  return {
    call: async () => {
      const body = JSON.stringify({ arguments: nextArguments(), ...confirmed });
      const reply = await agent.request({ origin, path, method: "POST", headers, body });
      await reply.body.json();
      if (reply.statusCode !== 200) throw new Error(`The server answered ${reply.statusCode}`);
    },
    close: () => agent.close(),
  };
}
