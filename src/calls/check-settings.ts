import { SvcError } from "../errors.ts";

/** Bounds of a number among the settings, both allowed. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  /** True where a fraction means nothing. */
  readonly isWhole?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What a wait can be, in milliseconds: timers reach 24 days. */
export const WAIT_BOUNDS: NumberBounds = { min: 1, max: 24 * DAY_MS };

/** A number with no upper bound, or with one that is applied instead of refused. */
export function atLeast(min: number): NumberBounds {
  return { min, max: Number.POSITIVE_INFINITY };
}

/** {@link atLeast} for what is counted. */
export function countFrom(min: number): NumberBounds {
  return { ...atLeast(min), isWhole: true };
}

/**
 * Refuses settings that are no number or out of bounds; what is undefined has its default. A number
 * that is none would otherwise show much later, and as something else.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkNumbers<Settings extends object>(
  settings: Settings,
  bounds: Partial<Record<keyof Settings & string, NumberBounds>>,
): void {
  for (const [name, { min, max, isWhole = false }] of Object.entries(bounds as Record<string, NumberBounds>)) {
    const value: unknown = Reflect.get(settings, name);
    const isNumber = typeof value === "number" && value >= min && value <= max;
    if (value === undefined || (isNumber && (!isWhole || Number.isInteger(value) || value === max))) continue;
    const kind = isWhole ? "a whole number" : "a number";
    throw refuse(name, value, Number.isFinite(max) ? `${kind} from ${min} to ${max}` : `${kind} of at least ${min}`);
  }
}

/**
 * Refuses lists of names that are no list, or hold what is no name; what is undefined has its default. A single text would
 * pass for a list and find every name that is part of it.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkNames<Settings extends object>(
  settings: Settings,
  fields: readonly (keyof Settings & string)[],
): void {
  for (const field of fields) {
    const value: unknown = settings[field];
    if (value === undefined || (Array.isArray(value) && value.every(isName))) continue;
    throw refuse(field, value, "a list of names, none of them empty");
  }
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Refuses settings that are none of their choices; what is undefined has its default.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkChoices<Settings extends object>(
  settings: Settings,
  choices: Partial<Record<keyof Settings & string, readonly string[]>>,
): void {
  for (const [name, allowed] of Object.entries(choices as Record<string, readonly string[]>)) {
    const value: unknown = Reflect.get(settings, name);
    if (value === undefined || allowed.some((choice) => choice === value)) continue;
    throw refuse(name, value, `one of ${allowed.map((choice) => `"${choice}"`).join(", ")}`);
  }
}

function refuse(field: string, value: unknown, expected: string): SvcError {
  const shown =
    typeof value === "number" || typeof value === "string"
      ? ` and not ${JSON.stringify(String(value).slice(0, 40))}`
      : "";
  return new SvcError("invalid_config", `The setting ${field} must be ${expected}${shown}.`, {
    field,
    hint: `Correct ${field}, or leave it out to use the default.`,
    sent: false,
  });
}
