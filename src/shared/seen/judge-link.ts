import { cleanText } from "./clean-text.ts";
import { decodePercent } from "./disguises.ts";
import type { FoundValue } from "./found-value.ts";
import type { Judged } from "./judged.ts";
import { splitLink } from "./normalise-links.ts";
import { type Witnesses, weighForms, weighValue } from "./weigh-forms.ts";

const PART = /[?&#;=/]([^?&#;=/]{2,200})/g;
const MOST_PARTS = 50;

/**
 * Judges a link: the whole, or else what it begins with. Where the whole is unseen, `judgePart` says what its steps and
 * parameters carry out.
 */
export function judgeLink(
  text: string,
  value: FoundValue,
  witnesses: Witnesses,
  judgePart: (text: string) => Judged[],
): Judged[] {
  const clean = cleanText(text).trim();
  const parts = splitLink(clean);
  const host = parts?.host ?? "";
  const whole = weighValue(value, witnesses);
  if (whole.origin !== "unseen" || !parts) return [{ ...whole, value: text, kind: "link", place: host }];
  const prefixes = value.gives.filter((form) => form.startsWith("link:")).toSorted((a, b) => b.length - a.length);
  const begun = prefixes.map((form) => weighForms([form], witnesses)).find(({ origin }) => origin !== "unseen");
  const at = weighForms([`host:${host}`], witnesses);
  const shown = [begun, at].find((verdict) => verdict?.origin === "somebody") ?? { origin: "unseen" as const };
  const carried = [...clean.matchAll(PART)].slice(0, MOST_PARTS).flatMap(({ 1: raw = "" }) => {
    if (raw.toLowerCase() === host) return [];
    const judged = judgePart(cleanText(decodePercent(raw.replaceAll("+", " "))));
    return judged.filter(isOwn).map((one) => ({ ...one, value: raw, goes: false }));
  });
  const known = isOwn(at) ? [{ ...at, value: host, kind: "host" as const, goes: false }] : [];
  return [{ ...shown, value: text, kind: "link", place: host }, ...carried, ...known];
}

function isOwn({ origin }: Pick<Judged, "origin">): boolean {
  return origin === "you" || origin === "yours";
}
