import { isRecord } from "../../shared/base/json.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { FlowParts } from "./flow-rows.ts";
import type { FlowState } from "./flow-template.ts";
import { type ShownCall, shownCallSchema } from "./own/compile-template.ts";

interface Asking {
  readonly principal: Principal;
  readonly connections: FlowState["connections"];
}

/**
 * What an approval shows, with the level of each of its calls and what it does beyond its action, as it is known now: such as
 * replacing a file. An approved call does no more than that, see `PlannedCall.level`.
 */
export async function showLevels(
  parts: FlowParts,
  shown: Readonly<Record<string, unknown>>,
  asking: Asking,
): Promise<Record<string, unknown>> {
  const members = Object.entries(shown).map(async ([name, value]) => {
    const list = Array.isArray(value) ? await showEach(parts, value, asking) : value;
    return [name, list] as const;
  });
  return Object.fromEntries(await Promise.all(members));
}

async function showEach(parts: FlowParts, items: readonly unknown[], asking: Asking): Promise<unknown[]> {
  const shown: unknown[] = [];
  for (const item of items) {
    const call = shownCallSchema.safeParse(item).data;
    const level = call && parts.catalog.find(call.tool)?.action.level;
    const raised = call && (await findRaised(parts, call, asking));
    const known = raised === undefined ? { level } : { level: raised.level, does: raised.says };
    shown.push(level !== undefined && isRecord(item) ? { ...item, ...known } : item);
  }
  return shown;
}

/** Undefined for a call that does what its action says, and where that is not known: such a call may do no more, then. */
async function findRaised(
  { catalog, executor }: FlowParts,
  { tool, arguments: args }: ShownCall,
  { principal, connections }: Asking,
): Promise<RaisedLevel | undefined> {
  const app = catalog.find(tool)?.integration.slug;
  if (app === undefined) return undefined;
  const check = executor.check({
    principal,
    toolName: tool,
    arguments: args,
    connectionId: connections[app],
    clientGone: new AbortController().signal,
    // Files say nothing about the level, and are fetched when the call is made.
    resolveFiles: async (_entry, checked) => ({ args: checked, stored: [], file: refuseFile }),
  });
  // What it cannot be made with is said when it is made.
  return check.then(
    ({ entry }) => entry.raised,
    () => undefined,
  );
}

function refuseFile(): never {
  throw new Error("No file is looked at before the call is made.");
}
