import { rm } from "node:fs/promises";
import { join } from "node:path";
import { startServer } from "../processes/start-server.ts";
import { startService } from "../processes/start-service.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";
import type { FloorSteps } from "./envelope-floor.ts";
import { type EnvelopeSample, measureEnvelope, measureEnvelopeFloor } from "./measure-envelope.ts";

const LARGEST = { files: 4, mb: 25 } as const;
const WHAT = `envelope of ${LARGEST.files} x ${LARGEST.mb} MB`;
/** What the first envelope may add to the memory of a service, and a second one to that. */
const GROWTH_TARGETS_MB = { first: 32, second: 16 } as const;
const FLOOR = "floor";
const FLOOR_SHARE = 0.6;

interface Round {
  readonly first: EnvelopeSample;
  readonly second: EnvelopeSample;
  readonly floor: FloorSteps;
}

/**
 * The largest envelope there may be, received and stored, beside the floor: read, decode, both digests, write and sync,
 * each by itself and added up.
 */
export async function compareEnvelopes(folder: string, rounds: number): Promise<{ measures: Measure[]; note: string }> {
  const all = await takeRounds(folder, rounds);
  const growth = (which: "first" | "second"): Measure => ({
    what: `${WHAT}: growth of peak memory, the ${which}`,
    unit: "MB",
    samples: all.map((round) => round[which].growthMb),
    targets: [{ bound: "at most", limit: GROWTH_TARGETS_MB[which] }],
  });
  const measures: Measure[] = [
    {
      what: `${WHAT}: received and stored`,
      unit: "MB/s",
      samples: all.map(({ second }) => second.mbPerSecond),
      peers: [{ name: FLOOR, samples: all.map(({ floor }) => toSpeed(floor)) }],
      targets: [{ bound: "at least", limit: FLOOR_SHARE, ratioTo: FLOOR }],
    },
    growth("first"),
    growth("second"),
  ];
  return { measures, note: `the floor of an envelope is ${describeFloor(all.map(({ floor }) => floor))}.` };
}

/** Two envelopes in a service that has received nothing else: memory that has grown stays, and is used again. */
async function takeRounds(folder: string, rounds: number): Promise<Round[]> {
  reportProgress("envelopes of 100 MB");
  const bare = await startServer([join(import.meta.dirname, "envelope-floor.ts"), folder], "/");
  const all: Round[] = [];
  try {
    await measureEnvelopeFloor(bare, LARGEST);
    for (let round = 0; round < rounds; round += 1) {
      const dataDir = join(folder, `envelope-${round}`);
      const service = await startService(dataDir);
      const first = await measureEnvelope(service, LARGEST);
      const floor = await measureEnvelopeFloor(bare, LARGEST);
      all.push({ first, floor, second: await measureEnvelope(service, LARGEST) });
      await service.stop();
      await rm(dataDir, { recursive: true });
    }
  } finally {
    await bare.stop();
  }
  return all;
}

function toSpeed(floor: FloorSteps): number {
  const ms = Object.values(floor).reduce((sum, step: number) => sum + step, 0);
  return (LARGEST.files * LARGEST.mb * 1_000) / ms;
}

/** `read 60.0 ms, base64 13.0 ms, md5 120.0 ms, ...`. */
function describeFloor(all: readonly FloorSteps[]): string {
  const steps = Object.keys(all[0] ?? {}) as (keyof FloorSteps)[];
  return steps
    .map((step) => `${step.replace("Ms", "")} ${median(all.map((one) => one[step])).toFixed(1)} ms`)
    .join(", ");
}
