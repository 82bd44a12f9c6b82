import { type LevelCondition, pickHigher, type RaisedLevel } from "../wire/call-level.ts";
import { checkStrictly } from "./check-strictly.ts";
import { UnusableSchema } from "./normalise-schema.ts";

/**
 * The level that these arguments raise a call to; undefined where no condition fits. What cannot be checked counts as fitting.
 * Service and plugin both ask here, so that one definition serves both.
 */
export function findRaisedLevel(
  conditions: readonly LevelCondition[],
  args: Readonly<Record<string, unknown>>,
): RaisedLevel | undefined {
  let highest: RaisedLevel | undefined;
  for (const { level, says, when } of conditions) {
    if (fits(when, args)) highest = pickHigher(highest, { level, says });
  }
  return highest;
}

function fits(when: LevelCondition["when"], args: Readonly<Record<string, unknown>>): boolean {
  try {
    return checkStrictly(when, args, { isWhole: true }).kind !== "invalid";
  } catch (error) {
    if (error instanceof UnusableSchema) return true;
    throw error;
  }
}
