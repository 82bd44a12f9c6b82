import type { Store } from "../store/open-store.ts";
import type { ApprovalRow } from "../store/schema.ts";
import { type HeldApproval, readApproval, selectApprovals } from "./approval-rows.ts";
import { logNotRun, type RunParts } from "./run-approved.ts";

/** The owner's decision about one held call. */
interface OwnerDecision {
  readonly isApproved: boolean;
  /** The signed-in browser that sent it; it must have opened the call, see `markOpened`. */
  readonly browser: string;
  /** Fingerprint of the call that the owner was shown. */
  readonly fingerprint: string;
  /** Name of the approver, for the log. */
  readonly by: string;
  /** Told to the agent when it is declined. */
  readonly reason?: string | undefined;
}

/** Decisions about held calls. */
export interface Decisions {
  /** Notes that a signed-in browser shows this call as it is now. */
  markOpened(browser: string, approval: HeldApproval): Promise<void>;
  /** Ids of the calls that a browser has opened. */
  listOpened(browser: string): Promise<ReadonlySet<string>>;
  /** False when it is not pending any more, differs from the call that was shown, or this browser has not opened it. */
  decide(accountId: string, id: string, decision: OwnerDecision): Promise<boolean>;
}

/** The update that ends the wait of a call, unless it has ended; `at` in ISO 8601. */
export function endWait(
  store: Store,
  { accountId, id, at, set }: { accountId: string; id: string; at: string; set: Partial<ApprovalRow> },
) {
  return store
    .updateTable("approvals")
    .set({ ...set, decided_at: at })
    .where("id", "=", id)
    .where("account_id", "=", accountId)
    .where("status", "=", "pending")
    .where("expires_at", ">", at);
}

/** @param start begins an approved call in the background */
export function createDecisions(parts: RunParts, start: (id: string) => void): Decisions {
  const { store, box, now } = parts;

  async function decide(db: Store, accountId: string, id: string, decision: OwnerDecision): Promise<boolean> {
    const { isApproved, fingerprint, browser, by, reason = null } = decision;
    const outcome = isApproved ? ({ status: "approved" } as const) : ({ status: "declined", reason } as const);
    const set = { ...outcome, decided_by: by };
    const { numUpdatedRows } = await endWait(db, { accountId, id, at: new Date(now()).toISOString(), set })
      .where("fingerprint", "=", fingerprint)
      .where((e) => {
        const marks = e.selectFrom("opened_approvals").select("approval_id").where("browser", "=", browser);
        const same = marks.whereRef("opened_approvals.fingerprint", "=", "approvals.fingerprint");
        return e.exists(same.where("approval_id", "=", id));
      })
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    if (isApproved) return true;
    const row = await selectApprovals(db).where("approvals.id", "=", id).executeTakeFirstOrThrow();
    await logNotRun(parts, db, readApproval(row, { box, now: now() }));
    return true;
  }

  return {
    async markOpened(browser, { id: approval_id, fingerprint, expiresAt: expires_at }) {
      const mark = { browser, approval_id, fingerprint, expires_at };
      await store
        .insertInto("opened_approvals")
        .values(mark)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },

    async listOpened(browser) {
      const marks = store.selectFrom("opened_approvals").select("approval_id").where("browser", "=", browser);
      return new Set((await marks.execute()).map(({ approval_id }) => approval_id));
    },

    async decide(accountId, id, decision) {
      const isDecided = await store.transaction().execute((db) => decide(db, accountId, id, decision));
      if (isDecided && decision.isApproved) start(id);
      return isDecided;
    },
  };
}
