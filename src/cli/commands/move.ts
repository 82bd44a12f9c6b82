import { join } from "node:path";
import { type CredentialStore, openCredentialStore } from "../../plugin/pairing/credentials.ts";
import { moveCredentials } from "../../plugin/pairing/move.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { listStoredKeys, readProxy } from "../open-session.ts";
import { readSettings } from "../settings.ts";

/** `svc move`: uses the stored key at another address, once the service there has proved to be the same. */
export async function move(context: CliContext, url: string): Promise<number> {
  const { terminal, places, env, signal } = context;
  const moveKey = (credentials: CredentialStore) =>
    moveCredentials({ baseUrl: url, credentials, proxy: readProxy(env), signal });
  const [first = openCredentialStore(places.config), ...others] = await listStoredKeys(places);
  const { before, after } = await moveKey(first);
  for (const own of others) await moveKey(own);
  terminal.answer({ from: before.baseUrl, to: after.baseUrl }, () =>
    before === after
      ? `This machine uses ${after.baseUrl} already.`
      : `Moved from ${before.baseUrl} to ${after.baseUrl}, with the same key: the service there proved to be the same.`,
  );
  const { baseUrl: set, apiKey } = await readSettings(places, env, {});
  if (set !== undefined && set !== after.baseUrl) {
    terminal.say(`Still set to ${set}: change SVC_BASE_URL, or baseUrl in ${join(places.config, "config.json")}.`);
  }
  if (apiKey !== undefined) terminal.say("SVC_API_KEY is set and is used first: unset it to use the stored key.");
  return EXIT.ok;
}
