import { type Command, Option } from "commander";
import { isRecord, parseJson } from "../base/json.ts";
import { SvcError } from "../errors.ts";
import type { RunCommand } from "./context.ts";

/** Makes the action of a command from its body, which is loaded when the command runs. */
export type Run = <Args extends unknown[]>(
  load: () => Promise<RunCommand<Args>>,
) => (...args: unknown[]) => Promise<void>;

/** Puts commands into the tree. */
export type AddCommands = (program: Command, run: Run) => void;

/** `--base-url`. */
export const baseUrlOption = () => new Option("--base-url <url>", "address of the service").env("SVC_BASE_URL");

/** `--database`. */
export const databaseOption = () =>
  new Option(
    "--database <url>",
    "PostgreSQL database that several processes share, postgres://… (default: a file in the data folder)",
  ).env("SVC_DATABASE");

/** Gathers the values of an option that may stand more than once. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Reads a whole number flag; throws `invalid_config` naming the flag and its range. */
export function wholeNumber(text: string, flag: string, min: number, max: number): number {
  const value = Number(text);
  if (text.trim() !== "" && Number.isInteger(value) && value >= min && value <= max) return value;
  throw new SvcError("invalid_config", `${flag} is "${text}"; it must be a whole number from ${min} to ${max}.`, {
    field: flag,
  });
}

/**
 * Reads a flag that takes a JSON object.
 *
 * @throws SvcError `invalid_config` naming the flag, with `example` as the hint
 */
export function jsonObject(text: string, flag: string, example: string): Record<string, unknown> {
  const value = parseJson(text);
  if (isRecord(value)) return value;
  throw new SvcError("invalid_config", `${flag} is not a JSON object.`, {
    field: flag,
    hint: `Example: ${flag} '${example}'`,
  });
}
