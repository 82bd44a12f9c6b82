import { dirname } from "node:path";
import { Agent } from "undici";
import { createToolSession } from "../../src/plugin/calls/session.ts";
import { watchPeak } from "../processes/read-usage.ts";
import { median } from "../report/statistics.ts";
import { measureFloor } from "./measure-floor.ts";
import { sendPlainly } from "./send-plainly.ts";

/*
 * One measurement in a fresh process: `node sample.ts CANDIDATE URL TIMES WARM_UP_FILE FILE...` sends the files so many
 * times, after two sendings of the other file that do not count, and prints a line of JSON.
 */

/** What one process measured. */
export interface Sample {
  /** Median time of one sending. */
  readonly sendMs: number;
  /** How much memory grew at most while sending. */
  readonly growthMb: number;
  /** Where the floor's time goes, by step. */
  readonly steps?: Readonly<Record<string, number>>;
}

const [candidate, url = "", times = "1", warmUp = "", ...paths] = process.argv.slice(2);
const { send, close } = await prepare();
await send([warmUp]);
await send([warmUp]);
globalThis.gc?.();
const growth = watchPeak();
const results: Sending[] = [];
for (let time = 0; time < Number(times); time += 1) results.push(await send(paths));
const growthMb = growth();
const steps = results.map((result) => result.steps).filter((one) => one !== undefined);
const sample: Sample = {
  sendMs: median(results.map(({ ms }) => ms)),
  growthMb,
  ...(steps.length > 0 && { steps: findMedians(steps) }),
};
console.log(JSON.stringify(sample));
await close();

interface Sending {
  readonly ms: number;
  readonly steps?: Record<string, number>;
}

interface Sender {
  send(paths: readonly string[]): Promise<Sending>;
  close(): Promise<void>;
}

async function prepare(): Promise<Sender> {
  if (candidate === "svc") return prepareSession();
  const agent = new Agent();
  const close = () => agent.close();
  if (candidate === "plain") return { send: (files) => time(() => sendPlainly(agent, url, files)), close };
  return {
    async send(files) {
      const { readMs, md5Ms, base64Ms, sendMs } = await measureFloor(agent, url, files);
      return { ms: readMs + md5Ms + base64Ms + sendMs, steps: { readMs, md5Ms, base64Ms, sendMs } };
    },
    close,
  };
}

/** Every step of the pipeline, with a human who approves at once. */
async function prepareSession(): Promise<Sender> {
  const session = await createToolSession({
    baseUrl: url,
    apiKey: "svc_live_bench",
    mediaRoots: [dirname(warmUp)],
    approve: async ({ id, fingerprint }) => ({ type: "approve", id, fingerprint }),
  });
  await session.catalog.load();
  let count = 0;
  const upload = async (files: readonly string[]) => {
    count += 1;
    const call = { callId: `call-${count}`, toolName: "bench_upload", arguments: { files } };
    const { status, message } = await session.call(call);
    if (status !== "succeeded") throw new Error(`The call ended as ${status}: ${message}`);
  };
  return { send: (files) => time(() => upload(files)), close: () => session.close() };
}

async function time(work: () => Promise<void>): Promise<Sending> {
  const begun = performance.now();
  await work();
  return { ms: performance.now() - begun };
}

function findMedians(all: readonly Record<string, number>[]): Record<string, number> {
  const names = Object.keys(all[0] ?? {});
  return Object.fromEntries(names.map((name) => [name, median(all.map((one) => one[name] ?? Number.NaN))]));
}
