import type { KeyScopes } from "../../wire/key-scopes.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Grants, isExpired, keyExpired } from "../auth/grants.ts";
import { type Catalog, indexCatalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connections.ts";
import { createScopeFilter, hasLimits } from "./key-scopes.ts";

/** What one key or OAuth client may use: all else does not exist for it. */
export interface AccessView {
  readonly catalog: Catalog;
  readonly connections: Pick<Connections, "list">;
  /** False where these are the whole catalog and all connections. */
  readonly isLimited: boolean;
}

/** The one way to the catalog and the connections for whoever is not the owner. */
export interface Access {
  /**
   * As it is now; ask again for the next call.
   *
   * @throws ServiceError 401 `unauthorized` for a key or client that has expired.
   */
  view(principal: Pick<Principal, "apiKeyId">): Promise<AccessView>;
}

/** Narrowed catalogs that are kept; one is made again in some milliseconds. */
const MAX_KEPT = 32;

/** Creates the views. */
export function createAccess(parts: {
  readonly grants: Grants;
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly now: () => number;
}): Access {
  const { grants, catalog, connections } = parts;
  const whole: AccessView = { catalog, connections, isLimited: false };
  const narrow = createNarrowing(catalog);
  return {
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
}

/** Narrows the catalog as it is; equal scopes share one until the catalog changes. */
function createNarrowing(catalog: Catalog) {
  const kept = new Map<string, Catalog>();
  let of = catalog.entries;
  return ({ integrations, levels, tools }: KeyScopes, connected: ReadonlySet<string> | undefined): Catalog => {
    if (of !== catalog.entries) kept.clear();
    of = catalog.entries;
    const key = JSON.stringify([integrations, levels, tools, connected && [...connected].sort()]);
    const known = kept.get(key) ?? select(catalog, createScopeFilter({ integrations, levels, tools }, connected));
    // The longest unused one goes first.
    kept.delete(key);
    kept.set(key, known);
    if (kept.size > MAX_KEPT) kept.delete(kept.keys().next().value ?? "");
    return known;
  };
}

function select(catalog: Catalog, filter: ReturnType<typeof createScopeFilter>): Catalog {
  const entries = catalog.entries.filter(filter.tool);
  const slugs = new Set(entries.map(({ integration }) => integration.slug));
  const apps = catalog.integrations.filter(
    (app) => slugs.has(app.slug) || (app.actions.length === 0 && filter.app(app)),
  );
  return indexCatalog(apps, entries);
}
