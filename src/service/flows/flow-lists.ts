import type { Flow } from "../../shared/wire/flow.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow } from "../store/schema.ts";
import { readFacts } from "./flow-facts.ts";
import type { FlowTemplates } from "./flow-templates.ts";
import { toFlow } from "./flow-view.ts";

/** Whose flows: those of an account, or of one of its keys. */
export interface FlowOwner {
  readonly accountId: string;
  readonly apiKeyId?: string;
}

/** A call that a flow made, and its step. */
export interface FlowCall {
  readonly stepKey: string;
  readonly executionId: string;
}

/** Most calls of one flow that are listed. */
const MAX_CALLS = 500;

/** Creates the lists of flows of a store. */
export function createFlowLists(store: Store, templates: FlowTemplates) {
  const show = async (rows: readonly FlowRow[]): Promise<Flow[]> => {
    const facts = await readFacts(store, templates, rows);
    return rows.map((row) => toFlow(row, templates.of(row), facts));
  };
  // A timed wait has a `wake_at`; an approval has none.
  const waiting = (accountId: string) =>
    store
      .selectFrom("flows")
      .where("account_id", "=", accountId)
      .where("status", "=", "waiting")
      .where("wake_at", "is", null);
  return {
    /** Flows of an account, or only those that one key started, the one that changed last first. */
    async list({ accountId, apiKeyId }: FlowOwner, limit: number): Promise<Flow[]> {
      const newest = store.selectFrom("flows").selectAll().where("account_id", "=", accountId);
      const all = newest.orderBy("updated_at", "desc").orderBy("id", "desc").limit(limit);
      return show(await (apiKeyId === undefined ? all : all.where("api_key_id", "=", apiKeyId)).execute());
    },
    /** Flows of an account that wait for an approval, the one that changed last first; `after` is the last of an earlier list. */
    async listWaiting(
      accountId: string,
      { limit, after }: { limit: number; after?: { time: string; id: string } | undefined },
    ): Promise<Flow[]> {
      const newest = waiting(accountId).selectAll().orderBy("updated_at", "desc").orderBy("id", "desc");
      const rest =
        after === undefined
          ? newest
          : newest.where((e) => e(e.refTuple("updated_at", "id"), "<", e.tuple(after.time, after.id)));
      return show(await rest.limit(limit).execute());
    },
    /** How many of them there are. */
    async countWaiting(accountId: string): Promise<number> {
      const counted = waiting(accountId).select((e) => e.fn.countAll<number | string>().as("count"));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    },
    /** Calls that a flow made, 500 at most, in the order of each step's attempts; of a repeated read, the last. */
    async listCalls(flowId: string): Promise<FlowCall[]> {
      const calls = store.selectFrom("flow_calls").select(["key", "execution_id"]).where("flow_id", "=", flowId);
      const rows = await calls.limit(MAX_CALLS).execute();
      rows.sort((a, b) => (a.key < b.key ? -1 : 1));
      return rows.map(({ key, execution_id }) => ({ stepKey: key.split(":")[1] ?? "", executionId: execution_id }));
    },
  };
}
