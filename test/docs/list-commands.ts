import { Command } from "commander";
import { addCommands } from "../../src/cli/commands.ts";

/** The tree of `svc` commands; none of them does anything. */
export function listCommands(): Command {
  const program = new Command("svc").option("-v, --version").option("--json");
  addCommands(program, () => async () => {});
  program.command("completion").argument("<shell>");
  program.command("help").argument("[command]");
  return program;
}

/** Why a command line cannot be meant for `svc`: no such command, or a flag it does not have. Undefined when it can. */
export function judgeCommandLine(program: Command, line: string): string | undefined {
  const [words = ""] = line.split(" -- ");
  let command = program;
  for (const word of words.split(/\s+/)) {
    if (/^(<.*|[A-Z…].*|COMMAND)$/.test(word)) return undefined;
    const takes = (one: Command) => one.registeredArguments.some(({ argChoices }) => argChoices?.includes(word));
    const next = command.commands.find((one) => one.name() === word) ?? command.commands.find(takes);
    if (next === undefined) break;
    command = next;
  }
  if (command === program && !/^-/.test(words)) return "there is no such command";
  const known = [...command.options, ...program.options].map(({ long }) => long).concat("--help");
  const unknown = [...words.matchAll(/(?<=\s|^)--[a-z][a-z-]*/g)].map(([flag]) => flag);
  const wrong = unknown.filter((flag) => !known.includes(flag));
  return wrong.length === 0 ? undefined : `there is no flag ${wrong.join(", ")}`;
}
