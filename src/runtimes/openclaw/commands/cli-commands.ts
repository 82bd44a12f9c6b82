import { isRecord } from "../../../base/json.ts";
import type { HostApi, HostConfig } from "../host/host-api.ts";

import type { SvcHost } from "../svc-host.ts";
import { finishCommand } from "./cli-output.ts";
import type { CommandAnswer } from "./command-answer.ts";

/** What a command of the host's command line runs with. */
export interface CliCall {
  readonly host: SvcHost;
  readonly api: HostApi;
  readonly config: HostConfig;
}

/** The part of a commander command that is used here. */
interface Commander {
  command(usage: string): Commander;
  description(text: string): Commander;
  option(flags: string, text: string): Commander;
  action(run: (...args: unknown[]) => Promise<void>): Commander;
}

type Flags = Readonly<Record<string, unknown>>;
type Run = (call: CliCall, flags: Flags, words: readonly string[]) => Promise<CommandAnswer>;

/** Adds `svc` with its subcommands to the host's commander program. What a command needs is loaded when it runs. */
export function addCliCommands(program: unknown, call: CliCall): void {
  if (!isCommander(program)) throw new TypeError("The host's command line is not of the known kind.");
  const svc = program.command("svc").description("Pair, sync and check svc, and decide on calls that wait for you");
  const add = (usage: string, text: string, run: Run, ...flags: readonly [string, string][]) => {
    const command = svc.command(usage).description(text);
    for (const [flag, description] of flags) command.option(flag, description);
    command.action((...args) => {
      // commander passes the arguments, then the options, then the command itself.
      const options = args.at(-2);
      const words = args.slice(0, -2).flatMap((word) => (typeof word === "string" ? [word] : []));
      return finishCommand(call.host, isRecord(options) ? options : {}, (known) => run(call, known, words));
    });
  };
  addSetup(add);
  addDecisions(add);
}

type Add = (usage: string, text: string, run: Run, ...flags: readonly [string, string][]) => void;

const JSON_FLAG = ["--json", "print the answer as JSON"] as const;

function addSetup(add: Add): void {
  add(
    "pair",
    "connect this OpenClaw to your apps: a signed-in human approves in a browser",
    async (call, flags) => (await import("./cli-pair.ts")).pairInTerminal(call, flags),
    ["--base-url <url>", "address of the service"],
  );
  add(
    "status",
    "is everything well, and if not, why and what to do",
    async ({ host, config }) => (await import("../doctor/diagnose.ts")).showStatus(host, { config }),
    [...JSON_FLAG],
  );
  add(
    "sync",
    "give each action of your apps a tool of its own; shows what changes and asks",
    async (call, flags) => (await import("./sync-command.ts")).syncInTerminal(call, flags),
    ["--yes", "apply without asking"],
    ["--dry-run", "only show what would change"],
    [...JSON_FLAG],
  );
  add("unpair", "forget the key and take the action tools away", async (call) =>
    (await import("./unpair-command.ts")).unpairInTerminal(call),
  );
}

function addDecisions(add: Add): void {
  const ask =
    (name: string): Run =>
    async (_call, _flags, words) =>
      (await import("./decision-commands.ts")).decideInGateway([name, ...words]);
  add("pending", "calls that wait for you", ask("pending"), [...JSON_FLAG]);
  add("show <code>", "everything about one call", ask("show"), [...JSON_FLAG]);
  add(
    "approve <code>",
    "let a call through once; shows it and asks",
    async (_call, flags, words) => (await import("./decision-commands.ts")).approveInTerminal(words[0] ?? "", flags),
    ["--always", "also every later call of this tool on this account"],
  );
  add("decline <code>", "do not let a call through", ask("decline"));
  add("rules [verb] [id]", "what is always allowed; `rules revoke <id>` takes it back", ask("rules"), [...JSON_FLAG]);
}

function isCommander(value: unknown): value is Commander {
  return isRecord(value) && typeof value.command === "function" && typeof value.description === "function";
}
