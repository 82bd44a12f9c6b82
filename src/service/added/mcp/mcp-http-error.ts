import type { BearerChallenge } from "../../integrations/bearer-challenge.ts";
import type { ProviderFailure } from "../../integrations/provider-failure.ts";

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

/** In the range that JSON-RPC leaves to implementations; a server that answers with it says as much. */
export const STREAM_ENDED = -32_087;

/** True for the code with which a request fails whose stream has ended. */
export function isStreamEnd(code: number): boolean {
  return code === STREAM_ENDED;
}
