import { MAX_ITEMS } from "../../apps/port/preview.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { Preview } from "../../shared/wire/preview.ts";
import { levelOf } from "../catalog/catalog-entry.ts";
import { restoreError } from "../executions/outcome.ts";
import type { PreparedCall } from "../executions/run-action.ts";
import { isDoubtful } from "../executions/summarise-outcome.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { HeldApproval } from "./approval-rows.ts";
import { checkEdit } from "./edit-call.ts";
import type { RunParts } from "./run-approved.ts";

/**
 * State in which an approved call may run; undefined where its card showed none. That is the state that was shown, or the
 * present one where the same caller has written to the account since it was asked, and the call only adds something: the second
 * of two calls that were approved together. Changes that others made to it in that time are not told from the caller's own.
 */
export async function findRunState(parts: RunParts, approval: HeldApproval): Promise<string | undefined> {
  const { content } = approval;
  const shown = content?.preview?.state;
  if (content === undefined || shown === undefined) return shown;
  if (!(await hasWritten(parts.store, { ...approval, since: approval.requestedAt }))) return shown;
  try {
    return followAdding(shown, await checkEdit(parts, approval, content.arguments), approval.level);
  } catch (error) {
    // The run itself says what is wrong.
    if (error instanceof ServiceError) return shown;
    throw error;
  }
}

/**
 * The present state where the call, looked at once more, still does no more than its level says and only adds something; else
 * the one that was shown.
 */
export function followAdding(
  shown: string,
  { entry, looked }: Pick<PreparedCall, "entry" | "looked">,
  level: SideEffectLevel,
): string {
  const now = looked?.preview;
  return now !== undefined && levelOf(entry) === level && addsOnly(now) ? now.state : shown;
}

/** Most unsuccessful executions since then that are read. */
const MAX_DOUBTFUL = 100;

/** True where a caller has written to an account since a time; without a connection, to any. */
export async function hasWritten(
  store: Store,
  o: {
    readonly accountId: string;
    readonly apiKeyId: string;
    readonly connectionId: string | undefined;
    /** ISO 8601. */
    readonly since: string;
    /** True where a write that may have taken effect counts, too. Default false. */
    readonly countsDoubt?: boolean;
  },
): Promise<boolean> {
  const find = (statuses: readonly ("succeeded" | "started" | "failed")[], limit: number) => {
    const writes = store
      .selectFrom("executions")
      .select(["status", "error"])
      .where("account_id", "=", o.accountId)
      .where("api_key_id", "=", o.apiKeyId)
      .where("started_at", ">=", o.since)
      .where("side_effect_level", "!=", "read")
      .where("status", "in", statuses)
      .limit(limit);
    return o.connectionId === undefined
      ? writes.execute()
      : writes.where("connection_id", "=", o.connectionId).execute();
  };
  if ((await find(["succeeded"], 1)).length > 0) return true;
  if (o.countsDoubt !== true) return false;
  const others = await find(["started", "failed"], MAX_DOUBTFUL);
  return others.some(({ status, error }) => status === "started" || isDoubtful(restoreError(error)));
}

/** Consequences by which nothing is lost, and nobody hears of it. */
const ADDING = new Set([
  ...["creates", "creates_folder", "keeps_copy", "unchanged", "not_looked"],
  ...["overlaps", "is_free", "looks_like", "notifies_nobody"],
]);

/** False also for a preview that was cut: what it leaves out may take something away. */
function addsOnly({ effects, changes }: Preview): boolean {
  return (
    effects.length < MAX_ITEMS &&
    changes.length < MAX_ITEMS &&
    effects.every(({ code }) => ADDING.has(code)) &&
    changes.every(({ before, diff = "" }) => before === undefined && !/^[-\\]/m.test(diff))
  );
}
