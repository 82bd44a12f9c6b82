import type { Integration } from "../../apps/port/integration.ts";
import type { ActionDetail, ActionItem, CatalogSearchItem, IntegrationItem } from "../../shared/wire/catalog.ts";
import { IDEMPOTENCY_KEPT_MS } from "../../shared/wire/constants.ts";
import type { Tool } from "../../shared/wire/tool.ts";
import type { Connection } from "../connections/connection.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import type { ApprovalMode } from "../store/schema.ts";
import type { Catalog } from "./catalog.ts";
import { type CatalogEntry, levelOf, needsConfirmation } from "./catalog-entry.ts";

/** A tool as list and search show it: without its input schema ("Discovery" rule 1). */
export function summariseTool(entry: CatalogEntry, connections: readonly Connection[]): Tool {
  const { integration, action } = entry;
  const own = connections.filter((connection) => connection.integration === integration.slug);
  const chosen = findDefaultConnection(own);
  return {
    integration: integration.slug,
    integrationName: integration.name,
    name: entry.toolName,
    description: action.description,
    inputSchema: null,
    accessLevel: action.level,
    requiresConfirmation: needsConfirmation(entry),
    connectionCount: own.length,
    defaultConnectionId: chosen?.id ?? null,
    canonical: {
      integration_id: integration.slug,
      action: {
        action_id: action.id,
        title: action.title,
        description: action.description,
        side_effect_level: action.level,
        requires_confirmation: needsConfirmation(entry),
        idempotent: action.idempotent,
        input_summary: summariseInput(entry),
      },
      default_connection_state: describeConnectionState(own),
    },
  };
}

/** What a client may count on: a key is kept so long, its request may name its account, and it can be looked up. */
const KEY_PROMISE = { kept_seconds: IDEMPOTENCY_KEPT_MS / 1000, connection_id: true, lookup: true } as const;

/**
 * A tool with everything needed to call it: full schema, connections, what to ask the human, and the owner as approver
 * where the service holds calls of this caller.
 */
export function describeTool(entry: CatalogEntry, connections: readonly Connection[], approvals: ApprovalMode): Tool {
  const { integration, action } = entry;
  const own = connections.filter((connection) => connection.integration === integration.slug);
  const summary = summariseTool(entry, connections);
  return {
    ...summary,
    canonical: {
      ...summary.canonical,
      idempotency_key: KEY_PROMISE,
      ...((action.raises ?? action.judge) && { call_levels: { conditions: action.raises ?? [] } }),
      ...(action.preview && { preview: true }),
      // Also where a rule allows the calls: an agent that asks no human here leaves that to the owner.
      ...(approvals === "owner" && (action.requiresConfirmation || needsConfirmation(entry)) && { approvals }),
    },
    inputSchema: action.inputSchema,
    policyReason: explainPolicy(entry),
    askBefore: action.askBefore ?? [],
    examples: action.examples ?? [],
    preconditions: action.preconditions ?? [],
    requiresScopes: action.scopes,
    idempotent: action.idempotent,
    connections: own.map(({ id, label, isDefault, state }) => ({ id, label, isDefault, state })),
  };
}

/** Why a call of this tool must be confirmed by a human; null when it need not be. */
export function explainPolicy(entry: CatalogEntry): string | null {
  const { integration, action, ruled, raised } = entry;
  if (!needsConfirmation(entry)) return null;
  if (ruled === "ask") return `The owner of this service wants to be asked before "${action.title}".`;
  if (action.isLevelAssumed === true) {
    const why = `the word of ${integration.name} about its own tools is not trusted, so each counts as a write`;
    return `Nobody vouches for what "${action.title}" does: ${why}.`;
  }
  const effects = {
    read: `reads from ${integration.name} in a way that needs a human's consent`,
    write: `changes something in ${integration.name}`,
    delete: `deletes something in ${integration.name}`,
    admin: `changes how ${integration.name} is set up`,
  };
  const what = raised === undefined ? "" : `: it ${raised.says}`;
  return `"${action.title}" ${effects[levelOf(entry)]}${what}.`;
}

/** State of the connection that a call without `connectionId` uses; `not_connected` or `no_default` without one. */
function describeConnectionState(own: readonly Connection[]): string {
  const chosen = findDefaultConnection(own);
  if (chosen !== undefined) return chosen.state;
  return own.length === 0 ? "not_connected" : "no_default";
}

/** Names of the required and the optional arguments. */
function summariseInput({ action }: CatalogEntry): { required: string[]; optional: string[] } {
  const { properties, required } = action.inputSchema;
  const names = typeof properties === "object" && properties !== null ? Object.keys(properties) : [];
  const needed = new Set(Array.isArray(required) ? required : []);
  return { required: names.filter((name) => needed.has(name)), optional: names.filter((name) => !needed.has(name)) };
}

/** Filters of `GET /api/integrations`; all given ones must hold. */
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
    .map((one) => describeIntegration(catalog, one, connections))
    .filter((item) => !connectedOnly || item.connected);
}

/** "Integration item". Connected means that there is a connection; `connection_state` is that of the default one. */
export function describeIntegration(
  catalog: Catalog,
  { slug, name, description, category, stopped }: Integration,
  connections: readonly Connection[],
): IntegrationItem & { connected: boolean } {
  return {
    integration_id: slug,
    name,
    category,
    summary: description,
    ...describeLink(slug, connections),
    ...(stopped !== undefined && { connection_state: "error", problem: stopped }),
    capabilities: catalog
      .listEntries(slug)
      .map(({ action }) => action.id)
      .sort(),
  };
}

/** Items of `GET /api/actions`: with an intent the fitting ones come first, in order of relevance. */
export function listActions(catalog: Catalog, { slug }: Integration, intent: string | undefined): ActionItem[] {
  const all = catalog.listEntries(slug);
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
    requires_confirmation: needsConfirmation(entry),
    ...(action.preview && { preview: true }),
    examples: [...(action.examples ?? [])],
    preconditions: [...(action.preconditions ?? [])],
  };
}

/** Slugs of the apps that have a connection. */
export function listConnected(connections: readonly Connection[]): Set<string> {
  return new Set(connections.map(({ integration }) => integration));
}

/** Items of `GET /api/search`, actions and integrations together, by relevance. */
export function searchCatalog(
  catalog: Catalog,
  connections: readonly Connection[],
  { query, connectedOnly, limit }: { query: string; connectedOnly: boolean; limit: number },
): CatalogSearchItem[] {
  return catalog
    .searchAll(query, { connected: listConnected(connections) })
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
