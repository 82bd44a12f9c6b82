import type { ExpressionBuilder } from "kysely";
import { createId } from "../../shared/base/ids.ts";
import type { Store } from "../store/open-store.ts";
import type { ApprovalRow, Tables } from "../store/schema.ts";
import { type HeldApproval, readApproval, selectApprovals } from "./approval-rows.ts";
import { freeHeldFiles } from "./held-files.ts";
import { logNotRun, type RunParts } from "./run-approved.ts";

/** The owner's decision about held calls. */
interface OwnerDecision {
  readonly isApproved: boolean;
  /** The signed-in browser that sent it; it must have opened each call, see `markOpened`. */
  readonly browser: string;
  /** Name of the approver, for the log. */
  readonly by: string;
  /** Told to the agent when it is declined. */
  readonly reason?: string | undefined;
}

/** A held call with the fingerprint of what the owner was shown. */
export interface ShownCall {
  readonly id: string;
  readonly fingerprint: string;
}

/** What became of calls that were decided together. */
export interface Decided {
  /** Id of the decision, which these calls have from now on. */
  readonly decision: string;
  readonly decided: number;
  /** Not pending any more, another one than was shown, not opened in this browser, or behind one that was left. */
  readonly left: number;
  /** Of these, those that could have been approved, but stand behind one that was left on the same account. */
  readonly behind: number;
}

/** Decisions about held calls. */
export interface Decisions {
  /** Notes that a signed-in browser shows this call as it is now. */
  markOpened(browser: string, approval: HeldApproval): Promise<void>;
  /** Ids of the calls that a browser has opened. */
  listOpened(browser: string): Promise<ReadonlySet<string>>;
  /**
   * Decides about some calls at once. Those that are approved run in the order in which they were asked, however they stand
   * in `calls`.
   */
  decide(accountId: string, calls: readonly ShownCall[], decision: OwnerDecision): Promise<Decided>;
  /** Declines an approved call that has not started; false for any other. `by` as in a decision. */
  takeBack(accountId: string, call: { readonly id: string; readonly by: string }): Promise<boolean>;
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

/** @param start begins to work on the queue of an account */
export function createDecisions(parts: RunParts, start: (queue: string) => void): Decisions {
  const { store } = parts;
  return {
    takeBack: (accountId, call) => takeBack(parts, accountId, call),
    async markOpened(browser, { id: approval_id, fingerprint, expiresAt: expires_at }) {
      const mark = { browser, approval_id, fingerprint, expires_at };
      await store
        .insertInto("opened_approvals")
        .values(mark)
        .onConflict((conflict) => conflict.columns(["browser", "approval_id"]).doUpdateSet({ fingerprint }))
        .execute();
    },

    async listOpened(browser) {
      const marks = store.selectFrom("opened_approvals").select("approval_id").where("browser", "=", browser);
      return new Set((await marks.execute()).map(({ approval_id }) => approval_id));
    },

    async decide(accountId, calls, decision) {
      const id = createId("dec");
      const ends = await store
        .transaction()
        .execute((db) => decideInOrder(parts, db, { accountId, calls, decision, id }));
      if (!decision.isApproved) await freeHeldFiles(parts);
      if (decision.isApproved) for (const { queue, end } of ends) if (end === "decided") start(queue);
      const count = (wanted: End) => ends.filter(({ end }) => end === wanted).length;
      const [decided, behind] = [count("decided"), count("behind")];
      return { decision: id, decided, behind, left: calls.length - decided };
    },
  };
}

/** Its turn in the queue of its account is given up with it; see `takeLead`. */
async function takeBack(parts: RunParts, accountId: string, { id, by }: { id: string; by: string }): Promise<boolean> {
  const decided_at = new Date(parts.now()).toISOString();
  const set = {
    status: "declined",
    queue: null,
    reason: "It was stopped after the approval.",
    decided_by: by,
  } as const;
  const isTaken = await parts.store.transaction().execute(async (db) => {
    const { numUpdatedRows } = await db
      .updateTable("approvals")
      .set({ ...set, decided_at })
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .where("status", "=", "approved")
      .executeTakeFirst();
    if (numUpdatedRows === 0n) return false;
    const row = await selectApprovals(db).where("approvals.id", "=", id).executeTakeFirstOrThrow();
    await logNotRun(parts, db, readApproval(row, { box: parts.box, now: parts.now() }));
    return true;
  });
  if (isTaken) await freeHeldFiles(parts);
  return isTaken;
}

type End = "decided" | "left" | "behind";

interface Together {
  readonly accountId: string;
  readonly calls: readonly ShownCall[];
  readonly decision: OwnerDecision;
  readonly id: string;
}

async function decideInOrder(parts: RunParts, db: Store, o: Together) {
  const shown = new Map(o.calls.map(({ id, fingerprint }) => [id, fingerprint]));
  const rows = await selectApprovals(db)
    .where("approvals.account_id", "=", o.accountId)
    .where("approvals.id", "in", ["", ...shown.keys()])
    .execute();
  rows.sort(compareAge);
  const ends: { readonly queue: string; readonly end: End }[] = [];
  const stopped = new Set<string>();
  for (const row of rows) {
    const { connection_id: queue } = row;
    const call = { ...o, row, fingerprint: shown.get(row.id) ?? "" };
    const isStopped = o.decision.isApproved && stopped.has(queue);
    const end = isStopped ? await explainStop(parts, db, call) : await decideOne(parts, db, call);
    ends.push({ queue, end });
    if (end === "left" && !isUnderWay(row)) stopped.add(queue);
  }
  return ends;
}

/** The one that was asked first comes first. */
function compareAge(a: WaitingRow, b: WaitingRow): number {
  return a.number - b.number || (a.requested_at < b.requested_at ? -1 : 1);
}

type WaitingRow = Parameters<typeof readApproval>[0];

/** True for a call that somebody else approved, and that has not failed. */
function isUnderWay({ status, ended_with }: WaitingRow): boolean {
  return (status === "approved" || status === "running") && ended_with === null;
}

type OneCall = Together & { readonly row: WaitingRow; readonly fingerprint: string };

/** Of a call that is not approved for the sake of one before it: whether it could have been. */
async function explainStop({ now }: RunParts, db: Store, o: OneCall): Promise<End> {
  const query = db.selectFrom("approvals").select("id").where("id", "=", o.row.id).where("status", "=", "pending");
  const waiting = query.where("expires_at", ">", new Date(now()).toISOString());
  return (await waiting.where(isShown(o)).executeTakeFirst()) === undefined ? "left" : "behind";
}

/** Condition of the row that this browser has opened, as it is now and as it was shown. */
function isShown({ decision: { browser }, fingerprint, row: { id } }: OneCall) {
  return (e: ExpressionBuilder<Tables, "approvals">) => {
    const marks = e.selectFrom("opened_approvals").select("approval_id").where("browser", "=", browser);
    const same = marks.whereRef("opened_approvals.fingerprint", "=", "approvals.fingerprint");
    return e.and([e("approvals.fingerprint", "=", fingerprint), e.exists(same.where("approval_id", "=", id))]);
  };
}

async function decideOne(parts: RunParts, db: Store, o: OneCall): Promise<End> {
  const { isApproved, by, reason = null } = o.decision;
  const { id } = o.row;
  const outcome = isApproved
    ? ({ status: "approved", queue: o.row.connection_id, reason: null } as const)
    : ({ status: "declined", reason } as const);
  const set = { ...outcome, decided_by: by, decision: o.id, behind: null };
  const at = new Date(parts.now()).toISOString();
  const query = endWait(db, { accountId: o.accountId, id, at, set }).where(isShown(o));
  const { numUpdatedRows } = await query.executeTakeFirst();
  if (numUpdatedRows === 0n) return "left";
  if (isApproved) return "decided";
  const row = await selectApprovals(db).where("approvals.id", "=", id).executeTakeFirstOrThrow();
  await logNotRun(parts, db, readApproval(row, { box: parts.box, now: parts.now() }));
  return "decided";
}
