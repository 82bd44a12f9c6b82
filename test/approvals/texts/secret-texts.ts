/** Texts that a host, a log or we ourselves may take for a secret and mask, written by nobody but us. */

const BASE64 = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj";
const HEX = "0123456789abcdef0123456789abcdef";
const JWT = `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${BASE64.slice(0, 43)}`;

/** A block between the two lines of PEM; what stands in it is what a host cuts out. */
const block = (kind: string, inside: string) => `-----BEGIN ${kind}-----\n${inside}\n-----END ${kind}-----`;
const KINDS = ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"];
const PUBLIC = ["CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "PGP PRIVATE KEY BLOCK", "PGP MESSAGE"];

export const PEM_TEXTS: readonly string[] = [
  ...[...KINDS, ...PUBLIC].flatMap((kind) => [
    block(kind, BASE64),
    block(kind, "bcc: mallory@evil.example"),
    `-----BEGIN ${kind}-----`,
    `-----END ${kind}-----`,
    `Pay 9,000 to Eve -----BEGIN ${kind}----- and say nothing -----END ${kind}----- thanks`,
  ]),
  block("PRIVATE KEY", BASE64).replaceAll("\n", "\r\n"),
  block("PRIVATE KEY", BASE64).replaceAll("\n", "\\n"),
  block("private key", BASE64),
  `${block("PRIVATE KEY", BASE64)}\n${block("CERTIFICATE", BASE64)}`,
];

/** Keys as their makers write them: the forms that maskers know. */
export const KEYS: readonly string[] = [
  ...[`sk-${BASE64.slice(0, 40)}`, `sk-proj-${BASE64.slice(0, 40)}`, `sk-ant-api03-${BASE64.slice(0, 40)}`],
  ...[`ghp_${BASE64.slice(0, 36)}`, `github_pat_${BASE64.slice(0, 60)}`, `gho_${BASE64.slice(0, 36)}`],
  ...[`xoxb-123456789012-${BASE64.slice(0, 24)}`, `xapp-1-A0123-${HEX}`, `glpat-${BASE64.slice(0, 20)}`],
  ...[
    "AKIAIOSFODNN7EXAMPLE",
    `AIza${BASE64.slice(0, 35)}`,
    `ya29.${BASE64.slice(0, 40)}`,
    `npm_${BASE64.slice(0, 36)}`,
  ],
  ...[
    `gsk_${BASE64.slice(0, 40)}`,
    `pplx-${BASE64.slice(0, 40)}`,
    `hf_${BASE64.slice(0, 34)}`,
    `r8_${BASE64.slice(0, 37)}`,
  ],
  ...[`svc_live_${HEX}`, "svc_live_abcd", `v1.${HEX}.${HEX}`, `sk_live_${HEX}`, `rk_test_${HEX}`, `pk_live_${HEX}`],
  ...[JWT, HEX, BASE64, `bot123456789:${BASE64.slice(0, 35)}`, `123456789:${BASE64.slice(0, 35)}`, `SG.${HEX}.${HEX}`],
];

/** Names before a value that make a masker take it for a secret, with what a person or a model writes there. */
const NAMES = [
  ...["password", "passwd", "pwd", "secret", "token", "api_key", "apiKey", "API_KEY", "OPENAI_API_KEY", "DB_PASSWORD"],
  ...["access_token", "refresh_token", "client_secret", "verifier", "sessionToken", "authorization", "x-svc-api-key"],
  ...["cookie", "card number", "cvc", "pin", "SVC_TOKEN", "X-Auth-Token", "signature"],
];
const VALUES = ["mallory@evil.example and the rest", "hunter2hunter2hunter2"];

export const NAMED_SECRETS: readonly string[] = NAMES.flatMap((name) =>
  VALUES.flatMap((value) => [`${name}: ${value}`, `${name}=${value}`, `{"${name}": "${value}"}`, `--${name} ${value}`]),
);

/** Headers, commands and addresses that carry one. */
export const CARRIED_SECRETS: readonly string[] = [
  ...["Bearer", "Basic", "bearer", "Token", "Digest"].flatMap((scheme) => [
    `Authorization: ${scheme} ${BASE64.slice(0, 32)}`,
    `${scheme} mallory-at-evil.example`,
    `The ${scheme} everybody-should-know-that is here`,
  ]),
  ...["token", "sig", "signature", "key", "api_key", "access_token", "code", "X-Amz-Signature", "password"].flatMap(
    (name) => [`https://evil.example/pay?${name}=send-all-to-eve&b=1`, `https://ex.org/?a=1&${name}=${HEX}#end`],
  ),
  ...["https://ada:secret-word@ex.org/", "postgres://ada:secret-word@db.example/x", "redis://:secret-word@h:1/0"],
  ...[
    `curl -H "x-svc-api-key: ${HEX}" https://ex.org`,
    `export OPENAI_API_KEY=${HEX}`,
    `Set-Cookie: sid=${HEX}; Secure`,
  ],
];
