import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { findBuiltPackage, OWN_TREE } from "../processes/built-package.ts";
import { type Server, startServer } from "../processes/start-server.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { median } from "../report/statistics.ts";
import { takeTurns } from "../report/take-turns.ts";
import { BEFORE, CONNECTIONS, type LoadOptions } from "./compare-loads.ts";
import { idleApp } from "./idle-app.ts";
import { type Load, runLoad } from "./load.ts";
import { readAnswers } from "./requests.ts";

const BARE = "bare Hono handler, two commits";
/** Least share of its requests. */
const TARGET = 0.7;
const BODY = JSON.stringify({ arguments: { text: "x".repeat(100) }, confirmed: true });
const JSON_HEADERS = { "content-type": "application/json" };
const PAGE = Buffer.alloc(4096, "x");
/** The file is written from its start again after so many pages, as SQLite's log is. */
const PAGES = 1000;

/**
 * Approved writes per second, with an app that does nothing, beside a bare handler that makes the same two records of each
 * durable in one commit for all that wait. The note says what the disk can do.
 *
 * @param folder an empty one on the disk to be measured
 * @param before another checkout
 */
export async function measureWrites(folder: string, before: string | undefined, options: LoadOptions) {
  reportProgress("writes");
  const own = await openCandidate(OWN_TREE, join(folder, "writes"));
  const database = join(folder, "bare.db");
  await copyFile(join(folder, "writes", "svc.db"), database);
  const service = await own.serve();
  const load: Load = { ...own.load, origin: service.url };
  const [answer = ""] = await readAnswers(load);
  const servers: Server[] = [service];
  const loads = [load];
  const add = (server: Server, its: Omit<Load, "origin">) => {
    servers.push(server);
    loads.push({ ...its, origin: server.url });
  };
  add(await startServer([join(import.meta.dirname, "durable-server.ts"), database], "/health"), {
    method: "POST",
    headers: JSON_HEADERS,
    requests: [{ path: `/write?size=${Buffer.byteLength(answer)}`, body: BODY }],
  });
  if (before !== undefined) {
    const other = await openCandidate(before, join(folder, "writes-before"));
    add(await other.serve(), other.load);
  }
  const syncs: number[] = [];
  try {
    const results = await takeTurns(loads, { ...options, warmUps: 1 }, async (one) => {
      if (one === load) syncs.push(countSyncs(join(folder, "syncs"), options.seconds / 4));
      return (await runLoad(one, CONNECTIONS, options.seconds)).perSecond;
    });
    const [samples = [], bare = [], old] = results;
    const peers = [{ name: BARE, samples: bare }, ...(old === undefined ? [] : [{ name: BEFORE, samples: old }])];
    const measure: Measure = {
      what: "approved write",
      unit: "requests/s",
      samples,
      peers,
      targets: [{ bound: "at least", limit: TARGET, ratioTo: BARE }],
    };
    const note = `the bare handler of the writes records each start and each end as the service does, in the same table of SQLite; all that come in one turn of the event loop share a commit. Of a file that one page is written to, this disk synced ${median(syncs).toFixed(0)} (${Math.min(...syncs).toFixed(0)}..${Math.max(...syncs).toFixed(0)}) a second between the rounds.`;
    return { measure, note };
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

/** A data folder with a key and the idle app, made by a checkout of this package. */
async function openCandidate(tree: string, dataDir: string) {
  const { startTestService } = (await import(join(tree, "src/testing.ts"))) as typeof import("../../src/testing.ts");
  const { apiKey, service, close } = await startTestService({ dataDir, integrations: [idleApp] });
  await service.connections.add({ integration: idleApp.slug, label: "Idle", settings: {} });
  await close();
  const load: Omit<Load, "origin"> = {
    method: "POST",
    headers: { ...JSON_HEADERS, "x-svc-api-key": apiKey },
    requests: [{ path: "/api/tools/idle_write/execute", body: BODY }],
  };
  const script = join(import.meta.dirname, "write-service.ts");
  const built = await findBuiltPackage(tree);
  return { load, serve: () => startServer([script, built, dataDir], "/health") };
}

/** How often a second the disk takes one more page of a file. */
function countSyncs(file: string, seconds: number): number {
  const descriptor = openSync(file, "w");
  const begun = performance.now();
  let count = 0;
  for (; performance.now() - begun < seconds * 1000; count += 1) {
    writeSync(descriptor, PAGE, 0, PAGE.length, (count % PAGES) * PAGE.length);
    fdatasyncSync(descriptor);
  }
  const perSecond = count / ((performance.now() - begun) / 1000);
  closeSync(descriptor);
  return perSecond;
}
