import { SvcError } from "../../errors.ts";
import { atLeast, checkChoices, checkNumbers, WAIT_BOUNDS } from "../../tools/check-settings.ts";
import type { SvcToolkitOptions, ToolFilter } from "./toolkit-options.ts";

const LEVELS: readonly string[] = ["read", "write", "delete", "admin", "unknown"];

/**
 * Refuses settings of a toolkit that cannot be meant.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkToolkitOptions(options: SvcToolkitOptions): void {
  checkNumbers(options, { interruptTtlMs: WAIT_BOUNDS, describeAhead: atLeast(0) });
  checkWhole(options, "describeAhead");
  checkChoices(options, { askThrough: ["interrupt", "callback"] });
  checkNames(options, "integrations");
}

/**
 * Refuses a filter that cannot be meant. Names that are not known are no reason: see `MissingReport`.
 *
 * @throws SvcError `invalid_config` naming the member
 */
export function checkFilter(filter: ToolFilter): void {
  checkNumbers(filter, { limit: atLeast(1) });
  checkWhole(filter, "limit");
  checkNames(filter, "integrations");
  checkNames(filter, "tools");
  for (const levels of filter.levels ?? []) checkChoices({ levels }, { levels: LEVELS });
}

/**
 * Refuses a number with a fraction.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkWhole<Settings extends object>(settings: Settings, field: keyof Settings & string): void {
  const value: unknown = settings[field];
  if (value === undefined || Number.isInteger(value) || value === Number.POSITIVE_INFINITY) return;
  throw refuse(field, "a whole number");
}

function checkNames<Settings extends object>(settings: Settings, field: keyof Settings & string): void {
  const value: unknown = settings[field];
  if (value === undefined) return;
  // A single text would pass for a list and find every app whose name is part of it.
  if (Array.isArray(value) && value.every((name) => typeof name === "string" && name.trim() !== "")) return;
  throw refuse(field, "a list of names, none of them empty");
}

function refuse(field: string, expected: string): SvcError {
  return new SvcError("invalid_config", `The setting ${field} must be ${expected}.`, {
    field,
    hint: `Correct ${field}, or leave it out to use the default.`,
    sent: false,
  });
}
