import { checkChoices, checkNames } from "../../base/check-settings.ts";
import { SvcError } from "../../errors.ts";
import { SIDE_EFFECT_LEVELS } from "../../wire/catalog.ts";
import type { SessionEvent } from "../session-events.ts";
import type { SyncReport, ToolCatalog } from "./catalog.ts";
import { type CatalogEntry, suggestTools } from "./catalog-entry.ts";
import type { FetchToolsOptions } from "./fetch-tools.ts";
import type { ToolHead } from "./stored-tools.ts";

/** Hits examined when a search is not limited to one app; hits of other apps are dropped. */
const MOST_HITS = 200;

/**
 * The part of a catalogue that a program allows its model. All other tools are absent: not listed, found or described,
 * so they cannot be called. `inner` may be shared and keeps everything it reads.
 */
export function limitCatalog(inner: ToolCatalog, allowed: AllowedTools): ToolCatalog {
  const pass = (entry: CatalogEntry | undefined) =>
    entry !== undefined && isAllowed(entry, allowed) ? entry : undefined;
  const heads = () => inner.heads.filter((head) => isAllowed(head, allowed));
  const narrow = (options: FetchToolsOptions): FetchToolsOptions => {
    const { integrations: apps = allowed.integrations } = options;
    const integrations = apps?.filter((slug) => allowed.integrations?.includes(slug) ?? true);
    return integrations === undefined ? options : { ...options, integrations };
  };
  const limitReport = (report: SyncReport): SyncReport => {
    const entries = heads();
    const isOurs = (slug: string | null) => allowed.integrations?.includes(slug ?? "") ?? true;
    return {
      ...report,
      tools: entries.length,
      integrations: new Set(entries.map(({ integration }) => integration)).size,
      // Named tools are described by their names, whatever the lists leave out.
      omitted: allowed.tools === undefined ? report.omitted.filter(({ integration }) => isOurs(integration)) : [],
    };
  };
  const finish = async (report: SyncReport) => {
    await describeTools(
      inner,
      (allowed.tools ?? []).filter((name) => inner.peek(name) === undefined),
    );
    return limitReport(report);
  };
  const mayFind = (name: string) => {
    const known = inner.peek(name);
    return known === undefined ? (allowed.tools?.includes(name) ?? true) : mayBeAllowed(known, allowed);
  };
  return {
    isLimited: true,
    sync: async (options = {}) => finish(await inner.sync(narrow(options))),
    load: async (options = {}) => finish(await inner.load(narrow(options))),
    list: () => heads().flatMap(({ name }) => inner.peek(name) ?? []),
    get heads() {
      return heads();
    },
    get size() {
      return heads().length;
    },
    peek: (name) => pass(inner.peek(name)),
    find: async (name) => (mayFind(name) ? pass(await inner.find(name)) : undefined),
    async refresh(name) {
      if (!mayFind(name)) return { entry: undefined };
      const { entry, ...rest } = await inner.refresh(name);
      return pass(entry) === undefined ? { entry: undefined } : { entry, ...rest };
    },
    suggest: (name) => suggestTools(heads(), name).flatMap((head) => inner.peek(head.name) ?? []),
    async search(query, signal) {
      const { limit } = query;
      const { integrations } = allowed;
      const [only, ...others] = integrations ?? [];
      const integration = query.integration ?? (others.length === 0 ? only : undefined);
      if (integrations?.includes(integration ?? only ?? "") === false) return [];
      const found = (await inner.search({ ...query, limit: MOST_HITS, integration }, signal)).filter((entry) =>
        isAllowed(entry, allowed),
      );
      return limit === undefined ? found : found.slice(0, limit);
    },
    get report() {
      return inner.report && limitReport(inner.report);
    },
    close: () => inner.close(),
  };
}

/** Tells a model why a tool is missing when the program limits its tools; otherwise empty. */
export function explainLimit({ isLimited }: Pick<ToolCatalog, "isLimited">): string {
  return isLimited ? " This program limits which tools can be used." : "";
}

const PARALLEL = 8;

/**
 * Describes those named tools that have no description yet, several at a time. A tool that cannot be described keeps
 * its open schema and does not affect the others. Cached descriptions are refreshed on the first call, not here.
 */
export async function describeTools(catalog: ToolCatalog, names: readonly string[]): Promise<void> {
  const queue = names.filter((name) => catalog.peek(name)?.schemaHash === undefined);
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      await catalog.find(name).catch(() => undefined);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
}

/**
 * Sentence for the description of svc_search_tools when a model is given `listed` tools and the service has more; empty
 * when it has all of them.
 */
export function describeUnlisted({ size, report }: Pick<ToolCatalog, "size" | "report">, listed: number): string {
  const omitted = (report?.omitted ?? []).reduce((sum, { count }) => sum + count, 0);
  const count = size - listed + omitted;
  return count === 0 ? "" : ` ${count} tools are not in your tool list and are found only this way.`;
}

/** The tools a program allows its model. A tool must be within every limit. */
export interface AllowedTools {
  /** Slugs of apps. Default: all. */
  readonly integrations?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  /** Allowed effects. An unknown effect counts as `admin`. Default: all. */
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Also the flow tools, which reach every app of the service. Default false, and true where nothing is limited. */
  readonly flows?: boolean | undefined;
}

interface LimitingOptions {
  readonly allow?: AllowedTools | undefined;
  /** The same as `allow.integrations`. With both, an app has to be among both. */
  readonly integrations?: readonly string[] | undefined;
}

const MEMBERS = ["integrations", "tools", "levels", "flows"];

/**
 * Combines the limits of both settings; undefined when there are none.
 *
 * @throws SvcError `invalid_config` naming the setting, also for an unknown member of `allow`
 */
export function readAllowed({ allow, integrations }: LimitingOptions): AllowedTools | undefined {
  checkNames({ integrations }, ["integrations"]);
  if (allow !== undefined) checkAllowed(allow);
  const both = [allow?.integrations, integrations].filter((list) => list !== undefined);
  const [first, second] = both;
  const apps = second === undefined ? first : first?.filter((slug) => second.includes(slug));
  const limits = [apps, allow?.tools, allow?.levels, allow?.flows === false ? false : undefined];
  return limits.every((limit) => limit === undefined) ? undefined : { ...allow, integrations: apps };
}

function checkAllowed(allow: AllowedTools): void {
  const members = typeof allow === "object" && allow !== null ? Object.keys(allow) : ["a value"];
  const unknown = members.find((member) => !MEMBERS.includes(member));
  if (unknown !== undefined) {
    const text = `The setting allow has no ${JSON.stringify(unknown)}: it would limit nothing.`;
    throw new SvcError("invalid_config", text, { field: "allow", hint: `Use ${MEMBERS.join(", ")}.`, sent: false });
  }
  checkNames(allow, ["integrations", "tools"]);
  for (const level of allow.levels ?? [])
    checkChoices({ levels: level }, { levels: [...SIDE_EFFECT_LEVELS, "unknown"] });
}

function isAllowed(entry: ToolHead, allowed: AllowedTools): boolean {
  const { levels } = allowed;
  if (!mayBeAllowed(entry, allowed)) return false;
  if (levels === undefined || levels.includes(entry.effect)) return true;
  return entry.effect === "unknown" && levels.includes("admin");
}

/** Whether a tool can be within the limits, judged by its name and app alone. */
function mayBeAllowed(
  { name, integration }: Pick<CatalogEntry, "name" | "integration">,
  { integrations, tools }: AllowedTools,
): boolean {
  return (integrations?.includes(integration) ?? true) && (tools?.includes(name) ?? true);
}

/** The actions that a runtime offers under their own names; an action must pass every condition. */
interface OfferFilter {
  readonly integrations?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Most actions to offer, at most 117, or 10,000 with `deferLoading`. Default 64. */
  readonly limit?: number | undefined;
  /** True when the model's provider searches the actions. */
  readonly deferLoading?: boolean | undefined;
}

const DEFAULT_LIMIT = 64;
/** Model providers accept 128 tools: these and the eleven static ones. */
const MAX_LIMIT = 117;
const MAX_DEFERRED = 10_000;

/** The known tools that pass a filter, by app and name, as many as its limit allows. */
export function selectEntries(catalog: ToolCatalog, filter: OfferFilter): CatalogEntry[] {
  const { integrations, tools, levels } = filter;
  const found = catalog.heads
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
  const max = filter.deferLoading === true ? MAX_DEFERRED : MAX_LIMIT;
  const offered = found.slice(0, Math.min(filter.limit ?? DEFAULT_LIMIT, max));
  return offered.flatMap(({ name }) => catalog.peek(name) ?? []);
}

type MissingTools = Extract<SessionEvent, { type: "tools_not_found" }>;

/** Reports tools and apps that a toolkit did not find: to the host once, to the model while they are missing. */
export class MissingReport {
  readonly #tell: (missing: MissingTools) => void;
  readonly #told = new Set<string>();
  #last = "";

  /** Without `tell` it emits a process warning. */
  constructor(tell: (missing: MissingTools) => void = warnOfMissing) {
    this.#tell = tell;
  }

  /** Looks for every name in the filter, and forgets the names that were missing before. */
  update(catalog: ToolCatalog, filter: OfferFilter): void {
    const missing = findMissing(catalog, filter);
    this.#last = missing === undefined ? "" : describeMissing(missing) + explainLimit(catalog);
    if (missing === undefined || this.#told.has(this.#last)) return;
    this.#told.add(this.#last);
    this.#tell(missing);
  }

  /** A sentence to append to a description, with a leading space; empty when nothing is missing. */
  describe(): string {
    return this.#last === "" ? "" : ` ${this.#last}`;
  }
}

function findMissing(catalog: ToolCatalog, filter: OfferFilter): MissingTools | undefined {
  const apps = new Set(catalog.heads.map(({ integration }) => integration));
  const tools = (filter.tools ?? []).filter((name) => catalog.peek(name) === undefined);
  const integrations = (filter.integrations ?? []).filter((slug) => !apps.has(slug));
  return tools.length + integrations.length === 0 ? undefined : { type: "tools_not_found", tools, integrations };
}

function describeMissing({ tools, integrations }: MissingTools): string {
  const names = [
    ...tools.map((name) => `the tool ${JSON.stringify(name)}`),
    ...integrations.map((slug) => `the app ${JSON.stringify(slug)}`),
  ];
  return `Asked for, but not known to the service: ${names.join(", ")}.`;
}

function warnOfMissing(missing: MissingTools): void {
  process.emitWarning(describeMissing(missing), { type: "SvcWarning", code: "SVC_TOOLS_NOT_FOUND" });
}
