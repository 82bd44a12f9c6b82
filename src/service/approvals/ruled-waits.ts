import { describeRule, findRule, type Rule, type Rules } from "../access/rules.ts";
import { readApproval, selectApprovals, waitsAt } from "./approval-rows.ts";
import { endWait } from "./decide-call.ts";
import { freeHeldFiles } from "./held-files.ts";
import { logNotRun, type RunParts } from "./run-approved.ts";

/** Ends the wait of calls that a rule blocks which was made after they were asked, by whomever and in whatever process. */
export function createRuledWaits(parts: RunParts & { readonly rules: Pick<Rules, "list"> }) {
  const { store, box, catalog, now } = parts;
  let applied = "[]";

  async function decline(id: string, accountId: string, rule: Rule): Promise<void> {
    await store.transaction().execute(async (db) => {
      const reason = `A rule of the owner does not allow it: ${describeRule(rule)} (${rule.id}).`;
      const set = { status: "declined", decided_by: rule.madeBy, reason, behind: null } as const;
      const { numUpdatedRows } = await endWait(db, {
        accountId,
        id,
        at: new Date(now()).toISOString(),
        set,
      }).executeTakeFirst();
      if (numUpdatedRows === 0n) return;
      const row = await selectApprovals(db).where("approvals.id", "=", id).executeTakeFirstOrThrow();
      await logNotRun(parts, db, readApproval(row, { box, now: now() }));
    });
  }

  return {
    async apply(): Promise<void> {
      const rules = await parts.rules.list();
      const state = JSON.stringify(rules);
      if (state === applied) return;
      const waiting = rules.some(({ effect }) => effect === "block")
        ? store
            .selectFrom("approvals")
            .select(["id", "account_id", "tool_name", "connection_id", "api_key_id", "level"])
            .where(waitsAt(new Date(now()).toISOString()))
        : undefined;
      for (const row of (await waiting?.execute()) ?? []) {
        const entry = catalog.find(row.tool_name);
        const call = { connectionId: row.connection_id, subject: row.api_key_id };
        const { level } = row;
        const isMore = (level === "delete" || level === "admin") && entry?.action.level !== level;
        const raised = isMore ? { level, says: "" } : undefined;
        const own = entry && raised !== undefined ? { ...entry, raised } : entry;
        const rule = own && findRule(rules, { entry: own, ...call });
        if (rule?.effect === "block") await decline(row.id, row.account_id, rule);
      }
      await freeHeldFiles(parts);
      applied = state;
    },
  };
}
