import type { GrowingEvidence } from "../../../shared/seen/memory-evidence.ts";
import type { Origin } from "../../../shared/wire/origin.ts";
import type { DeviceValues, SaidEvidence } from "./judge-values.ts";

/** Answers of a session's tools, for what the service does not say: where values come from, or those of local files. */
export interface SessionAnswers {
  /** Keeps an answer of an app, of about so many characters, until it is needed; cheap, and forgets the oldest. */
  note(answer: SessionAnswer): void;
  /** Origins by the answers and the human's words alone; none where neither is known. */
  judge(values: DeviceValues, said: SaidEvidence | undefined): Promise<readonly Origin[]>;
}

/** An answer of one tool. */
interface SessionAnswer {
  readonly app: string;
  readonly content: unknown;
  /** Characters of its JSON text, about. */
  readonly size: number;
}

/** Of answers that were not read yet. */
const MAX_CHARS = 8_000_000;
const MAX_ANSWERS = 1_000;

/** Starts without any. What is kept is in memory alone, and read when a human is asked. */
export function createSessionAnswers(): SessionAnswers {
  const waiting: SessionAnswer[] = [];
  let size = 0;
  let evidence: GrowingEvidence | undefined;
  return {
    note(answer) {
      waiting.push(answer);
      size += answer.size;
      while (waiting.length > MAX_ANSWERS || (size > MAX_CHARS && waiting.length > 0)) {
        size -= waiting.shift()?.size ?? 0;
      }
    },
    async judge(values, said) {
      if (evidence === undefined && waiting.length === 0 && said === undefined) return [];
      const { createAnswerEvidence, judgeAnswered } = await import("./judge-values.ts");
      evidence ??= createAnswerEvidence();
      for (const { app, content } of waiting) {
        evidence.note({ source: { whose: "somebody", app, kind: "answer" }, content });
      }
      waiting.length = 0;
      size = 0;
      return judgeAnswered(values, { said, seen: evidence });
    },
  };
}
