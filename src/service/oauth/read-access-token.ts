import { verify } from "node:crypto";
import { SIGNING_ALGORITHM, type SigningKey } from "./signing-key.ts";

/** What a genuine access token says. */
export interface AccessTokenClaims {
  readonly accountId: string;
  readonly clientId: string;
  readonly grantId: string;
  readonly scopes: ReadonlySet<string>;
}

/** The claim that ties an access token to the approval it came from. */
export const GRANT_CLAIM = "svc_grant";

/**
 * Reads an access token ("JWT profile for access tokens", RFC 9068). Undefined unless this service signed it, as
 * `issuer`, for exactly `audience`, and it has not expired.
 */
export function readAccessToken(
  token: string,
  o: { key: SigningKey; issuer: string; audience: string; now: number },
): AccessTokenClaims | undefined {
  const [head = "", body = "", signature = "", rest] = token.split(".");
  if (rest !== undefined) return undefined;
  const header = readPart(head);
  if (header?.alg !== SIGNING_ALGORITHM || header.typ !== "at+jwt" || header.kid !== o.key.kid) return undefined;
  const key = { key: o.key.publicKey, dsaEncoding: "ieee-p1363" } as const;
  const isGenuine = verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"));
  const claims = isGenuine ? readPart(body) : undefined;
  if (claims === undefined || claims.iss !== o.issuer || claims.aud !== o.audience) return undefined;
  if (typeof claims.exp !== "number" || claims.exp * 1000 <= o.now) return undefined;
  const { sub, client_id: clientId, scope, [GRANT_CLAIM]: grantId } = claims;
  if (typeof sub !== "string" || typeof clientId !== "string" || typeof grantId !== "string") return undefined;
  return { accountId: sub, clientId, grantId, scopes: new Set(typeof scope === "string" ? scope.split(" ") : []) };
}

function readPart(part: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
