import { mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { findBuiltPackage } from "../processes/built-package.ts";
import { runSample } from "../processes/run-sample.ts";
import type { Measure, PartReport } from "../report/part-report.ts";
import { readCount, reportProgress, runPart } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";
import type { EntrySample } from "./entry-sample.ts";
import { measureCommands } from "./measure-commands.ts";
import { measureServe } from "./measure-serve.ts";

/*
 * Starts of the command line, the OpenClaw entry and the service as they are installed (compiled), beside the same
 * without anything in it. `npm run bench -- starts --rounds 11`
 */

const ENTRY_TARGET_MS = 6;
const rounds = readCount("--rounds", 11);

const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-bench-starts-")));
// Compiled code is kept here, and not in the cache of whoever measures.
process.env.SVC_HOME = join(folder, "home");
try {
  await runPart(measureStarts);
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function measureStarts(): Promise<PartReport> {
  const dist = await findBuiltPackage();
  const commands = await measureCommands(dist, folder, rounds);
  const serve = await measureServe(dist, folder, rounds);
  return { title: "Starts", measures: [...commands, ...(await compareEntry(dist)), ...serve], notes: [] };
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
