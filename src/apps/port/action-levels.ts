import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";
import { fitsWildcards } from "../../shared/base/wildcards.ts";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from "../../shared/wire/catalog.ts";
import type { SourceContent, StoredAction } from "./source-content.ts";

const MAX_PATTERN = 64;
/** Levels of a rule; `own`: as if the action had none. */
export const RULE_LEVELS = [...SIDE_EFFECT_LEVELS, "own"] as const;

const ruleSchema = z.object({
  /** Id of an action, or a part of ids with `*` for any characters. */
  pattern: z
    .string()
    .max(MAX_PATTERN)
    .regex(/^[A-Za-z0-9_*-]+$/),
  level: z.enum(RULE_LEVELS),
  setAt: z.iso.datetime(),
  /** Where its owner set it; `command` is the command line. */
  setIn: z.enum(["command", "dashboard"]),
});

/** In their order: the last one that matches an action holds. */
export const levelRulesSchema = z.array(ruleSchema).readonly();

/** The level that the owner gave to actions of an app, also to those that it will have later. */
export type LevelRule = z.output<typeof ruleSchema>;

const policySchema = z.object({
  /** True where actions without a rule have the level that the app itself gives them; otherwise each is a write. */
  trusted: z.boolean().default(true),
  levels: levelRulesSchema.optional(),
});

/** How the levels of an app's actions are decided: a part of its stored definition. */
export type LevelPolicy = z.output<typeof policySchema>;

/** Reads the policy of a stored definition; undefined when it cannot be read. */
export function parseLevelPolicy(definition: unknown): LevelPolicy | undefined {
  return policySchema.safeParse(isRecord(definition) ? definition : {}).data;
}

/** Reads `PATTERN=LEVEL`; undefined when it is none. */
export function parseLevelRule(text: string, set: Pick<LevelRule, "setAt" | "setIn">): LevelRule | undefined {
  const at = text.lastIndexOf("=");
  return ruleSchema.safeParse({ ...set, pattern: text.slice(0, at), level: text.slice(at + 1) }).data;
}

/** Gives each action the level it has by this policy, and what follows from it. */
export function applyLevels(content: SourceContent, policy: LevelPolicy): SourceContent {
  const actions = content.actions.map((action): StoredAction => {
    const { own = { level: action.level, idempotent: action.idempotent } } = action;
    const { level } = judgeLevel(action, policy);
    // Of a read that is none, nobody knows whether it may be repeated.
    const idempotent = level === "read" || (policy.trusted && own.idempotent && own.level !== "read");
    return { ...action, own, level, requiresConfirmation: level !== "read", idempotent };
  });
  return { ...content, actions };
}

/** An app with another policy, in its definition and its actions. Members that are left out stay. */
export function changeLevels<App extends { readonly definition: unknown; readonly content: SourceContent }>(
  app: App,
  change: Partial<LevelPolicy>,
): App {
  const definition = { ...(isRecord(app.definition) ? app.definition : {}), ...change };
  return { ...app, definition, content: applyLevels(app.content, policySchema.parse(definition)) };
}

/** The level of an action, and where it comes from. */
export interface JudgedLevel {
  readonly level: SideEffectLevel;
  /** `mark`: the app gives it; `default`: neither does the owner, nor an app whose word counts. */
  readonly from: "rule" | "mark" | "default";
  readonly rule?: LevelRule;
}

/** Decides the level of an action. */
export function judgeLevel(action: Pick<StoredAction, "id" | "level" | "own">, policy: LevelPolicy): JudgedLevel {
  // The level of an action is its app's own word until a policy is applied.
  const { id, own = action } = action;
  const rule = policy.levels?.findLast(({ pattern }) => fitsWildcards(pattern, id));
  if (rule !== undefined && rule.level !== "own") return { level: rule.level, from: "rule", rule };
  if (policy.trusted && own.level !== undefined) return { level: own.level, from: "mark" };
  return { level: "write", from: "default" };
}

/** The same rules with new ones behind them, which take the place of those with the same pattern. */
export function addRules(rules: readonly LevelRule[] | undefined, added: readonly LevelRule[]): LevelRule[] {
  return [...(rules ?? []).filter(({ pattern }) => !added.some((one) => one.pattern === pattern)), ...added];
}

/** Where an action has its level from, for its owner. */
export function explainLevel(
  action: StoredAction,
  app: { readonly kind: string; readonly levels: LevelPolicy },
): string {
  const { from, rule } = judgeLevel(action, app.levels);
  if (rule !== undefined) {
    const where = rule.setIn === "command" ? "by command" : "in the dashboard";
    return `${rule.pattern}=${rule.level}, set ${where} ${rule.setAt.slice(0, 10)}`;
  }
  if (from === "mark") return app.kind === "mcp" ? "The server says so" : "HTTP method";
  const said = action.own?.level;
  return said === undefined ? "The server says nothing" : `The server says ${said}, but is not trusted`;
}

type Levelled = Pick<StoredAction, "id" | "level">;

/** Those of `next` that have a lower level than before: what they do is asked for less. */
export function listLowered<A extends Levelled>(before: readonly Levelled[], next: readonly A[]): A[] {
  const rank = (level: SideEffectLevel) => SIDE_EFFECT_LEVELS.indexOf(level);
  const ranks = new Map(before.map(({ id, level }) => [id, rank(level)]));
  return next.filter(({ id, level }) => rank(level) < (ranks.get(id) ?? 0));
}

/** Those rules that no action is matched by. */
export function listUnmatched(rules: readonly LevelRule[], { actions }: Pick<SourceContent, "actions">): LevelRule[] {
  return rules.filter(({ pattern }) => !actions.some(({ id }) => fitsWildcards(pattern, id)));
}
