import { randomBytes, timingSafeEqual } from "node:crypto";
import type { SvcClient } from "../client/client.ts";
import { namePrincipal } from "../client/client-options.ts";
import { isSvcError, SvcError } from "../errors.ts";
import { expectIdentity } from "../wire/identity.ts";
import { readShownUrl } from "./approval-wait.ts";
import type { CredentialStore, Credentials } from "./credentials.ts";

/** A key with the address that it was used at. */
export interface MovingKey {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly apiKeyId: string;
  /** The account that it continues; default one of its own. */
  readonly principal?: string | undefined;
}

/**
 * Makes sure that the service of a key is the one that answers at the address of `client`, which has no key: before that,
 * nothing is sent there but a number to prove it with. What was kept under the account of the key counts on.
 *
 * @returns the address and the account to use from now on
 * @throws SvcError `pairing_failed` when another service answers there, or it goes by another address; `unreachable`,
 *   `timeout` and the like when nothing answers
 */
export async function followService(
  client: SvcClient,
  key: MovingKey,
  { signal }: { readonly signal?: AbortSignal | undefined } = {},
): Promise<{ readonly baseUrl: string; readonly principal: string }> {
  const { baseUrl } = client;
  const challenge = randomBytes(32).toString("base64url");
  const reply = await client.askIdentity({ apiKeyId: key.apiKeyId, challenge }, { signal }).catch((error: unknown) => {
    if (isSvcError(error) && error.status !== undefined && error.status < 500) throw isStranger(baseUrl, error);
    throw error;
  });
  const isProved = isSame(reply.proof, expectIdentity(key.apiKey, { challenge, baseUrl: reply.baseUrl }));
  if (!isProved) throw isStranger(baseUrl);
  if (reply.baseUrl !== baseUrl) {
    const own = readShownUrl(reply.baseUrl, baseUrl, "baseUrl").replace(/\/$/, "");
    throw new SvcError(
      "pairing_failed",
      `Your service goes by ${own}, and not by ${baseUrl}. The key was not sent there.`,
      {
        field: "baseUrl",
        hint: `Move to ${own}, or start the service with --public-url ${baseUrl} first.`,
      },
    );
  }
  return { baseUrl, principal: key.principal ?? namePrincipal(key.baseUrl, key.apiKey) };
}

/**
 * Changes the address of the stored key to that of `client`, which has no key, as {@link followService} does.
 *
 * @returns the credentials before and after
 * @throws SvcError `credentials_missing` when there is no stored key; the errors of {@link followService}
 */
export async function moveCredentials(o: {
  readonly client: SvcClient;
  readonly credentials: CredentialStore;
  readonly signal?: AbortSignal | undefined;
}): Promise<{ readonly before: Credentials; readonly after: Credentials }> {
  const before = await o.credentials.read();
  if (before === undefined) {
    throw new SvcError(
      "credentials_missing",
      "This machine is not paired with a service, so there is nothing to move.",
      {
        hint: `Run "svc pair --base-url ${o.client.baseUrl}".`,
      },
    );
  }
  if (before.baseUrl === o.client.baseUrl) return { before, after: before };
  const after: Credentials = { ...before, ...(await followService(o.client, before, o)) };
  await o.credentials.write(after);
  return { before, after };
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

function isStranger(baseUrl: string, cause?: SvcError): SvcError {
  const message = `What answers at ${baseUrl} does not prove to be your service. The key was not sent there.`;
  return new SvcError("pairing_failed", message, {
    field: "baseUrl",
    hint: "Check the address. After a fresh start of the service, a revoked key, or with an older version of it, pair again.",
    cause,
  });
}
