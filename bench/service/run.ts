import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startTestService } from "../../src/testing.ts";
import { type Load, type LoadResult, median, runLoad } from "./load.ts";
import { type Server, spawnServer } from "./spawn-server.ts";

/*
 * Requests per second and latency of the service beside a bare Hono handler that sends answers of the same size, in
 * one run on one machine, rounds in turn; then start-up time and memory. `npm run bench:service -- --seconds 5`.
 */
const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));
const BARE = fileURLToPath(new URL("./bare-server.ts", import.meta.url));
const CONNECTIONS = 16;
const ROUNDS = 3;
const STARTS = 5;
const seconds = Number(process.argv[process.argv.indexOf("--seconds") + 1]) || 2;

const folder = await mkdtemp(join(tmpdir(), "svc-bench-"));
const dataDir = join(folder, "data");
const serveArgs = [BIN, "serve", "--port", "0", "--data", dataDir];

try {
  const prepared = await startTestService({ dataDir });
  const { apiKey } = prepared;
  await prepared.close();
  const service = await spawnServer(serveArgs, "/health");
  const bare = await spawnServer([BARE], "/bare?size=20");
  try {
    await compareLoads(service, bare, apiKey);
    console.log(
      `\nMemory after the load: service ${format(await service.memory())} MB, bare ${format(await bare.memory())} MB`,
    );
  } finally {
    await service.stop();
    await bare.stop();
  }
  await compareStarts();
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function compareLoads(service: Server, bare: Server, apiKey: string): Promise<void> {
  const headers = { "x-svc-api-key": apiKey, "content-type": "application/json" };
  const rpc = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "svc.search", arguments: { query: "unread mail" } },
  };
  const loads: Record<string, Omit<Load, "origin">> = {
    "GET /api/tools": { path: "/api/tools", method: "GET", headers },
    "GET /api/tools/search": { path: "/api/tools/search?query=unread%20mail", method: "GET", headers },
    "GET /api/tools/{name}": { path: "/api/tools/drive_upload_file", method: "GET", headers },
    "POST execute (read)": {
      path: "/api/tools/drive_list_files/execute",
      method: "POST",
      headers,
      body: '{"arguments":{}}',
    },
    "POST /api/mcp tools/call": { path: "/api/mcp", method: "POST", headers, body: JSON.stringify(rpc) },
  };
  console.log(`${CONNECTIONS} connections, ${ROUNDS} rounds of ${seconds} s each in turn, medians\n`);
  const row = (cells: readonly string[]) =>
    console.log(cells.map((cell, index) => (index ? cell.padStart(11) : cell.padEnd(26))).join(""));
  row(["", "req/s", "p50 ms", "p99 ms", "bare req/s", "bare p50", "bare p99", "ratio"]);
  for (const [name, load] of Object.entries(loads)) {
    const ours = { ...load, origin: service.url };
    const { replyBytes } = await runLoad(ours, CONNECTIONS, 0.5);
    const floor = { ...load, origin: bare.url, path: `/bare?size=${replyBytes}` };
    await runLoad(floor, CONNECTIONS, 0.5);
    const results: { ours: LoadResult; floor: LoadResult }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      results.push({
        ours: await runLoad(ours, CONNECTIONS, seconds),
        floor: await runLoad(floor, CONNECTIONS, seconds),
      });
    }
    const middle = (pick: (one: (typeof results)[number]) => number) => median(results.map(pick));
    row([
      name,
      format(
        middle((one) => one.ours.perSecond),
        0,
      ),
      format(
        middle((one) => one.ours.p50),
        2,
      ),
      format(
        middle((one) => one.ours.p99),
        2,
      ),
      format(
        middle((one) => one.floor.perSecond),
        0,
      ),
      format(
        middle((one) => one.floor.p50),
        2,
      ),
      format(
        middle((one) => one.floor.p99),
        2,
      ),
      format(
        middle((one) => one.ours.perSecond / one.floor.perSecond),
        2,
      ),
    ]);
  }
}

async function compareStarts(): Promise<void> {
  const starts: { service: number; bare: number; memory: number }[] = [];
  for (let round = 0; round < STARTS; round += 1) {
    const service = await spawnServer(serveArgs, "/health");
    const memory = (await service.memory()) ?? Number.NaN;
    await service.stop();
    const bare = await spawnServer([BARE], "/bare?size=20");
    await bare.stop();
    starts.push({ service: service.startMs, bare: bare.startMs, memory });
  }
  const middle = (pick: (one: (typeof starts)[number]) => number) => format(median(starts.map(pick)), 0);
  console.log(
    `Start to first answer, median of ${STARTS}: service ${middle((one) => one.service)} ms (${middle((one) => one.memory)} MB), bare ${middle((one) => one.bare)} ms`,
  );
}

function format(value: number | undefined, digits = 1): string {
  return value === undefined ? "?" : value.toFixed(digits);
}
