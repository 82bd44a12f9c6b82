import { checkChoices, checkNames, checkNumbers, countFrom, WAIT_BOUNDS } from "../../calls/check-settings.ts";
import type { SvcToolkitOptions, ToolFilter } from "./toolkit-options.ts";

const LEVELS: readonly string[] = ["read", "write", "delete", "admin", "unknown"];

/**
 * Refuses settings of a toolkit that cannot be meant.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkToolkitOptions(options: SvcToolkitOptions): void {
  checkNumbers(options, { interruptTtlMs: WAIT_BOUNDS, describeAhead: countFrom(0) });
  checkChoices(options, { askThrough: ["interrupt", "callback"] });
}

/**
 * Refuses a filter that cannot be meant. Names that are not known are no reason: see `MissingReport`.
 *
 * @throws SvcError `invalid_config` naming the member
 */
export function checkFilter(filter: ToolFilter): void {
  checkNumbers(filter, { limit: countFrom(1) });
  checkNames(filter, ["integrations", "tools"]);
  for (const levels of filter.levels ?? []) checkChoices({ levels }, { levels: LEVELS });
}
