import { Argument, type Command, Option } from "commander";
import { knownApps } from "../apps/known/known-apps.ts";
import type { Run } from "./context.ts";
import { collect, configOption, databaseOption, dataOption, listServeOptions } from "./serve-options.ts";

const levelOption = () =>
  new Option(
    "--level <pattern=level>",
    "level of an action, or of all whose ids match, e.g. 'search_*=read' (read, write, delete, admin; own: as without one); the last one that matches holds; repeatable",
  ).argParser(collect);

/** Commands that run the service. */
export function addServiceCommands(program: Command, run: Run): void {
  program
    .command("demo")
    .description("see the whole thing work: service, pairing, tools, an approval, a stored file")
    .option("--data <dir>", "keep everything in this folder (default: a temporary one, removed at the end)")
    .option("--model <provider:name>", "use a real model instead of the scripted one, e.g. openai:gpt-5-mini")
    .option("--unattended", "play the human's part too, and say so on every such line")
    .action(run(async () => (await import("./commands/demo.ts")).demo));
  const serve = program.command("serve").description("run the embedded service on this machine");
  for (const option of listServeOptions()) serve.addOption(option);
  serve.action(run(async () => (await import("./commands/serve.ts")).serve));
}

/** Commands of the owner for a service that runs on this machine. */
export function addOwnerCommands(program: Command, run: Run): void {
  program
    .command("login-link")
    .description("print a new one-time sign-in link for a service on this machine")
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(databaseOption())
    .action(run(async () => (await import("./commands/serve.ts")).loginLink));
  program
    .command("notify")
    .description("the notes that a service on this machine sends to its owner")
    .command("test")
    .description("send a test note to each target, and see which arrived and why not")
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(databaseOption())
    .action(run(async () => (await import("./commands/notify.ts")).notifyTest));
  program
    .command("log")
    .description("the execution log of a service on this machine")
    .command("export")
    .description(
      "write it as NDJSON, the oldest line first: executions, their approvals, and requests that led to none",
    )
    .option("--from <day>", "first UTC day, YYYY-MM-DD")
    .option("--to <day>", "last UTC day, YYYY-MM-DD")
    .option("--tool <name>", "only this tool, by its full name")
    .option("--status <status>", "only lines of this status, e.g. failed or expired")
    .option("--full", "with arguments and results, as the dashboard's log shows them")
    .option("--file <path>", "write to this file, readable by you alone (default: standard output)")
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(databaseOption())
    .action(run(async () => (await import("./commands/log-export.ts")).logExport));
}

/** `svc backup`, `svc restore`, `svc compact`: the data folder of a service on this machine. */
export function addDataCommands(program: Command, run: Run): void {
  program
    .command("backup")
    .description("write the data folder of a service to one file, also while it runs")
    .argument("[file]", "new file, or a folder for svc-backup-<time>.tar.gz (default: the one that you are in)")
    .option("--keep <count>", "then remove the older backups of that name in the folder, until so many are left")
    .addOption(configOption())
    .addOption(dataOption())
    .action(run(async () => (await import("./commands/backup.ts")).backup));
  program
    .command("restore")
    .description("make a data folder of such a file, after checking it; the service must not run")
    .argument("<file>", "what svc backup wrote")
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(new Option("--check", "only check the file").conflicts("replace"))
    .option("--replace", "move a folder that has content out of the way")
    .action(run(async () => (await import("./commands/backup.ts")).restore));
  program
    .command("compact")
    .description("give the disk back what the database no longer needs; the service must not run")
    .addOption(configOption())
    .addOption(dataOption())
    .action(run(async () => (await import("./commands/backup.ts")).compact));
}

/** A name of an app. The choices are for completion and help; the command itself says which one was meant. */
function nameArgument(): Argument {
  const argument = new Argument("[name]", "name of a known app");
  argument.choices(knownApps.map(({ slug }) => slug)).argParser((name: string) => name);
  return argument;
}

/** Options of every command that looks into a service on this machine. */
function inService(command: Command): Command {
  return command
    .addOption(configOption())
    .addOption(dataOption())
    .addOption(
      new Option("--database <url>", "its database, when that is not a file in the folder").env("SVC_DATABASE"),
    );
}

/** Options of every command that changes it. */
function forService(command: Command): Command {
  return inService(command).option("--yes", "do not ask");
}

/** The group `svc add`, with the command that runs for a name, or for none. */
function addKnownCommand(program: Command, run: Run): Command {
  const add = program.command("add").description("give a service on this machine another app");
  const command = add
    .command("app", { isDefault: true })
    .description('a known app, by its name alone: "svc add linear"; without a name, all known apps')
    .addArgument(nameArgument())
    .option("--url <url>", "its address, where that is another one, as of a server of your own")
    .option(
      "--header <name>",
      "sign in with this header of an MCP server, its value taken from SVC_HEADER_<NAME>",
      collect,
    )
    .option("--name <text>", "what people call it")
    .option("--private", "the address is a server of your own network")
    .addOption(levelOption())
    .option("--replace", "take the place of the added app of this name");
  forService(command).action(run(async () => (await import("./commands/add-known.ts")).addKnown));
  return add;
}

/** `svc add`, `svc review`, `svc remove`: the apps of a service on this machine. */
export function addSourceCommands(program: Command, run: Run): void {
  const add = addKnownCommand(program, run);
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
      .option(
        "--scope <name>",
        "what to ask for when you sign in (default: what the server names); repeatable",
        collect,
      )
      .option("--sign-in <way>", 'how: "page" of its provider, or "client" with a client id and secret of your own')
      .option("--private", "the address is a server of your own network")
      .option("--trust", "believe the server about which of its tools only read")
      .addOption(levelOption())
      .option("--replace", "take the place of the added app of this name"),
  ).action(run(async () => (await import("./commands/add-mcp.ts")).addMcp));
  forService(
    add
      .command("openapi")
      .description("the operations of an HTTP API that an OpenAPI, Swagger or Google Discovery document describes")
      .argument("<app>", "short name of the app, e.g. github")
      .argument("<document>", "file or address of the document, JSON or YAML")
      .option("--base-url <url>", "address of the API (default: the first server of the document)")
      .option("--name <text>", "what people call it (default: the document's title)")
      .option("--token", "send a bearer token even if the document declares none")
      .option("--auth-url <url>", "page on which its owner signs in (OAuth 2.0)")
      .option("--token-url <url>", "where its tokens come from; without a page, for a client id and secret")
      .option("--device-url <url>", "where a sign-in on another device begins")
      .option("--issuer <url>", "sign-in provider that names these addresses itself (OpenID Connect)")
      .option("--scope <name...>", "scopes to ask for (default: those that reading and writing needs)")
      .option("--private", "the API is a server of your own network")
      .addOption(levelOption())
      .option("--replace", "take the place of the added app of this name"),
  ).action(run(async () => (await import("./commands/add-openapi.ts")).addOpenApi));
  forService(
    program
      .command("review")
      .description("see the levels of an added app and what it wants to change about its actions, and decide")
      .argument("<app>", "short name of the app")
      .addOption(levelOption())
      .option("--trust", "believe its server about which of its tools only read")
      .option("--no-trust", "do not believe its server"),
  ).action(run(async () => (await import("./commands/review.ts")).review));
  forService(
    program
      .command("remove")
      .description("take an added app and its connections away")
      .argument("<app>", "short name of the app"),
  ).action(run(async () => (await import("./commands/review.ts")).remove));
}

/** `svc people`: who may sign in to a service on this machine. */
export function addPeopleCommands(program: Command, run: Run): void {
  const people = program.command("people").description("who may sign in to a service on this machine");
  inService(people.command("list", { isDefault: true }).description("everybody, with role and browsers")).action(
    run(async () => (await import("./commands/people.ts")).listPeople),
  );
  inService(
    people
      .command("invite")
      .description("print a one-time link that signs somebody in")
      .argument("<name>", "stands in the log beside what they decide")
      .addOption(
        new Option("--role <role>", "approver (decides what waits, reads the log) or owner (may do everything)")
          .choices(["approver", "owner"])
          .default("approver"),
      ),
  ).action(run(async () => (await import("./commands/people.ts")).invitePerson));
  forService(
    people
      .command("remove")
      .description("sign somebody out everywhere, for good")
      .argument("<person>", "their name or id"),
  ).action(run(async () => (await import("./commands/people.ts")).removePerson));
}

/** `svc rules`: rules about calls, for the owner of a service on this machine. */
export function addRuleCommands(program: Command, run: Run): void {
  const rules = program.command("rules").description("allow, ask about or block calls of a service on this machine");
  const pattern = "tool name, app/action, or a pattern of them such as 'mail/*'";
  const account = ["--account <id>", "id or name of an account"] as const;
  const key = ["--key <id>", "id or name of a device's key, or oauth_ and the id of an app"] as const;
  inService(rules.command("list", { isDefault: true }).description("all rules")).action(
    run(async () => (await import("./commands/rules.ts")).listRules),
  );
  forService(
    rules
      .command("add")
      .description("add a rule; of several that fit a call, the strictest counts")
      .addArgument(new Argument("<effect>", "what it does").choices(["block", "ask", "allow"]))
      .argument("<tool>", pattern)
      .addOption(
        new Option("--level <level>", "only actions that do this").choices(["read", "write", "delete", "admin"]),
      )
      .option(...account)
      .option(...key)
      .option("--note <text>", "why, for you"),
  ).action(run(async () => (await import("./commands/rules.ts")).addRule));
  forService(rules.command("remove").description("remove a rule").argument("<rule>", "its id")).action(
    run(async () => (await import("./commands/rules.ts")).removeRule),
  );
  inService(
    rules
      .command("test")
      .description("say what becomes of a call, and which rule decides")
      .argument("<tool>", "tool name, or app/action")
      .option(...account)
      .option(...key),
  ).action(run(async () => (await import("./commands/rules.ts")).testRules));
  inService(rules.command("export").description("print the rules as a file, to keep and to change")).action(
    run(async () => (await import("./commands/rules.ts")).exportRules),
  );
  forService(
    rules
      .command("apply")
      .description("make the rules of a file the rules of the service, after showing the difference")
      .argument("<file>", "YAML or JSON, as svc rules export prints it"),
  ).action(run(async () => (await import("./commands/rules.ts")).applyRules));
}
