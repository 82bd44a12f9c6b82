import { SvcError } from "../../errors.ts";

/** Reads a whole number flag; throws `invalid_config` naming the flag and its range. */
export function wholeNumber(text: string, flag: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SvcError("invalid_config", `${flag} is "${text}"; it must be a whole number from ${min} to ${max}.`, {
    field: flag,
  });
}
