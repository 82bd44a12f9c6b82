import { findRaisedLevel } from "../../shared/schema-check/call-level.ts";
import { pickHigher, rankLevel } from "../../shared/wire/call-level.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { AccessView } from "../access/access-view.ts";
import { type CatalogEntry, levelOf } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import { judgeByState, type PreparedCall, type RunParts } from "./run-action.ts";

/** A call that was judged. */
interface Judged {
  /** The tool, with `raised` where the call does more than its action says. */
  readonly entry: CatalogEntry;
  /** Why it is not known what the call would do to what is there now. It may run only for whoever confirms it whatever it does. */
  readonly failure: unknown;
}

/**
 * The level of one call: that of its action, raised by its arguments (`Action.raises`) and by what is there now (`Action.judge`).
 * What replaces, empties, hides or ends something counts as deleting, however its action is called. Read it with `levelOf`.
 */
export async function judgeCall(
  parts: RunParts,
  call: Pick<PreparedCall, "entry" | "connection" | "args"> & { readonly clientGone: AbortSignal },
): Promise<Judged> {
  const { entry, args } = call;
  let failure: unknown;
  const byState = await judgeByState(parts, call).catch((error: unknown) => {
    failure = error;
    return undefined;
  });
  const raised = pickHigher(findRaisedLevel(entry.action.raises ?? [], args), byState);
  if (raised === undefined || rankLevel(raised.level) <= rankLevel(entry.action.level)) return { entry, failure };
  return { entry: { ...entry, raised }, failure };
}

/**
 * True where a confirmation covers what the call does. `confirmed`: the level that was shown to whoever confirmed it; undefined:
 * they confirmed this very call, whatever its level.
 */
export function isCovered(entry: CatalogEntry, confirmed: SideEffectLevel | undefined): boolean {
  return confirmed === undefined || rankLevel(levelOf(entry)) <= rankLevel(confirmed);
}

/** Throws ServiceError 403 `blocked_by_limits` for a call that does more than its key may. */
export function checkLevel({ levels }: Pick<AccessView, "levels">, { action, raised }: CatalogEntry): void {
  if (raised === undefined || levels === undefined || levels.includes(raised.level)) return;
  throw new ServiceError(403, "blocked_by_limits", `This key may not delete, and "${action.title}" ${raised.says}.`, {
    type: "policy",
    hint: "Do not try it in another way. Only the owner can widen the limits of this key: tell the user.",
  });
}
