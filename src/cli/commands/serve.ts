import { isLoopbackHost } from "../../plugin/client/base-url.ts";
import { createSignInLink } from "../../service/create-sign-in-link.ts";
import type { ServiceOptions } from "../../service/service-options.ts";
import { SvcError } from "../../shared/errors.ts";
import { MAX_DELAY_SECONDS } from "../../shared/wire/constants.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { createLogPrinter, type LogFormat } from "../log-lines.ts";
import { nameAsTyped } from "../serve-options.ts";
import { wholeNumber } from "../settings.ts";

interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly data?: string;
  readonly database?: string;
  readonly files?: string;
  readonly publicUrl?: string;
  readonly trustProxy?: readonly string[];
  readonly usageLimit?: string;
  readonly keepDays?: string;
  readonly undoSpace?: string;
  readonly sendDelay?: string;
  readonly providerTimeout?: string;
  readonly allowHost?: readonly string[];
  readonly flowApprovals: "api" | "dashboard";
  readonly approvals: "device" | "owner";
  readonly notify?: readonly string[];
  readonly notifyArguments?: true;
  readonly otel?: true;
  readonly accessLog?: true;
  readonly logFormat: LogFormat;
  readonly fileEnvelopes: boolean;
}

/** `svc serve`: runs until interrupted; prints the address and a one-time sign-in link. */
export async function serve(context: CliContext, flags: ServeFlags): Promise<number> {
  const { terminal } = context;
  checkSwitches(context.env);
  const dataDir = flags.data ?? context.places.service;
  // Loaded here, because "svc login-link" does not need it.
  const { createService } = await import("../../service/create-service.ts");
  const service = await createService(await readOptions(context, flags, dataDir)).catch(nameAsTyped);
  terminal.say(`Listening on ${service.listeningOn}`);
  if (service.url !== service.listeningOn) terminal.say(`Public address: ${service.url}`);
  terminal.say(`Sign in: ${await service.signInUrl()}`);
  terminal.say(`  The link works once, within 10 minutes; "svc login-link" prints another.`);
  terminal.say(`Data folder: ${dataDir}`);
  terminal.say(`Next: open the sign-in link, ${nameNextStep(service.url)}`);
  await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
  const running = service.runningCalls();
  const waits = `waiting for ${running} running ${running === 1 ? "call" : "calls"}. Ctrl-C again ends now.`;
  terminal.say(running === 0 ? "Stopping." : `Stopping: ${waits}`);
  await service.close();
  return EXIT.ok;
}

/** A key is sent to no address that others can read along. */
function nameNextStep(url: string): string {
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || isLoopbackHost(hostname)
    ? `then run "svc pair --base-url ${url}" in another terminal.`
    : `then put TLS in front of the service: "svc pair" needs an https address.`;
}

async function readOptions({ env }: CliContext, flags: ServeFlags, dataDir: string): Promise<ServiceOptions> {
  return {
    dataDir,
    port: wholeNumber(flags.port, "--port", 0, 65_535),
    host: flags.host,
    log: createLogPrinter(flags.logFormat, (line) => console.error(line)),
    accessLog: flags.accessLog ?? false,
    fileEnvelopes: flags.fileEnvelopes,
    flowApprovals: flags.flowApprovals,
    approvals: flags.approvals,
    allowHosts: flags.allowHost ?? [],
    trustProxy: flags.trustProxy ?? [],
    notify: readNotifyFlags(flags.notify ?? [], env),
    notifyArguments: flags.notifyArguments ?? false,
    ...(flags.otel ? { openTelemetry: await loadOpenTelemetry() } : {}),
    ...(env.SVC_METRICS_TOKEN ? { metricsToken: env.SVC_METRICS_TOKEN } : {}),
    ...(env.SVC_SECRET ? { secretKey: env.SVC_SECRET } : {}),
    ...(flags.database === undefined ? {} : { database: flags.database }),
    ...(flags.files === undefined ? {} : { files: readFilesFlag(flags.files, env) }),
    ...(flags.publicUrl === undefined ? {} : { publicUrl: flags.publicUrl }),
    ...(flags.usageLimit === undefined
      ? {}
      : { usageLimit: wholeNumber(flags.usageLimit, "--usage-limit", 0, Number.MAX_SAFE_INTEGER) }),
    ...(flags.keepDays === undefined
      ? {}
      : { retentionDays: wholeNumber(flags.keepDays, "--keep-days", 0, Number.MAX_SAFE_INTEGER) }),
    ...(flags.undoSpace === undefined
      ? {}
      : { undoMegabytes: wholeNumber(flags.undoSpace, "--undo-space", 0, Number.MAX_SAFE_INTEGER) }),
    ...(flags.sendDelay === undefined
      ? {}
      : { sendDelay: wholeNumber(flags.sendDelay, "--send-delay", 0, MAX_DELAY_SECONDS) }),
    ...(flags.providerTimeout === undefined
      ? {}
      : { providerTimeoutMs: wholeNumber(flags.providerTimeout, "--provider-timeout", 1, 86_400) * 1000 }),
  };
}

/** Variables that turn something on by being there, so that "0" would, too. */
const SWITCHES = ["SVC_NOTIFY_ARGUMENTS", "SVC_OTEL", "SVC_ACCESS_LOG", "SVC_NO_FILE_ENVELOPES"];

function checkSwitches(env: NodeJS.ProcessEnv): void {
  const wrong = SWITCHES.find((name) => ![undefined, "1", "true"].includes(env[name]));
  if (wrong === undefined) return;
  const hint = `Set it to 1 to turn it on; leave it out to keep it off.`;
  throw new SvcError("invalid_config", `${wrong} is "${env[wrong]}".`, { field: wrong, hint });
}

interface LoginLinkFlags {
  readonly data?: string;
  readonly database?: string;
}

/** `svc login-link`: a new one-time sign-in link for the service running on a data folder of this machine. */
export async function loginLink(context: CliContext, flags: LoginLinkFlags): Promise<number> {
  const link = await createSignInLink({ dataDir: flags.data ?? context.places.service, database: flags.database });
  context.terminal.answer({ signInUrl: link }, () => link);
  return EXIT.ok;
}

/** Gives each target its secret: `SVC_NTFY_TOKEN` or `SVC_WEBHOOK_SECRET`. */
function readNotifyFlags(
  targets: readonly string[],
  { SVC_NTFY_TOKEN: token, SVC_WEBHOOK_SECRET: signing }: NodeJS.ProcessEnv,
): NonNullable<ServiceOptions["notify"]> {
  return targets.map((to) => {
    const secret = to.startsWith("ntfy:") ? token : to.startsWith("webhook:") ? signing : undefined;
    return secret ? { to, secret } : to;
  });
}

/** No dependency of this package: its name is none that the compiler looks for. */
const OPEN_TELEMETRY: string = "@opentelemetry/api";

async function loadOpenTelemetry(): Promise<NonNullable<ServiceOptions["openTelemetry"]>> {
  try {
    return await import(OPEN_TELEMETRY);
  } catch (cause) {
    throw new SvcError("invalid_config", "The package @opentelemetry/api is not installed beside this one.", {
      field: "--otel",
      hint: "Install it and an SDK where svc-agent-plugin is installed, as docs/self-hosting.md says.",
      cause,
    });
  }
}

type FilesPlace = NonNullable<ServiceOptions["files"]>;

/**
 * Reads `--files`: a folder, or `s3://BUCKET/PREFIX?region=REGION&endpoint=URL` with the key in `AWS_ACCESS_KEY_ID`,
 * `AWS_SECRET_ACCESS_KEY` and, for temporary ones, `AWS_SESSION_TOKEN`; the region may come from `AWS_REGION`.
 *
 * @throws SvcError `invalid_config`, field `--files`.
 */
export function readFilesFlag(text: string, env: NodeJS.ProcessEnv): FilesPlace {
  if (!/^s3:\/\//i.test(text)) return text;
  const url = URL.parse(text);
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey } = env;
  if (url === null || url.hostname === "") throw refuse("--files names no bucket.");
  if (!accessKeyId || !secretAccessKey) throw refuse("--files names a bucket, but no key for it is set.");
  return {
    bucket: url.hostname,
    prefix: url.pathname.slice(1),
    endpoint: url.searchParams.get("endpoint") ?? undefined,
    region: url.searchParams.get("region") ?? (env.AWS_REGION || "us-east-1"),
    accessKeyId,
    secretAccessKey,
    sessionToken: env.AWS_SESSION_TOKEN || undefined,
  };
}

function refuse(message: string): SvcError {
  return new SvcError("invalid_config", message, {
    field: "--files",
    hint: "Use s3://BUCKET/PREFIX?region=REGION with AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY set, or a folder.",
  });
}
