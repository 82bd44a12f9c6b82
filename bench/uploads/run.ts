import { randomBytes } from "node:crypto";
import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runSample } from "../processes/run-sample.ts";
import { startServer } from "../processes/start-server.ts";
import type { Measure, PartReport } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";
import { takeTurns } from "../report/take-turns.ts";
import { measureCommand } from "./measure-command.ts";
import type { Sample } from "./sample.ts";

/*
 * Local files through the whole pipeline beside the floor (read, md5, base64 and send, each measured by itself and
 * added up) and beside the plain way: read everything, make one JSON text, send it. Each sample is a fresh process.
 * Besides, the whole command that sends a file, beside curl. `npm run bench -- uploads --rounds 5`
 */

const SCRIPT = join(import.meta.dirname, "sample.ts");
const MIB = 1024 * 1024;
const FLOOR = "floor";
const PLAIN = "read all, JSON.stringify";
const GROWTH_TARGET_MB = 16;
const FLOOR_SHARE = 0.8;
/** Files and megabytes of each, and how often one process sends them. */
const CASES = [
  { count: 1, mb: 1, times: 20 },
  { count: 1, mb: 5, times: 8 },
  { count: 1, mb: 25, times: 3 },
  { count: 4, mb: 25, times: 1 },
] as const;
const rounds = readCount("--rounds", 5);

const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-bench-uploads-")));
try {
  await runPart(measureUploads);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureUploads(): Promise<PartReport> {
  const server = await startServer([join(import.meta.dirname, "sink-server.ts")], "/api/tools");
  const warmUp = await writeRandom("warm-up.bin", 1);
  const measures: Measure[] = [];
  const notes: string[] = [];
  try {
    for (const one of CASES) {
      const found = await compare(one, server.url, warmUp);
      measures.push(...found.measures);
      notes.push(found.note);
    }
    measures.push(await measureCommand(await writeRandom("command.bin", 25), folder, rounds));
  } finally {
    await server.stop();
  }
  return { title: "Uploads", measures, notes };
}

async function writeRandom(name: string, mb: number): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, randomBytes(mb * MIB));
  return path;
}

async function compare({ count, mb, times }: (typeof CASES)[number], url: string, warmUp: string) {
  const what = count === 1 ? `${mb} MB` : `${count} x ${mb} MB`;
  reportProgress(what);
  const names = Array.from({ length: count }, (_, index) => `${mb}-${index}.bin`);
  const paths = await Promise.all(names.map((name) => writeRandom(name, mb)));
  const samples = await takeTurns(["svc", "floor", "plain"], { rounds }, (candidate) =>
    runSample<Sample>(SCRIPT, [candidate, url, String(times), warmUp, ...paths]),
  );
  const [own = [], floor = [], plain = []] = samples;
  const speed = (list: readonly Sample[]) => list.map(({ sendMs }) => (count * mb * 1_000) / sendMs);
  const growth = (list: readonly Sample[]) => list.map(({ growthMb }) => growthMb);
  const isLargest = count > 1;
  const measures: Measure[] = [
    {
      what,
      unit: "MB/s",
      samples: speed(own),
      peers: [
        { name: FLOOR, samples: speed(floor) },
        { name: PLAIN, samples: speed(plain) },
      ],
      targets: [{ bound: "at least", limit: FLOOR_SHARE, ratioTo: FLOOR }],
    },
    {
      what: `${what}: growth of peak memory`,
      unit: "MB",
      samples: growth(own),
      peers: [{ name: PLAIN, samples: growth(plain) }],
      ...(isLargest && { targets: [{ bound: "at most", limit: GROWTH_TARGET_MB }] }),
    },
  ];
  return { measures, note: `the floor of ${what} is ${describeSteps(floor)}.` };
}

/** `read 3 ms, md5 40 ms, base64 10 ms, send 12 ms`. */
function describeSteps(floor: readonly Sample[]): string {
  const steps = ["readMs", "md5Ms", "base64Ms", "sendMs"];
  const read = (step: string) => median(floor.map((one) => one.steps?.[step] ?? Number.NaN));
  return steps.map((step) => `${step.replace("Ms", "")} ${read(step).toFixed(1)} ms`).join(", ");
}
