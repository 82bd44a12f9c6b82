import { type Command, Option } from "commander";
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
