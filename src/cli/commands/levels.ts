import { type LevelRule, listUnmatched, parseLevelRule, RULE_LEVELS } from "../../apps/port/action-levels.ts";
import type { SourceContent } from "../../apps/port/source-content.ts";
import { SvcError } from "../../shared/errors.ts";

/** Flag of every command that sets levels of actions. */
export interface LevelFlags {
  /** `PATTERN=LEVEL` each. */
  readonly level?: readonly string[];
}

/** @throws SvcError `invalid_config`, field `--level`. */
export function readLevelFlags({ level: given = [] }: LevelFlags): LevelRule[] {
  const setAt = new Date().toISOString();
  return given.map((text) => {
    const rule = parseLevelRule(text, { setAt, setIn: "command" });
    if (rule !== undefined) return rule;
    throw new SvcError("invalid_config", `"${text}" sets no level.`, {
      field: "--level",
      hint: `Write it as 'search_*=read': the id of an action, or a part of it with *, and one of ${RULE_LEVELS.join(", ")}.`,
    });
  });
}

/** The owner's rules, and those that fit no action, in one sentence each. */
export function describeRules(rules: readonly LevelRule[], content: SourceContent): string[] {
  const show = (some: readonly LevelRule[]) => some.map(({ pattern, level }) => `${pattern}=${level}`).join(", ");
  if (rules.length === 0) return [];
  const unmatched = content.actions.length === 0 ? [] : listUnmatched(rules, content);
  const missed = `No action matches ${show(unmatched)}; it counts for actions that come later.`;
  return [`Levels set by you: ${show(rules)}.`, ...(unmatched.length === 0 ? [] : [missed])];
}
