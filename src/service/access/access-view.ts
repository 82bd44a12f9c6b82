import { keepNewest } from "../../shared/base/newest.ts";
import type { KeyScopes } from "../../shared/wire/key-scopes.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type Grant, type Grants, isExpired, keyExpired } from "../auth/grants.ts";
import { type Catalog, selectCatalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { Connection, Connections } from "../connections/connection.ts";
import type { ApprovalMode } from "../store/schema.ts";
import { createKeep, type StoreState, type StoreStates } from "../store/store-states.ts";
import { createScopeFilter, hasLimits } from "./key-scopes.ts";
import { findRule, type Rule, type Rules } from "./rules.ts";

/** What exists for one key or OAuth client, as it was at one moment. */
export interface AccessView {
  /** The same for views that show the same; another one after each change. */
  readonly id: number;
  readonly catalog: Catalog;
  readonly connections: Pick<Connections, "list">;
  /** The owner's rules, those for other keys too. */
  readonly rules: readonly Rule[];
  /** Who approves the calls of this caller, where that was chosen for it. */
  readonly approvals: ApprovalMode | undefined;
  /** Levels that calls of this caller may have, where that was limited for it. */
  readonly levels: KeyScopes["levels"];
  /** False where these are the whole catalog and all connections. */
  readonly isLimited: boolean;
}

/** The one way to the catalog and the connections for callers other than the owner. */
export interface Access {
  /**
   * As it is now; ask again for the next call.
   *
   * @param state of the store, where the caller has just looked
   * @throws ServiceError 401 `unauthorized` for a key or client that has expired.
   */
  view(principal: Pick<Principal, "apiKeyId">, state?: StoreState): Promise<AccessView>;
  /**
   * The view for lists, searches and descriptions: without the tools that the owner's rules block on every account, and
   * with confirmations as the rules have them. Otherwise like `view`.
   */
  show(principal: Pick<Principal, "apiKeyId">, state?: StoreState): Promise<AccessView>;
}

/** Narrowed catalogs that are kept, and views; one is made again in some milliseconds. */
const MAX_KEPT = 32;
/** Keys and OAuth clients whose rights are kept. */
const MAX_SUBJECTS = 1000;

interface AccessParts {
  readonly states: StoreStates;
  /** Resolves when the catalog is the one of this state. Default: it always is. */
  readonly catchUp?: (state: StoreState) => Promise<void>;
  readonly grants: Pick<Grants, "read">;
  readonly catalog: Catalog;
  readonly connections: Pick<Connections, "list">;
  readonly rules: Pick<Rules, "list">;
  readonly now: () => number;
}

/** Creates the views. What they are made of is kept until the store or the catalog changes. */
export function createAccess(parts: AccessParts): Access {
  const { states, catalog } = parts;
  const read = createReading(parts);
  const make = createMaking(parts, read);
  const keep = createKeep<SharedView>(MAX_KEPT);
  const turnOf = countTurns();

  async function open(kind: "view" | "show", { apiKeyId }: Pick<Principal, "apiKeyId">, state: StoreState) {
    await parts.catchUp?.(state);
    const subject = await read.subject(state, apiKeyId);
    if (isExpired(subject.expiresAt, parts.now())) throw keyExpired({ bare: false });
    // Keys with equal rights share a view.
    const key = `${turnOf(catalog.entries)} ${kind} ${kind === "show" ? subject.shown : subject.limits}`;
    const view = await keep(state, key, () => make[kind](state, subject));
    return { ...view, approvals: subject.scopes.approvals, levels: subject.scopes.levels };
  }

  return {
    view: async (principal, state) => open("view", principal, state ?? (await states.read())),
    show: async (principal, state) => open("show", principal, state ?? (await states.read())),
  };
}

type SharedView = Omit<AccessView, "approvals" | "levels">;

/** The rights of a key or OAuth client. */
interface Subject extends Grant {
  /** The rules for its calls, without its id: equal rules for two keys are the same. */
  readonly rules: readonly Rule[];
  /** Equal for subjects for which the same exists, and for those that are shown the same. */
  readonly limits: string;
  readonly shown: string;
}

/** Reads rows, once in each state of the store. */
function createReading({ grants, rules, connections }: AccessParts) {
  const keepRules = createKeep<readonly Rule[]>(1);
  const keepConnections = createKeep<readonly Connection[]>(1);
  const keepSubject = createKeep<Subject>(MAX_SUBJECTS);
  const read = {
    rules: (state: StoreState) => keepRules(state, "", () => rules.list()),
    connections: (state: StoreState) => keepConnections(state, "", () => connections.list()),
    subject: (state: StoreState, apiKeyId: string) =>
      keepSubject(state, apiKeyId, async (): Promise<Subject> => {
        const [grant, all] = [await grants.read(apiKeyId), await read.rules(state)];
        const own = all.flatMap(({ key = apiKeyId, ...rule }) => (key === apiKeyId ? [rule] : []));
        const { integrations, levels, tools, connections } = grant.scopes;
        const limits = JSON.stringify([integrations, levels, tools, connections]);
        return { ...grant, rules: own, limits, shown: `${limits} ${nameRules(own)}` };
      }),
  };
  return read;
}

/** Makes views that are not kept. */
function createMaking({ catalog }: AccessParts, read: ReturnType<typeof createReading>) {
  const narrow = createNarrowing(catalog);
  const rule = createRuling();
  let made = 0;
  const make = {
    async view(state: StoreState, { scopes }: Subject): Promise<SharedView> {
      const rules = await read.rules(state);
      // Taken before anything is waited for: another view may be made meanwhile, and answers are kept by it.
      made += 1;
      const id = made;
      const listAll = () => read.connections(state);
      if (!hasLimits(scopes)) return { id, catalog, connections: openList(listAll), rules, isLimited: false };
      const { connections: allowed } = scopes;
      const listOwn = async () => (await listAll()).filter((one) => allowed?.includes(one.id) ?? true);
      const connected = allowed && new Set((await listOwn()).map((connection) => connection.integration));
      const own = narrow(scopes, connected);
      const slugs = new Set(own.integrations.map(({ slug }) => slug));
      const listSeen = async () => (await listOwn()).filter((one) => slugs.has(one.integration));
      return { id, catalog: own, connections: openList(listSeen), rules, isLimited: true };
    },

    async show(state: StoreState, subject: Subject): Promise<SharedView> {
      const view = await make.view(state, subject);
      if (subject.rules.length === 0) return view;
      return { ...view, catalog: rule(view.catalog, subject.rules, await view.connections.list()) };
    },
  };
  return make;
}

function openList(listAll: () => Promise<readonly Connection[]>): Pick<Connections, "list"> {
  return {
    list: async (integration) =>
      (await listAll()).filter((one) => integration === undefined || one.integration === integration),
  };
}

/** Numbers the states of a catalog. */
function countTurns() {
  let [of, turn]: [Catalog["entries"] | undefined, number] = [undefined, 0];
  return (entries: Catalog["entries"]) => {
    if (of !== entries) turn += 1;
    of = entries;
    return turn;
  };
}

/** Equal for rules that decide alike. */
function nameRules(rules: readonly Rule[]): string {
  return JSON.stringify(rules.map(({ effect, tool, level, account }) => [effect, tool, level, account]));
}

/** Applies rules to the tools of a catalog; equal rules share the result until the catalog changes. */
function createRuling() {
  const kept = new WeakMap<Catalog["entries"], Map<string, Catalog>>();
  return (catalog: Catalog, rules: readonly Rule[], connections: readonly Connection[]): Catalog => {
    const accounts = rules.some(({ account }) => account !== undefined) ? connections : [];
    const key = `${nameRules(rules)} ${JSON.stringify(accounts.map(({ id, integration }) => [id, integration]))}`;
    const known = kept.get(catalog.entries) ?? new Map<string, Catalog>();
    kept.set(catalog.entries, known);
    return keepNewest(known, key, MAX_KEPT, () => applyRules(catalog, rules, accounts));
  };
}

function applyRules(catalog: Catalog, rules: readonly Rule[], accounts: readonly Connection[]): Catalog {
  const entries = catalog.all.flatMap((entry) => {
    const decide = (connectionId: string | undefined) => findRule(rules, { entry, connectionId, subject: "" })?.effect;
    const effect = decide(undefined);
    const own = accounts.filter(({ integration }) => integration === entry.integration.slug);
    if (effect === "block" || (own.length > 0 && own.every(({ id }) => decide(id) === "block"))) return [];
    return [effect === undefined ? entry : { ...entry, ruled: effect }];
  });
  const slugs = listShown(entries);
  const apps = catalog.integrations.filter(({ slug, actions }) => slugs.has(slug) || actions.length === 0);
  return selectCatalog(catalog, apps, entries);
}

/** Narrows the catalog as it is; equal scopes share one until the catalog changes. */
function createNarrowing(catalog: Catalog) {
  const kept = new Map<string, Catalog>();
  let of = catalog.entries;
  return ({ integrations, levels, tools }: KeyScopes, connected: ReadonlySet<string> | undefined): Catalog => {
    if (of !== catalog.entries) kept.clear();
    of = catalog.entries;
    const key = JSON.stringify([integrations, levels, tools, connected && [...connected].sort()]);
    return keepNewest(kept, key, MAX_KEPT, () =>
      select(catalog, createScopeFilter({ integrations, levels, tools }, connected)),
    );
  };
}

function select(catalog: Catalog, filter: ReturnType<typeof createScopeFilter>): Catalog {
  const entries = catalog.all.filter(filter.tool);
  const slugs = listShown(entries);
  const apps = catalog.integrations.filter(
    (app) => slugs.has(app.slug) || (app.actions.length === 0 && filter.app(app)),
  );
  return selectCatalog(catalog, apps, entries);
}

/** Slugs of the apps with a tool that lists show. */
function listShown(entries: readonly CatalogEntry[]): Set<string> {
  return new Set(entries.flatMap(({ action, integration }) => (action.isHidden ? [] : [integration.slug])));
}
