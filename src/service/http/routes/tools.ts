import type { Hono } from "hono";
import { TOOL_PAGE } from "../../../wire/limits.ts";
import type { Tool } from "../../../wire/tool.ts";
import { describeTool, summariseTool } from "../../catalog/describe-tool.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { readLimit, readText } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Default page size of a search; the document shows none. */
const SEARCH_DEFAULT = 10;

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
    const entry = parts.catalog.find(c.req.param("name"));
    if (entry === undefined) throw new ServiceError(404, "tool_not_found", "Tool not found.", { bare: true });
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
