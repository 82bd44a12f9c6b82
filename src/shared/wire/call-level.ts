import { z } from "zod";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel } from "./catalog.ts";
import { jsonSchemaSchema, readableItems } from "./tool.ts";

const raisedLevelSchema = z.object({ level: z.enum(["delete", "admin"]), says: z.string() });

/** What one call does beyond the level of its action: `says` is a sentence for whoever decides, without a full stop. */
export type RaisedLevel = z.infer<typeof raisedLevelSchema>;

/** The level of each call whose arguments fit the JSON Schema `when`. */
const levelConditionSchema = raisedLevelSchema.extend({ when: jsonSchemaSchema });
export type LevelCondition = z.infer<typeof levelConditionSchema>;

/**
 * `canonical.call_levels` of a described tool. Ours: not in the document. It is there where a call may do more than its action
 * says, and promises that the service takes `confirmed_level`: the level that whoever confirmed the call was shown. A call that
 * does more is answered as an unconfirmed one then, with its level as `call_level`.
 */
export const callLevelsSchema = z.looseObject({ conditions: readableItems(levelConditionSchema).catch([]) });

/** `call_level` of a refusal: the level of the call and why. */
export const callLevelSchema = raisedLevelSchema.loose().optional().catch(undefined);

/** Greater for a level that does more. */
export function rankLevel(level: SideEffectLevel): number {
  return SIDE_EFFECT_LEVELS.indexOf(level);
}

/** The one that does more; the first of two that do the same. */
export function pickHigher(one: RaisedLevel | undefined, other: RaisedLevel | undefined): RaisedLevel | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return rankLevel(other.level) > rankLevel(one.level) ? other : one;
}
