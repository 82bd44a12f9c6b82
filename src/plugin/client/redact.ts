const REDACTED = "[redacted]";

/** Forms of a secret in a log line, a header, a query, a JSON text or an inspected object. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/svc_live_[A-Za-z0-9_-]{4,}/g, `svc_live_${REDACTED}`],
  [/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{6,}/gi, `$1 ${REDACTED}`],
  [/(x-svc-api-key["']?\s*[:=]\s*["']?)[^\s"',;]+/gi, `$1${REDACTED}`],
  [/([?&](?:token|sig|signature|key|api_key|access_token|refresh_token|code)=)[^&\s"'#]+/gi, `$1${REDACTED}`],
  [
    /(\b(?:apiKey|api_key|verifier|sessionToken|session_token|token|access_token|refresh_token)\\*["']?\s*:\s*\\*["'])[^"'\\]+/g,
    `$1${REDACTED}`,
  ],
  [/\bv1\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{8,})+/g, `v1.${REDACTED}`],
];

/**
 * The text without API keys, bearer tokens, signed query values and pairing secrets.
 * `secrets` are replaced literally first, whatever they look like; ones below 6 characters are ignored.
 */
export function redact(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length >= 6) clean = clean.replaceAll(secret, REDACTED);
  }
  for (const [pattern, replacement] of PATTERNS) clean = clean.replace(pattern, replacement);
  return clean;
}
