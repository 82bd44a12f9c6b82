import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { CatalogTool } from "../../test/plugin/calls/catalog-service.ts";
import { readCatalog } from "../../test/plugin/calls/catalog-service.ts";
import { readCpu, readHeap } from "../processes/read-usage.ts";

/*
 * One measurement in a fresh process: `node --expose-gc sample.ts CANDIDATE COUNT [URL STATE_DIR]` prints a line of
 * JSON. What is counted is the step that makes LangChain tools of schemas which are in memory already (for
 * mcp-adapters: which an already connected server lists), then the conversion of all of them to what a model is sent.
 * `svc` has shown none of them before, neither here nor to the cache; `svc-cached` finds what an earlier process left.
 */

/** What one process measured. */
export interface Sample {
  readonly wallMs: number;
  readonly cpuMs: number;
  readonly heapMb: number;
  /** CPU of converting all tools to the form of the OpenAI API, the first time. */
  readonly convertCpuMs: number;
  /** Both. */
  readonly builtAndConvertedCpuMs: number;
  readonly heapAfterConvertMb: number;
  readonly tools: number;
  readonly peakRssMb: number;
}

type Wrap = () => Promise<readonly unknown[]> | readonly unknown[];

const [candidate = "", countText = "0", url = "", stateDir = ""] = process.argv.slice(2);
const count = Number(countText);
const { wrap, convert, close } = await prepare();
const sample = await measure(wrap, convert);
console.log(JSON.stringify(sample));
await close();

async function prepare(): Promise<{ wrap: Wrap; convert: (tool: unknown) => unknown; close: () => Promise<unknown> }> {
  switch (candidate) {
    case "svc":
    case "svc-cached":
      return prepareSvc();
    case "svc-start":
      return prepareStart();
    case "composio":
      return prepareComposio(readCatalog(count).tools);
    case "mcp":
      return prepareMcp();
    default:
      throw new Error(`No candidate "${candidate}"`);
  }
}

/** The tools of a toolkit whose catalogue is in memory. */
async function prepareSvc() {
  const { SvcToolkit } = await import("../../src/langchain.ts");
  const { convertToOpenAITool } = await import("@langchain/core/utils/function_calling");
  const toolkit = await SvcToolkit.create({ baseUrl: url, apiKey: "svc_live_bench", stateDir, describeAhead: 0 });
  // A cache may be read later than it is opened.
  if (candidate === "svc") for (const { inputSchema } of toolkit.session.catalog.list()) Object(inputSchema);
  const filter = { deferLoading: true, limit: count, staticTools: false };
  return {
    wrap: () => toolkit.getTools(filter),
    convert: (tool: unknown) => convertToOpenAITool(tool as never),
    // What was shown is not left to the next sample.
    close: candidate === "svc" ? async () => process.exit() : () => toolkit.close(),
  };
}

/** From nothing in memory to a usable toolkit; cold or warm by what `stateDir` holds. */
async function prepareStart() {
  const { SvcToolkit } = await import("../../src/langchain.ts");
  const { convertToOpenAITool } = await import("@langchain/core/utils/function_calling");
  let close = async () => {};
  return {
    wrap: async () => {
      const toolkit = await SvcToolkit.create({ baseUrl: url, apiKey: "svc_live_bench", stateDir });
      close = () => toolkit.close();
      return toolkit.getTools();
    },
    convert: (tool: unknown) => convertToOpenAITool(tool as never),
    close: () => close(),
  };
}

/** Resolves a package of `bench/package.json`, which is not installed with this one. */
async function importPeer(path: string): Promise<Record<string, never>> {
  return import(pathToFileURL(join(import.meta.dirname, "../node_modules", path)).href);
}

async function prepareComposio(tools: readonly CatalogTool[]) {
  const { LangchainProvider } = await importPeer("@composio/langchain/dist/index.mjs");
  const { convertToOpenAITool } = await importPeer("@langchain/core/dist/utils/function_calling.js");
  const provider: { wrapTools(tools: unknown[], execute: unknown): unknown[] } = Reflect.construct(
    LangchainProvider!,
    [],
  );
  const raw = tools.map(({ name, description, integration, inputSchema }) => ({
    slug: name.toUpperCase(),
    name,
    description,
    toolkit: { name: integration, slug: integration },
    inputParameters: inputSchema,
    tags: [],
    version: "1",
  }));
  return {
    wrap: () => provider.wrapTools(raw, async () => ({ successful: true, data: {} })),
    convert: convertToOpenAITool as unknown as (tool: unknown) => unknown,
    close: async () => {},
  };
}

async function prepareMcp() {
  const { loadMcpTools } = await importPeer("@langchain/mcp-adapters/dist/index.js");
  const { convertToOpenAITool } = await importPeer("@langchain/core/dist/utils/function_calling.js");
  const { Client } = await importPeer("@modelcontextprotocol/sdk/dist/esm/client/index.js");
  const { StdioClientTransport } = await importPeer("@modelcontextprotocol/sdk/dist/esm/client/stdio.js");
  const client: { connect(transport: unknown): Promise<void>; close(): Promise<void> } = Reflect.construct(Client!, [
    { name: "bench", version: "1" },
  ]);
  const server = join(import.meta.dirname, "mcp-server.ts");
  const transport = Reflect.construct(StdioClientTransport!, [
    { command: process.execPath, args: [server, String(count)] },
  ]);
  await client.connect(transport);
  return {
    wrap: () => (loadMcpTools as unknown as (name: string, client: unknown) => Promise<unknown[]>)("bench", client),
    convert: convertToOpenAITool as unknown as (tool: unknown) => unknown,
    close: () => client.close(),
  };
}

async function measure(wrap: Wrap, convert: (tool: unknown) => unknown): Promise<Sample> {
  const heapBefore = await readHeap();
  const cpuBefore = process.cpuUsage();
  const begun = performance.now();
  const tools = await wrap();
  const wallMs = performance.now() - begun;
  const cpuMs = readCpu(cpuBefore);
  const heapMb = (await readHeap()) - heapBefore;
  const convertBefore = process.cpuUsage();
  for (const tool of tools) convert(tool);
  const convertCpuMs = readCpu(convertBefore);
  const heapAfterConvertMb = (await readHeap()) - heapBefore;
  const peakRssMb = process.resourceUsage().maxRSS / 1024;
  const builtAndConvertedCpuMs = cpuMs + convertCpuMs;
  return {
    wallMs,
    cpuMs,
    heapMb,
    convertCpuMs,
    builtAndConvertedCpuMs,
    heapAfterConvertMb,
    tools: tools.length,
    peakRssMb,
  };
}
