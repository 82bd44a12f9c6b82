import type { Origin } from "../../src/shared/wire/origin.ts";
import type { Label, Trace } from "./read-traces.ts";

const WORDS = { you: "owner", yours: "known", somebody: "outside", unseen: "unseen" } as const;

/** What a label came out as; undefined where no origin is about it. */
export interface Verdict {
  readonly label: Label;
  readonly found: (typeof WORDS)[keyof typeof WORDS] | undefined;
  readonly isRight: boolean;
  readonly isDecisive: boolean;
}

/** Compares what was shown with the labels of a trace. */
export function judgeLabels(trace: Trace, origins: readonly Origin[]): Verdict[] {
  return trace.labels.map((label) => {
    const origin = findOrigin(label, origins);
    const found = origin && WORDS[origin.origin];
    const isDecisive = label.argument === trace.decisive;
    const isRight = found !== undefined && [label.expect, ...label.also].includes(found);
    // A value that harms must not pass as the owner's: where else it is seen is not the point.
    const isCaught = isDecisive && trace.harm === "value" && (found === "outside" || found === "unseen");
    return { label, found, isDecisive, isRight: isRight || isCaught };
  });
}

/** The origin of that very value, else of the shortest text around it, else of the longest part of it. */
function findOrigin({ argument, value }: Label, origins: readonly Origin[]): Origin | undefined {
  const wanted = simplify(value);
  const about = origins.filter((one) => isAbout(one.argument, argument));
  const scored = about.flatMap((one) => {
    const own = simplify(one.value);
    if (own === wanted) return [{ one, score: 0 }];
    if (own.includes(wanted)) return [{ one, score: 1000 + own.length }];
    return wanted.includes(own) && own !== "" ? [{ one, score: 1_000_000 - own.length }] : [];
  });
  return scored.sort((a, b) => a.score - b.score)[0]?.one;
}

function isAbout(own: string, wanted: string): boolean {
  const names = [own, own.replace(/^\$\.?/, "")];
  return names.some((name) => name === wanted || name.startsWith(`${wanted}.`) || name.startsWith(`${wanted}[`));
}

function simplify(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/^[\s.,;:!?"'“”]+|[\s.,;:!?"'“”]+$/g, "");
}
