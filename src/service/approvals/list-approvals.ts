import type { ApprovalStatus } from "../../shared/wire/approval.ts";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "../store/open-store.ts";
import { countWaiting, type HeldApproval, readApproval, selectApprovals, waitsAt } from "./approval-rows.ts";

/** Which held calls to list; a missing member does not filter. */
interface ApprovalFilter {
  readonly apiKeyId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly connectionId?: string | undefined;
  /** Id of a decision: those that were decided together. */
  readonly decision?: string;
  readonly status?: ApprovalStatus;
  /** True: those that wait for the owner; false: all others. */
  readonly isWaiting?: boolean;
  /** Only those after this one in the list. */
  readonly after?: ListPlace | undefined;
  /** Most of them. Default 200. */
  readonly limit?: number;
  /** The first asked first. Default: the last. */
  readonly isOldestFirst?: boolean;
}

/** Calls of one tool that a key or OAuth client asked for, and that wait. */
export interface WaitingGroup {
  readonly apiKeyId: string;
  readonly toolName: string;
  readonly count: number;
}

/** Place in a list that has the newest first. */
export interface ListPlace {
  /** ISO 8601. */
  readonly time: string;
  readonly id: string;
}

/** Read access to held calls. */
export interface ApprovalList {
  /** Newest first, unless wanted otherwise. */
  list(accountId: string, filter: ApprovalFilter): Promise<HeldApproval[]>;
  /** How many wait for the owner. */
  countWaiting(accountId: string): Promise<number>;
  /** Those of whom more than one waits, the largest first. */
  listGroups(accountId: string): Promise<WaitingGroup[]>;
  find(accountId: string, id: string): Promise<HeldApproval | undefined>;
  /** The request that an execution was made for, or that was decided and not run. */
  findByExecution(accountId: string, executionId: string): Promise<HeldApproval | undefined>;
}

const MAX_LISTED = 200;
const MAX_GROUPS = 5;

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
    async list(accountId, { status, after, limit = MAX_LISTED, isOldestFirst, ...filter }) {
      const { isWaiting = status === "pending" ? true : undefined } = filter;
      let query = ofAccount(accountId);
      for (const [column, wanted] of [
        ["approvals.api_key_id", filter.apiKeyId],
        ["approvals.tool_name", filter.toolName],
        ["approvals.connection_id", filter.connectionId],
        ["approvals.decision", filter.decision],
      ] as const) {
        if (wanted !== undefined) query = query.where(column, "=", wanted);
      }
      if (isWaiting === true) query = query.where(waitsAt(at()));
      if (isWaiting === false) query = query.where((e) => e.not(waitsAt(at())(e)));
      if (after !== undefined) {
        const { time, id } = after;
        query = query.where((e) => e(e.refTuple("approvals.requested_at", "approvals.id"), "<", e.tuple(time, id)));
      }
      const sorted = isOldestFirst
        ? query.orderBy("approvals.number").orderBy("approvals.requested_at").orderBy("approvals.id")
        : query.orderBy("approvals.requested_at", "desc").orderBy("approvals.id", "desc");
      const found = (await sorted.limit(limit).execute()).map((row) => readApproval(row, { box, now: now() }));
      return status === undefined ? found : found.filter((approval) => approval.status === status);
    },
    async listGroups(accountId) {
      const rows = await store
        .selectFrom("approvals")
        .select((e) => ["api_key_id", "tool_name", e.fn.countAll<number | string>().as("count")])
        .where("account_id", "=", accountId)
        .where(waitsAt(at()))
        .groupBy(["api_key_id", "tool_name"])
        .having((e) => e.fn.countAll(), ">", 1)
        .execute();
      // Few wait at one time.
      return rows
        .map((row) => ({ apiKeyId: row.api_key_id, toolName: row.tool_name, count: Number(row.count) }))
        .sort((a, b) => b.count - a.count)
        .slice(0, MAX_GROUPS);
    },
    countWaiting: (accountId) => countWaiting(store, accountId, at()),
    find: (accountId, id) => findFirst(ofAccount(accountId).where("approvals.id", "=", id)),
    findByExecution: (accountId, executionId) =>
      findFirst(ofAccount(accountId).where("approvals.execution_id", "=", executionId)),
  };
}
