import { ServiceError } from "../../service/service-error.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { parseJson } from "../../shared/base/json.ts";

type Settings = Readonly<Record<string, unknown>>;

/** The part of an integration that says which of its settings are secret. */
export interface SecretFields {
  readonly settingsForm?: readonly { readonly name: string; readonly kind: string }[];
}

const HIDDEN = "[hidden]";
/** In words of an app about itself. */
const SHORTEST = 4;
/**
 * In results, and for the words of a value such as "Bearer abc": shorter texts stand in other words by chance, and hiding
 * them would destroy what was asked for.
 */
const SHORTEST_PART = 8;
/** Names of members that hold secrets, in a key file or in what a sign-in provider gave. */
const SECRET_NAME = /token|secret|key|passw/i;
const MAX_DEPTH = 5;
const BASIC_PAIR = /\bbasic\s+([\w+/-]{8,}={0,2})/gi;

/**
 * The settings of a connection that nobody may be shown: those that the form of its app calls secret, and an access token
 * that is not among the `stored` settings.
 */
export function pickSecretSettings(
  { settingsForm = [] }: SecretFields,
  settings: Settings,
  stored: Settings = settings,
): Record<string, unknown> {
  const names = new Set(settingsForm.filter(({ kind }) => kind === "secret").map(({ name }) => name));
  const isSecret = ([name, value]: [string, unknown]) => names.has(name) || stored[name] !== value;
  return Object.fromEntries(Object.entries(settings).filter(isSecret));
}

/** The text with every setting of a connection made unreadable: what an app says of itself may repeat its keys. */
export function hideSecrets(text: string, settings: Settings): string {
  let clean = text;
  for (const value of Object.values(settings)) {
    if (typeof value !== "string") continue;
    const parts = value.split(/\s+/).filter((part) => part.length >= SHORTEST_PART);
    for (const secret of [...(value.length >= SHORTEST ? [value] : []), ...parts]) {
      clean = clean.replaceAll(secret, HIDDEN);
    }
  }
  return clean;
}

/**
 * The same error without the secrets of the connection: a system may repeat a password in its refusal, which reaches
 * agents and the log.
 *
 * @param settings as they were used; an access token that is not among the `stored` ones is a secret too.
 */
export function hideInError(
  error: unknown,
  integration: SecretFields,
  settings: Settings,
  stored: Settings = settings,
): unknown {
  if (!(error instanceof ServiceError)) return error;
  const secrets = pickSecretSettings(integration, settings, stored);
  const forms = listForms(secrets);
  const clean = (text: string) => hideForms(hideSecrets(text, secrets), forms);
  const { hint, details } = error.options;
  return new ServiceError(error.status, error.code, clean(error.message), {
    ...error.options,
    ...(hint !== undefined && { hint: clean(hint) }),
    ...(details !== undefined && { details: details.map(clean) }),
  });
}

/** The result of an action: a value, and its JSON. */
export interface ActionResult {
  readonly value: unknown;
  readonly json: string;
}

/**
 * The same result without the secrets of its connection: an app may repeat the headers it was asked with. Texts and keys at
 * any depth are cleaned; numbers and the bytes of files are not looked at. A result without secrets, nearly every one,
 * costs one search of its JSON for each form.
 *
 * @param secrets settings as of {@link pickSecretSettings}.
 */
export function hideInResult(result: ActionResult, secrets: Settings): ActionResult {
  const forms = listForms(secrets);
  const inJson = forms.map((form) => JSON.stringify(form).slice(1, -1));
  const mayHold = (json: string) => inJson.some((form) => json.includes(form)) || json.search(BASIC_PAIR) !== -1;
  if (forms.length === 0 || !mayHold(result.json)) return result;
  const json = replaceTexts(result.json, (literal) =>
    mayHold(literal) ? JSON.stringify(hideForms(String(JSON.parse(literal)), forms)) : literal,
  );
  return { value: parseExactly(json), json };
}

function hideForms(text: string, forms: readonly string[]): string {
  const clean = forms.reduce((left, form) => left.replaceAll(form, HIDDEN), text);
  return clean.replaceAll(BASIC_PAIR, (found, pair: string) => {
    const plain = Buffer.from(pair, "base64").toString("utf8");
    return forms.some((form) => plain.includes(form)) ? `Basic ${HIDDEN}` : found;
  });
}

/**
 * Every form in which secret settings travel: as they are, inside JSON, and percent-encoded. Of a setting such as
 * `Bearer abc` the second word is a secret too, of one that is JSON its keys and tokens. Longest first.
 */
function listForms(settings: Settings): string[] {
  const secrets = Object.values(settings).flatMap(listTexts);
  const forms = secrets.filter((secret) => secret.length >= SHORTEST_PART).flatMap(encode);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function listTexts(value: unknown): string[] {
  if (typeof value !== "string") return listMembers(value, 0);
  const [scheme = "", rest = "", more] = value.trim().split(/\s+/);
  const ofHeader = rest !== "" && more === undefined ? [rest] : [];
  const pair = /^basic$/i.test(scheme) ? Buffer.from(rest, "base64").toString("utf8") : "";
  const password = pair.includes(":") ? [pair.slice(pair.indexOf(":") + 1)] : [];
  return [
    value,
    value.trim(),
    ...ofHeader,
    ...password,
    ...listMembers(/^\s*\{/.test(value) ? parseJson(value) : undefined, 0),
  ];
}

function listMembers(data: unknown, depth: number): string[] {
  if (typeof data !== "object" || data === null || depth > MAX_DEPTH) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    if (typeof value === "string") return SECRET_NAME.test(name) ? [value] : [];
    return listMembers(value, depth + 1);
  });
}

function encode(secret: string): string[] {
  const whole = secret.toWellFormed();
  const encoded = [encodeURIComponent(whole), encodeURI(whole), new URLSearchParams([["", whole]]).toString().slice(1)];
  const lower = encoded.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()));
  return [secret, JSON.stringify(secret).slice(1, -1), ...encoded, ...lower];
}

/** Walks over JSON without recursion: results may be deep. */
function replaceTexts(json: string, replace: (literal: string) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', at)) {
    const end = findEnd(json, start + 1);
    parts.push(json.slice(at, start), replace(json.slice(start, end)));
    at = end;
  }
  parts.push(json.slice(at));
  return parts.join("");
}

/** Index behind the quote that ends a text. */
function findEnd(json: string, from: number): number {
  for (let quote = json.indexOf('"', from); quote !== -1; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === "\\") escapes += 1;
    if (escapes % 2 === 0) return quote + 1;
  }
  return json.length;
}
