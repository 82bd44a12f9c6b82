import type { HttpBindings } from "@hono/node-server";

/** The body of a request that is too large to be held in memory. */
export interface IncomingBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Undefined when the caller did not announce it. */
  readonly contentLength: number | undefined;
  /** Aborted when the caller goes away before the answer is written. */
  readonly clientGone: AbortSignal;
}

/**
 * Opens the raw body. Leaving it half-read does not tear the connection down, so a refusal still reaches a caller
 * that is busy sending; what is left of it is thrown away after the answer.
 */
export function openBody({ incoming, outgoing }: HttpBindings): IncomingBody {
  const length = incoming.headers["content-length"];
  const bytes = incoming.iterator({ destroyOnReturn: false });
  // An iterator that nobody left would hold the rest back, and with it the next request on the connection.
  outgoing.once("close", () => void bytes.return?.(undefined).catch(() => undefined));
  return {
    bytes,
    contentLength: length === undefined ? undefined : Number(length),
    clientGone: watchClient({ outgoing }),
  };
}

/** A signal that is aborted when the caller goes away before the answer is written. */
export function watchClient({ outgoing }: Pick<HttpBindings, "outgoing">): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    if (!outgoing.writableFinished) controller.abort();
  };
  // The caller can be gone before anybody watches, for example while its key is looked up.
  if (outgoing.closed) look();
  else outgoing.once("close", look);
  return controller.signal;
}
