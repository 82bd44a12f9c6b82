import type { ConnectPresenter } from "../../calls/pipeline.ts";
import type { LineReader } from "./line-reader.ts";

/** Input and output of {@link createConnectPresenter}. */
export interface ConnectScreen {
  readonly reader: LineReader;
  say(line: string): void;
  /** Clears the rest of the prompt. */
  clear(): void;
  /** Called for Ctrl-C while waiting, which a terminal in use by a prompt does not turn into a signal. */
  interrupt(): void;
  /** Milliseconds since the epoch; default the clock of this machine. */
  readonly now?: (() => number) | undefined;
}

const TICK_MS = 1_000;
const GIVE_UP = /^(q|quit|n|no)$/i;

/**
 * Shows the link in the terminal and how long it is being waited for already. The human may just come back, press Enter
 * to say that it is done, or type q to end the call. At the end of input the wait goes on.
 */
export function createConnectPresenter(screen: ConnectScreen): ConnectPresenter {
  const { reader, say, now = Date.now } = screen;
  return async ({ integration, url, isReconnect }, { signal }) => {
    const what = isReconnect ? `The sign-in to ${integration} has expired` : `${integration} is not connected`;
    say(`${what}. Open this link while signed in to the service: ${url}`);
    const startedAt = now();
    const describe = () => {
      const seconds = Math.round((now() - startedAt) / 1_000);
      return `  waiting for ${integration}, ${seconds} s; Enter when it is done, q to give up: `;
    };
    const ticks = setInterval(() => reader.changePrompt(describe()), TICK_MS);
    try {
      const line = await reader.read(describe(), signal);
      if (line.kind === "line") return GIVE_UP.test(line.text.trim()) ? false : "connected";
      if (line.kind === "end") return true;
      screen.interrupt();
      return false;
    } catch (error) {
      // The app is healthy or the time is over, whichever; there is nothing left to ask.
      if (signal.aborted) return true;
      throw error;
    } finally {
      clearInterval(ticks);
      screen.clear();
    }
  };
}
