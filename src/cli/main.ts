import { readFile } from "node:fs/promises";
import { Command, CommanderError, Option } from "commander";
import { isSvcError } from "../errors.ts";
import { printCompletion } from "./completion.ts";
import type { CliContext, RunCommand } from "./context.ts";
import { EXIT, EXIT_CODE_HELP, exitCodeFor } from "./exit-codes.ts";
import { MCP_CLIENT_NAMES } from "./install/mcp-clients.ts";
import { findPlaces } from "./places.ts";
import { createTerminal, type Terminal } from "./terminal.ts";

/** Runs one command line and resolves to its exit code; never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const interrupt = () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort(new DOMException("Interrupted.", "AbortError"));
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  let exitCode: number = EXIT.ok;
  const program = await buildProgram(stop.signal, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
  } finally {
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
  }
  return exitCode;
}

/** Whoever read the output went away (`svc tools | head`); that is no failure of the command. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** Builds the command tree; `finish` receives the exit code of the command that ran. */
async function buildProgram(signal: AbortSignal, finish: (code: number) => void): Promise<Command> {
  const program = new Command("svc")
    .description("Connect an agent to your apps, with a human approving every write.")
    .version(await readVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .option("--json", "print answers as JSON (read commands)")
    .addHelpText("after", EXIT_CODE_HELP)
    .showSuggestionAfterError()
    .exitOverride();

  const run =
    <Args extends unknown[]>(load: () => Promise<RunCommand<Args>>) =>
    async (...args: unknown[]) => {
      const terminal = createTerminal({
        stdout: process.stdout,
        stderr: process.stderr,
        env: process.env,
        json: program.opts().json === true,
      });
      const context: CliContext = {
        places: findPlaces(process.env),
        env: process.env,
        terminal,
        input: process.stdin,
        output: process.stdout,
        signal,
      };
      finish(await runSafely(terminal, signal, async () => (await load())(context, ...(args.slice(0, -1) as Args))));
    };

  addServiceCommands(program, run);
  addPairingCommands(program, run);
  addToolCommands(program, run);
  addFlowCommands(program, run);
  program
    .command("completion")
    .description("print a completion script: add it to your shell's start file")
    .argument("<shell>", "bash, zsh or fish")
    .action((shell: string) => finish(printCompletion(program, shell)));
  return program;
}

type Run = <Args extends unknown[]>(load: () => Promise<RunCommand<Args>>) => (...args: unknown[]) => Promise<void>;

const baseUrlOption = () => new Option("--base-url <url>", "address of the service").env("SVC_BASE_URL");

const databaseOption = () =>
  new Option(
    "--database <url>",
    "PostgreSQL database that several processes share, postgres://… (default: a file in the data folder)",
  ).env("SVC_DATABASE");

function addServiceCommands(program: Command, run: Run): void {
  program
    .command("demo")
    .description("see the whole thing work: service, pairing, tools, an approval, a stored file")
    .option("--data <dir>", "keep everything in this folder (default: a temporary one, removed at the end)")
    .option("--model <provider:name>", "use a real model instead of the scripted one, e.g. openai:gpt-5-mini")
    .option("--unattended", "play the human's part too, and say so on every such line")
    .action(run(async () => (await import("./commands/demo.ts")).demo));
  program
    .command("serve")
    .description("run the embedded service on this machine")
    .option("--port <number>", "port to listen on, 0 for any free one", "8790")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .option("--data <dir>", "data folder (default: below your home folder)")
    .addOption(databaseOption())
    .addOption(
      new Option(
        "--files <place>",
        "folder for files that all processes see, or s3://BUCKET/PREFIX?region=R&endpoint=URL (default: the data folder)",
      ).env("SVC_FILES"),
    )
    .option("--public-url <url>", "address people open, when it is not the listening one")
    .option("--usage-limit <number>", "executions allowed per day and account")
    .option(
      "--allow-host <host:port>",
      "let files be fetched from this host of yours, over http too; repeatable",
      collect,
    )
    .option("--no-file-envelopes", "refuse files inside execute requests, so that callers upload them first")
    .action(run(async () => (await import("./commands/serve.ts")).serve));
  program
    .command("login-link")
    .description("print a new one-time sign-in link for a service on this machine")
    .option("--data <dir>", "data folder of the service")
    .addOption(databaseOption())
    .action(run(async () => (await import("./commands/login-link.ts")).loginLink));
}

function addPairingCommands(program: Command, run: Run): void {
  program
    .command("pair")
    .description("connect this machine to a service: a signed-in human approves in a browser")
    .addOption(baseUrlOption())
    .option("--label <text>", "name of this device on the approval page")
    .option("--again", "pair again although a key is stored")
    .action(run(async () => (await import("./commands/pair.ts")).pair));
  program
    .command("install")
    .description("give an agent client (Claude, Cursor, VS Code) access: a signed-in human approves in a browser")
    .addOption(
      new Option("--client <name>", "which client; default: the one that is on this machine").choices(MCP_CLIENT_NAMES),
    )
    .addOption(baseUrlOption())
    .option("--file <path>", "write this configuration file instead of the client's usual one")
    .option("--print", "only show what would be written, with the key masked")
    .action(run(async () => (await import("./commands/install.ts")).install));
  program
    .command("status")
    .description("show what this machine is paired with and whether the key works")
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/status.ts")).status));
  program
    .command("unpair")
    .description("forget the stored key")
    .action(run(async () => (await import("./commands/unpair.ts")).unpair));
}

function addToolCommands(program: Command, run: Run): void {
  program
    .command("tools")
    .description("list the tools you can call")
    .addOption(baseUrlOption())
    .option("--integration <slug>", "only this integration")
    .addOption(
      new Option("--pin", "agree to the tools as they are now: later changes are asked about").conflicts("check"),
    )
    .option("--check", "compare the tools with the pinned ones; exit code 1 when one that may act is new or changed")
    .option("--pin-file <path>", "where the pins are kept (default: in the state folder)")
    .action(run(async () => (await import("./commands/tools.ts")).tools));
  program
    .command("integrations")
    .description("list the apps and whether they are connected")
    .addOption(baseUrlOption())
    .option("--connected", "only connected ones")
    .action(run(async () => (await import("./commands/integrations.ts")).integrations));
  program
    .command("connect")
    .description("print the link on which a signed-in human connects an app")
    .argument("<app>", "slug of the app, e.g. mail")
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/connect.ts")).connect));
  program
    .command("search")
    .description("find tools by what they do")
    .argument("<words...>", "what you want to do")
    .addOption(baseUrlOption())
    .option("--integration <slug>", "only this integration")
    .option("--limit <number>", "how many to show", "10")
    .action(run(async () => (await import("./commands/search.ts")).search));
  program
    .command("describe")
    .description("show one tool: its arguments, what it does, who is asked")
    .argument("<tool>", "full tool name")
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/describe.ts")).describe));
  program
    .command("call")
    .description("call a tool; writes are shown to you for approval first")
    .argument("<tool>", "full tool name")
    .option("--args <json>", "arguments as a JSON object", "{}")
    .option("--file <field=path...>", "attach a local file to an argument")
    .option("--connection <id>", "use this connection")
    .addOption(baseUrlOption())
    .addOption(
      new Option("--upload <way>", "how file bytes travel: in the request, or uploaded first").choices([
        "envelope",
        "ingest",
      ]),
    )
    .action(run(async () => (await import("./commands/call.ts")).call));
}

function addFlowCommands(program: Command, run: Run): void {
  const flows = program.command("flows").description("multi-step jobs the service runs by itself");
  const load = () => import("./commands/flows.ts");
  flows
    .command("templates")
    .description("list what can be started")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).flowTemplates));
  flows
    .command("list")
    .description("list the latest flows")
    .option("--limit <number>", "how many to show", "30")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).listFlows));
  flows
    .command("start")
    .description("start a flow and watch its steps")
    .argument("<template>", "key of the template")
    .option("--input <json>", "inputs of the template as a JSON object", "{}")
    .option("--detach", "do not watch it")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).startFlow));
  flows
    .command("watch")
    .description("watch the steps of a flow until it ends or needs you")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).watch));
  flows
    .command("approve")
    .description("see what a waiting flow is about to do, and decide")
    .argument("<id>", "id of the flow")
    .option("--step <key>", "only if this step waits")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).approve));
  flows
    .command("resume")
    .description("try a failed flow again from the step that failed")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).resume));
  flows
    .command("cancel")
    .description("end a flow; what it did stays done")
    .argument("<id>", "id of the flow")
    .addOption(baseUrlOption())
    .action(run(async () => (await load()).cancel));
}

async function runSafely(terminal: Terminal, signal: AbortSignal, body: () => Promise<number>): Promise<number> {
  try {
    return await body();
  } catch (error) {
    terminal.endProgress();
    if (signal.aborted) {
      terminal.say("Interrupted.");
      return EXIT.interrupted;
    }
    const text = isSvcError(error) ? [error.message, error.hint].filter(Boolean).join(" ") : describeUnexpected(error);
    process.stderr.write(`${terminal.style("red", "Error:")} ${text}\n`);
    return exitCodeFor(error);
  }
}

function describeUnexpected(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return `${message}${process.env.SVC_DEBUG && error instanceof Error ? `\n${error.stack}` : ""}`;
}

/** Gathers the values of an option that may stand more than once. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

async function readVersion(): Promise<string> {
  const text = await readFile(new URL("../../package.json", import.meta.url), "utf8");
  const { version } = JSON.parse(text) as { version: string };
  return version;
}
