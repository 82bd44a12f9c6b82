import type { ActionDetail, ActionItem, CatalogSearchItem, IntegrationItem } from "../../wire/catalog.ts";
import type { Connection } from "../connections/connections.ts";
import type { Integration } from "../integrations/integration.ts";
import type { Catalog } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { describeConnectionState, summariseInput } from "./describe-tool.ts";

/** What `GET /api/integrations` filters by; all that are given must hold. */
export interface IntegrationFilter {
  readonly query?: string | undefined;
  /** Compared without regard to case. */
  readonly category?: string | undefined;
  readonly connectedOnly?: boolean | undefined;
  /** Action id or full tool name. */
  readonly supportsAction?: string | undefined;
}

/** Integrations that pass a filter: by relevance with a query, else by slug. */
export function findIntegrations(
  catalog: Catalog,
  connections: readonly Connection[],
  { query, category, connectedOnly, supportsAction }: IntegrationFilter,
): IntegrationItem[] {
  const found = query === undefined ? catalog.integrations : catalog.searchIntegrations(query);
  return found
    .filter((one) => category === undefined || one.category.toLowerCase() === category.toLowerCase())
    .filter(({ slug }) => supportsAction === undefined || catalog.findAction(slug, supportsAction) !== undefined)
    .map((one) => describeIntegration(one, connections))
    .filter((item) => !connectedOnly || item.connected);
}

/** "Integration item". Connected means that there is a connection; `connection_state` is that of the default one. */
export function describeIntegration(
  { slug, name, description, category, actions, stopped }: Integration,
  connections: readonly Connection[],
): IntegrationItem & { connected: boolean } {
  return {
    integration_id: slug,
    name,
    category,
    summary: description,
    ...describeLink(slug, connections),
    ...(stopped !== undefined && { connection_state: "error", problem: stopped }),
    capabilities: actions.map((action) => action.id).sort(),
  };
}

/** Items of `GET /api/actions`: with an intent the fitting ones come first, in order of relevance. */
export function listActions(catalog: Catalog, { slug }: Integration, intent: string | undefined): ActionItem[] {
  const all = catalog.entries.filter((entry) => entry.integration.slug === slug);
  const fitting = intent === undefined ? [] : catalog.search(intent, slug);
  return [...new Set([...fitting, ...all])].map(describeItem);
}

/** "Action detail": the schema is the whole one that calls are checked against. */
export function describeAction(entry: CatalogEntry): ActionDetail {
  const { action, integration, toolName } = entry;
  return {
    ...describeItem(entry),
    integration_id: integration.slug,
    tool_name: toolName,
    idempotent: action.idempotent,
    input_schema: action.inputSchema,
    input_summary: summariseInput(entry),
    requires_confirmation: action.requiresConfirmation,
    examples: [...(action.examples ?? [])],
    preconditions: [...(action.preconditions ?? [])],
  };
}

/** Items of `GET /api/search`, actions and integrations together, by relevance. */
export function searchCatalog(
  catalog: Catalog,
  connections: readonly Connection[],
  { query, connectedOnly, limit }: { query: string; connectedOnly: boolean; limit: number },
): CatalogSearchItem[] {
  return catalog
    .searchAll(query)
    .map((found): CatalogSearchItem & { connected: boolean } => {
      const { integration } = found.kind === "action" ? found.entry : found;
      const action = found.kind === "action" ? found.entry.action : undefined;
      return {
        kind: found.kind,
        integration_id: integration.slug,
        action_id: action?.id ?? null,
        title: action?.title ?? integration.name,
        summary: action?.description ?? integration.description,
        ...describeLink(integration.slug, connections),
      };
    })
    .filter((item) => !connectedOnly || item.connected)
    .slice(0, limit);
}

function describeItem({ action }: CatalogEntry): ActionItem {
  return {
    action_id: action.id,
    title: action.title,
    description: action.description,
    side_effect_level: action.level,
  };
}

function describeLink(slug: string, connections: readonly Connection[]) {
  const own = connections.filter((connection) => connection.integration === slug);
  return { connected: own.length > 0, connection_state: describeConnectionState(own) };
}
