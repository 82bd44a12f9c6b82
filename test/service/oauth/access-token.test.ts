import { createPrivateKey, sign } from "node:crypto";
import { describe, expect, test } from "vitest";
import {
  createSigningKey,
  GRANT_CLAIM,
  readAccessToken,
  readSigningKey,
} from "../../../src/service/oauth/access-token.ts";

const NOW = Date.parse("2026-03-01T12:00:00Z");
const ISSUER = "https://svc.example.org";
const AUDIENCE = `${ISSUER}/api/mcp`;
const text = createSigningKey();
const key = await readSigningKey(text);

const HEADER = { alg: "ES256", typ: "at+jwt", kid: key.kid };
const CLAIMS = {
  iss: ISSUER,
  aud: AUDIENCE,
  sub: "acc_1",
  client_id: "app",
  scope: "openid email",
  exp: NOW / 1000 + 60,
  [GRANT_CLAIM]: "grant_1",
};

function signToken(header: object, claims: object, withKey = text): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const body = `${part(header)}.${part(claims)}`;
  const privateKey = createPrivateKey({ key: JSON.parse(withKey), format: "jwk" });
  const signature = sign("sha256", Buffer.from(body), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${body}.${signature.toString("base64url")}`;
}

const read = (token: string) => readAccessToken(token, { key, issuer: ISSUER, audience: AUDIENCE, now: NOW });

test("a genuine token says who, for whom and what for", async () => {
  expect(await read(signToken(HEADER, CLAIMS))).toEqual({
    accountId: "acc_1",
    clientId: "app",
    grantId: "grant_1",
    scopes: new Set(["openid", "email"]),
  });
});

describe("a token that this service signed is still nothing", () => {
  test.each([
    ["for another audience", HEADER, { ...CLAIMS, aud: `${ISSUER}/api/tools` }],
    ["for several audiences", HEADER, { ...CLAIMS, aud: [AUDIENCE, "https://other.example"] }],
    ["for none", HEADER, { ...CLAIMS, aud: undefined }],
    ["of another issuer", HEADER, { ...CLAIMS, iss: "https://other.example" }],
    ["when it has ended", HEADER, { ...CLAIMS, exp: NOW / 1000 }],
    ["without an end", HEADER, { ...CLAIMS, exp: undefined }],
    ["without an approval", HEADER, { ...CLAIMS, [GRANT_CLAIM]: undefined }],
    ["without an account", HEADER, { ...CLAIMS, sub: undefined }],
    ["as an ID token", { ...HEADER, typ: "JWT" }, CLAIMS],
    ["under another key id", { ...HEADER, kid: "other" }, CLAIMS],
    ["under another algorithm", { ...HEADER, alg: "none" }, CLAIMS],
  ])("%s", async (_what, header, claims) => {
    expect(await read(signToken(header, claims))).toBeUndefined();
  });
});

test("a token of another key is nothing, also under this key's id", async () => {
  expect(await read(signToken(HEADER, CLAIMS, createSigningKey()))).toBeUndefined();
});

test.each(["", ".", "..", "a.b.c", "....", `${"x".repeat(10_000)}.y.z`])("%j is no token", async (token) => {
  expect(await read(token)).toBeUndefined();
});
