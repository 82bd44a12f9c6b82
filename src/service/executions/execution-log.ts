import type { Principal } from "../auth/api-keys.ts";
import { createId } from "../auth/secrets.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ExecutionRow } from "../store/schema.ts";

/** Rows of everything that ran. */
export interface ExecutionLog {
  /** @throws ServiceError 402 `usage_limit_reached` when today's executions are used up. */
  checkUsage(accountId: string): Promise<void>;
  /**
   * Counts the execution and writes its row; on disk when the promise resolves, so that a crash while the provider
   * acts leaves a trace.
   *
   * @throws ServiceError 402 `usage_limit_reached`.
   */
  start(call: {
    principal: Principal;
    entry: CatalogEntry;
    connectionId: string;
    arguments: Readonly<Record<string, unknown>>;
  }): Promise<{ id: string; startedAt: string }>;
  succeed(id: string, output: string): Promise<string>;
  fail(id: string, error: { code: string; message: string }): Promise<string>;
  /** Closes rows that a killed process left open: whether their provider acted is not known. */
  closeAbandoned(): Promise<void>;
}

/** Creates the log. `usageLimit` is executions per account and UTC day; undefined means no limit. */
export function createExecutionLog(store: Store, now: () => number, usageLimit?: number): ExecutionLog {
  const at = () => new Date(now()).toISOString();

  async function finish(id: string, change: Partial<ExecutionRow>): Promise<string> {
    const finished_at = at();
    await store
      .updateTable("executions")
      .set({ ...change, finished_at })
      .where("id", "=", id)
      .execute();
    return finished_at;
  }

  return {
    async checkUsage(accountId) {
      if (usageLimit === undefined) return;
      const today = await store
        .selectFrom("usage_days")
        .select("executions")
        .where("account_id", "=", accountId)
        .where("day", "=", at().slice(0, 10))
        .executeTakeFirst();
      if ((today?.executions ?? 0) >= usageLimit) throw usageLimitReached(usageLimit);
    },

    async start({ principal, entry, connectionId, arguments: args }) {
      const id = createId("exe");
      const startedAt = at();
      const day = { account_id: principal.accountId, day: startedAt.slice(0, 10), executions: 1 };
      const row: ExecutionRow = {
        id,
        account_id: principal.accountId,
        api_key_id: principal.apiKeyId,
        connection_id: connectionId,
        integration: entry.integration.slug,
        action_id: entry.action.id,
        tool_name: entry.toolName,
        side_effect_level: entry.action.level,
        arguments: JSON.stringify(args),
        status: "started",
        output: null,
        error: null,
        started_at: startedAt,
        finished_at: null,
      };
      await store.transaction().execute(async (transaction) => {
        const { executions } = await transaction
          .insertInto("usage_days")
          .values(day)
          .onConflict((c) =>
            c.columns(["account_id", "day"]).doUpdateSet((e) => ({ executions: e("usage_days.executions", "+", 1) })),
          )
          .returning("executions")
          .executeTakeFirstOrThrow();
        if (usageLimit !== undefined && executions > usageLimit) throw usageLimitReached(usageLimit);
        await transaction.insertInto("executions").values(row).execute();
      });
      return { id, startedAt };
    },

    succeed: (id, output) => finish(id, { status: "succeeded", output }),
    fail: (id, error) => finish(id, { status: "failed", error: JSON.stringify(error) }),

    async closeAbandoned() {
      const message = "The service stopped while this ran. Whether it took effect is not known.";
      await store
        .updateTable("executions")
        .set({ status: "failed", error: JSON.stringify({ code: "outcome_unknown", message }), finished_at: at() })
        .where("status", "=", "started")
        .execute();
    },
  };
}

function usageLimitReached(limit: number): ServiceError {
  return new ServiceError(402, "usage_limit_reached", `All ${limit} executions of this day are used.`, {
    type: "billing",
    hint: "The count starts again at 00:00 UTC; the owner of the service can raise `usageLimit`.",
  });
}
