import { isSvcError } from "../../errors.ts";
import type { ToolSession } from "../../tools/session.ts";
import { ASK_TO_PAIR } from "./explain-pairing.ts";
import type { HostOutcome } from "./translate-tool.ts";

/** What the answers of the service have told about the key of one desk. */
export interface KeyWatch {
  /** Looks at how a call ended. */
  note(outcome: Pick<HostOutcome, "code">): void;
  /**
   * True when the service refuses the key. Nothing is sent as long as no call has met a refusal; after one the service is
   * asked again each time, so that a key it takes again is good at once. False when it cannot be asked.
   */
  isRefused(signal?: AbortSignal): Promise<boolean>;
}

/** Milliseconds for the question; a call that waits for it has 60 seconds in the host. */
const ASK_MS = 10_000;

/** For a call the host is told to block because the service refuses the key. */
export const KEY_REFUSED =
  "The service does not accept the key any more: it was revoked, or it belongs to another service. Nothing was run " +
  `and nobody was asked for approval. Do not make this call again before the user has paired anew. ${ASK_TO_PAIR}`;

/** Watches the key of this client; to begin with it is taken for good. */
export function watchKey(client: Pick<ToolSession["client"], "listTools">): KeyWatch {
  let hasRefusal = false;
  return {
    note({ code }) {
      if (code === "unauthorized") hasRefusal = true;
    },
    async isRefused(signal) {
      if (!hasRefusal) return false;
      try {
        await client.listTools({ limit: 1 }, { signal, timeoutMs: ASK_MS });
        hasRefusal = false;
        return false;
      } catch (error) {
        signal?.throwIfAborted();
        return isSvcError(error) && error.code === "unauthorized";
      }
    },
  };
}
