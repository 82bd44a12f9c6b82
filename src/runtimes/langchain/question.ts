import type { Answer } from "./read-interrupt-answer.ts";

/** Something a human is asked through a graph. `read` finds the meaning of an answer; undefined when it has none. */
export interface Question {
  /** The same each time the call is made again. */
  readonly id: string;
  readonly action: {
    readonly name: string;
    readonly args: Record<string, unknown>;
    readonly description: string;
    readonly decisions: readonly ("approve" | "edit" | "reject")[];
  };
  /** ISO time. */
  readonly expiresAt: string;
  /** The question in our own words, for interfaces that know it. */
  readonly details: Readonly<Record<string, unknown>>;
  read(answer: Answer): unknown;
}
