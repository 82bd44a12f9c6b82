import { isRecord } from "../../../../shared/base/json.ts";
import { type CliCall, type CommandAnswer, type Flags, finishCommand } from "./command-answer.ts";

interface Commander {
  command(usage: string): Commander;
  description(text: string): Commander;
  alias(name: string): Commander;
  option(flags: string, text: string): Commander;
  action(run: (...args: unknown[]) => Promise<void>): Commander;
}

interface Subcommand {
  readonly usage: string;
  /** Another name that people type. */
  readonly alias?: string;
  readonly text: string;
  readonly flags?: Readonly<Record<string, string>>;
  /** Loads what it needs when it runs. */
  run(call: CliCall, flags: Flags, words: readonly string[]): Promise<CommandAnswer>;
}

/** Adds `svc` with its subcommands to the host's commander program. */
export function addCliCommands(program: unknown, call: CliCall): void {
  if (!isCommander(program)) throw new TypeError("The host's command line is not of the known kind.");
  const svc = program.command("svc").description("Pair, sync and check svc, and decide on calls that wait for you");
  for (const { usage, alias, text, flags = {}, run } of SUBCOMMANDS) {
    const command = svc.command(usage).description(text);
    if (alias !== undefined) command.alias(alias);
    for (const [flag, description] of Object.entries(flags)) command.option(flag, description);
    command.action((...args) => {
      // commander passes the arguments, then the options, then the command itself.
      const given = args.at(-2);
      const options = isRecord(given) ? given : {};
      const words = args.slice(0, -2).filter((word) => typeof word === "string");
      return finishCommand(call.host, options, () => run(call, options, words));
    });
  }
}

function isCommander(value: unknown): value is Commander {
  return isRecord(value) && typeof value.command === "function" && typeof value.description === "function";
}

const JSON_FLAG = { "--json": "print the answer as JSON" };

const SUBCOMMANDS: readonly Subcommand[] = [
  {
    usage: "pair",
    text: "connect this OpenClaw to your apps: a signed-in human approves in a browser",
    flags: {
      "--base-url <url>": "address of the service",
      "--agent <id>": "agent that gets the key; default the default agent, whose key all others use",
    },
    run: async (call, flags) => (await import("./pair-command.ts")).pairInTerminal(call, flags),
  },
  {
    usage: "status",
    alias: "doctor",
    text: "is everything well, and if not, why and what to do",
    flags: JSON_FLAG,
    run: async ({ host, config }) => (await import("../doctor/diagnose.ts")).showStatus(host, { config }),
  },
  {
    usage: "sync",
    text: "give each action of your apps a tool of its own; shows what changes and asks",
    flags: { "--yes": "apply without asking", "--dry-run": "only show what would change", ...JSON_FLAG },
    run: async (call, flags) => (await import("./sync-command.ts")).syncInTerminal(call, flags),
  },
  {
    usage: "move <url>",
    text: "use the key at the new address of its service, after the service has proved that it is the same",
    run: async (call, _flags, [url = ""]) => (await import("./move-command.ts")).moveInTerminal(call, url),
  },
  {
    usage: "unpair",
    text: "forget the key and take the action tools away; asks",
    flags: { "--yes": "without asking" },
    run: async (call, flags) => (await import("./pair-command.ts")).unpairInTerminal(call, flags),
  },
  { usage: "pending", text: "calls that wait for you", flags: JSON_FLAG, run: askGateway("pending") },
  { usage: "show <code>", text: "everything about one call", flags: JSON_FLAG, run: askGateway("show") },
  {
    usage: "approve <code>",
    text: "let a call through once; shows it and asks",
    flags: { "--always": "also every later call of this tool on this account" },
    run: async (_call, flags, [code = ""]) => (await import("./decision-commands.ts")).approveInTerminal(code, flags),
  },
  { usage: "decline <code>", text: "do not let a call through", run: askGateway("decline") },
  {
    usage: "rules [verb] [id]",
    text: "what is always allowed; `rules revoke <id>` takes it back",
    flags: JSON_FLAG,
    run: askGateway("rules"),
  },
];

function askGateway(name: string): Subcommand["run"] {
  return async (_call, _flags, words) => (await import("./decision-commands.ts")).decideInGateway([name, ...words]);
}
