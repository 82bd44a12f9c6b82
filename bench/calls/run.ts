import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSample } from "../processes/run-sample.ts";
import { startServer } from "../processes/start-server.ts";
import { startService } from "../processes/start-service.ts";
import type { Measure, PartReport, Target } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import type { Sample } from "./sample.ts";

/*
 * One call through the whole pipeline beside a bare `undici` POST of the same body to the same server: the embedded
 * service, and a server that answers at once and so shows what the pipeline itself takes. Each sample is a fresh
 * process. `npm run bench -- calls --rounds 5`
 */

const SCRIPT = join(import.meta.dirname, "sample.ts");
const BARE = "bare undici POST";
const AT_ONCE = 16;
const rounds = readCount("--rounds", 5);

/** A tool of a server. */
interface Case {
  readonly what: string;
  readonly tool: string;
  readonly url: string;
  readonly apiKey: string;
  /** Whether the stated targets are about this server. */
  readonly isJudged: boolean;
}

const folder = await mkdtemp(join(tmpdir(), "svc-bench-calls-"));
try {
  await runPart(measureCalls);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureCalls(): Promise<PartReport> {
  const service = await startService(join(folder, "data"));
  const empty = await startServer([join(import.meta.dirname, "answer-server.ts")], "/api/tools");
  const { url, apiKey } = service;
  const own = { url: empty.url, apiKey: "svc_live_bench", isJudged: false };
  const cases: Case[] = [
    { what: "read, embedded service", tool: "drive_list_files", url, apiKey, isJudged: true },
    { what: "read, empty server", tool: "bench_find", ...own },
    { what: "approved write, empty server", tool: "bench_send", ...own },
  ];
  try {
    const measures: Measure[] = [];
    for (const one of cases) measures.push(...(await compare(one)));
    return {
      title: "One call",
      measures,
      notes: [
        "the empty server answers 1 kB at once, so that its ratios are of the work of two callers and not of calls anybody makes; what the pipeline adds is the difference of the CPU rows.",
      ],
    };
  } finally {
    await service.stop();
    await empty.stop();
  }
}

async function compare(one: Case): Promise<Measure[]> {
  const alone = await sample(one, 1);
  const together = await sample(one, AT_ONCE);
  const target = (bound: Target["bound"], limit: number): Target[] =>
    one.isJudged ? [{ bound, limit, ratioTo: BARE }] : [];
  return [
    toMeasure(alone, { what: `${one.what}: time`, unit: "ms", key: "callMs", targets: target("at most", 1.25) }),
    toMeasure(alone, { what: `${one.what}: CPU of the caller`, unit: "ms", key: "cpuMs" }),
    toMeasure(together, {
      what: `${one.what}, ${AT_ONCE} at once`,
      unit: "calls/s",
      key: "callsPerSecond",
      targets: target("at least", 0.8),
    }),
  ];
}

function sample({ what, tool, url, apiKey }: Case, atOnce: number): Promise<Sample[][]> {
  reportProgress(`${what}, ${atOnce} at once`);
  return takeTurns(["svc", "bare"], { rounds }, (candidate) =>
    runSample<Sample>(SCRIPT, [candidate, tool, String(atOnce), url, apiKey]),
  );
}

function toMeasure(
  [own = [], bare = []]: readonly (readonly Sample[])[],
  { key, ...rest }: Pick<Measure, "what" | "unit" | "targets"> & { key: keyof Sample },
): Measure {
  const read = (samples: readonly Sample[]) => samples.map((one) => one[key]);
  return { ...rest, samples: read(own), peers: [{ name: BARE, samples: read(bare) }] };
}
