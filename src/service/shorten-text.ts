import { cutText } from "../wire/plain-text.ts";

/** A text of more than `longest` characters, cut and with "…" at its end; a shorter one as it is. */
export function shortenText(text: string, longest: number): string {
  return text.length <= longest ? text : `${cutText(text, longest)}…`;
}
