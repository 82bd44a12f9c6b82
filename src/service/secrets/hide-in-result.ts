import { hideForms, listSecretForms } from "./secret-forms.ts";

/** What an action gave: a value, and its JSON. */
export interface ActionResult {
  readonly value: unknown;
  readonly json: string;
}

/**
 * The same result without the secrets of its connection: an app may repeat the headers it was asked with. Texts and keys at
 * any depth are cleaned, in every form of {@link listSecretForms}; numbers and the bytes of files are not looked at. A result
 * without secrets, nearly every one, costs one search of its JSON for each form.
 *
 * @param secrets settings as of `pickSecretSettings`.
 */
export function hideInResult(result: ActionResult, secrets: Readonly<Record<string, unknown>>): ActionResult {
  const found = listSecretForms(secrets)
    .map((form) => ({ ...form, json: toJson(form.text) }))
    .filter((form) => result.json.includes(form.json));
  if (found.length === 0) return result;
  const json = replaceTexts(result.json, (literal) =>
    found.some((form) => literal.includes(form.json))
      ? JSON.stringify(hideForms(String(JSON.parse(literal)), found))
      : literal,
  );
  return { value: JSON.parse(json), json };
}

/** As it stands inside of a JSON text. */
function toJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
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
