import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findOpenClaw } from "../../test/e2e/openclaw/host/find-openclaw.ts";
import type { Measure, PartReport } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";
import { takeTurns } from "../report/take-turns.ts";
import { type Candidate, prepareCandidates } from "./candidates.ts";
import { measureCommand, measureGateway } from "./measure-host.ts";

/*
 * What OpenClaw pays for having the plugin, beside no plugin and beside one that registers nothing: commands of the
 * host, and starts of its gateway. The entry alone is in bench/starts. `npm run bench:openclaw -- --rounds 3`
 */

const TITLE = "In OpenClaw";
/** Name of the candidate that targets are set beside. */
const EMPTY = "a plugin that registers nothing";
const atMost = (limit: number, ratioTo?: string): Measure["targets"] => [{ bound: "at most", limit, ratioTo }];
const rounds = readCount("--rounds", 3);
let candidates: Candidate[] = [];

await runPart(async () => {
  if (findOpenClaw() === undefined) {
    return { title: TITLE, measures: [], notes: ["not measured: `npm run openclaw:install` provides OpenClaw."] };
  }
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-bench-openclaw-")));
  try {
    reportProgress("installing two plugins");
    candidates = await prepareCandidates(folder);
    return await measureHost();
  } finally {
    for (const { state } of candidates) await state.remove();
    await rm(folder, { recursive: true, force: true });
  }
});

async function measureHost(): Promise<PartReport> {
  const list = await compareCommands("plugins list", () => ["plugins", "list"]);
  const inspect = await compareCommands("plugins inspect --runtime", ({ pluginId: id }) =>
    id === undefined ? undefined : ["plugins", "inspect", id, "--runtime", "--json"],
  );
  const { measures, others } = await compareGateways();
  return {
    title: TITLE,
    measures: [...list, ...inspect, ...measures],
    notes: [`the host's own plugins take it ${others.toFixed(1)} ms each to load and register (median).`],
  };
}

/** Runs a command of the host; `build` leaves a candidate out by undefined. */
async function compareCommands(
  title: string,
  build: (one: Candidate) => string[] | undefined,
): Promise<readonly Measure[]> {
  reportProgress(title);
  const samples = await measureAll(async (one) => {
    const args = build(one);
    return args === undefined ? undefined : measureCommand(one, args);
  });
  return [
    toMeasure(`\`${title}\`: CPU`, "ms", samples, ({ cpuMs }) => cpuMs),
    toMeasure(`\`${title}\`: peak memory`, "MB", samples, ({ rssMb }) => rssMb),
  ];
}

/** The host's own figures and ours, and what the host's own plugins take. */
async function compareGateways(): Promise<{ measures: Measure[]; others: number }> {
  reportProgress("gateway starts");
  const samples = await measureAll(measureGateway);
  return {
    measures: [
      toMeasure("files copied at each load", "files", samples, ({ files }) => files, atMost(12)),
      toMeasure(
        "gateway: loading the plugin, the host's figure",
        "ms",
        samples,
        ({ loadMs }) => loadMs,
        atMost(3, EMPTY),
      ),
      toMeasure("gateway: registering it, the host's figure", "ms", samples, ({ registerMs }) => registerMs),
      toMeasure("gateway: ready, CPU", "ms", samples, ({ cpuMs }) => cpuMs, atMost(1.03, EMPTY)),
      toMeasure("gateway: ready, memory", "MB", samples, ({ rssMb }) => rssMb),
    ],
    others: median(samples.flat().flatMap(({ others }) => others)),
  };
}

async function measureAll<Sample>(measure: (one: Candidate) => Promise<Sample | undefined>): Promise<Sample[][]> {
  const samples = await takeTurns(candidates, { rounds }, measure);
  return samples.map((list) => list.filter((sample) => sample !== undefined));
}

/** The last candidate is ours. */
function toMeasure<Sample>(
  what: string,
  unit: string,
  samples: readonly Sample[][],
  read: (one: Sample) => number,
  targets?: Measure["targets"],
): Measure {
  const values = samples.map((list) => list.map(read).filter((value) => !Number.isNaN(value)));
  const peers = candidates.slice(0, -1).map(({ name }, index) => ({ name, samples: values[index] ?? [] }));
  const measured = peers.filter(({ samples: own }) => own.length > 0);
  return { what, unit, samples: values.at(-1) ?? [], peers: measured, targets };
}
