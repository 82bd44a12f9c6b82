import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SvcToolkit } from "../../src/langchain.ts";
import { readCatalog } from "../../test/plugin/calls/catalog-service.ts";
import { runSample } from "../processes/run-sample.ts";
import type { Measure, PartReport, Target } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import { compareCache } from "./compare-cache.ts";
import type { Sample } from "./sample.ts";

/*
 * Making LangChain tools of a catalogue, beside @composio/langchain and @langchain/mcp-adapters on equal schemas, and
 * the cold and warm start over 5,000 tools; each sample a fresh process. `npm run bench:tools -- --rounds 5`.
 * The other two come from bench/package.json: npm ci --prefix bench.
 */

const SIZES = [100, 1_000, 5_000];
const STARTED = 5_000;
/** For 1,000 tools; memory over the schemas. */
const TARGET = { tools: 1_000, cpuMs: 15, heapMb: 4, coldMs: 60, cachedMs: 20 };
const SCRIPT = join(import.meta.dirname, "sample.ts");
const rounds = readCount("--rounds", 5);
const hasPeers = existsSync(join(import.meta.dirname, "../node_modules/@composio/langchain"));

/** One package that makes tools, and the arguments that have it measured. */
interface Candidate {
  readonly name: string;
  args(round: number): readonly string[];
}

const folder = await mkdtemp(join(tmpdir(), "svc-bench-tools-"));
try {
  await runPart(measureTools);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureTools(): Promise<PartReport> {
  const measures: Measure[] = [];
  for (const size of SIZES) measures.push(...(await compareWrapping(size)));
  const starts = await compareStarts();
  const cache = await compareCache(folder, rounds);
  return {
    title: "Building tools",
    measures: [...measures, ...starts.measures, ...cache.measures],
    notes: [
      `${readCatalog(1).source} schemas; each sample is a fresh process, and the schemas are in memory before it counts.`,
      starts.note,
      cache.note,
      ...(hasPeers ? [] : ["the other packages were not there: `npm ci --prefix bench` installs them."]),
    ],
  };
}

async function compareWrapping(size: number): Promise<Measure[]> {
  reportProgress(`${size} tools`);
  const service = await startService(size);
  const stateDir = join(folder, `wrap-${size}`);
  await describeAll(service.url, stateDir, size);
  const start = (candidate: string): Candidate => ({
    name: "svc-agent-plugin",
    args: () => [candidate, String(size), service.url, stateDir],
  });
  const peers = findPeers(size);
  const fresh = await sampleAll([start("svc"), ...peers]);
  const [cached] = await sampleAll([start("svc-cached")]);
  service.stop();
  const what = `${size.toLocaleString("en")} tools`;
  const target = (limit: number): Target[] => (size === TARGET.tools ? [{ bound: "at most", limit }] : []);
  const both = { unit: "ms", key: "builtAndConvertedCpuMs" } as const;
  return [
    toMeasure(fresh, { what: `${what}: CPU`, unit: "ms", key: "cpuMs", targets: target(TARGET.cpuMs) }),
    toMeasure(fresh, { what: `${what}: heap`, unit: "MB", key: "heapMb", targets: target(TARGET.heapMb) }),
    toMeasure(fresh, { what: `${what}: first conversion of all, CPU`, unit: "ms", key: "convertCpuMs" }),
    toMeasure(fresh, { what: `${what}: built and converted, cold, CPU`, ...both, targets: target(TARGET.coldMs) }),
    toMeasure([cached, ...fresh.slice(1)], {
      what: `${what}: built and converted, from the cache, CPU`,
      ...both,
      targets: target(TARGET.cachedMs),
    }),
  ];
}

async function compareStarts(): Promise<{ measures: Measure[]; note: string }> {
  reportProgress(`start over ${STARTED} tools`);
  const service = await startService(STARTED);
  const start = (stateDir: string) => ["svc-start", String(STARTED), service.url, join(folder, stateDir)];
  const cold = await sampleAll([{ name: "svc-agent-plugin", args: (round) => start(`cold-${round}`) }]);
  const perStart = (await service.countRequests()) / (rounds + 1);
  const warm = await sampleAll([
    { name: "svc-agent-plugin", args: () => start("cold-0") },
    ...findPeers(STARTED).filter(({ name }) => name.includes("mcp")),
  ]);
  const warmRequests = (await service.countRequests()) / (rounds + 1) - perStart;
  service.stop();
  const what = (state: string) => `start over ${STARTED.toLocaleString("en")} tools, ${state}: wall`;
  return {
    measures: [
      toMeasure([...cold, ...warm.slice(1)], { what: what("cold"), unit: "ms", key: "wallMs" }),
      toMeasure(warm, { what: what("warm"), unit: "ms", key: "wallMs" }),
    ],
    note: `a cold start sends ${perStart} requests, a warm one ${warmRequests}; mcp-adapters keeps no cache, so that each of its starts is cold (its connection is made before it counts).`,
  };
}

function findPeers(size: number): Candidate[] {
  if (!hasPeers) return [];
  return [
    { name: "@composio/langchain 0.10.2", args: () => ["composio", String(size)] },
    { name: "@langchain/mcp-adapters 1.1.4", args: () => ["mcp", String(size)] },
  ];
}

interface Sampled {
  readonly name: string;
  readonly samples: readonly Sample[];
}

async function sampleAll(candidates: readonly Candidate[]): Promise<Sampled[]> {
  const samples = await takeTurns(candidates, { rounds, warmUps: 1 }, ({ args }, round) =>
    runSample<Sample>(SCRIPT, args(round)),
  );
  return candidates.map(({ name }, index) => ({ name, samples: samples[index] ?? [] }));
}

function toMeasure(
  [own, ...others]: readonly (Sampled | undefined)[],
  { key, ...rest }: Pick<Measure, "what" | "unit" | "targets"> & { key: keyof Sample },
): Measure {
  const read = (samples: readonly Sample[] = []) => samples.map((sample) => sample[key]);
  return {
    ...rest,
    samples: read(own?.samples),
    peers: others.flatMap((one) => (one === undefined ? [] : [{ name: one.name, samples: read(one.samples) }])),
  };
}

/** Fills a cache with every description, so that the schemas are in memory before the measured step. */
async function describeAll(url: string, stateDir: string, size: number): Promise<void> {
  const toolkit = await SvcToolkit.create({ baseUrl: url, apiKey: "svc_live_bench", stateDir, describeAhead: 0 });
  const names = readCatalog(size).tools.map(({ name }) => name);
  for (let index = 0; index < names.length; index += 200) await toolkit.loadTools(names.slice(index, index + 200));
  await toolkit.close();
}

async function startService(size: number) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "serve-catalog.ts"), String(size)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.setEncoding("utf8");
  const [first] = await once(child.stdout, "data");
  return {
    url: String(first).trim(),
    stop: () => void child.kill(),
    async countRequests(): Promise<number> {
      child.kill("SIGUSR2");
      const [line] = await once(child.stdout, "data");
      return Number(/requests (\d+)/.exec(String(line))?.[1]);
    },
  };
}
