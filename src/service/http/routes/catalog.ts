import type { Context, Hono } from "hono";
import { z } from "zod";
import { createShelf } from "../../../shared/base/newest.ts";
import { TOOL_PAGE } from "../../../shared/wire/constants.ts";
import type { Tool } from "../../../shared/wire/tool.ts";
import type { AccessView } from "../../access/access-view.ts";
import {
  describeAction,
  describeTool,
  findIntegrations,
  listActions,
  listConnected,
  searchCatalog,
  summariseTool,
} from "../../catalog/describe-catalog.ts";
import { actionNotFound, requireIntegration, toolNotFound } from "../../catalog/not-found.ts";
import { refuseBare, ServiceError } from "../../service-error.ts";
import { bare, count, type Operation, problem, query, segment } from "../openapi/operation.ts";
import { shapes } from "../openapi/shapes.ts";
import { renderProblem } from "../render-outcome.ts";
import { type RouteEnv, readFlag, readLimit, readText, requireKey } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { sendJson } from "../whole-answer.ts";

/** The document shows no default; the maximum keeps one answer small. */
const PAGE_SIZE = { max: 100, byDefault: 25 } as const;
const MAX_PAGE = 1_000_000;

const CONNECTED_ONLY = { ...query("connected_only", "Leaves out apps that are not connected."), schema: z.boolean() };

const CATALOG = { method: "get", tag: "Catalog", access: "key" } as const;

/** OpenAPI description of these endpoints. */
export const catalogOperations: readonly Operation[] = [
  {
    ...CATALOG,
    path: "/api/integrations",
    summary: "Lists apps, connected or not.",
    parameters: [
      query("query", "Words; the best fitting apps come first."),
      query("category", "Category of apps."),
      CONNECTED_ONLY,
      query("supports_action", "Action id or tool name that the app must have."),
      count("page", "From 1.", { byDefault: 1 }),
      count("page_size", "1 to 100.", PAGE_SIZE),
    ],
    answers: { 200: { description: "One page of apps", body: shapes.IntegrationPage } },
  },
  {
    ...CATALOG,
    path: "/api/actions",
    summary: "Lists the actions of an app.",
    parameters: [
      query("integration_id", "Slug of the app.", true),
      query("intent", "What should be done; fitting actions come first."),
    ],
    answers: {
      200: { description: "All actions of the app", body: shapes.ActionList },
      400: problem("`integration_id` is missing"),
      404: problem("No such app"),
    },
  },
  {
    ...CATALOG,
    path: "/api/actions/{integration_id}/{action_id}",
    summary: "Describes one action with the schema that its input is checked against.",
    parameters: [segment("integration_id", "Slug of an app."), segment("action_id", "Action id or full tool name.")],
    answers: {
      200: { description: "The action", body: shapes.ActionDetail },
      404: problem("No such app or action"),
    },
  },
  {
    ...CATALOG,
    path: "/api/search",
    summary: "Finds actions and apps by words.",
    parameters: [
      query("query", "What should be done, in a few words.", true),
      CONNECTED_ONLY,
      count("limit", "1 to 100.", PAGE_SIZE),
    ],
    answers: {
      200: { description: "Finds by relevance", body: shapes.CatalogSearch },
      400: problem("`query` is missing"),
    },
  },
];

/** "Catalog discovery (canonical model)". Problems are answered as execution summaries. */
export function addCatalogRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  for (const path of ["/api/integrations", "/api/actions", "/api/actions/:integration/:action", "/api/search"]) {
    app.use(path, requireKey(parts));
  }
  app.get("/api/integrations", async (c) => {
    const { catalog, connections } = c.get("view");
    const items = findIntegrations(catalog, await connections.list(), {
      query: readText(c.req.query("query")),
      category: readText(c.req.query("category")),
      connectedOnly: readFlag(c.req.query("connected_only")),
      supportsAction: readText(c.req.query("supports_action")),
    });
    const page = readLimit(c.req.query("page"), { max: MAX_PAGE, byDefault: 1 });
    const page_size = readLimit(c.req.query("page_size"), PAGE_SIZE);
    const start = (page - 1) * page_size;
    return sendJson({ items: items.slice(start, start + page_size), page, page_size, total: items.length });
  });
  app.get("/api/actions", (c) => {
    const asked = readText(c.req.query("integration_id"));
    return answer(parts, { integrationId: asked ?? null, actionId: null }, () => {
      if (asked === undefined) throw missing("integration_id", "the slug of an app, see GET /api/integrations");
      const { catalog } = c.get("view");
      const integration = requireIntegration(catalog, asked);
      const items = listActions(catalog, integration, readText(c.req.query("intent")));
      return { integration_id: integration.slug, items };
    });
  });
  app.get("/api/actions/:integration/:action", (c) => {
    const { integration: integrationId, action: actionId } = c.req.param();
    return answer(parts, { integrationId, actionId }, () => {
      const { catalog } = c.get("view");
      const entry = catalog.findAction(integrationId, actionId);
      if (entry === undefined) throw actionNotFound(catalog, integrationId, actionId);
      return describeAction(entry);
    });
  });
  app.get("/api/search", (c) =>
    answer(parts, { integrationId: null, actionId: null }, async () => {
      const query = readText(c.req.query("query"));
      if (query === undefined) throw missing("query", "what should be done, in a few words");
      const connectedOnly = readFlag(c.req.query("connected_only"));
      const limit = readLimit(c.req.query("limit"), PAGE_SIZE);
      const { catalog, connections } = c.get("view");
      return { items: searchCatalog(catalog, await connections.list(), { query, connectedOnly, limit }) };
    }),
  );
}

async function answer(
  { now }: ServiceParts,
  asked: { integrationId: string | null; actionId: string | null },
  work: () => object | Promise<object>,
): Promise<Response> {
  try {
    return sendJson(await work());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return renderProblem(error, { ...asked, at: new Date(now()).toISOString() });
  }
}

function missing(name: string, meaning: string): ServiceError {
  return new ServiceError(400, `${name}_missing`, `\`${name}\` is required: ${meaning}.`, { type: "validation" });
}

const TOOL_LIST = { max: TOOL_PAGE.max, byDefault: TOOL_PAGE.default } as const;
/** The document shows no default of a search. */
const TOOL_SEARCH = { max: TOOL_PAGE.max, byDefault: 10 } as const;

const INTEGRATION = query("integration", "Slug of the only integration to look at.");

const TOOLS = { method: "get", tag: "Tools", access: "key" } as const;

/** OpenAPI description of these endpoints. */
export const toolOperations: readonly Operation[] = [
  {
    ...TOOLS,
    path: "/api/tools",
    summary: "Lists tools by integration, then name, without schemas.",
    parameters: [INTEGRATION, count("limit", `1 to ${TOOL_PAGE.max}; other numbers are clamped.`, TOOL_LIST)],
    answers: { 200: { description: "Tools; a notice comes last when some are left out", body: shapes.ToolList } },
  },
  {
    ...TOOLS,
    path: "/api/tools/search",
    summary: "Finds tools by words.",
    parameters: [
      query("query", "What the tool should do, in a few words.", true),
      INTEGRATION,
      count("limit", "Most tools in the answer.", TOOL_SEARCH),
    ],
    answers: { 200: { description: "Tools by relevance", body: shapes.ToolSearch }, 400: bare("`query` is missing") },
  },
  {
    ...TOOLS,
    path: "/api/tools/{name}",
    summary: "Describes one tool with its full input schema.",
    parameters: [segment("name", "Full tool name from a list or search.")],
    answers: { 200: { description: "The tool", body: shapes.ToolDescription }, 404: bare("No such tool") },
  },
];

/** Characters of all answers that are kept; one is made again in about a millisecond. */
const MAX_READY = 16 * 1024 * 1024;

/** Sends the answer to a question about what the caller sees, as it was sent to the same question about the same view. */
function createReady() {
  const keep = createShelf<string>(MAX_READY, ({ length }) => length);
  return async (
    c: Context<RouteEnv>,
    question: readonly (string | number | null)[],
    answer: (view: AccessView) => Promise<object>,
  ): Promise<Response> => {
    const view = c.get("view");
    const key = JSON.stringify([view.id, ...question]);
    return sendJson(await keep(key, async () => JSON.stringify(await answer(view))));
  };
}

/** "Discovery (tool-name model)". */
export function addToolRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const ready = createReady();
  app.use("/api/tools", requireKey(parts));
  app.use("/api/tools/search", requireKey(parts));
  app.get("/api/tools", async (c) => {
    const asked = c.req.query();
    const integration = readIntegration(asked.integration);
    const limit = readLimit(asked.limit, TOOL_LIST);
    return ready(c, ["list", integration, limit], async ({ catalog, connections }) => {
      const entries = integration === null ? catalog.entries : catalog.listEntries(integration);
      const accounts = await connections.list();
      const page = entries.slice(0, limit).map((entry) => summariseTool(entry, accounts));
      const left = entries.length - page.length;
      const tools = left > 0 ? [...page, createNotice(left)] : page;
      return { tools, count: page.length, total: entries.length, truncated: left > 0, integration };
    });
  });
  app.get("/api/tools/search", async (c) => {
    const asked = c.req.query();
    const words = readText(asked.query);
    if (words === undefined) throw refuseBare(400, "query_missing", "`query` is required: what should the tool do?");
    const integration = readIntegration(asked.integration);
    const limit = readLimit(asked.limit, TOOL_SEARCH);
    return ready(c, ["search", integration, limit, words], async ({ catalog, connections }) => {
      const accounts = await connections.list();
      const page = catalog.search(words, integration ?? undefined, listConnected(accounts)).slice(0, limit);
      const tools = page.map((entry) => summariseTool(entry, accounts));
      return { tools, count: tools.length, query: words, integration };
    });
  });
  app.get("/api/tools/:name", requireKey(parts), async (c) => {
    const name = c.req.param("name");
    const approvals = parts.approvals.chooseMode(c.get("principal").apiKeyId, c.get("view").approvals);
    return ready(c, ["tool", name, approvals], async ({ catalog, connections }) => {
      const entry = catalog.find(name);
      if (entry === undefined) throw toolNotFound(catalog, name);
      return { tool: describeTool(entry, await connections.list(), approvals) };
    });
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
