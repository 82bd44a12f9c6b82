import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readCpu, readHeap } from "../processes/read-usage.ts";

/*
 * One measurement in a fresh process: `node sample.ts cache|read|parse STATE_DIR URL DIST` loads a cached catalogue as
 * a session does, or only reads the same file, or reads and parses it, and prints a line of JSON.
 */

/** What one process measured. */
export interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly heapMb: number;
  readonly tools: number;
  readonly fileMb: number;
}

const [candidate, stateDir = "", url = "", dist = ""] = process.argv.slice(2);
const file = await findCache(join(stateDir, "catalog"));
const work = candidate === "cache" ? await prepareSession() : readFileOnly;
const heapBefore = await readHeap();
const cpuBefore = process.cpuUsage();
const begun = performance.now();
const kept = await work();
const wallMs = performance.now() - begun;
const cpuMs = readCpu(cpuBefore);
const heapMb = (await readHeap()) - heapBefore;
const tools = typeof kept === "object" && kept !== null && "tools" in kept ? Number(kept.tools) : 0;
const sample: Sample = { wallMs, cpuMs, heapMb, tools, fileMb: (await stat(file)).size / 1024 / 1024 };
console.log(JSON.stringify(sample));
process.exit();

async function findCache(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((one) => one.startsWith("tools-"));
  return join(folder, name ?? "");
}

/** Opens a session whose list is on the disk; nothing is sent. */
async function prepareSession(): Promise<() => Promise<unknown>> {
  const { createToolSession } = await import(pathToFileURL(join(dist, "index.js")).href);
  const session = await createToolSession({ baseUrl: url, apiKey: "svc_live_bench", stateDir });
  return () => session.catalog.load();
}

async function readFileOnly(): Promise<unknown> {
  const text = await readFile(file, "utf8");
  return candidate === "parse" ? { list: JSON.parse(text) } : { text };
}
