import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SvcToolkit } from "../../src/langchain.ts";
import { readCatalog } from "../../test/tools/catalog-service.ts";
import type { Sample } from "./sample.ts";

/*
 * Making LangChain tools of a catalogue, beside @composio/langchain and @langchain/mcp-adapters on equal schemas, and
 * the cold and warm start over 5,000 tools. Medians of fresh processes: `npm run bench:tools -- --samples 5`.
 * The other two come from bench/package.json: npm ci --prefix bench.
 */

const SIZES = [100, 1_000, 5_000];
const samples = Number(process.argv[process.argv.indexOf("--samples") + 1]) || 5;
const hasPeers = existsSync(join(import.meta.dirname, "../node_modules/@composio/langchain"));
/** For 1,000 tools. */
const TARGET = { cpuMs: 15, heapMb: 4 };

const folder = await mkdtemp(join(tmpdir(), "svc-bench-tools-"));
try {
  console.log(
    `Catalogue: ${readCatalog(1).source} schemas. Medians of ${samples} fresh processes, Node ${process.version}.`,
  );
  if (!hasPeers) console.log("Only this package: npm ci --prefix bench installs the others.");
  const reached = await compareWrapping();
  await compareStarts();
  console.log(
    `\nTarget for 1,000 tools, ${TARGET.cpuMs} ms CPU and ${TARGET.heapMb} MB: ${reached ? "reached" : "MISSED"}.`,
  );
  process.exitCode = reached ? 0 : 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}

async function compareWrapping(): Promise<boolean> {
  console.log("\n| wrap | tools | wall ms | CPU ms | heap +MB | convert all, CPU ms | heap after +MB | peak RSS MB |");
  console.log("|---|---|---|---|---|---|---|---|");
  let reached = false;
  for (const size of SIZES) {
    const service = await startService(size);
    const stateDir = join(folder, `wrap-${size}`);
    await describeAll(service.url, stateDir, size);
    const own = await sampleMany(["svc", String(size), service.url, stateDir]);
    printRow("svc-agent-plugin", own);
    if (size === 1_000) reached = own.cpuMs <= TARGET.cpuMs && own.heapMb <= TARGET.heapMb;
    service.stop();
    if (!hasPeers) continue;
    printRow("@composio/langchain 0.10.2", await sampleMany(["composio", String(size)]));
    printRow("@langchain/mcp-adapters 1.1.4", await sampleMany(["mcp", String(size)]));
  }
  return reached;
}

async function compareStarts(): Promise<void> {
  console.log("\n| start over 5,000 tools | wall ms | CPU ms | heap +MB | requests |\n|---|---|---|---|---|");
  const service = await startService(5_000);
  const before = await service.countRequests();
  const cold = await sampleMany((index) => ["svc-start", "5000", service.url, join(folder, `cold-${index}`)]);
  const after = await service.countRequests();
  printStart("svc-agent-plugin, cold", cold, (after - before) / samples);
  const warm = await sampleMany(["svc-start", "5000", service.url, join(folder, "cold-0")]);
  printStart("svc-agent-plugin, warm", warm, ((await service.countRequests()) - after) / samples);
  service.stop();
  if (hasPeers)
    printStart("@langchain/mcp-adapters, connected (no cache: every start)", await sampleMany(["mcp", "5000"]), 1);
}

function printRow(name: string, { tools, ...sample }: Sample): void {
  const { wallMs, cpuMs, heapMb, convertCpuMs, heapAfterConvertMb, peakRssMb } = sample;
  const cells = [wallMs, cpuMs, heapMb, convertCpuMs, heapAfterConvertMb, peakRssMb].map((value) => value.toFixed(1));
  console.log(`| ${[name, tools, ...cells].join(" | ")} |`);
}

function printStart(name: string, { wallMs, cpuMs, heapMb }: Sample, requests: number): void {
  console.log(`| ${[name, wallMs.toFixed(0), cpuMs.toFixed(0), heapMb.toFixed(1), requests].join(" | ")} |`);
}

/** Fills a cache with every description, so that the schemas are in memory before the measured step. */
async function describeAll(url: string, stateDir: string, size: number): Promise<void> {
  const toolkit = await SvcToolkit.create({ baseUrl: url, apiKey: "svc_live_bench", stateDir, describeAhead: 0 });
  const names = readCatalog(size).tools.map(({ name }) => name);
  for (let index = 0; index < names.length; index += 200) await toolkit.loadTools(names.slice(index, index + 200));
  await toolkit.close();
}

async function sampleMany(args: readonly string[] | ((index: number) => readonly string[])): Promise<Sample> {
  const all: Sample[] = [];
  for (let index = 0; index < samples; index += 1) {
    all.push(await sampleOnce(typeof args === "function" ? args(index) : args));
  }
  const median = (key: keyof Sample) =>
    all.map((sample) => sample[key]).sort((a, b) => a - b)[Math.floor(all.length / 2)] ?? 0;
  return {
    wallMs: median("wallMs"),
    cpuMs: median("cpuMs"),
    heapMb: median("heapMb"),
    convertCpuMs: median("convertCpuMs"),
    heapAfterConvertMb: median("heapAfterConvertMb"),
    tools: median("tools"),
    peakRssMb: median("peakRssMb"),
  };
}

async function sampleOnce(args: readonly string[]): Promise<Sample> {
  const script = join(import.meta.dirname, "sample.ts");
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", script, ...args]);
  return JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
}

async function startService(size: number) {
  const child = spawn(process.execPath, [join(import.meta.dirname, "serve-catalog.ts"), String(size)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  child.stdout.setEncoding("utf8");
  const [first] = await once(child.stdout, "data");
  return {
    url: String(first).trim(),
    stop: () => void child.kill(),
    async countRequests(): Promise<number> {
      child.kill("SIGUSR2");
      const [line] = await once(child.stdout, "data");
      return Number(/requests (\d+)/.exec(String(line))?.[1]);
    },
  };
}
