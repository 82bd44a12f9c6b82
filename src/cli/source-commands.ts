import { type Command, Option } from "commander";
import { type AddCommands, collect } from "./options.ts";

/** Options of every command that changes which apps a service has. */
function forService(command: Command): Command {
  return command
    .option("--data <dir>", "data folder of the service")
    .addOption(
      new Option("--database <url>", "its database, when that is not a file in the folder").env("SVC_DATABASE"),
    )
    .option("--yes", "do not ask");
}

/** `svc add`, `svc review`, `svc remove`: the apps of a service on this machine. */
export const addSourceCommands: AddCommands = (program, run) => {
  const add = program.command("add").description("give a service on this machine another app");
  forService(
    add
      .command("mcp")
      .description("the tools of an MCP server, started by a command or reached at an address")
      .argument("<app>", "short name of the app, e.g. files")
      .argument("[command...]", "command that starts the server, after --")
      .option("--url <url>", "address of a server that runs already")
      .option(
        "--header <name>",
        "header each request needs, its value taken from SVC_HEADER_<NAME>; repeatable",
        collect,
      )
      .option("--env <name>", "environment variable the server may see, with its value here; repeatable", collect)
      .option("--cwd <dir>", "folder the server is started in")
      .option("--name <text>", "what people call it (default: the server's own name)")
      .option("--private", "the address is a server of your own network")
      .option("--trust", "believe the server about which of its tools only read")
      .option("--replace", "take the place of the added app of this name"),
  ).action(run(async () => (await import("./commands/add-mcp.ts")).addMcp));
  forService(
    add
      .command("openapi")
      .description("the operations of an HTTP API that an OpenAPI 3.0 or 3.1 document describes")
      .argument("<app>", "short name of the app, e.g. github")
      .argument("<document>", "file or address of the document, JSON or YAML")
      .option("--base-url <url>", "address of the API (default: the first server of the document)")
      .option("--name <text>", "what people call it (default: the document's title)")
      .option("--token", "calls may carry a bearer token although the document does not say so")
      .option("--private", "the API is a server of your own network")
      .option("--replace", "take the place of the added app of this name"),
  ).action(run(async () => (await import("./commands/add-openapi.ts")).addOpenApi));
  forService(
    add
      .command("piece")
      .description(
        "the actions of a community connector of activepieces, installed from npm without running its scripts",
      )
      .argument(
        "<piece>",
        "its name, e.g. notion for @activepieces/piece-notion, or notion@0.7.3 (default: the latest)",
      )
      .option("--app <app>", "short name of the app (default: the name of the piece)")
      .option("--name <text>", "what people call it (default: the piece's own name)")
      .option("--host <host=url>", "reach a host of the provider at another address; repeatable", collect)
      .option("--private", "that address, or without --host any, may be one of your own network")
      .option("--replace", "take the place of the added app of this name"),
  ).action(run(async () => (await import("./commands/add-piece.ts")).addPiece));
  forService(
    program
      .command("review")
      .description("see what an added app wants to change about its actions, and agree to it")
      .argument("<app>", "short name of the app"),
  ).action(run(async () => (await import("./commands/review.ts")).review));
  forService(
    program
      .command("remove")
      .description("take an added app and its connections away")
      .argument("<app>", "short name of the app"),
  ).action(run(async () => (await import("./commands/remove.ts")).remove));
};
