import type { Command } from "commander";
import { EXIT } from "./exit-codes.ts";

/** Prints a completion script made from the command tree itself, so it is never out of date. */
export function printCompletion(program: Command, shell: string): number {
  const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
  if (script === undefined) {
    process.stderr.write(`No completion for "${shell}": choose bash, zsh or fish.\n`);
    return EXIT.usage;
  }
  process.stdout.write(script(program));
  return EXIT.ok;
}

const flagsOf = (command: Command) => command.options.flatMap((option) => (option.long ? [option.long] : []));
const wordsOf = (command: Command) => [...command.commands.map((sub) => sub.name()), ...flagsOf(command)];

function bashScript(program: Command): string {
  const cases = program.commands.map((command) => `    ${command.name()}) words="${wordsOf(command).join(" ")}" ;;`);
  return `_svc() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  case "\${COMP_WORDS[1]}" in
${cases.join("\n")}
    *) words="${[...program.commands.map((command) => command.name()), ...flagsOf(program)].join(" ")}" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`;
}

function zshScript(program: Command): string {
  return `autoload -U +X bashcompinit && bashcompinit\n${bashScript(program)}`;
}

function fishScript(program: Command): string {
  const lines = program.commands.flatMap((command) => [
    `complete -c svc -n __fish_use_subcommand -a ${command.name()} -d '${command.description().replaceAll("'", "\\'")}'`,
    ...command.options.map(
      (option) =>
        `complete -c svc -n '__fish_seen_subcommand_from ${command.name()}' -l ${option.name()} -d '${option.description.replaceAll("'", "\\'")}'`,
    ),
  ]);
  return `${lines.join("\n")}\n`;
}
