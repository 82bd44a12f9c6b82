import { cleanText } from "./clean-text.ts";
import { pathValue } from "./find-links.ts";
import type { Judged } from "./judged.ts";
import { NOBODY, type Verdict, type Witnesses, weighForms, weighWords } from "./weigh-forms.ts";
import { readWords } from "./word-forms.ts";

/** Judges a path of a file or folder: the whole, or else its folder and its name. */
export function judgePath(text: string, witnesses: Witnesses): Judged[] {
  const clean = cleanText(text).trim();
  const path = pathValue(clean, 0, clean.length);
  if (!path) return [];
  const whole = weighForms(path.asks, witnesses);
  if (whole.origin !== "unseen") return [{ ...whole, value: text, kind: "path" }];
  const cut = Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\"));
  const pieces = cut > 0 && path.parts?.length === 2 ? [text.slice(0, cut), text.slice(cut + 1)] : [text];
  return pieces.map((piece, index) => {
    const verdict = weighForms(pieces.length === 2 ? (path.parts?.[index] ?? []) : [], witnesses);
    return { ...(verdict.origin === "unseen" ? byWords(piece, witnesses) : verdict), value: piece, kind: "path" };
  });
}

/** A folder that is in no path may be in words of the human or of a stranger; words of the owner's data make none. */
function byWords(text: string, { said, seen, carried }: Witnesses): Verdict {
  const strangers = { find: (form: string) => (seen.find(form)?.whose === "somebody" ? seen.find(form) : undefined) };
  return weighWords(readWords(cleanText(text)), 0.99, { said, own: NOBODY, seen: strangers, carried }, true);
}
