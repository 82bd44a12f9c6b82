import type { ApprovalStatus } from "../../wire/approval.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "../store/open-store.ts";
import { countWaiting, type HeldApproval, readApproval, selectApprovals, waitsAt } from "./approval-rows.ts";

/** Which held calls to list; a missing member does not filter. */
interface ApprovalFilter {
  readonly apiKeyId?: string;
  readonly status?: ApprovalStatus;
  /** True: those that wait for the owner; false: all others. */
  readonly isWaiting?: boolean;
  /** Only those after this one in the list. */
  readonly after?: ListPlace | undefined;
  /** Most of them. Default 200. */
  readonly limit?: number;
}

/** Place in a list that has the newest first. */
export interface ListPlace {
  /** ISO 8601. */
  readonly time: string;
  readonly id: string;
}

/** Read access to held calls. */
export interface ApprovalList {
  /** Newest first. */
  list(accountId: string, filter: ApprovalFilter): Promise<HeldApproval[]>;
  /** How many wait for the owner. */
  countWaiting(accountId: string): Promise<number>;
  find(accountId: string, id: string): Promise<HeldApproval | undefined>;
  /** The request that an execution was made for, or that was decided and not run. */
  findByExecution(accountId: string, executionId: string): Promise<HeldApproval | undefined>;
}

const MAX_LISTED = 200;

/** Opens the held calls of a store. `now` gives milliseconds since the epoch. */
export function openApprovalList({
  store,
  box,
  now,
}: {
  store: Store;
  box: SecretBox;
  now: () => number;
}): ApprovalList {
  const at = () => new Date(now()).toISOString();
  const ofAccount = (accountId: string) => selectApprovals(store).where("approvals.account_id", "=", accountId);
  const findFirst = async (query: ReturnType<typeof ofAccount>) => {
    const row = await query.executeTakeFirst();
    return row && readApproval(row, { box, now: now() });
  };
  return {
    async list(accountId, { apiKeyId, status, after, limit = MAX_LISTED, ...filter }) {
      const { isWaiting = status === "pending" ? true : undefined } = filter;
      let query = ofAccount(accountId);
      if (apiKeyId !== undefined) query = query.where("approvals.api_key_id", "=", apiKeyId);
      if (isWaiting === true) query = query.where(waitsAt(at()));
      if (isWaiting === false) query = query.where((e) => e.not(waitsAt(at())(e)));
      if (after !== undefined) {
        const { time, id } = after;
        query = query.where((e) => e(e.refTuple("approvals.requested_at", "approvals.id"), "<", e.tuple(time, id)));
      }
      const newest = query.orderBy("approvals.requested_at", "desc").orderBy("approvals.id", "desc");
      const found = (await newest.limit(limit).execute()).map((row) => readApproval(row, { box, now: now() }));
      return status === undefined ? found : found.filter((approval) => approval.status === status);
    },
    countWaiting: (accountId) => countWaiting(store, accountId, at()),
    find: (accountId, id) => findFirst(ofAccount(accountId).where("approvals.id", "=", id)),
    findByExecution: (accountId, executionId) =>
      findFirst(ofAccount(accountId).where("approvals.execution_id", "=", executionId)),
  };
}
