import { existsSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One tool of a large catalogue. */
export interface CatalogTool {
  readonly integration: string;
  readonly name: string;
  readonly description: string;
  readonly mode: string;
  readonly inputSchema: Record<string, unknown>;
}

/** A service that offers a large catalogue and nothing else; it counts its requests. */
export interface CatalogService {
  readonly url: string;
  readonly requests: string[];
  close(): Promise<void>;
}

const FILE = new URL("../../../shared/data/catalog.jsonl", import.meta.url);
const PAGE = 200;

/**
 * The first `count` tools of the catalogue beside the repository where there is one, those without a schema given a
 * generated one; generated tools otherwise.
 */
export function readCatalog(count: number): { readonly tools: CatalogTool[]; readonly source: "real" | "generated" } {
  const generated = generateTools(count);
  if (!existsSync(FILE)) return { tools: generated, source: "generated" };
  const lines = readFileSync(FILE, "utf8").split("\n", count);
  const tools = generated.map((tool, index) => {
    const { inputSchema, ...real } = JSON.parse(lines[index] || JSON.stringify(tool)) as Partial<CatalogTool>;
    return { ...tool, ...real, inputSchema: inputSchema ?? tool.inputSchema };
  });
  return { tools, source: "real" };
}

/** Tools with 4 to 11 properties of the usual kinds, the same every time (xorshift, seed 42). */
export function generateTools(count: number): CatalogTool[] {
  let state = 42;
  const next = (below: number) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
  return Array.from({ length: count }, (_, index) => {
    const integration = `app-${index % 40}`;
    const names = Array.from({ length: 4 + next(8) }, (_unused, at) => `field_${at}`);
    const properties = Object.fromEntries(names.map((name) => [name, generateProperty(next(100))]));
    return {
      integration,
      name: `${integration}_action_${index}`,
      description: `Does number ${index} in ${integration}, with whatever the fields say.`,
      mode: index % 3 === 0 ? "write" : "read",
      inputSchema: { type: "object", properties, required: names.slice(0, 2), additionalProperties: false },
    };
  });
}

function generateProperty(dice: number): Record<string, unknown> {
  if (dice < 35) return { type: "string", description: "A text." };
  if (dice < 45) return { type: "string", enum: ["first", "second", "third"] };
  if (dice < 60) return { type: "integer", minimum: 0, maximum: 100, default: 10 };
  if (dice < 70) return { type: "boolean", description: "Whether." };
  if (dice < 85) return { type: "array", items: { type: "string" } };
  if (dice < 95) return { type: "object", properties: { a: { type: "string" }, b: { type: "number" } } };
  return { anyOf: [{ type: "string" }, { type: "null" }] };
}

/** Serves list, search, describe and integrations for `tools` on a free port, in pages of 200 as the document says. */
export async function startCatalogService(tools: readonly CatalogTool[]): Promise<CatalogService> {
  const requests: string[] = [];
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const byApp = Map.groupBy(tools, (tool) => tool.integration);
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    requests.push(`${request.method} ${url.pathname}${url.search}`);
    const app = url.searchParams.get("integration");
    const offered = app === null ? tools : (byApp.get(app) ?? []);
    if (url.pathname === "/api/tools") send(response, toPage(offered, Number(url.searchParams.get("limit") ?? 50)));
    else if (url.pathname === "/api/tools/search") send(response, search(offered, url.searchParams));
    else if (url.pathname === "/api/integrations") {
      const items = [...byApp.keys()].map((integration_id) => ({
        integration_id,
        name: integration_id,
        connected: true,
      }));
      const page = Number(url.searchParams.get("page") ?? 1);
      send(response, { items: items.slice((page - 1) * 100, page * 100), page, page_size: 100, total: items.length });
    } else {
      const tool = byName.get(decodeURIComponent(url.pathname.slice("/api/tools/".length)));
      if (tool === undefined) send(response, { error: "Not found" }, 404);
      else send(response, { tool: describe(tool) });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function toPage(offered: readonly CatalogTool[], limit: number) {
  const shown = offered.slice(0, Math.min(limit, PAGE)).map((tool) => ({ ...describe(tool), inputSchema: null }));
  const missing = offered.length - shown.length;
  const notice = { name: null, integration: null, description: `${missing} more tools`, inputSchema: null };
  return {
    tools: missing === 0 ? shown : [...shown, notice],
    count: shown.length,
    total: offered.length,
    truncated: missing > 0,
  };
}

function search(offered: readonly CatalogTool[], query: URLSearchParams) {
  const words = (query.get("query") ?? "").toLowerCase().split(/\s+/);
  const text = (tool: CatalogTool) => `${tool.name} ${tool.description}`.toLowerCase();
  const found = offered.filter((tool) => words.every((word) => text(tool).includes(word)));
  const shown = found
    .slice(0, Number(query.get("limit") ?? 50))
    .map((tool) => ({ ...describe(tool), inputSchema: null }));
  return { tools: shown, count: shown.length, query: query.get("query") };
}

function describe({ integration, name, description, mode, inputSchema }: CatalogTool) {
  return {
    integration,
    name,
    description,
    inputSchema,
    canonical: {
      integration_id: integration,
      action: { action_id: name, side_effect_level: mode === "read" ? "read" : "write" },
    },
  };
}

function send(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
