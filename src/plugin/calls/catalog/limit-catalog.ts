import { checkChoices, checkNames } from "../../../shared/base/check-settings.ts";
import { SvcError } from "../../../shared/errors.ts";
import { SIDE_EFFECT_LEVELS } from "../../../shared/wire/catalog.ts";
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
