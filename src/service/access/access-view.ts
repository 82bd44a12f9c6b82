import type { KeyScopes } from "../../wire/key-scopes.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Grants, isExpired, keyExpired } from "../auth/grants.ts";
import { type Catalog, indexCatalog } from "../catalog/catalog.ts";
import type { Connection, Connections } from "../connections/connections.ts";
import { createScopeFilter, hasLimits } from "./key-scopes.ts";
import { findRule, type Rule, type Rules } from "./rules.ts";

/** The catalog and connections of one key or OAuth client: all else does not exist for it. */
export interface AccessView {
  readonly catalog: Catalog;
  readonly connections: Pick<Connections, "list">;
  /** False where these are the whole catalog and all connections. */
  readonly isLimited: boolean;
}

/** The one way to the catalog and the connections for callers other than the owner. */
export interface Access {
  /**
   * As it is now; ask again for the next call.
   *
   * @throws ServiceError 401 `unauthorized` for a key or client that has expired.
   */
  view(principal: Pick<Principal, "apiKeyId">): Promise<AccessView>;
  /**
   * The view for lists, searches and descriptions: without the tools that the owner's rules block on every account, and
   * with confirmations as the rules have them. Throws like `view`.
   */
  show(principal: Pick<Principal, "apiKeyId">): Promise<AccessView>;
}

/** Narrowed catalogs that are kept; one is made again in some milliseconds. */
const MAX_KEPT = 32;

/** Creates the views. */
export function createAccess(parts: {
  readonly grants: Grants;
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly rules: Pick<Rules, "list">;
  readonly now: () => number;
}): Access {
  const { grants, catalog, connections } = parts;
  const whole: AccessView = { catalog, connections, isLimited: false };
  const narrow = createNarrowing(catalog);
  const rule = createRuling();
  const access: Access = {
    async show(principal) {
      const view = await access.view(principal);
      const { apiKeyId } = principal;
      // Without their keys, so that equal rules for two keys are the same.
      const rules = (await parts.rules.list()).flatMap(({ key = apiKeyId, ...rule }) =>
        key === apiKeyId ? [rule] : [],
      );
      if (rules.length === 0) return view;
      return { ...view, catalog: rule(view.catalog, rules, await view.connections.list()) };
    },

    async view({ apiKeyId }) {
      const { scopes, expiresAt } = await grants.read(apiKeyId);
      if (isExpired(expiresAt, parts.now())) throw keyExpired({ bare: false });
      if (!hasLimits(scopes)) return whole;
      const { connections: allowed } = scopes;
      const list: Connections["list"] = async (integration) => {
        const all = await connections.list(integration);
        return all.filter(({ id }) => allowed?.includes(id) ?? true);
      };
      const connected = allowed && new Set((await list()).map((connection) => connection.integration));
      const own = narrow(scopes, connected);
      const slugs = new Set(own.integrations.map(({ slug }) => slug));
      return {
        catalog: own,
        connections: {
          list: async (integration) => (await list(integration)).filter((one) => slugs.has(one.integration)),
        },
        isLimited: true,
      };
    },
  };
  return access;
}

/** Applies rules to the tools of a catalog; equal rules share the result until the catalog changes. */
function createRuling() {
  const kept = new WeakMap<Catalog["entries"], Map<string, Catalog>>();
  return (catalog: Catalog, rules: readonly Rule[], connections: readonly Connection[]): Catalog => {
    const accounts = rules.some(({ account }) => account !== undefined) ? connections : [];
    const key = JSON.stringify([
      rules.map(({ effect, tool, level, account }) => [effect, tool, level, account]),
      accounts.map(({ id, integration }) => [id, integration]),
    ]);
    const known = kept.get(catalog.entries) ?? new Map<string, Catalog>();
    kept.set(catalog.entries, known);
    return keep(known, key, () => applyRules(catalog, rules, accounts));
  };
}

function applyRules(catalog: Catalog, rules: readonly Rule[], accounts: readonly Connection[]): Catalog {
  const entries = catalog.entries.flatMap((entry) => {
    const decide = (connectionId: string | undefined) => findRule(rules, { entry, connectionId, subject: "" })?.effect;
    const effect = decide(undefined);
    const own = accounts.filter(({ integration }) => integration === entry.integration.slug);
    if (effect === "block" || (own.length > 0 && own.every(({ id }) => decide(id) === "block"))) return [];
    return [effect === undefined ? entry : { ...entry, ruled: effect }];
  });
  const slugs = new Set(entries.map(({ integration }) => integration.slug));
  const apps = catalog.integrations.filter(({ slug, actions }) => slugs.has(slug) || actions.length === 0);
  return indexCatalog(apps, entries);
}

/** Narrows the catalog as it is; equal scopes share one until the catalog changes. */
function createNarrowing(catalog: Catalog) {
  const kept = new Map<string, Catalog>();
  let of = catalog.entries;
  return ({ integrations, levels, tools }: KeyScopes, connected: ReadonlySet<string> | undefined): Catalog => {
    if (of !== catalog.entries) kept.clear();
    of = catalog.entries;
    const key = JSON.stringify([integrations, levels, tools, connected && [...connected].sort()]);
    return keep(kept, key, () => select(catalog, createScopeFilter({ integrations, levels, tools }, connected)));
  };
}

/** The catalog with this key, made where it is not kept; of too many, the longest unused one goes first. */
function keep(kept: Map<string, Catalog>, key: string, make: () => Catalog): Catalog {
  const known = kept.get(key) ?? make();
  kept.delete(key);
  kept.set(key, known);
  if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
  return known;
}

function select(catalog: Catalog, filter: ReturnType<typeof createScopeFilter>): Catalog {
  const entries = catalog.entries.filter(filter.tool);
  const slugs = new Set(entries.map(({ integration }) => integration.slug));
  const apps = catalog.integrations.filter(
    (app) => slugs.has(app.slug) || (app.actions.length === 0 && filter.app(app)),
  );
  return indexCatalog(apps, entries);
}
