import { join } from "node:path";
import { createToolSession } from "../../src/plugin/calls/session.ts";
import { generateTools, startCatalogService } from "../../test/plugin/calls/catalog-service.ts";
import { runSample } from "../processes/run-sample.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import type { CacheSample } from "./cache-sample.ts";

const CACHED_TOOLS = 12_000;
/** As many as it takes for the lists to show every tool. */
const APPS = 80;
/** Of the time that reading the file takes. */
const TARGET = 1.5;
const READING = "reading the cache file";

/** A session whose tool list is cached, checked and usable, beside the same file read, and read and parsed. */
export async function compareCache(folder: string, rounds: number): Promise<{ measures: Measure[]; note: string }> {
  reportProgress(`cache of ${CACHED_TOOLS} tools`);
  const tools = generateTools(CACHED_TOOLS).map((tool, index) => ({ ...tool, integration: `app-${index % APPS}` }));
  const service = await startCatalogService(tools);
  const stateDir = join(folder, "cache");
  await fillCache(service.url, stateDir);
  const requests = service.requests.length;
  const script = join(import.meta.dirname, "cache-sample.ts");
  const samples = await takeTurns(["cache", "read", "parse"], { rounds, warmUps: 1 }, (candidate) =>
    runSample<CacheSample>(script, [candidate, stateDir, service.url]),
  );
  const sent = service.requests.length - requests;
  await service.close();
  const [own = [], read = [], parsed = []] = samples;
  const toMeasure = (what: string, unit: string, key: "wallMs" | "memoryMb"): Measure => {
    const pick = (list: readonly CacheSample[]) => list.map((one) => one[key]);
    return {
      what: `warm start over ${CACHED_TOOLS.toLocaleString("en")} tools: ${what}`,
      unit,
      samples: pick(own),
      peers: [
        { name: READING, samples: pick(read) },
        { name: "reading and parsing it", samples: pick(parsed) },
      ],
    };
  };
  return {
    measures: [
      { ...toMeasure("wall", "ms", "wallMs"), targets: [{ bound: "at most", limit: TARGET, ratioTo: READING }] },
      toMeasure("heap and buffers", "MB", "memoryMb"),
    ],
    note: `the cache has ${own[0]?.tools} tools in ${own[0]?.fileMb.toFixed(1)} MB; warm starts over it sent ${sent} requests.`,
  };
}

async function fillCache(url: string, stateDir: string): Promise<void> {
  const session = await createToolSession({ baseUrl: url, apiKey: "svc_live_bench", stateDir });
  await session.catalog.load();
  await session.close();
}
