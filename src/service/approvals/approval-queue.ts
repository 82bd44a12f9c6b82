import type { ExpressionBuilder } from "kysely";
import { STOPPED } from "../executions/delays.ts";
import { restoreError } from "../executions/outcome.ts";
import { isDoubtful } from "../executions/summarise-outcome.ts";
import type { ServiceError } from "../service-error.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import type { ApprovalRow, Tables } from "../store/schema.ts";
import { selectApprovals } from "./approval-rows.ts";
import type { OnWaiting } from "./hold-call.ts";

/*
 * The queue of an account: its approved calls in the order in which they were asked, one after another, in however many
 * processes. Every step is one transaction, and a call leaves the queue only when its end is known there.
 */

/** How a call left its queue without success. */
type BadEnd = "failed" | "stopped" | "unknown" | "not_run";

const ENDS: Readonly<Record<BadEnd, string>> = {
  failed: "failed",
  stopped: "was stopped",
  unknown: "ended, and it is not known whether it took effect",
  not_run: "could not be run",
};

/** Condition of the rows that were asked before this one. */
function isBefore({ number, requested_at, id }: Pick<ApprovalRow, "number" | "requested_at" | "id">) {
  return (e: ExpressionBuilder<Tables, "approvals">) =>
    e(e.refTuple("approvals.number", "approvals.requested_at", "approvals.id"), "<", e.tuple(number, requested_at, id));
}

/**
 * Takes note of how the running call of a queue ended, and names the next one.
 *
 * @returns undefined when a call still runs, or none is left.
 */
export async function advanceQueue(store: Store, onWaiting: OnWaiting, queue: string): Promise<string | undefined> {
  const next = await store.transaction().execute(async (transaction) => {
    await takeTurn(transaction, `queue ${queue}`);
    const running = await selectApprovals(transaction)
      .where("approvals.queue", "=", queue)
      .where("approvals.status", "=", "running")
      .executeTakeFirst();
    if (running !== undefined) {
      if (running.ended_at === null) return undefined;
      await transaction.updateTable("approvals").set({ queue: null }).where("id", "=", running.id).execute();
      const { ended_with: error } = running;
      const end = error === null ? undefined : nameEnd(restoreError(error));
      if (end !== undefined) await sendBack({ onWaiting }, transaction, { row: running, end });
    }
    const query = transaction.selectFrom("approvals").select("id").where("queue", "=", queue);
    const first = query.where("status", "=", "approved").orderBy("number").orderBy("requested_at").orderBy("id");
    return (await first.executeTakeFirst())?.id;
  });
  onWaiting.wake();
  return next;
}

function nameEnd(error: ServiceError): BadEnd {
  if (error.code === STOPPED) return "stopped";
  return isDoubtful(error) ? "unknown" : "failed";
}

/** Makes an approved call the running one of its queue: false when it is not its first, or another one runs. */
export async function takeLead(transaction: Store, row: ApprovalRow, executionId: string): Promise<boolean> {
  try {
    const taken = await transaction
      .updateTable("approvals")
      .set({ status: "running", execution_id: executionId })
      .where("id", "=", row.id)
      .where("status", "=", "approved")
      .where((e) => {
        const others = e.selectFrom("approvals").select("id").where("queue", "=", row.queue);
        const first = others.where((o) => o.or([o("status", "=", "running"), isBefore(row)(o)]));
        return e.not(e.exists(first));
      })
      .executeTakeFirst();
    return taken.numUpdatedRows > 0n;
  } catch (error) {
    // The index that lets one call of a queue run: another process was faster.
    if (isTaken(error)) return false;
    throw error;
  }
}

/** SQLSTATE of a unique index that has such a row. */
const UNIQUE_VIOLATION = "23505";

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === UNIQUE_VIOLATION;
}

/**
 * Lets what was approved behind a call wait again, which belongs to the transaction that notes its end: their yes was given for
 * an account on which that call had taken effect.
 */
export async function sendBack(
  { onWaiting }: { readonly onWaiting: OnWaiting },
  transaction: Store,
  { row, end }: { readonly row: ApprovalRow; readonly end: BadEnd },
): Promise<void> {
  const reason = `It waits again, and was not run: a call that was asked before it on the same account ${ENDS[end]}.`;
  const back = await transaction
    .updateTable("approvals")
    .set({ status: "pending", queue: null, decided_at: null, decided_by: null, reason, behind: row.id })
    .where("queue", "=", row.connection_id)
    .where("status", "=", "approved")
    .where((e) => e.not(isBefore(row)(e)))
    .returning("id")
    .execute();
  const ids = back.map(({ id }) => id);
  if (ids.length === 0) return;
  // What was seen before the failure was another situation.
  await transaction.deleteFrom("opened_approvals").where("approval_id", "in", ids).execute();
  for (const id of ids) await onWaiting.add(transaction, id);
}
