import { readdir, rm } from "node:fs/promises";
import { hostname } from "node:os";
import type { BootstrapProgress } from "../../plugin/pairing/bootstrap.ts";
import { type CredentialStore, type Credentials, openCredentialStore } from "../../plugin/pairing/credentials.ts";
import { type PairProgress, pairDevice } from "../../plugin/pairing/pair.ts";
import { isSvcError } from "../../shared/errors.ts";
import type { KeyScopes } from "../../shared/wire/key-scopes.ts";
import { type CliContext, sayReaders } from "../context.ts";
import { EXIT, exitCodeFor } from "../exit-codes.ts";
import { chooseBaseUrl, createClient, findKeyFolder, type OpenClient, openClient } from "../open-session.ts";
import { readSettings, type Settings } from "../settings.ts";
import { type Terminal, wrapWords } from "../terminal.ts";
import { describeGranted, type LimitFlags, readLimitFlags } from "./key-limits.ts";

interface PairFlags extends LimitFlags {
  readonly baseUrl?: string;
  readonly label?: string;
  readonly again?: boolean;
}

/** `svc pair`: shows the approval link and code, waits for the human, stores the key. */
export async function pair(context: CliContext, flags: PairFlags): Promise<number> {
  const { terminal } = context;
  const settings = await readSettings(context.places, context.env, flags);
  const { isNew, baseUrl, path } = await ensurePaired(context, settings, flags);
  terminal.say(
    isNew
      ? `The key is in ${path}, ${sayReaders(path)}.`
      : `Already paired with ${baseUrl}. "svc pair --again" makes a new key.`,
  );
  warnOfOtherKey(terminal, settings);
  if (isNew) terminal.say('Next: "svc tools" lists what you can do.');
  return EXIT.ok;
}

/** Pairs this machine, or the installed client whose key lies in `keyFolder`, unless the stored key works. */
export async function ensurePaired(
  context: CliContext,
  settings: Settings,
  flags: Omit<PairFlags, "baseUrl">,
  keyFolder: string = context.places.config,
) {
  const { terminal } = context;
  const scopes = readLimitFlags(flags);
  const credentials = openCredentialStore(keyFolder);
  const stored = await readStored(context, credentials);
  const baseUrl = await chooseBaseUrl(context, settings);
  const { path } = credentials;
  if (stored?.baseUrl === baseUrl && !flags.again && (await keyWorks(context, stored))) {
    return { isNew: false, baseUrl, path };
  }
  const client = createClient(context, baseUrl);
  let granted: KeyScopes | undefined;
  try {
    await pairDevice({
      client,
      credentials,
      scopes,
      deviceLabel: flags.label ?? hostname(),
      clientKind: "cli",
      signal: context.signal,
      onProgress(progress) {
        if (progress.kind === "approved") granted = progress.scopes;
        showApprovalWait(terminal, progress);
      },
    });
  } finally {
    await client.close();
  }
  const limits = describeGranted(scopes, granted);
  if (limits !== undefined) terminal.say(limits);
  return { isNew: true, baseUrl, path };
}

function warnOfOtherKey(terminal: Terminal, { apiKey }: Settings): void {
  if (apiKey !== undefined) terminal.say("SVC_API_KEY is set and is used first: unset it to use the stored key.");
}

/** A damaged file was moved aside and explained; pairing again repairs it, so it does not end the command. */
async function readStored({ terminal }: CliContext, store: CredentialStore): Promise<Credentials | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (!isSvcError(error) || error.code !== "credentials_missing") throw error;
    terminal.say(error.message);
    return undefined;
  }
}

async function keyWorks(context: CliContext, stored: Credentials): Promise<boolean> {
  const client = createClient(context, stored.baseUrl, stored);
  try {
    await client.listTools({ limit: 1 }, { signal: context.signal });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}

/** Prints one step of a pairing or an installation that a human approves on a page of the service. */
export function showApprovalWait(terminal: Terminal, progress: PairProgress | BootstrapProgress): void {
  if (progress.kind === "started") {
    const [what, link] = "pairUrl" in progress ? ["device", progress.pairUrl] : ["installation", progress.approvalUrl];
    terminal.say(`Open this link and approve the ${what}: ${terminal.style("cyan", link)}`);
    if (progress.displayCode !== undefined) {
      terminal.say(`Check that the page shows the code ${terminal.style("bold", progress.displayCode)}`);
    }
    const end = new Date(progress.expiresAt);
    terminal.say(Number.isNaN(end.getTime()) ? "Waiting …" : `Waiting until ${end.toLocaleTimeString("en-GB")} …`);
    return;
  }
  if (progress.kind === "waiting") {
    terminal.progress(`  waiting for approval, ${Math.round(progress.elapsedMs / 1000)} s`);
    return;
  }
  terminal.endProgress(terminal.style("green", "Approved."));
}

/** `svc unpair`: deletes the stored key and those of installed clients; the dashboard revokes them. */
export async function unpair(context: CliContext): Promise<number> {
  const store = openCredentialStore(context.places.config);
  // A damaged file is deleted too.
  const stored = await store.read().catch(() => undefined);
  await store.clear();
  const folder = findKeyFolder(context.places);
  const clients = await readdir(folder).catch(() => []);
  await rm(folder, { recursive: true, force: true });
  context.terminal.say(
    stored === undefined
      ? `${clients.length === 0 ? "Nothing to forget: this" : "This"} machine is not paired.`
      : `Forgot the key for ${stored.baseUrl}. To revoke it as well, open ${stored.baseUrl} and remove the device.`,
  );
  if (clients.length > 0)
    context.terminal.say(`Forgot the keys of ${clients.join(", ")} too: revoke them in the same place.`);
  return EXIT.ok;
}

/** `svc status`: address, source of the key and whether the service accepts it; exit code 3 when it does not. */
export async function status(context: CliContext, flags: { baseUrl?: string }): Promise<number> {
  const opened = await openClient(context, flags);
  const { client, settings } = opened;
  const { terminal } = context;
  terminal.wait(`waiting for ${client.baseUrl}`);
  try {
    const page = await client.listTools({ limit: 1 }, { signal: context.signal });
    const access = await describeKey(opened);
    const answer = {
      baseUrl: client.baseUrl,
      ...access.facts,
      works: true,
      tools: page.total ?? page.tools.length,
      mediaRoots: settings.mediaRoots,
    };
    terminal.answer(answer, () =>
      [
        access.title,
        namePaths(terminal, "Key accepted, from", [access.facts.key]),
        `Tools: ${answer.tools}`,
        namePaths(terminal, "Files may be attached from", answer.mediaRoots),
        'Next: "svc tools", or "svc search <words>".',
      ].join("\n"),
    );
    return EXIT.ok;
  } catch (error) {
    if (!isSvcError(error) || context.signal.aborted) throw error;
    const { code, message } = error;
    const exitCode = exitCodeFor(error);
    const verdict =
      exitCode === EXIT.notPaired
        ? `${client.baseUrl} does not work with this key`
        : "Whether this key works is not known";
    terminal.answer({ baseUrl: client.baseUrl, works: false, code, message }, () =>
      [`${verdict}: ${message}`, error.hint ?? ""]
        .map((text) => wrapWords(text, terminal.columns, "  "))
        .join("\n")
        .trimEnd(),
    );
    return exitCode;
  } finally {
    await client.close();
  }
}

/** The source of the key, for JSON and for people. */
async function describeKey({ client, settings, credentials }: OpenClient) {
  const stored = settings.apiKey ? undefined : await credentials.read();
  const facts = {
    key: stored ? credentials.path : "SVC_API_KEY",
    deviceLabel: stored?.deviceLabel ?? null,
    pairedAt: stored?.pairedAt ?? null,
  };
  const label = facts.deviceLabel ? ` as "${facts.deviceLabel}"` : "";
  return { facts, title: `Paired with ${client.baseUrl}${label}` };
}

/** Labels and paths. A path that the terminal would break gets its own line, so that it can be copied. */
function namePaths({ columns = Infinity }: Terminal, what: string, paths: readonly string[]): string {
  const line = `${what}: ${paths.join(", ")}`;
  return line.length <= columns ? line : [`${what}:`, ...paths.map((path) => `  ${path}`)].join("\n");
}
