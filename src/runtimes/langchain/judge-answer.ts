import type { ShownQuestion } from "./interrupt-payload.ts";
import type { Question } from "./question.ts";
import { type Answer, splitInterruptAnswer } from "./read-interrupt-answer.ts";

/** What was open when the run was resumed. */
export interface AnswerScene {
  /** The question as it was last shown; undefined when that cannot be known. */
  readonly shown: ShownQuestion | undefined;
  readonly interruptId: string | undefined;
  /** False when it is known that nothing was asked here: the graph's state was changed since, or another asked. */
  readonly isAsked: boolean;
  /** True when an answer without a name can only be meant for this question. */
  readonly isForUs: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Which questions have their answer. */
export interface Judged {
  readonly counted: ReadonlyMap<string, unknown>;
  /** Shown to the human with what is still open. */
  readonly notice: string | undefined;
}

/**
 * Binds an answer to the questions it was given for. A part that names a question counts for exactly that one; a part
 * without a name counts only when it can be meant for nothing else and what was shown is what would be done now.
 * Whatever does not count approves nothing.
 */
export function judgeAnswer(value: unknown, questions: readonly Question[], scene: AnswerScene): Judged {
  const { shown, interruptId, isAsked, isForUs, now } = scene;
  const order = shown?.asked ?? questions.map(({ id }) => id);
  const { named, plain } = splitInterruptAnswer(value, order, interruptId);
  const isPlain = named.size === 0;
  if (isPlain && !isAsked) return refuse("It came before this was asked.");
  if (isPlain && !isForUs) return refuse("Several questions are open: answer each by its id.");
  if (isPlain && plain.length !== order.length) {
    return refuse(`${order.length} answers are needed, in the order of the questions; ${plain.length} came.`);
  }
  const given = isPlain ? new Map(order.map((id, index) => [id, plain[index]] as const)) : named;
  const counted = new Map<string, unknown>();
  const notices = new Set<string>();
  for (const question of questions) {
    const answer = given.get(question.id);
    const expiresAt = shown?.expiresAt[question.id];
    if (answer === undefined) {
      const isChanged = shown !== undefined && !shown.asked.includes(question.id);
      notices.add(isChanged ? "What would be done has changed since you were asked." : "This still needs an answer.");
    } else if (typeof expiresAt === "string" && !(now < Date.parse(expiresAt))) {
      notices.add("The answer came after the request had expired.");
    } else {
      const meaning = question.read(answer);
      if (meaning === undefined) notices.add("The answer could not be understood.");
      else counted.set(question.id, meaning);
    }
  }
  return { counted, notice: notices.size === 0 ? undefined : [...notices].join(" ") };
}

/** Reads an answer of an earlier run again: what counted then counts now, and nothing else. */
export function replayAnswer(
  value: unknown,
  questions: readonly Question[],
  past: { readonly asked: readonly string[]; readonly counted: readonly string[] },
  interruptId: string | undefined,
): Judged {
  const { named, plain } = splitInterruptAnswer(value, past.asked, interruptId);
  const counted = new Map<string, unknown>();
  for (const question of questions) {
    if (!past.counted.includes(question.id)) continue;
    const place = past.asked.indexOf(question.id);
    const answer: Answer | undefined = named.get(question.id) ?? (named.size === 0 ? plain[place] : undefined);
    const meaning = answer === undefined ? undefined : question.read(answer);
    if (meaning !== undefined) counted.set(question.id, meaning);
  }
  return { counted, notice: undefined };
}

function refuse(notice: string): Judged {
  return { counted: new Map(), notice: `Your last answer did not count. ${notice}` };
}
