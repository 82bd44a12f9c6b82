import { Agent, type Dispatcher } from "undici";
import { createGuardedConnector, SYSTEM_NETWORK } from "../fetch/guarded-connector.ts";

const CONNECT_MS = 10_000;
const CLOSE_MS = 5_000;

/** The way to an added app that is reached over HTTP. */
export interface AppAgent {
  readonly dispatcher: Dispatcher;
  /** Lets requests under way end, for at most five seconds. */
  close(): Promise<void>;
}

/**
 * @param o.isPrivate the owner said that the address may be one of a private network, and without encryption. Otherwise
 * only public addresses are reached, whatever the name resolves to at the time.
 * @param o.silenceMs how long the app may send nothing; 0 means for ever.
 */
export function createAppAgent(o: { readonly isPrivate: boolean; readonly silenceMs: number }): AppAgent {
  const connect = o.isPrivate
    ? { timeout: CONNECT_MS }
    : createGuardedConnector(SYSTEM_NETWORK, CONNECT_MS, { anyPort: true });
  const agent = new Agent({ headersTimeout: o.silenceMs, bodyTimeout: o.silenceMs, connect });
  return {
    dispatcher: agent,
    async close() {
      const timer = setTimeout(() => void agent.destroy(), CLOSE_MS);
      await agent.close().catch(() => {});
      clearTimeout(timer);
    },
  };
}
