import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { InvalidArgumentError, Option } from "commander";
import type { ServiceOptions } from "../service/service-options.ts";
import { hasCode } from "../shared/base/error-code.ts";
import { isSvcError, SvcError } from "../shared/errors.ts";

/** The database of a service, where it is not a file in its data folder. */
export const databaseOption = () =>
  new Option(
    "--database <url>",
    "PostgreSQL database that several processes share, postgres://… (default: a file in the data folder)",
  ).env("SVC_DATABASE");

/** Collects the values of a repeatable option, each of several words. */
function collectWords(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(/\s+/).filter((word) => word !== "")];
}

/** Collects the values of a repeatable option. */
export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** Variables beside those of the options that a file for several commands may set, too. */
const OTHER_VARIABLES =
  /^SVC_(SECRET|METRICS_TOKEN|NTFY_TOKEN|WEBHOOK_SECRET|DEBUG|HOME|API_KEY|BASE_URL|MEDIA_ROOTS|TIMEOUT|HEADER_\w+)$/;

/** Loads variables from a file; those that are set already stay. Options take theirs after the command line was read. */
function loadConfig(file: string): string {
  const variables = parseEnv(readConfig(file));
  const own = new Set(listServeOptions().map(({ envVar }) => envVar));
  const unknown = Object.keys(variables).find(
    (name) => name.startsWith("SVC_") && !own.has(name) && !OTHER_VARIABLES.test(name),
  );
  if (unknown !== undefined)
    throw new InvalidArgumentError(`${unknown} is no setting; "svc serve --help" lists the variables.`);
  for (const [name, value] of Object.entries(variables)) process.env[name] ??= value;
  return file;
}

function readConfig(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw new InvalidArgumentError("There is no such file.");
    throw new InvalidArgumentError(`It cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The settings of a service on this machine, for each command that looks into it. */
export const configOption = () =>
  new Option("--config <file>", "take settings from its lines NAME=value, by their variables").argParser(loadConfig);

/** The data folder of a service on this machine. */
export const dataOption = (description = "data folder of the service") =>
  new Option("--data <dir>", description).env("SVC_DATA");

/** Where the service is reached, and by whom. */
function listAddressOptions(): Option[] {
  return [
    new Option("--port <number>", "port to listen on, 0 for any free one").env("SVC_PORT").default("8790"),
    new Option("--host <address>", "address to listen on").env("SVC_HOST").default("127.0.0.1"),
    new Option("--public-url <url>", "address people open, when it is not the listening one").env("SVC_PUBLIC_URL"),
    new Option(
      "--trust-proxy <address>",
      "believe this proxy about the addresses of its callers: an IP address or a block; repeatable, or several with spaces in the variable",
    )
      .env("SVC_TRUST_PROXY")
      .argParser(collectWords),
  ];
}

/** Options of `svc serve`; each can be set by its variable, too. */
export function listServeOptions(): Option[] {
  return [
    configOption(),
    ...listAddressOptions(),
    dataOption("data folder (default: below your home folder)"),
    databaseOption(),
    new Option(
      "--files <place>",
      "folder for files that all processes see, or s3://BUCKET/PREFIX?region=R&endpoint=URL (default: the data folder)",
    ).env("SVC_FILES"),
    new Option("--usage-limit <number>", "executions allowed per UTC day").env("SVC_USAGE_LIMIT"),
    new Option("--keep-days <number>", "days that the log and ended flows are kept, 0 for ever (default: 90)").env(
      "SVC_KEEP_DAYS",
    ),
    ...listCallOptions(),
    new Option(
      "--allow-host <host:port>",
      "let files be fetched from this host of yours, over http too; repeatable, or several with spaces in the variable",
    )
      .env("SVC_ALLOW_HOST")
      .argParser(collectWords),
    new Option(
      "--approvals <who>",
      "who approves calls that change something: device (a paired device asks its human) or owner (each waits in the inbox)",
    )
      .env("SVC_APPROVALS")
      .choices(["device", "owner"])
      .default("device"),
    new Option(
      "--flow-approvals <where>",
      "where a waiting flow may be approved: api (by a paired device too) or dashboard (by the owner's browser only)",
    )
      .env("SVC_FLOW_APPROVALS")
      .choices(["api", "dashboard"])
      .default("api"),
    new Option(
      "--notify <target>",
      "tell you what waits: ntfy:https://HOST/TOPIC, webhook:https://HOST/PATH or mail:ADDRESS; repeatable, or several with spaces in the variable",
    )
      .env("SVC_NOTIFY")
      .argParser(collectWords),
    new Option("--notify-arguments", "put the arguments of calls into these notes too").env("SVC_NOTIFY_ARGUMENTS"),
    new Option(
      "--otel",
      "make spans of requests and calls with the OpenTelemetry of this process (@opentelemetry/api)",
    ).env("SVC_OTEL"),
    new Option("--access-log", "write a line about every request to standard error").env("SVC_ACCESS_LOG"),
    new Option("--log-format <format>", "lines on standard error: text, or json (one object a line)")
      .env("SVC_LOG_FORMAT")
      .choices(["text", "json"])
      .default("text"),
    new Option("--no-file-envelopes", "refuse files inside execute requests, so that callers upload them first").env(
      "SVC_NO_FILE_ENVELOPES",
    ),
  ];
}

/** What holds for every call. */
function listCallOptions(): Option[] {
  return [
    new Option("--undo-space <megabytes>", "space for what undoing needs, 0 keeps nothing (default: 1000)").env(
      "SVC_UNDO_SPACE",
    ),
    new Option("--send-delay <seconds>", "time to stop a mail after its approval, 0 to 60 (default: 0)").env(
      "SVC_SEND_DELAY",
    ),
    new Option("--provider-timeout <seconds>", "longest time an action of an app may take (default: 60)").env(
      "SVC_PROVIDER_TIMEOUT",
    ),
  ];
}

/** How those who type a command know an option of the service. */
const TYPED: Partial<Record<keyof ServiceOptions, string>> = {
  dataDir: "--data",
  port: "--port",
  host: "--host",
  publicUrl: "--public-url",
  database: "--database",
  files: "--files",
  secretKey: "SVC_SECRET",
  metricsToken: "SVC_METRICS_TOKEN",
  usageLimit: "--usage-limit",
  retentionDays: "--keep-days",
  undoMegabytes: "--undo-space",
  sendDelay: "--send-delay",
  allowHosts: "--allow-host",
  notify: "--notify",
  providerTimeoutMs: "--provider-timeout",
};

/** Names an option in a refusal of the service as it is typed here: throws it so, and any other error as it is. */
export function nameAsTyped(error: unknown): never {
  const [, typed] = Object.entries(TYPED).find(([name]) => isSvcError(error) && error.field === name) ?? [];
  if (!isSvcError(error) || error.code !== "invalid_config" || typed === undefined) throw error;
  const { field = "", message, hint } = error;
  const rename = (text: string) =>
    text
      .replaceAll(`${field} (${typed})`, typed)
      .replaceAll(`The option ${field} `, `${typed} `)
      .replaceAll(`Correct ${field},`, `Correct ${typed},`);
  const named = { field: message.startsWith("The option ") ? typed : field, cause: error };
  throw new SvcError(error.code, rename(message), { ...named, ...(hint !== undefined && { hint: rename(hint) }) });
}
