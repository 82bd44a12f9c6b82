import { isPermission } from "./human-channel.ts";
import type { Question, ShownQuestion } from "./interrupt-answer.ts";

/** A question that was put, as the graph's checkpoint keeps it. */
export interface KeptQuestion extends ShownQuestion {
  /** How many answers the node had before: they are for other questions. */
  readonly passed: number;
}

/** Its answer. */
export interface KeptAnswer {
  /** Meanings by question id. */
  readonly counted: Readonly<Record<string, unknown>>;
  readonly notice?: string | undefined;
  /** How many answers of the node were taken up to it. */
  readonly taken: number;
  /** When the questions end: ISO times by question id. */
  readonly expiresAt: Readonly<Record<string, string>>;
}

/** An answer that counts for its question. */
export interface GivenAnswer {
  readonly value: unknown;
  /** ISO time after which it counts no more. */
  readonly expiresAt: string;
}

/** True while an answer of this ISO time counts. */
export function isOpen(expiresAt: string | undefined, now: number): boolean {
  return now < Date.parse(expiresAt ?? "");
}

/** What counts of an answer that was given earlier: a permission ends, and nobody may have used it since. */
export function recheck(
  kept: KeptAnswer,
  questions: readonly Question[],
  { expiresAt, now }: { readonly expiresAt: KeptQuestion["expiresAt"]; readonly now: number },
): KeptAnswer {
  const notices = new Set<string>();
  const counted = Object.entries(kept.counted).filter(([id, value]) => {
    const { isGranted } = questions.find((question) => question.id === id) ?? {};
    const isOver = !isOpen(expiresAt[id], now);
    const isLost = isPermission(value) && isGranted !== true;
    if (isOver) notices.add("Your answer has expired since.");
    else if (isLost) notices.add("It is not known any more whether this was done after your last answer.");
    return !isOver && !isLost;
  });
  return notices.size === 0 ? kept : { ...kept, counted: Object.fromEntries(counted), notice: [...notices].join(" ") };
}
