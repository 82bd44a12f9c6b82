import type { SvcError } from "../errors.ts";

/** A sentence of an error, with the request it is about behind it: people read first what failed. */
export function nameRequest(sentence: string, label: string): string {
  return `${sentence.trimEnd().replace(/(?<!\.)\.$/, "")} (${label}).`;
}

/** The sentence without the request, for people who know no requests. */
export function withoutRequest(message: string): string {
  return message.replace(/([.!?…]?) \([A-Z]+ [^\s()]+\)\.$/, (_, end: string) => end || ".");
}

/** Advice to a model when the service does not accept the key. */
export const KEY_HINT =
  "The key of this device is missing, wrong or revoked. Pair it again (svc pair); calling again will not help.";

/** Advice to a person at a terminal when the service does not accept the key. */
export const PAIR_AGAIN = 'To go on, pair this device again: "svc pair --again".';

/** Advice to a model when a call failed because the key is missing or refused; undefined for any other failure. */
export function adviseOnCredential({ code, hint }: SvcError): string | undefined {
  if (code === "unauthorized") return KEY_HINT;
  if (code !== "credentials_missing") return undefined;
  return hint === undefined ? KEY_HINT : `${hint} Calling again will not help.`;
}
