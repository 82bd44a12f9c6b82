import { randomBytes, timingSafeEqual } from "node:crypto";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import { expectIdentity } from "../../shared/wire/identity.ts";
import { spellAddress } from "../client/base-url.ts";
import { SvcClient } from "../client/client.ts";
import { namePrincipal, type ProxySettings } from "../client/client-options.ts";
import type { Sleep } from "../client/retry.ts";
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

/** Where the service is now. */
export interface NewAddress {
  readonly baseUrl: string;
  readonly proxy?: ProxySettings | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly sleep?: Sleep | undefined;
}

/**
 * Makes sure that the service of a key is the one that answers at the new address: before that, nothing is sent there but a
 * number to prove it with. What was kept under the account of the key counts on.
 *
 * @returns the address, in its one spelling, and the account to use from now on
 * @throws SvcError `invalid_config` for an unusable address; `pairing_failed` when another service answers there, or it goes
 *   by another address; `unreachable`, `timeout` and the like when nothing answers
 */
export async function followService(
  { signal, ...where }: NewAddress,
  key: MovingKey,
): Promise<{ readonly baseUrl: string; readonly principal: string }> {
  const client = new SvcClient(where);
  const { baseUrl } = client;
  try {
    const challenge = randomBytes(32).toString("base64url");
    const reply = await client.askIdentity({ apiKeyId: key.apiKeyId, challenge }, { signal });
    const isProved = isSame(reply.proof, expectIdentity(key.apiKey, { challenge, baseUrl: reply.baseUrl }));
    if (!isProved) throw isStranger(baseUrl);
    if (reply.baseUrl !== baseUrl) throw goesBy(reply.baseUrl, baseUrl);
  } catch (error) {
    if (isSvcError(error) && error.status !== undefined && error.status < 500) throw isStranger(baseUrl, error);
    throw error;
  } finally {
    await client.close();
  }
  return { baseUrl, principal: key.principal ?? namePrincipal(key.baseUrl, key.apiKey) };
}

/**
 * Changes the address of the stored key as {@link followService} does.
 *
 * @returns the credentials before and after; the same where the address is no other
 * @throws SvcError `credentials_missing` when there is no stored key; the errors of {@link followService}
 */
export async function moveCredentials({
  credentials,
  ...where
}: NewAddress & { readonly credentials: CredentialStore }): Promise<{
  readonly before: Credentials;
  readonly after: Credentials;
}> {
  const before = await credentials.read();
  if (before === undefined) {
    throw new SvcError(
      "credentials_missing",
      "This machine is not paired with a service, so there is nothing to move.",
      {
        hint: `Run "svc pair --base-url ${where.baseUrl}".`,
      },
    );
  }
  if (before.baseUrl === spellAddress(where.baseUrl)) return { before, after: before };
  const after: Credentials = { ...before, ...(await followService(where, before)) };
  await credentials.write(after);
  return { before, after };
}

function goesBy(told: string, baseUrl: string): SvcError {
  const own = readShownUrl(told, baseUrl, "baseUrl").replace(/\/$/, "");
  const message = `Your service goes by ${own}, and not by ${baseUrl}. The key was not sent there.`;
  return new SvcError("pairing_failed", message, {
    field: "baseUrl",
    hint: `Move to ${own}, or start the service with --public-url ${baseUrl} first.`,
  });
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
