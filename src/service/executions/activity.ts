import type { Store } from "../store/open-store.ts";
import type { ExecutionRow } from "../store/schema.ts";

/** Which executions to show; what is left out does not filter. */
export interface ActivityFilter {
  readonly status?: ExecutionRow["status"] | undefined;
  /** Full tool name. */
  readonly tool?: string | undefined;
  readonly connectionId?: string | undefined;
  /** First and last UTC day, `YYYY-MM-DD`, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** One execution without its arguments and output. */
export type ActivityItem = Omit<ExecutionRow, "arguments" | "output">;

/** One page of executions, newest first. */
export interface ActivityPage {
  readonly items: readonly ActivityItem[];
  /** Pass it as `before` to get the next page; undefined on the last. */
  readonly next: string | undefined;
}

/** What the owner may look back at. */
export interface Activity {
  list(
    accountId: string,
    filter: ActivityFilter,
    page: { size: number; before?: string | undefined },
  ): Promise<ActivityPage>;
  find(accountId: string, id: string): Promise<ExecutionRow | undefined>;
  /** Names of tools that were ever called, sorted. */
  listTools(accountId: string): Promise<string[]>;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Columns of {@link ActivityItem}. */
const COLUMNS = [
  "id",
  "account_id",
  "api_key_id",
  "connection_id",
  "integration",
  "action_id",
  "tool_name",
  "side_effect_level",
  "status",
  "error",
  "started_at",
  "finished_at",
] as const;

/** Creates the view on the executions of a store. */
export function createActivity(store: Store): Activity {
  return {
    async list(accountId, filter, { size, before }) {
      let query = store.selectFrom("executions").select(COLUMNS).where("account_id", "=", accountId);
      if (filter.status !== undefined) query = query.where("status", "=", filter.status);
      if (filter.tool !== undefined) query = query.where("tool_name", "=", filter.tool);
      if (filter.connectionId !== undefined) query = query.where("connection_id", "=", filter.connectionId);
      if (filter.from !== undefined) query = query.where("started_at", ">=", startOfDay(filter.from));
      if (filter.to !== undefined) query = query.where("started_at", "<", startOfDay(filter.to, 1));
      const [time = "", id = ""] = before?.split("~") ?? [];
      if (before !== undefined) {
        query = query.where((e) =>
          e.or([e("started_at", "<", time), e.and([e("started_at", "=", time), e("id", "<", id)])]),
        );
      }
      const rows = await query
        .orderBy("started_at", "desc")
        .orderBy("id", "desc")
        .limit(size + 1)
        .execute();
      const items = rows.slice(0, size);
      const last = items.at(-1);
      return { items, next: rows.length > size && last ? `${last.started_at}~${last.id}` : undefined };
    },

    find(accountId, id) {
      return store
        .selectFrom("executions")
        .selectAll()
        .where("account_id", "=", accountId)
        .where("id", "=", id)
        .executeTakeFirst();
    },

    async listTools(accountId) {
      const rows = await store
        .selectFrom("executions")
        .select("tool_name")
        .distinct()
        .where("account_id", "=", accountId)
        .orderBy("tool_name")
        .execute();
      return rows.map((row) => row.tool_name);
    },
  };
}

/** First moment of a UTC day, `later` days after it. */
function startOfDay(day: string, later = 0): string {
  return new Date(Date.parse(`${day}T00:00:00.000Z`) + later * DAY_MS).toISOString();
}
