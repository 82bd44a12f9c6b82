import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from "node:crypto";

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

/** Reads what {@link createSigningKey} wrote. */
export function readSigningKey(text: string): SigningKey {
  const key = createPrivateKey({ key: JSON.parse(text), format: "jwk" });
  const jwk = key.export({ format: "jwk" });
  const { crv, kty, x, y } = jwk;
  const kid = createHash("sha256").update(JSON.stringify({ crv, kty, x, y })).digest("base64url");
  return { jwk: { ...jwk, kid, use: "sig", alg: SIGNING_ALGORITHM }, publicKey: createPublicKey(key), kid };
}
