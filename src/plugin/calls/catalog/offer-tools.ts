import type { SessionEvent } from "../session-events.ts";
import type { ToolCatalog } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { explainLimit } from "./limit-catalog.ts";
import type { ToolHead } from "./stored-tools.ts";

/** The actions that a runtime offers under their own names; an action must pass every condition. */
interface OfferFilter {
  readonly integrations?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly levels?: readonly CatalogEntry["effect"][] | undefined;
  /** Most actions to offer. Default 64. */
  readonly limit?: number | undefined;
}

const DEFAULT_LIMIT = 64;
/** Most actions for a provider that searches them itself. */
export const MAX_DEFERRED = 10_000;

/** The known tools that pass a filter, by app and name, as many as its limit allows. */
export function selectEntries(catalog: ToolCatalog, filter: OfferFilter): CatalogEntry[] {
  const offered = findMatching(catalog, filter).slice(0, filter.limit ?? DEFAULT_LIMIT);
  return offered.flatMap(({ name }) => catalog.peek(name) ?? []);
}

/** How many known tools pass a filter, beyond its limit too. */
export function countMatching(catalog: ToolCatalog, filter: OfferFilter): number {
  return findMatching(catalog, filter).length;
}

function findMatching(catalog: ToolCatalog, { integrations, tools, levels }: OfferFilter): ToolHead[] {
  return catalog.heads
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
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

type LeftOutTools = Extract<SessionEvent, { type: "tools_left_out" }>;

/** Reports how many tools a limit keeps back: to the host, once for each number. */
export class LeftOutReport {
  readonly #tell: ((leftOut: LeftOutTools) => void) | undefined;
  readonly #told = new Set<number>();

  /** Without `tell` it emits a process warning, where no model is told either. */
  constructor(tell: ((leftOut: LeftOutTools) => void) | undefined) {
    this.#tell = tell;
  }

  /** `isSaid`: the model is told by the description of svc_search_tools. */
  update({ listed, matching, isSaid }: { listed: number; matching: number; isSaid: boolean }): void {
    const count = matching - listed;
    if (count <= 0 || this.#told.has(count)) return;
    this.#told.add(count);
    this.#tell?.({ type: "tools_left_out", listed, count });
    if (this.#tell !== undefined || isSaid) return;
    const text = `${count} tools are left out, and ${listed} are listed. Filter them, raise the limits of getTools, or keep the static tools, which find the others.`;
    process.emitWarning(text, { type: "SvcWarning", code: "SVC_TOOLS_LEFT_OUT" });
  }
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
