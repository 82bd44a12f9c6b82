import type { Principal } from "../auth/api-keys.ts";
import { hashInput } from "../canonical/hash-input.ts";
import type { CheckedRequest } from "./answer-request.ts";
import type { InputKind, McpCall } from "./mcp-features.ts";
import { isRecord, type RpcMessage } from "./read-message.ts";
import type { RequestStates } from "./request-state.ts";
import { invalidParams } from "./rpc-error.ts";

/** What a call is opened with. */
export interface CallParts {
  readonly principal: Principal;
  readonly clientGone: AbortSignal;
  readonly states: RequestStates;
}

/**
 * Opens a request that may have to ask its client something first.
 *
 * @throws RpcError -32602 when `requestState` is not one this server gave out for this very request.
 */
export function openCall(parts: CallParts, message: RpcMessage, { era, clientCapabilities }: CheckedRequest): McpCall {
  const { params } = message;
  const { principal, clientGone, states } = parts;
  const binding = {
    principalId: `${principal.accountId}/${principal.apiKeyId}`,
    request: hashInput([message.method, params.name ?? null, params.arguments ?? {}]),
  };
  const kept = params.requestState === undefined ? undefined : openState(params.requestState);

  function openState(text: unknown) {
    const state = typeof text === "string" && era === "modern" ? states.open(text, binding) : undefined;
    if (state !== undefined) return state;
    throw invalidParams("`requestState` is not valid for this request, or has expired. Send the request without it.");
  }

  return {
    era,
    principal,
    clientGone,
    answers: era === "modern" && isRecord(params.inputResponses) ? params.inputResponses : {},
    state: kept,
    canAsk: (kind) => era === "modern" && declares(clientCapabilities, kind),
    ask: (inputRequests, data) => ({
      resultType: "input_required",
      inputRequests,
      ...(data !== undefined && { requestState: states.seal(data, binding) }),
    }),
  };
}

/** An empty `elicitation` means forms only. */
function declares(capabilities: CheckedRequest["clientCapabilities"], kind: InputKind): boolean {
  if (kind === "sampling" || kind === "roots") return isRecord(capabilities[kind]);
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return false;
  return isRecord(elicitation[kind]) || (kind === "form" && elicitation.url === undefined);
}
