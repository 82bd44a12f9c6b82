import type { Hono } from "hono";
import { z } from "zod";
import { TOOL_PAGE } from "../../../wire/constants.ts";
import type { Tool } from "../../../wire/tool.ts";
import { describeTool, summariseTool } from "../../catalog/describe-catalog.ts";
import { toolNotFound } from "../../catalog/not-found.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { bare, type Operation, query, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { readLimit, readText } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Default page size of a search; the document shows none. */
const SEARCH_DEFAULT = 10;

const INTEGRATION = query("integration", "Slug of the only integration to look at.");

/** OpenAPI description of these endpoints. */
export const toolOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/api/tools",
    summary: "Lists tools by integration, then name, without schemas.",
    tag: "Tools",
    access: "key",
    parameters: [
      INTEGRATION,
      {
        ...query("limit", `1 to ${TOOL_PAGE.max}; other numbers are clamped.`),
        schema: z.int().min(1).max(TOOL_PAGE.max).default(TOOL_PAGE.default),
      },
    ],
    answers: { 200: { description: "Tools; a notice comes last when some are left out", body: shapes.ToolList } },
  },
  {
    method: "get",
    path: "/api/tools/search",
    summary: "Finds tools by words.",
    tag: "Tools",
    access: "key",
    parameters: [
      query("query", "What the tool should do, in a few words.", true),
      INTEGRATION,
      { ...query("limit", "Most tools in the answer."), schema: z.int().min(1).max(TOOL_PAGE.max).default(10) },
    ],
    answers: { 200: { description: "Tools by relevance", body: shapes.ToolSearch }, 400: bare("`query` is missing") },
  },
  {
    method: "get",
    path: "/api/tools/{name}",
    summary: "Describes one tool with its full input schema.",
    tag: "Tools",
    access: "key",
    parameters: [segment("name", "Full tool name from a list or search.")],
    answers: { 200: { description: "The tool", body: shapes.ToolDescription }, 404: bare("No such tool") },
  },
];

/** "Discovery (tool-name model)". */
export function addToolRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.use("/api/tools", requireKey(parts));
  app.use("/api/tools/search", requireKey(parts));
  app.get("/api/tools", async (c) => {
    const integration = readIntegration(c.req.query("integration"));
    const limit = readLimit(c.req.query("limit"), { max: TOOL_PAGE.max, byDefault: TOOL_PAGE.default });
    const entries = parts.catalog.entries.filter((e) => integration === null || e.integration.slug === integration);
    const connections = await parts.connections.list();
    const page = entries.slice(0, limit).map((entry) => summariseTool(entry, connections));
    const left = entries.length - page.length;
    const tools = left > 0 ? [...page, createNotice(left)] : page;
    return c.json({ tools, count: page.length, total: entries.length, truncated: left > 0, integration }, 200);
  });
  app.get("/api/tools/search", async (c) => {
    const words = readText(c.req.query("query"));
    if (words === undefined) {
      throw new ServiceError(400, "query_missing", "`query` is required: what should the tool do?", { bare: true });
    }
    const integration = readIntegration(c.req.query("integration"));
    const found = parts.catalog.search(words, integration ?? undefined);
    const connections = await parts.connections.list();
    const page = found.slice(0, readLimit(c.req.query("limit"), { max: TOOL_PAGE.max, byDefault: SEARCH_DEFAULT }));
    const tools = page.map((entry) => summariseTool(entry, connections));
    return c.json({ tools, count: tools.length, query: words, integration }, 200);
  });
  app.get("/api/tools/:name", requireKey(parts), async (c) => {
    const name = c.req.param("name");
    const entry = parts.catalog.find(name);
    if (entry === undefined) throw toolNotFound(parts.catalog, name);
    return c.json({ tool: describeTool(entry, await parts.connections.list()) }, 200);
  });
}

function readIntegration(text: string | undefined): string | null {
  return readText(text)?.toLowerCase() ?? null;
}

/** Last entry of a truncated list; not callable ("Discovery" rule 2). */
function createNotice(left: number): Tool {
  const description = `${left} more ${left === 1 ? "tool" : "tools"} not shown. Filter by integration, raise the limit, or search.`;
  return { integration: null, name: null, description, inputSchema: null };
}
