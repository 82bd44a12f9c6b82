import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startServer } from "../processes/start-server.ts";
import { startService } from "../processes/start-service.ts";
import type { PartReport } from "../report/part-report.ts";
import { readCount, readWord, reportProgress, runPart } from "../report/run-part.ts";
import { compareLoads } from "./compare-loads.ts";
import { type EnvelopeSample, measureEnvelope } from "./measure-envelope.ts";
import { measureFlows } from "./measure-flows.ts";

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
/** What a second envelope of 100 MB may add to the memory that the first one took. */
const ENVELOPE_TARGET_MB = 16;
const LARGEST = { files: 4, mb: 25 } as const;

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
    const flows = await repeat("flows", () => measureFlows(service, seconds));
    const envelopes = await measureEnvelopes();
    const [memory, bareMemory] = [await service.memory(), await bare.memory()];
    return {
      title: "Service",
      measures: [
        ...loads.measures,
        { what: "flows of two steps, start to end", unit: "flows/s", samples: flows },
        {
          what: "envelope of 4 x 25 MB: received and stored",
          unit: "MB/s",
          samples: envelopes.map(({ second }) => second.mbPerSecond),
        },
        {
          what: "envelope of 4 x 25 MB: growth of peak memory, the first",
          unit: "MB",
          samples: envelopes.map(({ first }) => first.growthMb),
        },
        {
          what: "envelope of 4 x 25 MB: growth of peak memory, the second",
          unit: "MB",
          samples: envelopes.map(({ second }) => second.growthMb),
          targets: [{ bound: "at most", limit: ENVELOPE_TARGET_MB }],
        },
      ],
      notes: [
        `16 connections, every execution durable on disk before it is answered; memory afterwards ${memory?.toFixed(0)} MB, bare handler ${bareMemory?.toFixed(0)} MB.`,
        "the SDK's servers search the same catalog with the same code, built once, and answer the same result in JSON within a session; they check no key, read no store and have no accounts that could change; 24 queries in turn.",
        "CPU per request in microseconds of the server and of the process that sends the load, in brackets the share of one core, follows.",
        ...loads.notes,
      ],
    };
  } finally {
    await Promise.all([service, before, bare, ...sdks].map((server) => server?.stop()));
  }
}

/** Two in a service that has received nothing else: memory that has grown stays, and is used again. */
async function measureEnvelopes(): Promise<{ first: EnvelopeSample; second: EnvelopeSample }[]> {
  reportProgress("envelopes of 100 MB");
  const samples: { first: EnvelopeSample; second: EnvelopeSample }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const dataDir = join(folder, `envelope-${round}`);
    const service = await startService(dataDir);
    samples.push({
      first: await measureEnvelope(service, LARGEST),
      second: await measureEnvelope(service, LARGEST),
    });
    await service.stop();
    await rm(dataDir, { recursive: true });
  }
  return samples;
}

/** One warm-up, then the rounds that count. */
async function repeat<Sample>(name: string, measure: () => Promise<Sample>): Promise<Sample[]> {
  reportProgress(name);
  await measure();
  const samples: Sample[] = [];
  for (let round = 0; round < rounds; round += 1) samples.push(await measure());
  return samples;
}
