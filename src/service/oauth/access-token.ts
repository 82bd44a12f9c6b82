import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";

/** Algorithm of every token this service signs. */
export const SIGNING_ALGORITHM = "ES256";

/** The key pair that signs tokens. */
export interface SigningKey {
  /** Private JSON Web Key, with `kid`, `use` and `alg`. */
  readonly jwk: Readonly<Record<string, unknown>>;
  readonly publicKey: KeyObject;
  readonly kid: string;
}

/** A new P-256 key as text. */
export function createSigningKey(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return JSON.stringify(privateKey.export({ format: "jwk" }));
}

/** Reads the text of {@link createSigningKey}. */
export async function readSigningKey(text: string): Promise<SigningKey> {
  const key = createPrivateKey({ key: JSON.parse(text), format: "jwk" });
  const publicKey = createPublicKey(key);
  const { calculateJwkThumbprint } = await import("jose/jwk/thumbprint");
  const kid = await calculateJwkThumbprint(publicKey);
  return { jwk: { ...key.export({ format: "jwk" }), kid, use: "sig", alg: SIGNING_ALGORITHM }, publicKey, kid };
}

/** The claims of a genuine access token. */
export interface AccessTokenClaims {
  readonly accountId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly scopes: ReadonlySet<string>;
}

/** The claim that ties an access token to its approval. */
export const GRANT_CLAIM = "svc_grant";

/**
 * Reads an access token ("JWT profile for access tokens", RFC 9068). Undefined unless this service signed it, as
 * `issuer`, for exactly `audience`, and it has not expired at `now`, milliseconds since the epoch.
 */
export async function readAccessToken(
  token: string,
  o: { key: SigningKey; issuer: string; audience: string; now: number },
): Promise<AccessTokenClaims | undefined> {
  const rules = {
    algorithms: [SIGNING_ALGORITHM],
    typ: "at+jwt",
    issuer: o.issuer,
    audience: o.audience,
    requiredClaims: ["exp"],
    currentDate: new Date(o.now),
  };
  const { jwtVerify } = await import("jose/jwt/verify");
  const verified = await jwtVerify(token, o.key.publicKey, rules).catch(() => undefined);
  // The library also accepts a list of audiences that contains this one.
  if (verified === undefined || verified.protectedHeader.kid !== o.key.kid || verified.payload.aud !== o.audience) {
    return undefined;
  }
  const { sub, client_id: clientId, scope, [GRANT_CLAIM]: grantId } = verified.payload;
  if (typeof sub !== "string" || typeof clientId !== "string" || typeof grantId !== "string") return undefined;
  return { accountId: sub, clientId, grantId, scopes: new Set(typeof scope === "string" ? scope.split(" ") : []) };
}
