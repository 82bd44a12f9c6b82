import { type Command, Option } from "commander";
import type { Run } from "./context.ts";
import { MCP_CLIENT_NAMES } from "./mcp-client-names.ts";
import {
  addDataCommands,
  addOwnerCommands,
  addPeopleCommands,
  addRuleCommands,
  addServiceCommands,
  addSourceCommands,
} from "./service-commands.ts";

/** Puts all commands into the tree. */
export function addCommands(program: Command, run: Run): void {
  addServiceCommands(program, run);
  addOwnerCommands(program, run);
  addDataCommands(program, run);
  addSourceCommands(program, run);
  addRuleCommands(program, run);
  addPeopleCommands(program, run);
  addAccessCommands(program, run);
  addMoveCommand(program, run);
  addToolCommands(program, run);
  addFlowCommands(program, run);
}

/** How long a call may take. */
const timeoutOption = () =>
  new Option(
    "--timeout <seconds>",
    "how long a call may take, for slow apps: longer than --provider-timeout of the service (default: 75)",
  ).env("SVC_TIMEOUT");

/** Adds a command that reaches a service. */
function add(parent: Command, name: string, description: string): Command {
  const baseUrl = new Option("--base-url <url>", "address of the service").env("SVC_BASE_URL");
  return parent.command(name).description(description).addOption(baseUrl);
}

function addAccessCommands(program: Command, run: Run): void {
  add(program, "pair", "connect this machine to a service: a signed-in human approves in a browser")
    .option("--label <text>", "name of this device on the approval page")
    .option("--again", "pair again although a key is stored")
    .option("--apps <slugs>", "ask for a key to these apps only, e.g. mail,notes")
    .option("--accounts <ids>", "ask for a key to these accounts only")
    .option("--tools <patterns>", "ask for a key to these tools only, e.g. 'mail/*,notes_search'")
    .addOption(
      new Option("--levels <levels>", "ask for these effects only: read,write,delete,admin").conflicts("readOnly"),
    )
    .option("--read-only", "ask for a key that only reads")
    .option("--expires <days>", "ask for a key that ends after so many days")
    .addOption(new Option("--approvals <who>", "ask that the owner approves its calls").choices(["device", "owner"]))
    .action(run(async () => (await import("./commands/access.ts")).pair));
  const clients = new Option("--client <name>", "which client; default: the one that is on this machine");
  add(
    program,
    "install",
    "have an agent client (Claude, Codex, Cursor, VS Code, …) start svc mcp: a signed-in human approves in a browser",
  )
    .addOption(clients.choices(MCP_CLIENT_NAMES))
    .option("--file <path>", "write this configuration file instead of the client's usual one")
    .option("--remote", "the endpoint of the service with a key of the client's own: no local files, no own program")
    .option("--print", "only show what would be written, a key masked")
    .action(run(async () => (await import("./commands/install.ts")).install));
  add(program, "mcp", "serve the tools to an agent client (MCP over stdin and stdout), which starts this itself")
    .addOption(new Option("--client <name>", "use the key of this installed client").choices(MCP_CLIENT_NAMES))
    .option("--tools <names...>", "list these tools under their own names from the start")
    .option(
      "--max-tool-tokens <n>",
      "list all tools while a model reads them within so many tokens; 0: it searches",
      "0",
    )
    .option("--wait <seconds>", "how long a call waits for the owner of the service before it says so", "50")
    .addOption(timeoutOption())
    .action(run(async () => (await import("./commands/mcp.ts")).mcp));
  add(program, "status", "show how this machine has access, and whether it works").action(
    run(async () => (await import("./commands/access.ts")).status),
  );
  const doctor =
    "look for what stands in the way (settings, key, service, clock, folders, OpenClaw), each with its fix";
  add(program, "doctor", doctor).action(run(async () => (await import("./commands/doctor.ts")).doctor));
  program
    .command("unpair")
    .description("forget the stored key")
    .action(run(async () => (await import("./commands/access.ts")).unpair));
}

/** `svc move`: the stored key follows its service. */
function addMoveCommand(program: Command, run: Run): void {
  program
    .command("move")
    .description(
      "use the stored key at the new address of its service, after the service has proved that it is the same",
    )
    .argument("<url>", "new address of the service")
    .action(run(async () => (await import("./commands/move.ts")).move));
}

function addToolCommands(program: Command, run: Run): void {
  const pin = new Option("--pin", "agree to the tools as they are now: later changes are asked about");
  add(program, "tools", "list the tools you can call")
    .option("--integration <slug>", "only this integration")
    .addOption(pin.conflicts("check"))
    .option("--check", "compare the tools with the pinned ones; exit code 1 when one that may act is new or changed")
    .option("--pin-file <path>", "where the pins are kept (default: in the state folder)")
    .action(run(async () => (await import("./commands/tools.ts")).tools));
  add(program, "integrations", "list the apps and whether they are connected")
    .option("--connected", "only connected ones")
    .action(run(async () => (await import("./commands/integrations.ts")).integrations));
  add(program, "connect", "print the link on which a signed-in human connects an app")
    .argument("<app>", "slug of the app, e.g. mail")
    .action(run(async () => (await import("./commands/integrations.ts")).connect));
  add(program, "search", "find tools by what they do")
    .argument("<words...>", "what you want to do")
    .option("--integration <slug>", "only this integration")
    .option("--limit <number>", "how many to show", "10")
    .action(run(async () => (await import("./commands/tools.ts")).search));
  add(program, "describe", "show one tool: its arguments, what it does, who is asked")
    .argument("<tool>", "full tool name")
    .action(run(async () => (await import("./commands/describe.ts")).describe));
  const upload = new Option("--upload <way>", "how file bytes travel: in the request, or uploaded first");
  add(program, "call", "call a tool; writes are shown to you for approval first")
    .argument("<tool>", "full tool name")
    .option("--args <json>", "arguments as a JSON object, @FILE, or - for standard input", "{}")
    .option("--file <field=path...>", "attach a local file to an argument")
    .option("--connection <id>", "use this connection")
    .option("--wait", "wait while an app is being connected (default at a terminal)")
    .option("--no-wait", "end with the link when an app must be connected")
    .addOption(upload.choices(["envelope", "ingest"]))
    .addOption(timeoutOption())
    .action(run(async () => (await import("./commands/call.ts")).call));
  add(program, "undo", "take back what a call changed; shown to you for approval first")
    .argument("<id>", "execution_id of its answer")
    .addOption(timeoutOption())
    .action(run(async () => (await import("./commands/call.ts")).undo));
}

function addFlowCommands(program: Command, run: Run): void {
  const flows = program.command("flows").description("multi-step jobs the service runs by itself");
  const load = () => import("./commands/flows.ts");
  const addForFlow = (name: string, description: string) =>
    add(flows, name, description).argument("<id>", "id of the flow");
  add(flows, "templates", "list what can be started").action(run(async () => (await load()).flowTemplates));
  add(flows, "list", "list the latest flows")
    .option("--limit <number>", "how many to show", "30")
    .action(run(async () => (await load()).listFlows));
  add(flows, "start", "start a flow and watch its steps")
    .argument("<template>", "key of the template")
    .option("--input <json>", "inputs of the template as a JSON object", "{}")
    .option("--detach", "do not watch it")
    .action(run(async () => (await load()).startFlow));
  addForFlow("watch", "watch the steps of a flow until it ends or needs you").action(
    run(async () => (await load()).watch),
  );
  addForFlow("approve", "see what a waiting flow is about to do, and decide")
    .option("--step <key>", "only if this step waits")
    .action(run(async () => (await load()).approve));
  addForFlow("resume", "try a failed flow again from the step that failed").action(
    run(async () => (await load()).resume),
  );
  addForFlow("cancel", "end a flow; what it did stays done").action(run(async () => (await load()).cancel));
}
