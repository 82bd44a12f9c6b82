import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { readHeap } from "../processes/read-usage.ts";

/*
 * One measurement in a fresh process: `node cache-sample.ts cache|read|parse STATE_DIR URL` loads a cached catalogue as
 * a session does, or only reads the same file, or reads and parses it, and prints a line of JSON.
 */

/** What one process measured. */
export interface CacheSample {
  readonly wallMs: number;
  readonly memoryMb: number;
  readonly tools: number;
  readonly fileMb: number;
}

const [candidate, stateDir = "", url = ""] = process.argv.slice(2);
const file = await findCache(join(stateDir, "catalog"));
const work = candidate === "cache" ? await prepareSession() : readFileOnly;
const before = await readMemory();
const begun = performance.now();
const kept = await work();
const wallMs = performance.now() - begun;
const memoryMb = (await readMemory()) - before;
const tools = typeof kept === "object" && kept !== null && "tools" in kept ? Number(kept.tools) : 0;
const sample: CacheSample = { wallMs, memoryMb, tools, fileMb: (await stat(file)).size / 1024 / 1024 };
console.log(JSON.stringify(sample));
process.exit();

async function findCache(folder: string): Promise<string> {
  const name = (await readdir(folder)).find((one) => one.startsWith("tools-"));
  return join(folder, name ?? "");
}

/** Opens a session whose list is on the disk; nothing is sent. */
async function prepareSession(): Promise<() => Promise<unknown>> {
  const { createToolSession } = await import("../../src/plugin/calls/session.ts");
  const session = await createToolSession({ baseUrl: url, apiKey: "svc_live_bench", stateDir });
  return () => session.catalog.load();
}

async function readFileOnly(): Promise<unknown> {
  const text = await readFile(file, "utf8");
  // Its lines are JSON.
  return candidate === "parse" ? { list: JSON.parse(`[${text.trim().split("\n").join(",")}]`) } : { text };
}

/** Heap and buffers after a collection, in MB. */
async function readMemory(): Promise<number> {
  return (await readHeap()) + process.memoryUsage().arrayBuffers / 1024 / 1024;
}
