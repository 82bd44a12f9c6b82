import type { ApprovalRequest } from "../../approvals/request.ts";
import { createShortCode, readShortCode } from "./short-code.ts";

/** Cards the host shows cut, in full. In memory, like everything that waits for a human. */
export interface CardBook {
  /** Keeps the request under a new code that may be shown to anybody: it shows, it releases nothing. */
  add(request: ApprovalRequest): string;
  /** By code, in any case and with or without separators; undefined an hour after it was added. */
  find(code: string): ApprovalRequest | undefined;
}

/** Settings of {@link createCardBook}. */
export interface CardBookOptions {
  readonly now?: (() => number) | undefined;
  readonly random?: ((count: number) => Uint8Array) | undefined;
}

const CARD_MS = 60 * 60 * 1_000;
const MOST = 100;

/** Opens an empty book of at most 100 cards; the oldest give way. */
export function createCardBook(options: CardBookOptions = {}): CardBook {
  const { now = Date.now, random } = options;
  const cards = new Map<string, { readonly request: ApprovalRequest; readonly until: number }>();
  return {
    add(request) {
      const code = createShortCode(random);
      cards.set(code, { request, until: now() + CARD_MS });
      for (const oldest of cards.keys()) {
        if (cards.size <= MOST) break;
        cards.delete(oldest);
      }
      return code;
    },
    find(code) {
      const card = cards.get(readShortCode(code));
      return card !== undefined && now() < card.until ? card.request : undefined;
    },
  };
}
