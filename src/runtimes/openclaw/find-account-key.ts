import { SvcError } from "../../errors.ts";
import { ASK_TO_PAIR } from "./explain-pairing.ts";
import { type FoundKey, findApiKey, type KeySearch } from "./find-key.ts";
import { DEFAULT_BASE_URL, type PluginSettings } from "./plugin-settings.ts";
import type { Environment } from "./read-environment.ts";

/** A key with the address it goes to. */
export type AccountKey = FoundKey & { readonly baseUrl: string };

/**
 * Finds the key that applies, and the service it is for; undefined when there is none.
 *
 * @throws SvcError as {@link findApiKey}; `credentials_missing` for a stored key of another service than the one set
 */
export async function findAccountKey(
  search: KeySearch & { readonly settings: Pick<PluginSettings, "baseUrl"> },
): Promise<AccountKey | undefined> {
  const found = await findApiKey(search);
  return found && { ...found, baseUrl: chooseBaseUrl(search.settings.baseUrl, found) };
}

/** A key that a pairing left goes only to the service that issued it. */
function chooseBaseUrl(set: string | undefined, found: FoundKey): string {
  if (found.baseUrl === undefined || set === undefined) return set ?? found.baseUrl ?? DEFAULT_BASE_URL;
  if (set === found.baseUrl) return found.baseUrl;
  throw new SvcError("credentials_missing", `The stored key was issued by ${found.baseUrl}, not by ${set}.`, {
    field: "baseUrl",
    hint: `Pair with ${set} (openclaw svc pair), or set baseUrl back to ${found.baseUrl}.`,
  });
}

/** The refusal of a call without a key. */
export function missingKey({ foreignKey }: Environment): SvcError {
  const passedOver = " The SVC_API_KEY in the .env file of the folder OpenClaw was started in does not count.";
  const message = `svc is not paired with an account yet.${foreignKey === undefined ? "" : passedOver}`;
  return new SvcError("credentials_missing", message, {
    field: "apiKey",
    hint: ASK_TO_PAIR,
  });
}
