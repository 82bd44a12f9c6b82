import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";

/*
 * Which functions of a checkout one call runs: `node sample.ts TREE read|write` starts the service of that checkout and
 * its LangChain tools in this process, makes the call once to warm up, then counts with V8's precise coverage, and
 * prints a line of JSON. It uses the public doors only, so that one script fits every layout.
 */

/** The functions of one file that ran, and how often. */
export interface Entered {
  /** Relative to the checkout. */
  readonly file: string;
  readonly functions: number;
  readonly calls: number;
}

/** Counted calls; the one with the fewest files is taken, as background work of the service only ever adds some. */
const ROUNDS = 3;
const FILE_BYTES = 12 * 1024;
/** Lets the work end that a call leaves behind, such as closing files. */
const SETTLE_MS = 200;

const [tree = "", kind = ""] = process.argv.slice(2);
const { SvcToolkit }: typeof import("../../src/langchain.ts") = await import(locate("src/langchain.ts"));
const { startTestService }: typeof import("../../src/testing.ts") = await import(locate("src/testing.ts"));

const folder = await mkdtemp(join(tmpdir(), "svc-bench-house-"));
const service = await startTestService();
const toolkit = await SvcToolkit.create({
  baseUrl: service.url,
  apiKey: service.apiKey,
  stateDir: join(folder, "state"),
  mediaRoots: [folder],
  approve: async ({ id, fingerprint }) => ({ type: "approve", id, fingerprint }),
});
try {
  console.log(JSON.stringify(await measure(kind === "write" ? "drive_upload_file" : "drive_list_files")));
} finally {
  await toolkit.close();
  await service.close();
  await rm(folder, { recursive: true, force: true });
}

function locate(path: string): string {
  return pathToFileURL(join(tree, path)).href;
}

async function measure(name: string): Promise<readonly Entered[]> {
  const tool = toolkit.getTools().find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`The service has no tool ${name}.`);
  const profiler = new Session();
  profiler.connect();
  await profiler.post("Profiler.enable");
  await profiler.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  let fewest: readonly Entered[] | undefined;
  for (let round = 0; round <= ROUNDS; round += 1) {
    const args = kind === "write" ? await prepareUpload(round) : {};
    await sleep(SETTLE_MS);
    await profiler.post("Profiler.takePreciseCoverage");
    const message: unknown = await tool.invoke({ type: "tool_call", name, args, id: `call-${round}` });
    const { result } = await profiler.post("Profiler.takePreciseCoverage");
    if (!JSON.stringify(message).includes('"status":"succeeded"')) throw new Error(JSON.stringify(message));
    const entered = result.flatMap(countFile);
    if (round > 0 && (fewest === undefined || entered.length < fewest.length)) fewest = entered;
  }
  profiler.disconnect();
  return fewest ?? [];
}

async function prepareUpload(round: number) {
  const file = join(folder, `report-${round}.txt`);
  await writeFile(file, "x".repeat(FILE_BYTES));
  return { file, folder: "Reports" };
}

function countFile({ url, functions }: { url: string; functions: readonly CoveredFunction[] }): Entered[] {
  const root = locate("src/");
  if (!url.startsWith(root)) return [];
  // The function at offset 0 is the module itself.
  const ran = functions.map(({ ranges: [whole] }) => whole).filter((whole) => whole !== undefined);
  const counts = ran.filter(({ startOffset, count }) => startOffset > 0 && count > 0).map(({ count }) => count);
  if (counts.length === 0) return [];
  const calls = counts.reduce((sum, count) => sum + count);
  return [{ file: `src/${decodeURI(url.slice(root.length))}`, functions: counts.length, calls }];
}

interface CoveredFunction {
  readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
}
