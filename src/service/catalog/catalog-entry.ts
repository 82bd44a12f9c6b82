import type { Action, Integration } from "../../apps/port/integration.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import type { SideEffectLevel } from "../../shared/wire/catalog.ts";

/** One callable tool: an action of an integration under its full name. */
export interface CatalogEntry {
  /** `<slug>_<action id>`. */
  readonly toolName: string;
  readonly integration: Integration;
  readonly action: Action;
  /** The owner's rule that decides whether a call of this caller needs a confirmation. Default: none. */
  readonly ruled?: "ask" | "allow";
  /** What the call at hand does beyond the level of the action. Default: no call, or no more. */
  readonly raised?: RaisedLevel;
  /** That rule, where it was looked up for one call. */
  readonly rule?: { readonly id: string; readonly text: string };
}

/** True for a tool whose calls, or a call that, needs a confirmation. */
export function needsConfirmation({ action, ruled, raised }: CatalogEntry): boolean {
  return ruled === "ask" || raised !== undefined || (action.requiresConfirmation && ruled !== "allow");
}

/**
 * The level that decides: of the call at hand where it does more than its action says, as `judgeCall` of the executions found,
 * else of the action. Every decision (rules, limits of keys, held calls, cards, the log) asks here.
 */
export function levelOf({ action, raised }: Pick<CatalogEntry, "raised"> & LeveledAction): SideEffectLevel {
  return raised?.level ?? action.level;
}

interface LeveledAction {
  readonly action: Pick<Action, "level">;
}
