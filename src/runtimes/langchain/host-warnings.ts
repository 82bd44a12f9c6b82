import type { ToolCatalog } from "../../calls/catalog/catalog.ts";
import { explainLimit } from "../../calls/catalog/limit-catalog.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import type { GraphConfig } from "./graph-config.ts";
import { isKeptInProcess } from "./task-state.ts";
import type { ToolFilter } from "./toolkit-options.ts";

/** Names in a filter that the toolkit does not know. */
type MissingTools = Extract<SessionEvent, { type: "tools_not_found" }>;

/** Tools and apps that a toolkit did not find: the host is told once, the model for as long as they are missing. */
export class MissingReport {
  readonly #tell: (missing: MissingTools) => void;
  readonly #told = new Set<string>();
  #last = "";

  /** Without `tell` the process is warned. */
  constructor(tell: (missing: MissingTools) => void = warnOfMissing) {
    this.#tell = tell;
  }

  /** Looks for every name in the filter, and forgets the names that were missing before. */
  update(catalog: ToolCatalog, filter: ToolFilter): void {
    const missing = findMissing(catalog, filter);
    this.#last = missing === undefined ? "" : describeMissing(missing) + explainLimit(catalog);
    if (missing === undefined || this.#told.has(this.#last)) return;
    this.#told.add(this.#last);
    this.#tell(missing);
  }

  /** A sentence for after a description, with its space; empty when nothing is missing. */
  describe(): string {
    return this.#last === "" ? "" : ` ${this.#last}`;
  }
}

/** Names and apps of a filter that are not known: a slip, or an app that this user has not connected. */
function findMissing(catalog: ToolCatalog, filter: ToolFilter): MissingTools | undefined {
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

/** Told to the host once, when a run that can be resumed elsewhere makes its first call that may act. */
type WritesNotRemembered = Extract<SessionEvent, { type: "writes_not_remembered" }>;

/**
 * Says once that a graph outlives the journal of its calls: its checkpointer keeps the conversation, and there is neither
 * a state folder nor a store. Without `tell` the process is warned.
 */
export function createMemoryWarning(
  tell: (event: WritesNotRemembered) => void = warnOnce,
): (config: GraphConfig) => void {
  let isTold = false;
  return (config) => {
    if (isTold || isKeptInProcess(config)) return;
    isTold = true;
    tell({ type: "writes_not_remembered" });
  };
}

let isWarned = false;

/** Once in a process, however many toolkits it makes. */
function warnOnce(): void {
  if (isWarned) return;
  isWarned = true;
  const text =
    "This graph has a checkpointer, but what its tools send is remembered by this process only. After a crash, or when two processes resume one thread at once, an approved call can be sent twice. Give SvcToolkit.create a stateDir, or the graph a store.";
  process.emitWarning(text, { type: "SvcWarning", code: "SVC_WRITES_NOT_REMEMBERED" });
}
