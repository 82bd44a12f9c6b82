import { type Command, Option } from "commander";
import type { Run } from "./context.ts";
import { MCP_CLIENT_NAMES } from "./mcp-client-files.ts";
import { addServiceCommands, addSourceCommands } from "./service-commands.ts";

/** Puts all commands into the tree. */
export function addCommands(program: Command, run: Run): void {
  addServiceCommands(program, run);
  addSourceCommands(program, run);
  addAccessCommands(program, run);
  addToolCommands(program, run);
  addFlowCommands(program, run);
}

const baseUrlOption = () => new Option("--base-url <url>", "address of the service").env("SVC_BASE_URL");

function addAccessCommands(program: Command, run: Run): void {
  program
    .command("pair")
    .description("connect this machine to a service: a signed-in human approves in a browser")
    .addOption(baseUrlOption())
    .option("--label <text>", "name of this device on the approval page")
    .option("--again", "pair again although a key is stored")
    .action(run(async () => (await import("./commands/access.ts")).pair));
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
    .description("show how this machine has access, and whether it works")
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/access.ts")).status));
  program
    .command("doctor")
    .description(
      "look for what stands in the way (settings, key, service, clock, folders, OpenClaw), each with its fix",
    )
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/doctor.ts")).doctor));
  program
    .command("unpair")
    .description("forget the stored key")
    .action(run(async () => (await import("./commands/access.ts")).unpair));
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
    .action(run(async () => (await import("./commands/integrations.ts")).connect));
  program
    .command("search")
    .description("find tools by what they do")
    .argument("<words...>", "what you want to do")
    .addOption(baseUrlOption())
    .option("--integration <slug>", "only this integration")
    .option("--limit <number>", "how many to show", "10")
    .action(run(async () => (await import("./commands/tools.ts")).search));
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
    .option("--wait", "wait while an app is being connected (default at a terminal)")
    .option("--no-wait", "end with the link when an app must be connected")
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
