import type { ApprovalDecision, ApprovalRequest } from "../../../src/plugin/calls/ask/request.ts";
import type { CallJournal, Journal } from "../../../src/plugin/calls/journal/journal.ts";
import { hasLeft } from "../../../src/plugin/calls/journal/journal-record.ts";
import type { ToolOutcome } from "../../../src/plugin/calls/outcome.ts";
import type { ToolSession } from "../../../src/plugin/calls/session.ts";
import type { Arrival, Fate } from "./effect-service.ts";
import type { Machine } from "./machine.ts";
import type { RunFacts } from "./oracle.ts";

/** What the human says to a question. */
export const ANSWERS = ["yes", "no", "edit", "always"] as const;
export type Answer = (typeof ANSWERS)[number];

/** A call as a model makes it. */
export interface CallSpec {
  readonly callId: string;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly connectionId?: string;
  readonly keepsAnswers: boolean;
}

/** What happens to a run where it stands. */
export interface Push {
  readonly answer: Answer;
  readonly fate: Fate;
}

/** Where a run stands until it is pushed. */
type Stop =
  | { readonly kind: "asked"; readonly request: ApprovalRequest; readonly at: number; go(decision: unknown): void }
  | { readonly kind: "writing"; go(): void }
  | { readonly kind: "sent"; readonly arrival: Arrival };

/** One run of a call, which stands still at every question, every line of the journal and every request. */
export class Run implements RunFacts {
  effects = 0;
  readonly call: string;
  readonly startedAt: number;
  isOver = false;
  readonly #machine: Machine;
  readonly #spec: CallSpec;
  readonly #keys: string[] = [];
  #stop: Stop | undefined;
  #isDead = false;
  #tellStopped: () => void = () => undefined;

  constructor(machine: Machine, spec: CallSpec) {
    this.#machine = machine;
    this.#spec = spec;
    this.call = nameCall(spec);
    this.startedAt = machine.oracle.tick();
  }

  /** True where it stands at anything but a question. */
  get isUnderWay(): boolean {
    return !this.isOver && this.#stop !== undefined && this.#stop.kind !== "asked";
  }

  /** Makes the call and goes on to the first stop. */
  start(session: ToolSession): Promise<void> {
    return this.#advance(() => {
      const { keepsAnswers, ...call } = this.#spec;
      const journal = this.#watchJournal(session.journal);
      const outcome = session.call({
        ...call,
        journal,
        ...(keepsAnswers ? { keepsAnswers } : {}),
        approve: (request) => this.#ask(request),
      });
      outcome.then(
        (ended) => this.#finish(ended),
        (error: unknown) => {
          if (!this.#isDead) this.#machine.oracle.violations.push(`${this.call} threw ${String(error)}`);
          this.#end();
        },
      );
    });
  }

  /** Goes on to the next stop, or to the end. */
  push({ answer, fate }: Push): Promise<void> {
    const stop = this.#stop;
    if (stop === undefined) return Promise.resolve();
    return this.#advance(() => {
      if (stop.kind === "asked") stop.go(this.#decide(stop.request, answer, stop.at));
      else if (stop.kind === "writing") stop.go();
      else this.#meet(stop.arrival, fate);
    });
  }

  /** Nothing happens to this run any more. */
  kill(): void {
    this.#isDead = true;
    this.isOver = true;
    if (this.#stop?.kind === "sent") this.#stop.arrival.drop();
    this.#stop = undefined;
  }

  async #advance(act: () => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#tellStopped = resolve;
    this.#stop = undefined;
    this.#machine.service.onArrival = (arrival) => void this.#arrive(arrival);
    act();
    await promise;
    this.#machine.service.onArrival = ({ write }) => this.#machine.oracle.violations.push(`nobody sent ${write}`);
  }

  #reach(stop: Stop): void {
    if (this.#isDead) return;
    this.#stop = stop;
    this.#tellStopped();
  }

  #ask(request: ApprovalRequest): Promise<ApprovalDecision> {
    const at = this.#machine.oracle.tick();
    const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
    this.#reach({ kind: "asked", request, at, go: (decision) => resolve(decision as ApprovalDecision) });
    return promise;
  }

  #decide(request: ApprovalRequest, answer: Answer, askedAt: number): ApprovalDecision {
    const { id, fingerprint } = request;
    if (answer === "no") return { type: "decline", id, fingerprint };
    const { oracle, clock } = this.#machine;
    // A late yes counts for nothing.
    const isLate = clock.now >= Date.parse(request.expiresAt);
    if (answer === "edit") {
      const edit = { ...request.arguments, text: request.arguments.text === "a" ? "b" : "a" };
      if (!isLate) oracle.agree(this, request, { askedAt, edit });
      return { type: "edit", id, fingerprint, arguments: edit };
    }
    if (!isLate) oracle.agree(this, request, { askedAt });
    if (!isLate && answer === "always") oracle.allow(request);
    return { type: "approve", id, fingerprint, always: answer === "always" };
  }

  async #arrive(arrival: Arrival): Promise<void> {
    if (this.#isDead) return arrival.drop();
    const records = await this.#machine.readJournal();
    const isWritten = records.some((record) => record.callId === this.#spec.callId && hasLeft(record));
    const { oracle } = this.#machine;
    if (!isWritten) oracle.violations.push(`sent before it was in the journal: ${this.call}`);
    if (arrival.key !== undefined) this.#keys.push(arrival.key);
    oracle.sent(this, arrival);
    this.#reach({ kind: "sent", arrival });
  }

  #meet(arrival: Arrival, fate: Fate): void {
    const { oracle } = this.#machine;
    const isLost = fate.startsWith("lose");
    const hasActed = arrival.meet(fate);
    if (hasActed) oracle.acted(this, arrival);
    else if (!isLost && (fate !== "act" || !arrival.isConfirmed)) oracle.refused(this, arrival);
  }

  #watchJournal(journal: Journal): CallJournal {
    const write = async (work: () => Promise<void>) => {
      await this.#stand();
      await work();
    };
    return {
      find: (key) => journal.find(key),
      findUnanswered: (fingerprint, isKnown) => journal.findUnanswered(fingerprint, isKnown),
      record: async (record) => {
        await write(() => journal.record(record));
        const isEnd = record.state === "done" && record.callId === this.#spec.callId;
        if (isEnd && !this.#isDead) this.#machine.oracle.written(this, this.#keys);
      },
      begin: async (record, terms) => {
        await this.#stand();
        const obstacle = await journal.begin(record, terms);
        if (obstacle === undefined) this.#machine.oracle.begun(this);
        await this.#stand();
        return obstacle;
      },
      forget: (record) => write(() => journal.forget(record)),
    };
  }

  #stand(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#reach({ kind: "writing", go: resolve });
    return promise;
  }

  #finish(outcome: ToolOutcome): void {
    if (!this.#isDead) this.#machine.oracle.finished(this, outcome, this.#keys);
    this.#end();
  }

  #end(): void {
    this.isOver = true;
    this.#stop = undefined;
    this.#tellStopped();
  }
}

/** The same for a call made again. */
export function nameCall({ callId, toolName, arguments: args, connectionId }: CallSpec): string {
  return `${callId} ${toolName} ${JSON.stringify(args)} ${connectionId ?? ""}`.trim();
}
