import { z } from "zod";
import { createId } from "../../shared/base/ids.ts";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from "../../shared/wire/catalog.ts";
import { type CatalogEntry, levelOf } from "../catalog/catalog-entry.ts";
import { type Store, takeTurn } from "../store/open-store.ts";
import { isExactPattern, matchesTool, toolPatternSchema } from "./tool-patterns.ts";

/**
 * `allow` runs a call unasked, `ask` asks about it, also about a read; `block` refuses it. The strictest first: of several
 * rules that fit a call, it counts.
 */
const RULE_EFFECTS = ["block", "ask", "allow"] as const;

const MAX_NOTE = 200;

/** A rule as its owner writes it; a missing condition means any. Messages are sentences. */
export const ruleContentSchema = z
  .strictObject({
    effect: z.enum(RULE_EFFECTS, `A rule has one of these effects: ${RULE_EFFECTS.join(", ")}.`),
    tool: toolPatternSchema,
    level: z
      .enum(SIDE_EFFECT_LEVELS, `A rule has one of these levels, or none: ${SIDE_EFFECT_LEVELS.join(", ")}.`)
      .optional(),
    /** Id of a connection. */
    account: z.string().min(1).max(64).optional(),
    /** Id of a key, or `oauth_` and the id of an OAuth client. */
    key: z.string().min(1).max(300).optional(),
    /** For the owner. */
    note: z.string().trim().max(MAX_NOTE, `A note has at most ${MAX_NOTE} characters.`).optional(),
  })
  .refine(({ effect, level }) => effect !== "allow" || isAllowable(level), {
    path: ["level"],
    message: "Deleting and administration are always asked about: no rule allows them.",
  });
export type RuleContent = z.output<typeof ruleContentSchema>;

/** A rule in force. */
export interface Rule extends RuleContent {
  readonly id: string;
  /** Name of its author. */
  readonly madeBy: string;
  readonly madeAt: string;
}

/** A call as rules see it. */
export interface RuledCall {
  readonly entry: CatalogEntry;
  /** The connection that it uses; undefined where none is chosen: then rules for an account do not fit. */
  readonly connectionId: string | undefined;
  /** The key or OAuth client that asks. */
  readonly subject: string;
}

/** The rule that decides about a call; undefined where none does. */
export function findRule(rules: readonly Rule[], call: RuledCall): Rule | undefined {
  const fitting = rules.filter((rule) => fits(rule, call));
  return RULE_EFFECTS.map((effect) => fitting.find((rule) => rule.effect === effect)).find(
    (rule) => rule !== undefined,
  );
}

function fits(rule: Rule, { entry, connectionId, subject }: RuledCall): boolean {
  if ((rule.key ?? subject) !== subject) return false;
  if (rule.account !== undefined && rule.account !== connectionId) return false;
  return isAbout(rule, entry);
}

/** True for a rule that can decide about calls of this tool, or about the call that the entry was judged for. */
export function isAbout({ effect, tool, level }: RuleContent, entry: CatalogEntry): boolean {
  const { action } = entry;
  const own = levelOf(entry);
  if ((level ?? own) !== own) return false;
  if (effect !== "allow") return matchesTool(tool, entry, "wide");
  // Of an action whose level is a guess, only its own name says that it is meant.
  const isMeant = action.isLevelAssumed !== true || isExactPattern(tool);
  return isMeant && isAllowable(own) && matchesTool(tool, entry, "narrow");
}

function isAllowable(level: SideEffectLevel | undefined): boolean {
  return level === undefined || level === "read" || level === "write";
}

/** The condition of a rule in words, without ids and note: `block mail/*, level delete, for this key`. */
export function describeRule({ effect, tool, level, account, key }: RuleContent): string {
  const parts = [
    `${effect} ${tool}`,
    ...(level === undefined ? [] : [`level ${level}`]),
    ...(account === undefined ? [] : ["on this account"]),
    ...(key === undefined ? [] : ["for this key"]),
  ];
  return parts.join(", ");
}

/** The effect of a rule on a call of a tool, in a sentence. */
export function describeFate({ action }: CatalogEntry, rule: Rule | undefined): string {
  if (rule?.effect === "block") return "It is refused.";
  if (rule?.effect === "ask") return "It needs an approval.";
  if (rule?.effect === "allow") {
    const device = action.level === "read" ? "" : " A device that asks its own human still does.";
    return `It runs, and the service asks nobody.${device}`;
  }
  return action.requiresConfirmation ? "It needs an approval, as without rules." : "It runs, as without rules.";
}

/** The owner's rules; each change counts from the next call on, in every process. */
export type Rules = ReturnType<typeof createRules>;

/** Opens the rules of an account. `now` gives milliseconds since the epoch. */
export function createRules(store: Store, accountId: string, now: () => number) {
  async function list(db = store): Promise<Rule[]> {
    const rows = await db
      .selectFrom("rules")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("made_at")
      .orderBy("id")
      .execute();
    return rows.map(({ id, content, made_by: madeBy, made_at: madeAt }) => {
      return { ...ruleContentSchema.parse(JSON.parse(content)), id, madeBy, madeAt };
    });
  }

  async function insert(content: RuleContent, madeBy: string, db = store): Promise<Rule> {
    const rule = { ...content, id: createId("rule"), madeBy, madeAt: new Date(now()).toISOString() };
    const row = { id: rule.id, account_id: accountId, content: JSON.stringify(content) };
    await db
      .insertInto("rules")
      .values({ ...row, made_by: madeBy, made_at: rule.madeAt })
      .execute();
    return rule;
  }

  async function remove(id: string, db = store): Promise<boolean> {
    const removed = await db
      .deleteFrom("rules")
      .where("id", "=", id)
      .where("account_id", "=", accountId)
      .executeTakeFirst();
    return removed.numDeletedRows > 0n;
  }

  return {
    /** Oldest first. */
    list: () => list(),

    /** Adds a rule, unless there is one with the same effect and conditions: then that one stays as it is. */
    async add(content: RuleContent, madeBy: string): Promise<Rule> {
      const known = (await list()).find((rule) => nameRule(rule) === nameRule(content));
      return known ?? insert(content, madeBy);
    },

    /** False when there is no such rule. */
    remove: (id: string) => remove(id),

    /** Makes a change that {@link compareRules} found, as a whole; false when a rule to be removed is gone by now. */
    change({ added, removed }: RuleChange, madeBy: string): Promise<boolean> {
      return store.transaction().execute(async (transaction) => {
        await takeTurn(transaction, "rules");
        const ids = new Set((await list(transaction)).map(({ id }) => id));
        if (!removed.every(({ id }) => ids.has(id))) return false;
        for (const { id } of removed) await remove(id, transaction);
        for (const content of added) await insert(content, madeBy, transaction);
        return true;
      });
    },
  };
}

/** Rules that a change adds and removes. */
export interface RuleChange {
  readonly added: readonly RuleContent[];
  readonly removed: readonly Rule[];
}

/** The change from the rules in force to these; a rule with another note is another rule. */
export function compareRules(inForce: readonly Rule[], wanted: readonly RuleContent[]): RuleChange {
  const name = (rule: RuleContent) => `${nameRule(rule)} ${rule.note ?? ""}`;
  const [now, next] = [new Set(inForce.map(name)), new Map(wanted.map((rule) => [name(rule), rule]))];
  return {
    added: [...next].filter(([key]) => !now.has(key)).map(([, rule]) => rule),
    removed: inForce.filter((rule) => !next.has(name(rule))),
  };
}

/** Equal for rules with the same effect and conditions. */
function nameRule({ effect, tool, level, account, key }: RuleContent): string {
  return JSON.stringify([effect, tool, level, account, key]);
}
