import type { SessionEvent } from "../session-events.ts";
import type { ToolCatalog } from "./catalog.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { explainLimit } from "./limit-catalog.ts";

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
  const found = catalog
    .list()
    .filter((entry) => integrations === undefined || integrations.includes(entry.integration))
    .filter((entry) => tools === undefined || tools.includes(entry.name))
    .filter((entry) => levels === undefined || levels.includes(entry.effect));
  const max = filter.deferLoading === true ? MAX_DEFERRED : MAX_LIMIT;
  return found.slice(0, Math.min(filter.limit ?? DEFAULT_LIMIT, max));
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
  const apps = new Set(catalog.list().map(({ integration }) => integration));
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
