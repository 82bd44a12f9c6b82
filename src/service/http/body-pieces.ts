import type { IncomingMessage } from "node:http";
import { finished } from "node:stream";

/**
 * Reads a request's body piece by piece, as the socket gave it; the socket waits meanwhile. Stopping half-way leaves the
 * body open. Throws when the connection ends before the body does.
 *
 * The stream's own iterator would join pieces that arrived meanwhile: one more copy of the whole, in new memory.
 */
export function readBodyPieces(incoming: IncomingMessage): AsyncIterableIterator<Uint8Array, undefined> {
  let end: { readonly error?: Error | undefined } | undefined;
  let wake: (() => void) | undefined;
  const release = finished(incoming, { writable: false }, (error) => {
    end = { error: error ?? undefined };
    wake?.();
  });
  const stop = () => {
    release();
    end ??= {};
    wake?.();
  };

  function waitForPiece(): Promise<Uint8Array | undefined> {
    return new Promise((resolve) => {
      // Nobody listens between two pieces: what is dropped of a body that was refused must not be kept here.
      const take = (piece?: Uint8Array) => {
        incoming.off("data", take);
        wake = undefined;
        if (piece !== undefined) incoming.pause();
        resolve(piece);
      };
      wake = take;
      incoming.on("data", take);
      incoming.resume();
    });
  }

  return {
    async next() {
      const piece = end === undefined ? await waitForPiece() : undefined;
      if (piece !== undefined) return { done: false, value: piece };
      stop();
      if (end?.error !== undefined) throw end.error;
      return { done: true, value: undefined };
    },
    async return() {
      stop();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}
