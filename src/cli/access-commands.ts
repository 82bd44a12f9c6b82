import { Option } from "commander";
import { MCP_CLIENT_NAMES } from "./install/mcp-clients.ts";
import { type AddCommands, baseUrlOption } from "./options.ts";

/** Commands by which this machine and its programs get access. */
export const addAccessCommands: AddCommands = (program, run) => {
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
    .description("show how this machine has access, and whether it works")
    .addOption(baseUrlOption())
    .action(run(async () => (await import("./commands/status.ts")).status));
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
    .action(run(async () => (await import("./commands/pair.ts")).unpair));
};
