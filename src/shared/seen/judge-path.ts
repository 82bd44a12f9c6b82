import { cleanText } from "./clean-text.ts";
import { pathValue } from "./find-links.ts";
import type { Judged } from "./judged.ts";
import { mostForeign, NOBODY, type Verdict, type Witnesses, weighForms, weighWords } from "./weigh-forms.ts";
import { readWords } from "./word-forms.ts";

/** Judges a path of a file or folder: the whole, or else also its folder and its name. */
export function judgePath(text: string, witnesses: Witnesses): Judged[] {
  const clean = cleanText(text).trim();
  const path = pathValue(clean, 0, clean.length);
  if (!path) return [];
  const whole = weighForms(path.asks, witnesses);
  if (whole.origin !== "unseen") return [{ ...whole, value: text, kind: "path" }];
  const cut = Math.max(text.lastIndexOf("/"), text.lastIndexOf("\\"));
  if (cut <= 0 || path.parts?.length !== 2) return [{ ...byWords(text, witnesses), value: text, kind: "path" }];
  const pieces = [text.slice(0, cut), text.slice(cut + 1)].map((piece, index): Judged => {
    const verdict = weighForms(path.parts?.[index] ?? [], witnesses);
    return { ...(verdict.origin === "unseen" ? byWords(piece, witnesses) : verdict), value: piece, kind: "path" };
  });
  return [{ ...mostForeign(pieces), value: text, kind: "path" }, ...pieces];
}

/** A folder that is in no path may be in words of the human or of a stranger; words of the owner's data make none. */
function byWords(text: string, { said, seen, carried }: Witnesses): Verdict {
  const strangers = { find: (form: string) => (seen.find(form)?.whose === "somebody" ? seen.find(form) : undefined) };
  return weighWords(readWords(cleanText(text)), 0.99, { said, own: NOBODY, seen: strangers, carried }, true);
}
