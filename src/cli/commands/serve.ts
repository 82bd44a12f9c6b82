import { createService } from "../../service/create-service.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { readFilesFlag } from "./files-place.ts";
import { printLog } from "./print-log.ts";
import { wholeNumber } from "./whole-number.ts";

interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly data?: string;
  readonly database?: string;
  readonly files?: string;
  readonly publicUrl?: string;
  readonly usageLimit?: string;
  readonly keepDays?: string;
  readonly allowHost?: readonly string[];
  readonly flowApprovals: "api" | "dashboard";
  readonly fileEnvelopes: boolean;
}

/** `svc serve`: runs until interrupted; prints the address and a one-time sign-in link. */
export async function serve(context: CliContext, flags: ServeFlags): Promise<number> {
  const { terminal } = context;
  const dataDir = flags.data ?? context.places.service;
  const service = await createService({
    dataDir,
    port: wholeNumber(flags.port, "--port", 0, 65_535),
    host: flags.host,
    log: printLog,
    fileEnvelopes: flags.fileEnvelopes,
    flowApprovals: flags.flowApprovals,
    allowHosts: flags.allowHost ?? [],
    ...(context.env.SVC_SECRET ? { secretKey: context.env.SVC_SECRET } : {}),
    ...(flags.database === undefined ? {} : { database: flags.database }),
    ...(flags.files === undefined ? {} : { files: readFilesFlag(flags.files, context.env) }),
    ...(flags.publicUrl === undefined ? {} : { publicUrl: flags.publicUrl }),
    ...(flags.usageLimit === undefined
      ? {}
      : { usageLimit: wholeNumber(flags.usageLimit, "--usage-limit", 0, Number.MAX_SAFE_INTEGER) }),
    ...(flags.keepDays === undefined
      ? {}
      : { retentionDays: wholeNumber(flags.keepDays, "--keep-days", 0, Number.MAX_SAFE_INTEGER) }),
  });
  terminal.say(`Listening on ${service.url}`);
  terminal.say(`Sign in: ${await service.signInUrl()}`);
  terminal.say(`  The link works once, within 10 minutes; "svc login-link" prints another.`);
  terminal.say(`Data folder: ${dataDir}`);
  terminal.say(`Next: open the sign-in link, then run "svc pair --base-url ${service.url}" in another terminal.`);
  await new Promise<void>((resolve) => context.signal.addEventListener("abort", () => resolve(), { once: true }));
  const running = service.runningCalls();
  const waits = `waiting for ${running} running ${running === 1 ? "call" : "calls"}. Ctrl-C again ends now.`;
  terminal.say(running === 0 ? "Stopping." : `Stopping: ${waits}`);
  await service.close();
  return EXIT.ok;
}
