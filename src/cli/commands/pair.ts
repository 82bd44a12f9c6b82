import { hostname } from "node:os";
import { isSvcError } from "../../errors.ts";
import { type CredentialStore, type Credentials, openCredentialStore } from "../../pairing/credentials.ts";
import { pairDevice } from "../../pairing/pair.ts";
import type { CliContext } from "../context.ts";
import { createClient } from "../create-client.ts";
import { EXIT } from "../exit-codes.ts";
import { chooseBaseUrl } from "../open-session.ts";
import { readSettings, type Settings } from "../settings.ts";
import { showApprovalWait } from "../show-approval-wait.ts";
import type { Terminal } from "../terminal.ts";

interface PairFlags {
  readonly baseUrl?: string;
  readonly label?: string;
  readonly again?: boolean;
}

/** `svc pair`: shows the approval link and code, waits for the human, stores the key. */
export async function pair(context: CliContext, flags: PairFlags): Promise<number> {
  const { terminal } = context;
  const settings = await readSettings(context.places, context.env, flags);
  const credentials = openCredentialStore(context.places.config);
  const stored = await readStored(context, credentials);
  const baseUrl = await chooseBaseUrl(context, settings);
  if (stored?.baseUrl === baseUrl && !flags.again && (await keyWorks(context, stored))) {
    terminal.say(`Already paired with ${baseUrl}. "svc pair --again" makes a new key.`);
    warnOfOtherKey(terminal, settings);
    return EXIT.ok;
  }
  const client = createClient(context, baseUrl);
  try {
    await pairDevice({
      client,
      credentials,
      deviceLabel: flags.label ?? hostname(),
      clientKind: "cli",
      signal: context.signal,
      onProgress: (progress) => showApprovalWait(terminal, progress),
    });
  } finally {
    await client.close();
  }
  terminal.say(`The key is in ${credentials.path}, readable by you alone.`);
  warnOfOtherKey(terminal, settings);
  terminal.say('Next: "svc tools" lists what you can do.');
  return EXIT.ok;
}

function warnOfOtherKey(terminal: Terminal, { apiKey }: Settings): void {
  if (apiKey !== undefined) terminal.say("SVC_API_KEY is set and is used first: unset it to use the stored key.");
}

/** A damaged file was moved aside and explained; pairing again is the way on, so it is not the end. */
async function readStored({ terminal }: CliContext, store: CredentialStore): Promise<Credentials | undefined> {
  try {
    return await store.read();
  } catch (error) {
    if (!isSvcError(error) || error.code !== "credentials_missing") throw error;
    terminal.say(error.message);
    return undefined;
  }
}

async function keyWorks(context: CliContext, { baseUrl, apiKey }: Credentials): Promise<boolean> {
  const client = createClient(context, baseUrl, { apiKey });
  try {
    await client.listTools({ limit: 1 }, { signal: context.signal });
    return true;
  } catch {
    return false;
  } finally {
    await client.close();
  }
}
