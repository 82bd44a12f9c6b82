import type { Transport } from "@modelcontextprotocol/client";

/** In the range that JSON-RPC leaves to implementations; a server that answers with it says as much. */
const STREAM_ENDED = -32_087;

/**
 * Lets a request fail when the stream of events with its answer has ended without it, and could not be resumed. The
 * transport knows, but waits for the answer all the same until the time of the request is over.
 */
export function failAtStreamEnd<T extends Transport>(transport: T): T {
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

/** True for the code with which {@link failAtStreamEnd} lets a request fail. */
export function isStreamEnd(code: number): boolean {
  return code === STREAM_ENDED;
}
