import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { request } from "undici";
import { startTestService } from "../../src/testing.ts";
import { type Server, startServer } from "../processes/start-server.ts";
import type { Measure, Target } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";

const BARE = "bare Hono handler";
const START_TARGET_MS = 300;
const IDLE_TARGET_MB = 110;
/** After the first answer. */
const IDLE_MS = 5_000;
/** Each takes as long as a service is left idle. */
const MEMORY_ROUNDS = 3;

interface Candidate {
  readonly args: readonly string[];
  readonly path: string;
}

/**
 * `svc serve` on a folder that was served before, beside a bare Hono server: until its first answer, the first requests
 * of a device after that, its end, and its memory.
 */
export async function measureServe(dist: string, folder: string, rounds: number): Promise<Measure[]> {
  reportProgress("service");
  const dataDir = join(folder, "serve-data");
  await mkdir(dataDir);
  const { apiKey, close } = await startTestService({ dataDir });
  await close();
  const own = { args: [join(dist, "bin.js"), "serve", "--port", "0", "--data", dataDir], path: "/health" };
  const bare = { args: [join(import.meta.dirname, "../service/bare-server.ts")], path: "/bare?size=20" };
  return [
    ...(await measureTimes([own, bare], apiKey, rounds)),
    ...(await measureMemory([own, bare], apiKey, Math.min(rounds, MEMORY_ROUNDS))),
  ];
}

async function measureTimes(candidates: readonly Candidate[], apiKey: string, rounds: number): Promise<Measure[]> {
  const samples = await takeTurns(candidates, { rounds, warmUps: 1 }, async ({ args, path }) => {
    const server = await startServer(args, path);
    const listMs = path === "/health" ? await ask(server, "/api/tools", apiKey) : await ask(server, path, apiKey);
    const begun = performance.now();
    await server.stop();
    return { startMs: server.startMs, listMs, stopMs: performance.now() - begun };
  });
  const toMeasure = (what: string, key: "startMs" | "listMs" | "stopMs", targets?: Target[]) =>
    compare(
      { what, unit: "ms", targets },
      samples.map((list) => list.map((one) => one[key])),
    );
  return [
    toMeasure("svc serve to its first answer: wall", "startMs", [{ bound: "at most", limit: START_TARGET_MS }]),
    toMeasure("the first GET /api/tools after that: wall", "listMs"),
    toMeasure("svc serve from SIGTERM to its end: wall", "stopMs"),
  ];
}

async function measureMemory(candidates: readonly Candidate[], apiKey: string, rounds: number): Promise<Measure[]> {
  reportProgress("memory of the service");
  const samples = await takeTurns(candidates, { rounds, warmUps: 0 }, async ({ args, path }) => {
    const server = await startServer(args, path);
    await sleep(IDLE_MS);
    const idle = (await server.memory()) ?? Number.NaN;
    if (path === "/health") await useTools(server, apiKey);
    const used = (await server.memory()) ?? Number.NaN;
    await server.stop();
    return { idle, used };
  });
  const toMeasure = (what: string, key: "idle" | "used", targets?: Target[]) =>
    compare(
      { what, unit: "MB", targets },
      samples.map((list) => list.map((one) => one[key])),
    );
  return [
    toMeasure("svc serve, idle for 5 s: memory", "idle", [{ bound: "at most", limit: IDLE_TARGET_MB }]),
    toMeasure("the same after a list, a search and an execution: memory", "used"),
  ];
}

function compare(
  { what, unit, targets }: Pick<Measure, "what" | "unit" | "targets">,
  [own = [], bare = []]: readonly number[][],
): Measure {
  return { what, unit, samples: own, peers: [{ name: BARE, samples: bare }], targets };
}

async function useTools(server: Server, apiKey: string): Promise<void> {
  await ask(server, "/api/tools", apiKey);
  await ask(server, "/api/tools/search?query=list%20files", apiKey);
  await ask(server, "/api/tools/drive_list_files/execute", apiKey, { arguments: {} });
}

/** Milliseconds until the whole answer is there, on a connection of its own. */
async function ask(server: Server, path: string, apiKey: string, body?: object): Promise<number> {
  const begun = performance.now();
  const answer = await request(`${server.url}${path}`, {
    method: body === undefined ? "GET" : "POST",
    headers: { "x-svc-api-key": apiKey, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  await answer.body.dump();
  if (answer.statusCode !== 200) throw new Error(`${path} answered ${answer.statusCode}`);
  return performance.now() - begun;
}
