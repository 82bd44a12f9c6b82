import type { Command } from "commander";
import { expect, test } from "vitest";
import { addExamples } from "../../src/cli/examples.ts";
import { listCommands } from "../docs/list-commands.ts";

/** The commands that do something, with their words. */
function listLeaves(parent: Command, path: readonly string[] = []): { command: Command; words: string }[] {
  return parent.commands.flatMap((command) => {
    const words = [...path, command.name()];
    return command.commands.length > 0 ? listLeaves(command, words) : [{ command, words: words.join(" ") }];
  });
}

const program = listCommands();
addExamples(program);
const leaves = listLeaves(program).filter(({ words }) => words !== "help");

function readHelp(command: Command): string {
  let text = "";
  command.configureOutput({ writeOut: (part) => (text += part) }).outputHelp();
  return text;
}

/** Words as a shell splits them; what follows `>` is its own. */
const split = (line: string) =>
  [...line.replace(/ >.*$/, "").matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "");

test.each(leaves)("the help of svc $words has examples that it takes", async ({ command, words }) => {
  const lines = readHelp(command).split("\nExamples:\n")[1]?.trimEnd().split("\n") ?? [];
  expect(lines.length).toBeGreaterThan(0);
  for (const line of lines) {
    expect(line.length).toBeLessThanOrEqual(80);
    expect(`${line.trim()} `).toContain(`svc ${words} `);
    const ran: string[] = [];
    const tried = listCommands();
    for (const leaf of listLeaves(tried)) {
      leaf.command.exitOverride().configureOutput({ writeErr: () => {} });
      // The file of an example is not there.
      for (const option of leaf.command.options)
        if (option.long === "--config") option.parseArg = (file) => file as never;
      leaf.command.action(() => void ran.push(leaf.words));
    }
    await tried.exitOverride().parseAsync(split(line.trim()).slice(1), { from: "user" });
    expect(ran).toEqual([words]);
  }
});
