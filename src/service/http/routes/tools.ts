import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import { bareErrorSchema } from "../../../wire/bare-error.ts";
import { TOOL_PAGE } from "../../../wire/limits.ts";
import { type Tool, toolDescriptionSchema, toolListSchema, toolSearchSchema } from "../../../wire/tool.ts";
import { describeTool, summariseTool } from "../../catalog/describe-tool.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { readLimit } from "../read-query.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Default page size of a search; the document shows none. */
const SEARCH_DEFAULT = 10;

const query = z.object({
  query: z.string().optional(),
  integration: z.string().optional(),
  limit: z.string().optional(),
});
const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { "application/json": { schema } },
});
const refused = { 401: json(bareErrorSchema, "Missing or invalid key") };

const listRoute = createRoute({
  method: "get",
  path: "/api/tools",
  request: { query: query.omit({ query: true }) },
  responses: { 200: json(toolListSchema, "Tools by integration, then name"), ...refused },
});
const searchRoute = createRoute({
  method: "get",
  path: "/api/tools/search",
  request: { query },
  responses: {
    200: json(toolSearchSchema, "Tools by relevance"),
    400: json(bareErrorSchema, "No query"),
    ...refused,
  },
});
const describeRoute = createRoute({
  method: "get",
  path: "/api/tools/{name}",
  request: { params: z.object({ name: z.string() }) },
  responses: {
    200: json(toolDescriptionSchema, "The tool with its full input schema"),
    404: json(bareErrorSchema, "No such tool"),
    ...refused,
  },
});

/** "Discovery (tool-name model)". */
export function addToolRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.use("/api/tools", requireKey(parts));
  app.use("/api/tools/search", requireKey(parts));
  app.openapi(listRoute, async (c) => {
    const asked = c.req.valid("query");
    const integration = readIntegration(asked.integration);
    const limit = readLimit(asked.limit, { max: TOOL_PAGE.max, byDefault: TOOL_PAGE.default });
    const entries = parts.catalog.entries.filter((e) => integration === null || e.integration.slug === integration);
    const connections = await parts.connections.list();
    const page = entries.slice(0, limit).map((entry) => summariseTool(entry, connections));
    const left = entries.length - page.length;
    const tools = left > 0 ? [...page, createNotice(left)] : page;
    return c.json({ tools, count: page.length, total: entries.length, truncated: left > 0, integration }, 200);
  });
  app.openapi(searchRoute, async (c) => {
    const asked = c.req.valid("query");
    const words = asked.query?.trim() ?? "";
    if (words === "") {
      throw new ServiceError(400, "query_missing", "`query` is required: what should the tool do?", { bare: true });
    }
    const integration = readIntegration(asked.integration);
    const found = parts.catalog.search(words, integration ?? undefined);
    const connections = await parts.connections.list();
    const page = found.slice(0, readLimit(asked.limit, { max: TOOL_PAGE.max, byDefault: SEARCH_DEFAULT }));
    const tools = page.map((entry) => summariseTool(entry, connections));
    return c.json({ tools, count: tools.length, query: words, integration }, 200);
  });
  app.get("/api/tools/:name", requireKey(parts));
  app.openapi(describeRoute, async (c) => {
    const { name } = c.req.valid("param");
    const entry = parts.catalog.find(name);
    if (entry === undefined) throw new ServiceError(404, "tool_not_found", "Tool not found.", { bare: true });
    return c.json({ tool: describeTool(entry, await parts.connections.list()) }, 200);
  });
}

function readIntegration(text: string | undefined): string | null {
  return text?.trim().toLowerCase() || null;
}

/** Last entry of a truncated list; not callable ("Discovery" rule 2). */
function createNotice(left: number): Tool {
  const description = `${left} more ${left === 1 ? "tool" : "tools"} not shown. Filter by integration, raise the limit, or search.`;
  return { integration: null, name: null, description, inputSchema: null };
}
