import { openCredentialStore } from "../../../pairing/credentials.ts";
import { followService, moveCredentials } from "../../../pairing/move.ts";
import { findApiKey, moveKeyOrigin, readKeyOrigin } from "../setup/find-key.ts";
import { spellAddress } from "../setup/plugin-settings.ts";
import { type Environment, readEnvironment } from "../setup/read-environment.ts";
import { answer, type CliCall, type CommandAnswer, EXIT, refuse } from "./command-answer.ts";

const PAIR_AGAIN = "Nothing here says which service issued this key. Pair with the new address: openclaw svc pair";

/**
 * `openclaw svc move URL`: uses the key of the default agent at the new address of its service, once the service there has
 * proved to be the same. Tools, and what was always allowed, stay.
 */
export async function moveInTerminal(
  { host, api }: CliCall,
  url: string,
  environment: Environment = readEnvironment(),
): Promise<CommandAnswer> {
  const { places } = host;
  const settings = host.settings();
  const found = await findApiKey({ settings, environment, places, context: undefined, api });
  if (found === undefined) return refuse("Nothing is paired, so there is nothing to move.", EXIT.notPaired);
  const baseUrl = spellAddress(url);
  const set = `openclaw config set plugins.entries.svc.config.baseUrl ${baseUrl}`;
  if (found.source === "config" || found.source === "environment") {
    return refuse(
      `The key is in the ${found.source}, not from a pairing here: it goes where baseUrl says. Run: ${set}`,
    );
  }
  if (found.source === "file") {
    await moveCredentials({ baseUrl, credentials: openCredentialStore(places.state) });
  } else {
    const origin = await readKeyOrigin(places, found.apiKey);
    if (origin?.apiKeyId === undefined) return refuse(PAIR_AGAIN);
    const { apiKeyId, principal, baseUrl: before } = origin;
    const moved = await followService({ baseUrl }, { baseUrl: before, apiKey: found.apiKey, apiKeyId, principal });
    await moveKeyOrigin(places, found.apiKey, { before, ...moved });
  }
  const text = `Moved to ${baseUrl}, with the same key: the service there proved to be the same.`;
  const rest = settings.baseUrl === undefined || settings.baseUrl === baseUrl ? "" : `\nThen: ${set}`;
  return answer(`${text}${rest}`, { moved: true, baseUrl });
}
