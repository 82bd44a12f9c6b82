import { SvcError } from "../errors.ts";

/** Range of a number, both ends included. */
export interface NumberBounds {
  readonly min: number;
  readonly max: number;
  /** True if only whole numbers are taken. Default false. */
  readonly isWhole?: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Bounds of a wait in milliseconds: timers reach 24 days. */
export const WAIT_BOUNDS: NumberBounds = { min: 1, max: 24 * DAY_MS };

/** Bounds without a maximum, also for settings whose maximum is applied instead of refused. */
export function atLeast(min: number): NumberBounds {
  return { min, max: Number.POSITIVE_INFINITY };
}

/** {@link atLeast} for whole numbers. */
export function countFrom(min: number): NumberBounds {
  return { ...atLeast(min), isWhole: true };
}

/**
 * Refuses settings that are not numbers or out of bounds; undefined means the default. Checked early, because a bad
 * number would otherwise cause a different error much later.
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
    throw refuseSetting(
      name,
      value,
      Number.isFinite(max) ? `${kind} from ${min} to ${max}` : `${kind} of at least ${min}`,
    );
  }
}

/**
 * Refuses settings that are not lists of names; undefined means the default. A plain string would pass for a list and
 * match each of its substrings.
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
    throw refuseSetting(field, value, "a list of names, none of them empty");
  }
}

function isName(value: unknown): boolean {
  return typeof value === "string" && value.trim() !== "";
}

/**
 * Refuses settings outside their choices; undefined means the default.
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
    throw refuseSetting(name, value, `one of ${allowed.map((choice) => `"${choice}"`).join(", ")}`);
  }
}

/**
 * Refuses settings that do not exist: a misspelt one would change nothing. What is undefined counts as left out.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkMembers(settings: object, known: readonly string[]): void {
  const unknown = Object.keys(settings).find(
    (name) => !known.includes(name) && Reflect.get(settings, name) !== undefined,
  );
  if (unknown === undefined) return;
  throw new SvcError("invalid_config", `There is no setting ${JSON.stringify(unknown.slice(0, 40))}.`, {
    field: unknown,
    hint: `Use one of: ${known.join(", ")}.`,
    sent: false,
  });
}

/**
 * Refuses settings of another type; undefined means the default.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkTypes<Settings extends object>(
  settings: Settings,
  types: Partial<Record<keyof Settings & string, "function" | "boolean" | "string">>,
): void {
  for (const [name, type] of Object.entries(types as Record<string, keyof typeof TYPES>)) {
    const value: unknown = Reflect.get(settings, name);
    if (value !== undefined && (typeof value !== type || value === "")) throw refuseSetting(name, value, TYPES[type]);
  }
}

const TYPES = { function: "a function", boolean: "true or false", string: "a text that is not empty" };

/**
 * Refuses settings that are not lists of paths, or of objects that hold a path as `folder`.
 *
 * @throws SvcError `invalid_config` naming the setting
 */
export function checkPaths<Settings extends object>(
  settings: Settings,
  fields: readonly (keyof Settings & string)[],
): void {
  for (const field of fields) {
    const value: unknown = settings[field];
    if (value === undefined) continue;
    if (!Array.isArray(value)) throw refuseSetting(field, value, "a list of absolute paths");
    const index = value.findIndex((one: unknown) => !isName(one) && !isName(Object(one).folder));
    if (index === -1) continue;
    const item: unknown = value[index];
    throw new SvcError("invalid_config", `${field}[${index}] is ${item === "" ? "empty" : typeof item} and no path.`, {
      field,
      hint: "Give absolute paths. Is a variable of the environment not set?",
      sent: false,
    });
  }
}

/** The error for a setting that is not `expected`, such as "a list of names". */
export function refuseSetting(field: string, value: unknown, expected: string): SvcError {
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
