import { type RawBuilder, sql } from "kysely";
import { DAY_MS, toInstant, UTC, type Zone } from "../../shared/base/zones.ts";
import { describeRule, type Rule, type RuleContent } from "../access/rules.ts";
import type { Store } from "../store/open-store.ts";
import type { ExecutionRow } from "../store/schema.ts";
import { describeObject, parseBeginning } from "./describe-object.ts";
import { createPastCalls } from "./execution-log.ts";
import { permitByRule, readPermission } from "./permission.ts";

/** Which executions to show; a missing member does not filter. */
export interface ActivityFilter {
  readonly status?: ExecutionRow["status"] | undefined;
  /** Full tool name. */
  readonly tool?: string | undefined;
  readonly connectionId?: string | undefined;
  /** Id of the key, or `oauth_` and the client id. */
  readonly deviceId?: string | undefined;
  /** Only calls of this flow. */
  readonly flowId?: string | undefined;
  /** First and last day, `YYYY-MM-DD`, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Where these days are meant. Default: UTC. */
  readonly zone?: Zone | undefined;
}

/** One execution without its arguments and output, with the device that asked for it, or the person or trigger whose flow did. */
export interface ActivityItem extends Omit<ExecutionRow, "arguments" | "output"> {
  /** Null when none of them asked for it. */
  readonly device_label: string | null;
  readonly device_revoked_at: string | null;
  /** The flow that it is a call of; null without one. */
  readonly flow_id: string | null;
  /** What whoever approved it was told that it would do, else see `describeObject`. */
  readonly object: string | undefined;
}

/** Read access to past executions, for the owner. */
export type Activity = ReturnType<typeof createActivity>;

/** How often a rule let something run, and when last (ISO 8601). */
export interface RuleUse {
  readonly count: number;
  /** Undefined when it let nothing run. */
  readonly last: string | undefined;
}

/** Uses of a rule that are counted. */
export const MAX_RULE_USES = 1000;

/** The rows that a rule let run: written as the index of them has it. */
const RULED = sql<boolean>`substr(permission, 1, 12) = '{"by":"rule"'`;

const COLUMNS = [
  "executions.id",
  "executions.account_id",
  "executions.api_key_id",
  "executions.connection_id",
  "executions.integration",
  "executions.action_id",
  "executions.tool_name",
  "executions.side_effect_level",
  "executions.status",
  "executions.error",
  "executions.started_at",
  "executions.finished_at",
  "executions.node_id",
  "executions.permission",
  "executions.waits_until",
  "api_keys.revoked_at as device_revoked_at",
  "flow_calls.flow_id",
] as const;

/** Characters of arguments that are looked at for what a call is about: a page of the log must not load megabytes. */
const BEGINNING = 4000;
const beginning = sql<string>`substr(executions.arguments, 1, ${sql.lit(BEGINNING)})`.as("beginning");

function toItem<Row extends { readonly beginning: string; readonly permission: string | null }>(o: Row) {
  const { beginning, ...row } = o;
  const permission = readPermission(row.permission);
  const says = permission?.by === "person" ? permission.says : undefined;
  return { ...row, object: says ?? describeObject(parseBeginning(beginning)) };
}

/**
 * Creates the view on the executions of a store.
 *
 * @param flush waits until what this process knows is in the store
 */
export function createActivity(store: Store, flush: () => Promise<void> = async () => {}) {
  const ofAccount = (accountId: string) =>
    store
      .selectFrom("executions")
      .leftJoin("api_keys", "api_keys.id", "executions.api_key_id")
      .leftJoin("people", "people.id", "executions.api_key_id")
      .leftJoin("triggers", "triggers.id", "executions.api_key_id")
      .leftJoin("flow_calls", "flow_calls.execution_id", "executions.id")
      .select(COLUMNS)
      .select((e) => e.fn.coalesce("api_keys.label", "people.name", "triggers.name").as("device_label"))
      .select(beginning)
      .where("executions.account_id", "=", accountId);

  /** Ids of the calls of a flow, which are few; never an empty list. */
  const listCalls = async (flowId: string): Promise<string[]> => {
    const calls = await store.selectFrom("flow_calls").select("execution_id").where("flow_id", "=", flowId).execute();
    return ["", ...calls.map(({ execution_id }) => execution_id)];
  };

  return {
    /** One page of executions, newest first. Pass `next` as `before` to get the next one; undefined on the last. */
    async list(accountId: string, filter: ActivityFilter, page: { size: number; before?: string | undefined }) {
      await flush();
      const { size, before } = page;
      let query = ofAccount(accountId);
      if (filter.status !== undefined) query = query.where("status", "=", filter.status);
      if (filter.tool !== undefined) query = query.where("tool_name", "=", filter.tool);
      if (filter.connectionId !== undefined) query = query.where("connection_id", "=", filter.connectionId);
      if (filter.deviceId !== undefined) query = query.where("executions.api_key_id", "=", filter.deviceId);
      if (filter.flowId !== undefined) query = query.where("executions.id", "in", await listCalls(filter.flowId));
      if (filter.from !== undefined) query = query.where("started_at", ">=", startOfDay(filter.from, filter));
      if (filter.to !== undefined) query = query.where("started_at", "<", startOfDay(filter.to, filter, 1));
      const [time = "", id = ""] = before?.split("~") ?? [];
      if (before !== undefined) {
        // As one comparison: with two, everything newer would be looked through.
        query = query.where((e) => e(e.refTuple("started_at", "executions.id"), "<", e.tuple(time, id)));
      }
      const rows = await query
        .orderBy("started_at", "desc")
        .orderBy("executions.id", "desc")
        .limit(size + 1)
        .execute();
      const items: readonly ActivityItem[] = rows.slice(0, size).map(toItem);
      const last = items.at(-1);
      return { items, next: rows.length > size && last ? `${last.started_at}~${last.id}` : undefined };
    },

    async find(accountId: string, id: string): Promise<(ActivityItem & ExecutionRow) | undefined> {
      await flush();
      const row = await ofAccount(accountId)
        .select(["executions.arguments", "executions.output"])
        .where("executions.id", "=", id)
        .executeTakeFirst();
      return row && toItem(row);
    },

    /** Those of the ids that there are, in no order. */
    async findSome(accountId: string, ids: readonly string[]): Promise<ActivityItem[]> {
      if (ids.length === 0) return [];
      await flush();
      const rows = await ofAccount(accountId).where("executions.id", "in", ids).execute();
      return rows.map(toItem);
    },

    /** True when the log has a successful call of the connection. */
    hasSucceeded: createPastCalls(store, flush).hasSucceeded,

    /** What a rule let run, as far back as the log goes; `count` goes to {@link MAX_RULE_USES}. */
    async findRuleUse(accountId: string, rule: Pick<Rule, "id"> & RuleContent): Promise<RuleUse> {
      await flush();
      return findRuleUse(store, accountId, rule);
    },

    /** Names of tools that were ever called, sorted. */
    async listTools(accountId: string): Promise<string[]> {
      await flush();
      // From name to name: `distinct` would scan all executions.
      const next = (after: RawBuilder<unknown>) =>
        sql`select min(tool_name) from executions where account_id = ${accountId} and tool_name > ${after}`;
      const { rows } = await sql<{ name: string }>`
        with recursive tools(name) as (
          ${next(sql`''`)} union all select (${next(sql`tools.name`)}) from tools where tools.name is not null
        ) select name from tools where name is not null`.execute(store);
      return rows.map(({ name }) => name).sort();
    },
  };
}

async function findRuleUse(store: Store, accountId: string, rule: Pick<Rule, "id"> & RuleContent): Promise<RuleUse> {
  const permission = JSON.stringify(permitByRule({ id: rule.id, text: describeRule(rule) }));
  const uses = store
    .selectFrom("executions")
    .select("started_at")
    .where("account_id", "=", accountId)
    .where("permission", "=", permission)
    .where(RULED)
    .orderBy("started_at", "desc")
    .limit(MAX_RULE_USES);
  const rows = await uses.execute();
  return { count: rows.length, last: rows[0]?.started_at };
}

/** First moment of a day, `later` days after it. */
function startOfDay(day: string, { zone = UTC }: ActivityFilter, later = 0): string {
  return new Date(toInstant(Date.parse(`${day}T00:00:00.000Z`) + later * DAY_MS, zone)).toISOString();
}
