import { randomUUID } from "node:crypto";
import type { InputRequest } from "@modelcontextprotocol/server";
import { withAbort } from "../../calls/ask/abort.ts";
import type { ToolOutcome } from "../../calls/outcome.ts";

/** The human's answer to a form or a link. */
export interface FormAnswer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Readonly<Record<string, unknown>> | undefined;
  /** Milliseconds from the question to the answer. */
  readonly tookMs: number;
}

type GivenAnswer = Omit<FormAnswer, "tookMs">;

/** The end of a request of the client: a question to the human, whose answer the next request brings, or the outcome. */
export type Turn =
  | { readonly kind: "question"; readonly key: string; readonly request: InputRequest }
  | { readonly kind: "ended"; readonly outcome: ToolOutcome };

/** What a client can show to its human: forms, links to open, pages of a server beside a result. */
export interface Showing {
  readonly form: boolean;
  readonly url: boolean;
  readonly page: boolean;
}

interface Question {
  readonly key: string;
  readonly request: InputRequest;
  readonly answer: (given: GivenAnswer) => void;
}

/** One tool call of a client. It runs on while questions and answers go to and fro in several requests. */
export class OpenCall {
  /** Names the call in the requests that bring answers; nobody can guess it. */
  readonly id: string = randomUUID();
  /** The call as the client made it. */
  readonly asked: string;
  readonly can: Showing;
  readonly #now: () => number;
  /** Tells the client's human how far it is; replaced by each request. */
  tell: (message: string) => void = () => undefined;
  /** Set while the service holds the call for its owner: the page of its inbox, undefined for an unusable address. */
  held: { readonly url: string | undefined } | undefined;
  readonly #stop = new AbortController();
  readonly #questions: Question[] = [];
  readonly #ended: Promise<Turn>;
  #changed = Promise.withResolvers<void>();
  #asked = 0;

  constructor(
    o: { readonly asked: string; readonly can: Showing; readonly now: () => number },
    run: (call: OpenCall) => Promise<ToolOutcome>,
  ) {
    this.asked = o.asked;
    this.can = o.can;
    this.#now = o.now;
    this.#ended = run(this).then((outcome) => ({ kind: "ended", outcome }));
    this.#ended.catch(() => undefined);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** True while only a human can bring the call on. */
  get isWaiting(): boolean {
    return this.held !== undefined || this.#questions.length > 0;
  }

  /** Resolves when the call is over, however it ended. */
  async settled(): Promise<void> {
    await this.#ended.catch(() => undefined);
  }

  /** Asks the human; rejects when `signal` fires first. */
  async ask(request: InputRequest, signal: AbortSignal): Promise<FormAnswer> {
    const { promise, resolve } = Promise.withResolvers<GivenAnswer>();
    const askedAt = this.#now();
    this.#asked += 1;
    const question: Question = { key: `question-${this.#asked}`, request, answer: resolve };
    this.#questions.push(question);
    this.#changed.resolve();
    try {
      const given = await withAbort(promise, signal);
      return { ...given, tookMs: this.#now() - askedAt };
    } finally {
      this.#drop(question);
    }
  }

  /** Takes the answers that a request brought; those to questions that are not open any more are ignored. */
  take(answers: (key: string) => GivenAnswer | undefined): void {
    for (const question of [...this.#questions]) {
      const given = answers(question.key);
      if (given === undefined) continue;
      this.#drop(question);
      question.answer(given);
    }
  }

  /** The next question that is open, or the end. Rejects when the call was stopped. */
  async next(): Promise<Turn> {
    for (;;) {
      const [question] = this.#questions;
      if (question !== undefined) return { kind: "question", key: question.key, request: question.request };
      this.#changed = Promise.withResolvers();
      const turn = await Promise.race([this.#ended, this.#changed.promise]);
      if (turn !== undefined) return turn;
    }
  }

  stop(reason?: unknown): void {
    this.#stop.abort(reason);
  }

  #drop(question: Question): void {
    const index = this.#questions.indexOf(question);
    if (index >= 0) this.#questions.splice(index, 1);
  }
}
