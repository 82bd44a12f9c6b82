import { isSvcError, SvcError } from "../../../errors.ts";

/** How an address is set, for hints. */
const SET_BASE_URL = "openclaw config set plugins.entries.svc.config.baseUrl <address>";

/** How a model says what the user has to do; there is no command `svc` in an OpenClaw. */
export const ASK_TO_PAIR =
  'Ask the user to pair it: "/login svc" in the chat, or "openclaw models auth login --provider svc --method pair" ' +
  'or "openclaw svc pair" in a terminal. Do not ask for the key itself.';

/** The error of a pairing with its next step in the message: the host shows nothing else. */
export function explainPairing<Failure>(error: Failure, baseUrl: string): Failure | SvcError {
  if (!isSvcError(error)) return error;
  if (error.code === "unreachable" || error.code === "timeout") {
    return new SvcError(error.code, `No service answers at ${baseUrl}. ${explainAbsence(baseUrl)}`, { cause: error });
  }
  return new SvcError(error.code, [error.message, error.hint].filter(Boolean).join(" "), { cause: error });
}

/** What to do when nothing answers at an address; `setBaseUrl` is the command that sets another one. */
export function explainAbsence(baseUrl: string, setBaseUrl: string = SET_BASE_URL): string {
  const isHere = /^https?:\/\/(?:localhost|127\.|\[::1\])/.test(baseUrl);
  const start = isHere
    ? "Start one there with `npx svc-agent-plugin serve` (or `svc serve`)"
    : "Check the address and the network";
  return `${start}, or set another address: ${setBaseUrl}`;
}
