import { isDeepStrictEqual } from "node:util";
import { MAX_ITEMS } from "../../apps/port/preview.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { Preview } from "../../shared/wire/preview.ts";
import { followAdding, hasWritten } from "../approvals/follow-own-changes.ts";
import { levelOf } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import type { FlowParts } from "./flow-rows.ts";
import { type Look, look } from "./look-ahead.ts";
import type { ShownLook } from "./shown-previews.ts";

/**
 * State in which an approved call of a flow may run; undefined where its approval showed none. That is the state that was shown,
 * or the present one where the same caller has written to the account since, as the calls before it have, or an earlier try of it
 * may have, and the call either only adds something or does nothing that was not shown: such as a second message that moves into
 * a folder made for the first.
 */
export async function findRunState(
  parts: FlowParts,
  o: Omit<Look, "clientGone"> & {
    readonly shown?: ShownLook | undefined;
    readonly level: SideEffectLevel | undefined;
  },
): Promise<string | undefined> {
  const { shown, level, principal, connectionId } = o;
  if (shown === undefined || level === undefined) return shown?.preview.state;
  const { preview, since } = shown;
  if (!(await hasWritten(parts.store, { ...principal, connectionId, since, countsDoubt: true }))) return preview.state;
  try {
    const prepared = await look(parts, { ...o, clientGone: new AbortController().signal });
    const now = prepared.looked?.preview;
    if (now !== undefined && levelOf(prepared.entry) === level && isCovered(now, preview)) return now.state;
    return followAdding(preview.state, prepared, level);
  } catch (error) {
    // The run itself says what is wrong.
    if (error instanceof ServiceError) return preview.state;
    throw error;
  }
}

/** True where whoever saw `shown` has seen all that `now` says, also how large things are and when they were last changed. */
function isCovered(now: Preview, shown: Preview): boolean {
  return (
    !isCut(now) &&
    now.summary === shown.summary &&
    isDeepStrictEqual(now.objects, shown.objects) &&
    isDeepStrictEqual(now.changes, shown.changes) &&
    now.effects.every((effect) => shown.effects.some((one) => isDeepStrictEqual(one, effect))) &&
    (now.undo.possible || !shown.undo.possible)
  );
}

/** True for a preview that may leave something out. */
function isCut({ effects, changes, objects, objectCount }: Preview): boolean {
  const isShort = (text = "") => text.endsWith("…");
  return (
    effects.length >= MAX_ITEMS ||
    changes.length >= MAX_ITEMS ||
    objects.length < objectCount ||
    changes.some(({ before, after, diff = "" }) => isShort(before) || isShort(after) || /^\\|…$/m.test(diff))
  );
}
