import type { BearerChallenge } from "../port/bearer-challenge.ts";
import type { ProviderFailure } from "../port/provider-failure.ts";

/** A request to a remote server that got no answer of the protocol. */
export class McpHttpError extends Error {
  override readonly name = "McpHttpError";
  readonly failure: ProviderFailure;
  /** Of a 401 or 403. */
  readonly challenge: BearerChallenge;

  constructor(failure: ProviderFailure, o: { readonly cause?: unknown; readonly challenge?: BearerChallenge } = {}) {
    const said = failure.kind === "status" ? `it answered ${failure.status}` : failure.kind;
    super(failure.message ?? said, { cause: o.cause });
    this.failure = failure;
    this.challenge = o.challenge ?? {};
  }
}

/** In the range that JSON-RPC leaves to implementations; a server that answers with one of them says as much. */
export const STREAM_ENDED = -32_087;
const TOO_LONG = -32_088;

/** Longest answer, or event of a stream, in bytes. How many events there are has no limit of its own. */
export const MAX_ANSWER = 10 * 1024 * 1024;

/** An answer with more than {@link MAX_ANSWER} bytes. */
export const TOO_LONG_FAILURE: ProviderFailure = {
  kind: "garbage",
  message: `it is too long, with more than ${MAX_ANSWER / 1024 ** 2} MiB`,
  hint: "Ask for less: use filters, fields or a page size.",
};

/** What a request is answered with whose answer is too long. */
export function createTooLong(id: number | string) {
  return { jsonrpc: "2.0" as const, id, error: { code: TOO_LONG, message: "the answer is too long" } };
}

/** The failure that a code of ours stands for. */
export function readOwnCode(code: number, message: string): ProviderFailure | undefined {
  if (code === STREAM_ENDED) return { kind: "lost", message };
  return code === TOO_LONG ? TOO_LONG_FAILURE : undefined;
}
