import { createHmac, timingSafeEqual } from "node:crypto";
import { isRecord } from "../../shared/base/json.ts";
import { showsApps } from "../../shared/wire/mcp-app.ts";
import type { Principal } from "../auth/api-keys.ts";
import { createSecret } from "../auth/secrets.ts";
import { hashInput } from "../executions/idempotency-keys.ts";
import type { CheckedRequest } from "./answer-request.ts";
import type { InputKind, McpCall, OpenedState } from "./mcp-features.ts";
import { invalidParams, type RpcMessage } from "./protocol.ts";

/** Caller and signer of a call. */
export interface CallParts {
  readonly principal: Principal;
  readonly clientGone: AbortSignal;
  readonly states: ReturnType<typeof createRequestStates>;
}

/**
 * Opens a request that may have to ask its client something first.
 *
 * @throws RpcError -32602 when `requestState` is not one this server gave out for this very request.
 */
export function openCall(parts: CallParts, message: RpcMessage, { era, clientCapabilities }: CheckedRequest): McpCall {
  const { params } = message;
  const { principal, clientGone, states } = parts;
  const bind = (): StateBinding => ({
    principalId: `${principal.accountId}/${principal.apiKeyId}`,
    request: hashInput([message.method, params.name ?? null, params.arguments ?? {}]),
  });
  const kept = params.requestState === undefined ? undefined : openState(params.requestState);

  function openState(text: unknown) {
    const state = typeof text === "string" && era === "modern" ? states.open(text, bind()) : undefined;
    if (state !== undefined) return state;
    throw invalidParams("`requestState` is not valid for this request, or has expired. Send the request without it.");
  }

  return {
    era,
    principal,
    clientGone,
    answers: era === "modern" && isRecord(params.inputResponses) ? params.inputResponses : {},
    state: kept,
    showsApps: era === "legacy" || showsApps(clientCapabilities),
    canAsk: (kind) => era === "modern" && declares(clientCapabilities, kind),
    ask: (inputRequests, data) => ({
      resultType: "input_required",
      inputRequests,
      ...(data !== undefined && { requestState: states.seal(data, bind()) }),
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

/** How long a client may take to answer a question. */
const REQUEST_STATE_LIFETIME_MS = 15 * 60 * 1000;

interface StateBinding {
  readonly principalId: string;
  /** Digest of method, name and arguments. */
  readonly request: string;
}

/**
 * Signs the server's memory between two tries of one request. The text travels through the client, which may read it but
 * not change it, use it for another request, hand it to another caller or keep it for later. `secret` must be the same on
 * every machine and survive a restart.
 */
export function createRequestStates({ secret, now }: { secret: string; now: () => number }) {
  const sign = (payload: string, { principalId, request }: StateBinding) =>
    createHmac("sha256", secret).update([payload, principalId, request].join("\n")).digest();
  return {
    seal(data: unknown, binding: StateBinding): string {
      const state: OpenedState = { id: createSecret(), expiresAt: now() + REQUEST_STATE_LIFETIME_MS, data };
      const payload = Buffer.from(JSON.stringify(state)).toString("base64url");
      return `${payload}.${sign(payload, binding).toString("base64url")}`;
    },

    /** Undefined when it is forged, expired or belongs to another request or caller. */
    open(text: string, binding: StateBinding): OpenedState | undefined {
      const [payload = "", signature = "", rest] = text.split(".");
      const wanted = sign(payload, binding);
      const sent = Buffer.from(signature, "base64url");
      if (rest !== undefined || sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) return undefined;
      const state: unknown = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
      return isState(state) && state.expiresAt > now() ? state : undefined;
    },
  };
}

function isState(value: unknown): value is OpenedState {
  return isRecord(value) && typeof value.id === "string" && typeof value.expiresAt === "number";
}
