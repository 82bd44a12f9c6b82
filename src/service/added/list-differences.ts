import { isRecord } from "../../base/json.ts";
import { compareContents, type SourceContent, type StoredAction } from "./source-content.ts";

/** One place in which two states of an action are not the same; JSON texts, undefined where there is nothing. */
export interface Difference {
  /** Which fact, and where in it, e.g. `arguments.properties.to.type`. */
  readonly path: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** What an owner is asked to agree to. */
export interface ContentDifferences {
  readonly added: readonly StoredAction[];
  /** Ids. */
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly differences: readonly Difference[] }[];
}

const FACT_NAMES: Readonly<Record<string, string>> = {
  inputSchema: "arguments",
  requiresConfirmation: "asks a human first",
  idempotent: "may be repeated",
  call: "how it is carried out",
};

/** The differences between two states of an app, action by action. */
export function listDifferences(old: SourceContent, next: SourceContent): ContentDifferences {
  const { added, removed, changed } = compareContents(old, next);
  const find = ({ actions }: SourceContent, id: string) => actions.find((action) => action.id === id);
  return {
    added: added.map((id) => find(next, id)).filter((action) => action !== undefined),
    removed,
    changed: changed.map(({ id, facts }) => ({
      id,
      differences: facts.flatMap((fact) =>
        compare(FACT_NAMES[fact] ?? fact, readFact(find(old, id), fact), readFact(find(next, id), fact)),
      ),
    })),
  };
}

/** What two states of an app differ in, in one sentence. */
export function summariseDifferences({ added, removed, changed }: ContentDifferences): string {
  if (removed.length + changed.length === 0) {
    if (added.length === 0) return "Its actions are the same as before.";
    return `${added.length} new ${added.length === 1 ? "action" : "actions"}; the ones you agreed to are the same as before.`;
  }
  return `Actions: ${changed.length} changed, ${removed.length} gone, ${added.length} new.`;
}

function readFact(action: StoredAction | undefined, fact: string): unknown {
  return Object.entries(action ?? {}).find(([name]) => name === fact)?.[1];
}

/** One difference for each place in the two values that is not the same. */
function compare(path: string, was: unknown, is: unknown): Difference[] {
  if (isRecord(was) && isRecord(is)) {
    const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...keys].flatMap((key) => compare(`${path}.${key}`, was[key], is[key]));
  }
  const [before, after] = [was, is].map((value) => (value === undefined ? undefined : JSON.stringify(value)));
  return before === after ? [] : [{ path, was: before, is: after }];
}
