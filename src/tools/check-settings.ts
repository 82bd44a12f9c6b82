import { SvcError } from "../errors.ts";

/** Bounds of a number among the settings, both allowed. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** What a wait can be, in milliseconds: timers reach 24 days. */
export const WAIT_BOUNDS: NumberBounds = { min: 1, max: 24 * DAY_MS };

/** A number with no upper bound, or with one that is applied instead of refused. */
export function atLeast(min: number): NumberBounds {
  return { min, max: Number.POSITIVE_INFINITY };
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
  for (const [name, { min, max }] of Object.entries(bounds as Record<string, NumberBounds>)) {
    const value: unknown = Reflect.get(settings, name);
    if (value === undefined || (typeof value === "number" && value >= min && value <= max)) continue;
    throw refuse(name, value, Number.isFinite(max) ? `a number from ${min} to ${max}` : `a number of at least ${min}`);
  }
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
