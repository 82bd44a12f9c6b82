import { cleanText } from "./clean-text.ts";
import { decodeBase64Runs } from "./disguises.ts";
import { findValues } from "./find-values.ts";
import type { FoundValue, ValueKind } from "./found-value.ts";
import { type Verdict, type Witnesses, weighValue, weighWords } from "./weigh-forms.ts";
import { readWords } from "./word-forms.ts";

/** A judged value. */
export interface Judged extends Verdict {
  /** As it is sent. */
  readonly value: string;
  readonly kind: ValueKind;
  /** Address or host, where there is one. */
  readonly place?: string | undefined;
  /** False for a value inside a sink that is none itself, such as the name of a person. */
  readonly goes?: boolean;
}

/** Longest text that is judged, in characters. */
export const LONGEST_TEXT = 60_000;

/** Share of the words of a sentence that one source must have. */
export const SENTENCE_SHARE = 0.6;

const MOST_HIDDEN = 20;

/** The address or host of a found value. */
export function placeOf({ kind, asks }: FoundValue): string | undefined {
  return kind === "address" || kind === "host" ? asks[0]?.replace(/^\w+:/, "") : undefined;
}

/** Finds what base64 in an argument says, where a source has that. */
export function judgeHidden(text: string, witnesses: Witnesses): Judged[] {
  return decodeBase64Runs(text.slice(0, LONGEST_TEXT))
    .slice(0, MOST_HIDDEN)
    .flatMap(({ run, decoded }) => {
      const clean = cleanText(decoded);
      const values = findValues(clean).map((value) => ({ ...weighValue(value, witnesses), kind: value.kind }));
      const words = { ...weighWords(readWords(clean, 1000), SENTENCE_SHARE, witnesses), kind: "text" as const };
      const found = [...values, words].filter(({ origin }) => origin !== "unseen");
      const worst = found.find(({ origin }) => origin === "yours") ?? found[0];
      return worst ? [{ ...worst, value: run }] : [];
    });
}
