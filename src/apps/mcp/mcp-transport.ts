import type { Transport } from "@modelcontextprotocol/client";
import { unmarkJson } from "../../shared/base/exact-number.ts";
import { STREAM_ENDED } from "./mcp-http-error.ts";

/** Gives whoever takes the messages of a transport their numbers with all digits, after the library has parsed them. */
function unmarkMessages<T extends Transport>(transport: T): T {
  let take: Transport["onmessage"];
  return Object.defineProperty(transport, "onmessage", {
    get: () => take,
    set(given: Transport["onmessage"]) {
      take = given && ((message, extra) => given(unmarkJson(message) as typeof message, extra));
    },
  });
}

/**
 * Lets a request fail when the stream of events with its answer has ended without it, and could not be resumed. The
 * transport knows, but waits for the answer all the same until the time of the request is over.
 */
export function failAtStreamEnd<T extends Transport>(given: T): T {
  const transport = unmarkMessages(given);
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) || !("id" in message)) return send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // A request that was answered before is not waited for any more.
      const error = { code: STREAM_ENDED, message: "the stream ended without an answer" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}
