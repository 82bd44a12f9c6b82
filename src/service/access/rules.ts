import { z } from "zod";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from "../../wire/catalog.ts";
import { createId } from "../auth/secrets.ts";
import type { CatalogEntry } from "../catalog/search-index.ts";
import type { Store } from "../store/open-store.ts";
import { isExactPattern, matchesTool, toolPatternSchema } from "./tool-patterns.ts";

/**
 * `allow` runs a call unasked, `ask` asks about it, also about a read; `block` refuses it. The strictest first: of several
 * rules that fit a call, it counts.
 */
const RULE_EFFECTS = ["block", "ask", "allow"] as const;

const MAX_NOTE = 200;

/** A rule as its owner writes it; what is left out means any. Messages are sentences. */
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
  /** Name of whoever made it. */
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
  const { level } = entry.action;
  if ((rule.level ?? level) !== level || (rule.key ?? subject) !== subject) return false;
  if (rule.account !== undefined && rule.account !== connectionId) return false;
  if (rule.effect !== "allow") return matchesTool(rule.tool, entry, "wide");
  // Of an action whose level is a guess, only its own name says that it is meant.
  const isMeant = entry.action.isLevelAssumed !== true || isExactPattern(rule.tool);
  return isMeant && isAllowable(level) && matchesTool(rule.tool, entry, "narrow");
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

/** The owner's rules; each change counts from the next call on, in every process. */
export type Rules = ReturnType<typeof createRules>;

/** Opens the rules of an account. `now` gives milliseconds since the epoch. */
export function createRules(store: Store, accountId: string, now: () => number) {
  const list = async (): Promise<Rule[]> => {
    const rows = await store
      .selectFrom("rules")
      .selectAll()
      .where("account_id", "=", accountId)
      .orderBy("made_at")
      .orderBy("id")
      .execute();
    return rows.map(({ id, content, made_by: madeBy, made_at: madeAt }) => {
      return { ...ruleContentSchema.parse(JSON.parse(content)), id, madeBy, madeAt };
    });
  };
  return {
    /** Oldest first. */
    list,

    /** The rule that decides about a call; undefined where none does. */
    decide: async (call: RuledCall): Promise<Rule | undefined> => findRule(await list(), call),

    /** Adds a rule, unless there is one with the same effect and conditions: then that one stays as it is. */
    async add(content: RuleContent, madeBy: string): Promise<Rule> {
      const known = (await list()).find((rule) => isSameRule(rule, content));
      if (known !== undefined) return known;
      const rule = { ...content, id: createId("rule"), madeBy, madeAt: new Date(now()).toISOString() };
      const row = { id: rule.id, account_id: accountId, content: JSON.stringify(content) };
      await store
        .insertInto("rules")
        .values({ ...row, made_by: madeBy, made_at: rule.madeAt })
        .execute();
      return rule;
    },

    /** False when there is no such rule. */
    async remove(id: string): Promise<boolean> {
      const removed = await store
        .deleteFrom("rules")
        .where("id", "=", id)
        .where("account_id", "=", accountId)
        .executeTakeFirst();
      return removed.numDeletedRows > 0n;
    },
  };
}

/** True for rules with the same effect and conditions, whatever their notes. */
function isSameRule(a: RuleContent, b: RuleContent): boolean {
  const words = ({ effect, tool, level, account, key }: RuleContent) =>
    JSON.stringify([effect, tool, level, account, key]);
  return words(a) === words(b);
}
