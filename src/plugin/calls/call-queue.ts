import { withAbort } from "./ask/abort.ts";

/** How an approved call ended without success: what was approved behind it on its account waits again. */
export interface AccountFailure {
  /** Differs from that of every other failure. */
  readonly stamp: string;
  readonly tool: string;
  readonly status: string;
}

/** The name of an account. Without a connection it may be any of the app. */
export function nameAccount(integration: string, connection: string | undefined): string {
  return `${integration} ${connection ?? ""}`;
}

function isSameAccount(one: string, other: string): boolean {
  const [shorter = "", longer = ""] = one.length < other.length ? [one, other] : [other, one];
  return one === other || (shorter.endsWith(" ") && longer.startsWith(shorter));
}

/**
 * preparing: may still be approved · asking: a human is asked, or another run of the same call is waited for · ready: waits for
 * the account · sending: holds it.
 */
type Stage = "preparing" | "asking" | "ready" | "sending";

/** What cannot be answered without a human is not waited for, however a runtime keeps its answers. */
const LONGEST_ANSWER_MS = 5_000;

/**
 * Calls of one session in the order in which they were made. Approved calls of one account are sent one after another, in this
 * order; a call whose human is still asked lets the others pass.
 */
export class CallQueue {
  readonly #turns = new Set<CallTurn>();
  readonly #failures = new Map<string, AccountFailure & { readonly at: number }>();
  #changed = Promise.withResolvers<void>();
  #count = 0;

  /** Takes the place behind all calls that were made before, or one that the call had. */
  enter(place = this.#next()): CallTurn {
    const turn = new CallTurn(this, place);
    this.#turns.add(turn);
    return turn;
  }

  /** @internal */
  leave(turn: CallTurn): void {
    this.#turns.delete(turn);
    this.tell();
  }

  /** @internal Lets those that wait look again. */
  tell(): void {
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** @internal Resolves when something has changed. */
  get changed(): Promise<void> {
    return this.#changed.promise;
  }

  /** @internal True while another call of the account is sent, or one that was made earlier may be. */
  isBlocked(turn: CallTurn): boolean {
    const isBefore = ({ number, stage }: CallTurn) => number < turn.number && stage !== "asking";
    return this.#others(turn).some((other) => other.stage === "sending" || isBefore(other));
  }

  /** @internal True while a call of the account that was made earlier may still have a question. */
  isEarly(turn: CallTurn): boolean {
    return this.#others(turn).some(({ number, stage }) => number < turn.number && stage === "preparing");
  }

  /** Calls of the same account, and of those that are not known yet. */
  #others(turn: CallTurn): CallTurn[] {
    const { account } = turn;
    const mayBeSame = (other: string | undefined) =>
      other === undefined || account === undefined || isSameAccount(other, account);
    return [...this.#turns].filter((other) => other !== turn && mayBeSame(other.account));
  }

  /** @internal */
  fail(account: string, failure: AccountFailure): void {
    this.#failures.set(account, { ...failure, at: this.#next() });
  }

  /** @internal The last failure on an account that is younger than `since`. */
  findFailure(account: string, since: number): AccountFailure | undefined {
    return [...this.#failures].find(([name, { at }]) => at > since && isSameAccount(name, account))?.[1];
  }

  /** @internal A number above all that were given. */
  now(): number {
    return this.#next();
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}

/** The place of one call. */
export class CallTurn {
  /** Lower for a call that was made earlier. */
  readonly number: number;
  /** True once a human or a standing permission has allowed the call. */
  isAllowed = false;
  /** Stamp of the last failure on the account when the call was asked about here, "" for none. */
  askedAfter: string | undefined;
  readonly #queue: CallQueue;
  #since: number;
  #account: string | undefined;
  #stage: Stage = "preparing";

  constructor(queue: CallQueue, number: number) {
    this.#queue = queue;
    this.number = number;
    this.#since = queue.now();
  }

  get stage(): Stage {
    return this.#stage;
  }

  /** The account as far as it is known. */
  get account(): string | undefined {
    return this.#account;
  }

  set account(name: string) {
    if (name === this.#account) return;
    this.#account = name;
    this.#queue.tell();
  }

  /** Keeps the account for a call that a human has allowed and that a runtime is about to make. */
  reserve(account: string): void {
    this.#stage = "ready";
    this.account = account;
  }

  /** Waits until the account is free and no call that was made earlier may still want it, and holds it. */
  async begin(signal: AbortSignal | undefined): Promise<void> {
    if (this.#stage === "sending") return;
    this.#stage = "ready";
    this.#queue.tell();
    while (this.#queue.isBlocked(this)) await withAbort(this.#queue.changed, signal);
    this.#stage = "sending";
  }

  /** Waits until all calls of the account that were made earlier have put their questions. */
  async waitToAsk(signal: AbortSignal | undefined): Promise<void> {
    while (this.#queue.isEarly(this)) await withAbort(this.#queue.changed, signal);
  }

  /** Lets others pass during `work`, if it takes until a human has answered. `isKept`: as a rule the answer is there. */
  async stepAside<Result>(work: () => Promise<Result>, isKept = false): Promise<Result> {
    const pass = () => {
      this.#stage = "asking";
      this.#queue.tell();
    };
    const timer = isKept ? setTimeout(pass, LONGEST_ANSWER_MS).unref() : undefined;
    const soon = isKept ? undefined : setImmediate(pass);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      clearImmediate(soon);
      this.#stage = "preparing";
      this.#queue.tell();
    }
  }

  /** Notes that the call ended without success. */
  fail(failure: AccountFailure): void {
    if (this.#account !== undefined) this.#queue.fail(this.#account, failure);
  }

  /** A call before it on its account that ended without success since it was made, or asked about again. */
  get failure(): AccountFailure | undefined {
    return this.#account === undefined ? undefined : this.#queue.findFailure(this.#account, this.#since);
  }

  /** What has failed so far is told to the human. */
  acceptFailures(): void {
    this.#since = this.#queue.now();
  }

  leave(): void {
    this.#queue.leave(this);
  }
}
