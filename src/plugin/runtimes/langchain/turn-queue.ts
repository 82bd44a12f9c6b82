import { AsyncLocalStorage } from "node:async_hooks";

interface Waiting {
  readonly order: number;
  readonly start: () => void;
}

/** The queue whose turn the code runs in. */
const running = new AsyncLocalStorage<TurnQueue>();

/** Runs one piece of work after another, the lowest order first. Work that is begun within a turn belongs to the turn. */
export class TurnQueue {
  readonly #waiting: Waiting[] = [];
  #isBusy = false;

  /** Waits for its turn; first in, first out within one order. */
  async run<Result>(order: number, work: () => Promise<Result>): Promise<Result> {
    if (running.getStore() === this) return work();
    await this.#waitForTurn(order);
    try {
      return await running.run(this, work);
    } finally {
      this.#isBusy = false;
      this.#startNext();
    }
  }

  async #waitForTurn(order: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const at = this.#waiting.findIndex((other) => other.order > order);
    this.#waiting.splice(at === -1 ? this.#waiting.length : at, 0, { order, start: resolve });
    this.#startNext();
    await promise;
  }

  #startNext(): void {
    if (this.#isBusy) return;
    const next = this.#waiting.shift();
    this.#isBusy = next !== undefined;
    next?.start();
  }
}
