import type { ApprovalStatus } from "../../wire/approval.ts";
import type { Principal } from "../auth/api-keys.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Hold } from "../executions/execute-tool.ts";
import type { ExecutionLog } from "../executions/execution-log.ts";
import { readExecution, type StoredExecution } from "../executions/outcome.ts";
import { phraseError } from "../executions/summarise-outcome.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ApprovalMode, ApprovalRow } from "../store/schema.ts";
import { type HeldApproval, readApproval, selectApprovals } from "./approval-rows.ts";
import { holdCall, type OnWaiting } from "./hold-call.ts";
import { createApprovedRuns, OAUTH, type RunParts } from "./run-approved.ts";

/** The owner's decision about one held call. */
interface OwnerDecision {
  readonly isApproved: boolean;
  /** Fingerprint of the call that the owner was shown. */
  readonly fingerprint: string;
  /** Name of the approver, for the log. */
  readonly by: string;
  /** Told to the agent when it is declined. */
  readonly reason?: string | undefined;
}

/** Calls that the service holds until its owner has decided. */
export interface Approvals {
  /**
   * Holds the calls of a caller whose own confirmation does not count; undefined where it counts.
   *
   * @param request the shape in which the caller expects the result, and its idempotency key
   */
  findHold(
    principal: Principal,
    request: Pick<ApprovalRow, "shape"> & Partial<Pick<ApprovalRow, "idempotency_key" | "input_hash">>,
  ): Promise<Hold | undefined>;
  /** True where the service holds every call that needs an approval, whatever the mode of its caller. */
  readonly isFixed: boolean;
  /** Who approves the calls of a key or OAuth client. */
  readMode(subject: string): Promise<ApprovalMode>;
  /** Changes it; open requests stay as they are. The subject may be a waiting session, see `ApiKeys.issue`. */
  setMode(subject: string, mode: ApprovalMode): Promise<void>;
  /** Page on which the owner decides. */
  urlOf(id: string): string;
  /** Newest first, at most 200; of one key when `apiKeyId` is given. */
  list(
    accountId: string,
    filter: { readonly apiKeyId?: string; readonly status?: ApprovalStatus },
  ): Promise<HeldApproval[]>;
  find(accountId: string, id: string): Promise<HeldApproval | undefined>;
  /** The end of its execution in the words of the endpoint that was called; undefined before, and after seven days. */
  findResult(approval: HeldApproval): Promise<StoredExecution | undefined>;
  /** False when it is not pending any more, or differs from the call that was shown. */
  decide(accountId: string, id: string, decision: OwnerDecision): Promise<boolean>;
  /** Withdraws a request of this key; false when it is decided. */
  cancel(principal: Principal, id: string): Promise<boolean>;
  /** Stops; resolves when nothing is started any more. */
  close(): Promise<void>;
}

/** Parts of {@link createApprovals}. */
export interface ApprovalParts extends RunParts {
  readonly store: Store;
  readonly box: SecretBox;
  readonly catalog: Catalog;
  readonly executionLog: Pick<ExecutionLog, "find">;
  readonly onWaiting: OnWaiting;
  readonly now: () => number;
  readonly baseUrl: string;
  /** `owner`: nobody's own confirmation counts. `device`: that of paired devices does, unless they are set otherwise. */
  readonly mode: ApprovalMode;
  /** Milliseconds between two looks for approved calls that another process left. */
  readonly checkEveryMs: number;
}

/** How long the result of a call is handed out, in milliseconds. */
const RESULT_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
const MAX_LISTED = 200;

function createModes({ store, mode: fixed }: ApprovalParts): Pick<Approvals, "isFixed" | "readMode" | "setMode"> {
  return {
    isFixed: fixed === "owner",

    async readMode(subject) {
      if (fixed === "owner") return "owner";
      const row = await store
        .selectFrom("approval_modes")
        .select("mode")
        .where("subject", "=", subject)
        .executeTakeFirst();
      return row?.mode ?? (subject.startsWith(OAUTH) ? "owner" : "device");
    },

    async setMode(subject, mode) {
      await store
        .insertInto("approval_modes")
        .values({ subject, mode })
        .onConflict((conflict) => conflict.column("subject").doUpdateSet({ mode }))
        .execute();
    },
  };
}

/** Opens the approvals of a service. */
export function createApprovals(parts: ApprovalParts): Approvals {
  const { store, box, now } = parts;
  const runs = createApprovedRuns(parts);
  const at = () => new Date(now()).toISOString();
  const urlOf = (id: string) => `${parts.baseUrl}/inbox/${id}`;

  const modes = createModes(parts);

  async function change(accountId: string, id: string, set: Partial<ApprovalRow>, o: { fingerprint?: string } = {}) {
    let query = store
      .updateTable("approvals")
      .set(set)
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .where("status", "=", "pending")
      .where("expires_at", ">", at());
    if (o.fingerprint !== undefined) query = query.where("fingerprint", "=", o.fingerprint);
    return (await query.executeTakeFirst()).numUpdatedRows > 0n;
  }

  async function find(accountId: string, id: string): Promise<HeldApproval | undefined> {
    const own = selectApprovals(store).where("approvals.account_id", "=", accountId);
    const row = await own.where("approvals.id", "=", id).executeTakeFirst();
    return row && readApproval(row, { box, now: now() });
  }

  return {
    ...modes,
    urlOf,
    find,

    async findHold(principal, request) {
      if ((await modes.readMode(principal.apiKeyId)) === "device") return undefined;
      return (call) => holdCall({ ...parts, urlOf }, { ...call, principal, ...request });
    },

    async list(accountId, { apiKeyId, status }) {
      let query = selectApprovals(store).where("approvals.account_id", "=", accountId);
      if (apiKeyId !== undefined) query = query.where("approvals.api_key_id", "=", apiKeyId);
      if (status === "pending") query = query.where("approvals.status", "=", "pending");
      const newest = query.orderBy("approvals.requested_at", "desc").orderBy("approvals.id", "desc");
      const rows = await newest.limit(MAX_LISTED).execute();
      const read = rows.map((row) => readApproval(row, { box, now: now() }));
      return status === undefined ? read : read.filter((approval) => approval.status === status);
    },

    async findResult({ accountId, executionId, status, decidedAt, row }) {
      if (status !== "done" || executionId === null || Date.parse(decidedAt ?? "") + RESULT_KEPT_MS < now()) return;
      const execution = await parts.executionLog.find(accountId, executionId);
      const outcome = execution && readExecution(execution, parts.catalog);
      if (outcome?.error === undefined || row.shape === "envelope") return outcome;
      return { ...outcome, error: phraseError(outcome.error, outcome.entry) };
    },

    async decide(accountId, id, { isApproved, fingerprint, by, reason = null }) {
      const status = isApproved ? "approved" : "declined";
      const set = { status, decided_at: at(), decided_by: by, reason: isApproved ? null : reason } as const;
      const isDecided = await change(accountId, id, set, { fingerprint });
      if (isDecided && isApproved) runs.start(id);
      return isDecided;
    },

    async cancel({ accountId, apiKeyId }, id) {
      const own = await find(accountId, id);
      if (own?.apiKeyId !== apiKeyId) {
        throw new ServiceError(404, "approval_not_found", "There is no such approval.", { bare: true });
      }
      return change(accountId, id, { status: "cancelled", decided_at: at() });
    },

    close: runs.close,
  };
}
