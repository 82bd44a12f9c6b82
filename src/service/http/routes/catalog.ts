import type { Context, Hono } from "hono";
import { describeAction, findIntegrations, listActions, searchCatalog } from "../../catalog/browse-catalog.ts";
import { actionNotFound, integrationNotFound } from "../../catalog/not-found.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, requireKey } from "../guard.ts";
import { readFlag, readLimit, readText } from "../read-query.ts";
import { renderProblem } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";

/** The document shows no default; the maximum keeps one answer small. */
const PAGE_SIZE = { max: 100, byDefault: 25 } as const;
const MAX_PAGE = 1_000_000;

/** "Catalog discovery (canonical model)". Problems are answered as execution summaries. */
export function addCatalogRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  for (const path of ["/api/integrations", "/api/actions", "/api/actions/:integration/:action", "/api/search"]) {
    app.use(path, requireKey(parts));
  }
  app.get("/api/integrations", async (c) => {
    const items = findIntegrations(parts.catalog, await parts.connections.list(), {
      query: readText(c.req.query("query")),
      category: readText(c.req.query("category")),
      connectedOnly: readFlag(c.req.query("connected_only")),
      supportsAction: readText(c.req.query("supports_action")),
    });
    const page = readLimit(c.req.query("page"), { max: MAX_PAGE, byDefault: 1 });
    const page_size = readLimit(c.req.query("page_size"), PAGE_SIZE);
    const start = (page - 1) * page_size;
    return c.json({ items: items.slice(start, start + page_size), page, page_size, total: items.length });
  });
  app.get("/api/actions", (c) => {
    const asked = readText(c.req.query("integration_id"));
    return answer(c, parts, { integrationId: asked ?? null, actionId: null }, () => {
      if (asked === undefined) throw missing("integration_id", "the slug of an app, see GET /api/integrations");
      const integration = findIntegration(parts, asked);
      const items = listActions(parts.catalog, integration, readText(c.req.query("intent")));
      return { integration_id: integration.slug, items };
    });
  });
  app.get("/api/actions/:integration/:action", (c) => {
    const { integration: integrationId, action: actionId } = c.req.param();
    return answer(c, parts, { integrationId, actionId }, () => {
      const integration = findIntegration(parts, integrationId);
      const entry = parts.catalog.findAction(integrationId, actionId);
      if (entry === undefined) throw actionNotFound(parts.catalog, integration, actionId);
      return describeAction(entry);
    });
  });
  app.get("/api/search", (c) =>
    answer(c, parts, { integrationId: null, actionId: null }, async () => {
      const query = readText(c.req.query("query"));
      if (query === undefined) throw missing("query", "what should be done, in a few words");
      const connectedOnly = readFlag(c.req.query("connected_only"));
      const limit = readLimit(c.req.query("limit"), PAGE_SIZE);
      return { items: searchCatalog(parts.catalog, await parts.connections.list(), { query, connectedOnly, limit }) };
    }),
  );
}

async function answer(
  c: Context<RouteEnv>,
  { now }: ServiceParts,
  asked: { integrationId: string | null; actionId: string | null },
  work: () => object | Promise<object>,
): Promise<Response> {
  try {
    return c.json(await work());
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    return renderProblem(error, { ...asked, at: new Date(now()).toISOString() });
  }
}

function findIntegration({ catalog }: ServiceParts, asked: string) {
  const integration = catalog.findIntegration(asked);
  if (integration === undefined) throw integrationNotFound(catalog, asked);
  return integration;
}

function missing(name: string, meaning: string): ServiceError {
  return new ServiceError(400, `${name}_missing`, `\`${name}\` is required: ${meaning}.`, { type: "validation" });
}
