import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "../processes/start-server.ts";
import { startService } from "../processes/start-service.ts";
import type { PartReport } from "../report/part-report.ts";
import { readCount, readWord, reportProgress, runPart } from "../report/run-part.ts";
import { compareEnvelopes } from "./compare-envelopes.ts";
import { compareLoads } from "./compare-loads.ts";
import { measureFlows } from "./measure-flows.ts";
import { measureWrites } from "./measure-writes.ts";

/*
 * Requests per second of the service beside a bare Hono handler that sends answers of the same size and, for MCP,
 * beside the official SDK's server that does the same search; flows, and the largest envelope there may be. Each server
 * is a process of its own.
 * `npm run bench -- service --rounds 5 --seconds 2`; with `--before DIR`, another checkout of this package takes its turns
 * too.
 */

const rounds = readCount("--rounds", 5);
const seconds = readCount("--seconds", 1);
const tree = readWord("--before");

const folder = await mkdtemp(join(tmpdir(), "svc-bench-service-"));
try {
  await runPart(measureService);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureService(): Promise<PartReport> {
  const script = (name: string) => join(import.meta.dirname, name);
  const service = await startService(join(folder, "data"));
  const before = tree === undefined ? undefined : await startService(join(folder, "before"), resolve(tree));
  const bare = await startServer([script("bare-server.ts")], "/bare?size=20");
  const sdks = [
    await startServer([script("sdk-server.ts"), "1"], "/"),
    await startServer([script("sdk-server.ts"), "2"], "/"),
  ];
  try {
    const loads = await compareLoads({ service, before, bare, sdks }, { rounds, seconds });
    const writes = await measureWrites(folder, tree && resolve(tree), { rounds, seconds });
    const flows = await repeat("flows", () => measureFlows(service, seconds));
    const envelopes = await compareEnvelopes(folder, rounds);
    const [memory, bareMemory] = [await service.memory(), await bare.memory()];
    return {
      title: "Service",
      measures: [
        ...loads.measures,
        writes.measure,
        { what: "flows of two steps, start to end", unit: "flows/s", samples: flows },
        ...envelopes.measures,
      ],
      notes: [
        `16 connections, every write durable on disk before it acts and before it is answered; memory afterwards ${memory?.toFixed(0)} MB, bare handler ${bareMemory?.toFixed(0)} MB.`,
        "the SDK's servers search the same catalog with the same code, built once, and answer the same result in JSON within a session; they check no key, read no store and have no accounts that could change; 24 questions in turn, or each with a number that makes it new.",
        "CPU per request in microseconds of the server and of the process that sends the load, in brackets the share of one core, follows.",
        ...loads.notes,
        writes.note,
        envelopes.note,
      ],
    };
  } finally {
    await Promise.all([service, before, bare, ...sdks].map((server) => server?.stop()));
  }
}

/** One warm-up, then the rounds that count. */
async function repeat<Sample>(name: string, measure: () => Promise<Sample>): Promise<Sample[]> {
  reportProgress(name);
  await measure();
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) samples.push(await measure());
  return samples;
}
