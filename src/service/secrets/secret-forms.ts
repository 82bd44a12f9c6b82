/**
 * Shorter secrets are not looked for: as a part of other words they stand there by chance, and hiding them would destroy what
 * was asked for.
 */
const SHORTEST = 8;
const HIDDEN = "[hidden]";
/** Names of members that hold secrets, in a key file or in what a sign-in provider gave. */
const SECRET_NAME = /token|secret|key|passw/i;
const MAX_DEPTH = 5;

/** A text in which a secret can stand. */
export interface SecretForm {
  readonly text: string;
  /** True where its first or last bytes share a character with bytes beside it, as inside of base64. */
  readonly hasEdges: boolean;
}

/**
 * Every form in which secret settings travel: as they are, inside of JSON, percent-encoded, and in base64 at any place, as in
 * the `Basic` pair of a name and a password. Of a setting such as `Bearer abc` the second word is a secret too, of one that is
 * JSON its keys and tokens. Longest first; none for a secret of fewer than eight characters.
 */
export function listSecretForms(settings: Readonly<Record<string, unknown>>): SecretForm[] {
  const secrets = Object.values(settings).flatMap(listTexts);
  const forms = new Map<string, SecretForm>();
  for (const secret of secrets) {
    if (secret.length < SHORTEST) continue;
    for (const text of listPlainForms(secret)) forms.set(text, { text, hasEdges: false });
    for (const text of listBase64Forms(secret)) if (!forms.has(text)) forms.set(text, { text, hasEdges: true });
  }
  return [...forms.values()].sort((a, b) => b.text.length - a.text.length);
}

/** The text with each of these forms made unreadable. */
export function hideForms(text: string, forms: readonly SecretForm[]): string {
  return forms.reduce((clean, form) => {
    if (!form.hasEdges || !clean.includes(form.text)) return clean.replaceAll(form.text, HIDDEN);
    const escaped = form.text.replaceAll("+", "\\+");
    return clean.replace(new RegExp(`[\\w+/-]?${escaped}[\\w+/-]?={0,2}`, "g"), HIDDEN);
  }, text);
}

function listTexts(value: unknown): string[] {
  if (typeof value !== "string") return listMembers(value, 0);
  const [scheme = "", rest = "", more] = value.trim().split(/\s+/);
  const ofHeader = rest !== "" && more === undefined ? [rest] : [];
  const pair = /^basic$/i.test(scheme) ? Buffer.from(rest, "base64").toString("utf8") : "";
  const password = pair.includes(":") ? [pair.slice(pair.indexOf(":") + 1)] : [];
  return [value, value.trim(), ...ofHeader, ...password, ...listMembers(readJson(value), 0)];
}

function readJson(text: string): unknown {
  if (!/^\s*\{/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listMembers(data: unknown, depth: number): string[] {
  if (typeof data !== "object" || data === null || depth > MAX_DEPTH) return [];
  return Object.entries(data).flatMap(([name, value]) => {
    if (typeof value === "string") return SECRET_NAME.test(name) ? [value] : [];
    return listMembers(value, depth + 1);
  });
}

function listPlainForms(secret: string): string[] {
  const whole = secret.toWellFormed();
  const encoded = [encodeURIComponent(whole), encodeURI(whole), new URLSearchParams([["", whole]]).toString().slice(1)];
  const lower = encoded.map((text) => text.replaceAll(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()));
  return [secret, JSON.stringify(secret).slice(1, -1), ...encoded, ...lower];
}

/** What of the base64 of a longer text belongs to the secret alone, for each place at which the secret can begin. */
function listBase64Forms(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  return [0, 1, 2].flatMap((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const isEven = (before + bytes.length) % 3 === 0;
    const inner = text.slice(before === 0 ? 0 : before + 1, isEven ? undefined : -1);
    return [inner, inner.replaceAll("+", "-").replaceAll("/", "_")];
  });
}
