import { cleanText } from "../../registration/clean-text.ts";
import type { PieceAuthPlan } from "./piece-definition.ts";
import { TOKEN_DATA } from "./plan-auth.ts";

/** Longest text of a piece that is passed on, in characters. */
const WORDS_MAX = 500;
/** Shorter secrets are not looked for in what a piece says. */
const MIN_SECRET = 6;

/**
 * What a piece says, for people: without the secrets of its connection in any form in which they travel, and without
 * characters that rewrite what stands around them.
 */
export function cleanWords(words: string, auth: PieceAuthPlan, settings: Readonly<Record<string, unknown>>): string {
  let hidden = words;
  for (const secret of listSecrets(auth, settings)) hidden = hidden.replaceAll(secret, "***");
  return cleanText(hidden, WORDS_MAX) ?? "";
}

function listSecrets({ type, fields }: PieceAuthPlan, settings: Readonly<Record<string, unknown>>): string[] {
  const secrets = [
    ...fields.filter((field) => field.type === "SECRET_TEXT").map(({ setting }) => settings[setting]),
    ...listTokens(settings[TOKEN_DATA]),
  ]
    .filter((value) => typeof value === "string" && value.length >= MIN_SECRET)
    .map(String);
  const basic = type === "BASIC_AUTH" ? [Buffer.from(`${settings.username}:${settings.password}`)] : [];
  const forms = (bytes: Buffer) => [bytes.toString("base64"), bytes.toString("base64url")];
  return [
    ...secrets.flatMap((text) => [text, encodeURIComponent(text), JSON.stringify(text).slice(1, -1)]),
    ...[...secrets.map((text) => Buffer.from(text)), ...basic].flatMap(forms),
  ];
}

/** Tokens anywhere in what a sign-in provider gave. */
function listTokens(data: unknown): unknown[] {
  if (typeof data !== "object" || data === null) return [];
  return Object.entries(data).flatMap(([name, value]) => (/token|secret/i.test(name) ? [value] : listTokens(value)));
}
