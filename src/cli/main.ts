import { Command, CommanderError } from "commander";
import { readVersion } from "../shared/base/version.ts";
import { addCommands } from "./commands.ts";
import { type CliContext, findPlaces, type Run, type RunCommand } from "./context.ts";
import { addExamples } from "./examples.ts";
import { EXIT, EXIT_CODE_HELP, exitCodeFor } from "./exit-codes.ts";
import { describeError, describeUsageError } from "./json-errors.ts";
import { createTerminal, formatError, type Terminal } from "./terminal.ts";

/** Ctrl-C and the end of a service; of Windows also a closed window. */
const SIGNALS = [
  "SIGINT",
  "SIGTERM",
  ...(process.platform === "win32" ? (["SIGBREAK", "SIGHUP"] as const) : []),
] as const;

/** Runs one command line and resolves to its exit code; never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  const stop = new AbortController();
  const interrupt = () => {
    if (stop.signal.aborted) process.exit(EXIT.interrupted);
    stop.abort(new DOMException("Interrupted.", "AbortError"));
  };
  for (const signal of SIGNALS) process.on(signal, interrupt);
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreClosedPipe);
  let exitCode: number = EXIT.ok;
  const isJson = asksForJson(argv);
  const program = await buildProgram({ signal: stop.signal, isJson }, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    exitCode = error.exitCode === 0 ? EXIT.ok : EXIT.usage;
    if (isJson && exitCode !== EXIT.ok) process.stdout.write(`${describeUsageError(error)}\n`);
  } finally {
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
  return exitCode;
}

/** A reader that closes the pipe early (`svc tools | head`) is not a failure of the command. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== "EPIPE") throw error;
}

/** True for a command line that asks for JSON, also where nothing else of it can be read. */
function asksForJson(argv: readonly string[]): boolean {
  const words = argv.slice(2);
  const end = words.indexOf("--");
  return (end === -1 ? words : words.slice(0, end)).includes("--json");
}

/** Builds the command tree; `finish` receives the exit code of the command that ran. */
async function buildProgram(
  { signal, isJson }: { signal: AbortSignal; isJson: boolean },
  finish: (code: number) => void,
): Promise<Command> {
  const version = await readVersion();
  const program = new Command("svc")
    .description("Connect an agent to your apps, with a human approving every write.")
    .version(version, "-v, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .option("--json", "print answers and errors as JSON")
    .addHelpText("after", EXIT_CODE_HELP)
    .configureHelp({ showGlobalOptions: true })
    // Every error begins alike, whoever finds it; as JSON it is printed at the end.
    .configureOutput({
      outputError: (text, write) => write(text.replace(/^error:/, "Error:")),
      ...(isJson ? { writeErr: () => {} } : {}),
    })
    .showSuggestionAfterError()
    .exitOverride();

  const run: Run =
    <Args extends unknown[]>(load: () => Promise<RunCommand<Args>>) =>
    async (...args: unknown[]) => {
      const { stdout, stderr, env } = process;
      const terminal = createTerminal({ stdout, stderr, env, json: isJson });
      const body = async () => {
        const context: CliContext = {
          places: findPlaces(env),
          env,
          terminal,
          input: process.stdin,
          output: terminal.json ? process.stderr : process.stdout,
          signal,
        };
        return (await load())(context, ...(args.slice(0, -1) as Args));
      };
      finish(await runSafely(terminal, signal, body));
    };

  addCommands(program, run);
  program
    .command("completion")
    .description("print a completion script: add it to your shell's start file")
    .argument("<shell>", "bash, zsh or fish")
    .action((shell: string) => finish(printCompletion(program, shell)));
  addExamples(program);
  addHelpCommand(program);
  nameHelpAfterErrors(program, "svc");
  return program;
}

/** `svc help flows start` is `svc flows start --help`; the parser's own command takes one word. */
function addHelpCommand(program: Command): void {
  const help = program.helpCommand(false).command("help").argument("[command...]");
  help.description("display help for command").action((words: readonly string[]) => {
    let found = program;
    for (const word of words) {
      const next = found.commands.find((one) => one.name() === word);
      if (next === undefined) found.error(`error: unknown command '${word}'`);
      else found = next;
    }
    found.outputHelp();
  });
}

function nameHelpAfterErrors(command: Command, words: string): void {
  command.showHelpAfterError(`Next: "${words} --help" shows how it is used.`);
  for (const child of command.commands) nameHelpAfterErrors(child, `${words} ${child.name()}`);
}

async function runSafely(terminal: Terminal, signal: AbortSignal, body: () => Promise<number>): Promise<number> {
  try {
    const code = await body();
    terminal.endWithoutAnswer(code);
    return code;
  } catch (error) {
    terminal.endProgress();
    // Ctrl-C is an error at a prompt and a signal elsewhere.
    if (signal.aborted || (error instanceof Error && error.name === "AbortError")) {
      terminal.say("Interrupted.");
      terminal.endWithoutAnswer(EXIT.interrupted);
      return EXIT.interrupted;
    }
    if (terminal.json) {
      process.stdout.write(`${describeError(error)}\n`);
      return exitCodeFor(error);
    }
    const columns = process.stderr.isTTY ? process.stderr.columns || undefined : undefined;
    const isDebugging = Boolean(process.env.SVC_DEBUG);
    process.stderr.write(`${formatError(terminal, error, { columns, isDebugging })}\n`);
    return exitCodeFor(error);
  }
}

/** Prints a completion script made from the command tree itself, so it is never out of date. */
function printCompletion(program: Command, shell: string): number {
  const script = { bash: bashScript, zsh: zshScript, fish: fishScript }[shell];
  if (script === undefined) return program.error(`error: no completion for "${shell}": choose bash, zsh or fish`);
  process.stdout.write(script(program));
  return EXIT.ok;
}

const flagsOf = (command: Command) => command.options.flatMap((option) => (option.long ? [option.long] : []));
/** Words that may follow a command. */
const namesOf = (command: Command) =>
  command.commands.flatMap((sub) => [
    sub.name(),
    ...sub.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
  ]);
const wordsOf = (command: Command) => [...namesOf(command), ...flagsOf(command)];

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
    ...namesOf(command).map((name) => `complete -c svc -n '__fish_seen_subcommand_from ${command.name()}' -a ${name}`),
    ...command.options.map(
      (option) =>
        `complete -c svc -n '__fish_seen_subcommand_from ${command.name()}' -l ${option.name()} -d '${option.description.replaceAll("'", "\\'")}'`,
    ),
  ]);
  return `${lines.join("\n")}\n`;
}
