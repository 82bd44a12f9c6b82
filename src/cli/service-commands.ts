import { Option } from "commander";
import { type AddCommands, collect, databaseOption } from "./options.ts";

/** Commands that run the service. */
export const addServiceCommands: AddCommands = (program, run) => {
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
    .option("--keep-days <number>", "days that the log and ended flows are kept, 0 for ever (default: 90)")
    .option(
      "--allow-host <host:port>",
      "let files be fetched from this host of yours, over http too; repeatable",
      collect,
    )
    .addOption(
      new Option(
        "--flow-approvals <where>",
        "where a waiting flow may be approved: api (by a paired device too) or dashboard (by the owner's browser only)",
      )
        .choices(["api", "dashboard"])
        .default("api"),
    )
    .option("--no-file-envelopes", "refuse files inside execute requests, so that callers upload them first")
    .action(run(async () => (await import("./commands/serve.ts")).serve));
  program
    .command("login-link")
    .description("print a new one-time sign-in link for a service on this machine")
    .option("--data <dir>", "data folder of the service")
    .addOption(databaseOption())
    .action(run(async () => (await import("./commands/login-link.ts")).loginLink));
};
