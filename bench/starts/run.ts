import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createToolSession } from "../../src/calls/session.ts";
import { generateTools, startCatalogService } from "../../test/calls/catalog-service.ts";
import { findBuiltPackage } from "../processes/built-package.ts";
import { runSample } from "../processes/run-sample.ts";
import { startServer } from "../processes/start-server.ts";
import type { Measure, PartReport } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import type { EntrySample } from "./entry-sample.ts";
import { measureCommands } from "./measure-commands.ts";
import type { Sample } from "./sample.ts";

/*
 * Starts of the command line, the OpenClaw entry and the service as they are installed (compiled), beside the same
 * without anything in it; and a start with a cached catalogue of 12,000 tools beside reading the file it is in.
 * `npm run bench -- starts --rounds 11`
 */

const CACHED_TOOLS = 12_000;
/** As many as it takes for the lists to show every tool. */
const APPS = 80;
const ENTRY_TARGET_MS = 6;
const rounds = readCount("--rounds", 11);

const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-bench-starts-")));
try {
  await runPart(measureStarts);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureStarts(): Promise<PartReport> {
  const dist = await findBuiltPackage();
  const commands = await measureCommands(dist, folder, rounds);
  const measures = [...commands, ...(await compareEntry(dist)), await compareService(dist)];
  const cached = await compareCache(dist);
  return { title: "Starts", measures: [...measures, ...cached.measures], notes: [cached.note] };
}

/** Import and registration of the OpenClaw entry beside one that registers nothing. */
async function compareEntry(dist: string): Promise<Measure[]> {
  reportProgress("plugin entry");
  const empty = join(folder, "empty.mjs");
  await writeFile(empty, 'export default { id: "nothing", name: "nothing", register() {} };\n');
  const script = join(import.meta.dirname, "entry-sample.ts");
  const samples = await takeTurns([join(dist, "openclaw.js"), empty], { rounds, warmUps: 1 }, (entry) =>
    runSample<EntrySample>(script, [pathToFileURL(entry).href], []),
  );
  const what = "OpenClaw entry, import and registration";
  const toMeasure = (unit: string, read: (one: EntrySample) => number): Measure => {
    const [own = [], nothing = []] = samples.map((list) => list.map(read));
    return { what, unit, samples: own, peers: [{ name: "an entry that registers nothing", samples: nothing }] };
  };
  return [
    {
      ...toMeasure("ms CPU", ({ importCpuMs, registerCpuMs }) => importCpuMs + registerCpuMs),
      targets: [{ bound: "at most", limit: ENTRY_TARGET_MS }],
    },
    toMeasure("MB", ({ rssMb }) => rssMb),
  ];
}

/** `svc serve` on a folder that was served before, until its first answer, beside a bare Hono server. */
async function compareService(dist: string): Promise<Measure> {
  reportProgress("service");
  const own = [join(dist, "bin.js"), "serve", "--port", "0", "--data", join(folder, "data")];
  const bare = [join(import.meta.dirname, "../service/bare-server.ts")];
  const candidates = [
    { args: own, path: "/health" },
    { args: bare, path: "/bare?size=20" },
  ];
  const samples = await takeTurns(candidates, { rounds, warmUps: 1 }, async ({ args, path }) => {
    const server = await startServer(args, path);
    await server.stop();
    return server.startMs;
  });
  return {
    what: "svc serve to its first answer: wall",
    unit: "ms",
    samples: samples[0] ?? [],
    peers: [{ name: "bare Hono handler", samples: samples[1] ?? [] }],
  };
}

/** The catalogue from the cache, checked and usable, beside the same file read, and read and parsed. */
async function compareCache(dist: string): Promise<{ measures: Measure[]; note: string }> {
  reportProgress(`cache of ${CACHED_TOOLS} tools`);
  const tools = generateTools(CACHED_TOOLS).map((tool, index) => ({ ...tool, integration: `app-${index % APPS}` }));
  const service = await startCatalogService(tools);
  const stateDir = join(folder, "state");
  await fillCache(service.url, stateDir);
  const requests = service.requests.length;
  const script = join(import.meta.dirname, "sample.ts");
  const samples = await takeTurns(["cache", "read", "parse"], { rounds, warmUps: 1 }, (candidate) =>
    runSample<Sample>(script, [candidate, stateDir, service.url, dist]),
  );
  const sent = service.requests.length - requests;
  await service.close();
  const [own = [], read = [], parsed = []] = samples;
  const measures = (["wallMs", "heapMb"] as const).map((key): Measure => {
    const pick = (list: readonly Sample[]) => list.map((one) => one[key]);
    return {
      what: `warm start over ${CACHED_TOOLS.toLocaleString("en")} tools: ${key === "wallMs" ? "wall" : "heap"}`,
      unit: key === "wallMs" ? "ms" : "MB",
      samples: pick(own),
      peers: [
        { name: "reading the cache file", samples: pick(read) },
        { name: "reading and parsing it", samples: pick(parsed) },
      ],
    };
  });
  const note = `the cache has ${own[0]?.tools} tools in ${own[0]?.fileMb.toFixed(1)} MB; warm starts sent ${sent} requests.`;
  return { measures, note };
}

async function fillCache(url: string, stateDir: string): Promise<void> {
  const session = await createToolSession({ baseUrl: url, apiKey: "svc_live_bench", stateDir });
  await session.catalog.load();
  await session.close();
}
