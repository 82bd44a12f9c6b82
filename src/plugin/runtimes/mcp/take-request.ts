import {
  type CallToolRequestParams,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { canonicalJson } from "../../calls/ask/fingerprint.ts";
import { renderOutcome, type ToolOutcome } from "../../calls/outcome.ts";
import { createHumanChannel, readShowing } from "./human-channel.ts";
import type { OfferedTools } from "./offered-tools.ts";
import { OpenCall, type Showing } from "./open-call.ts";
import { showWaitingCall } from "./waiting-page.ts";

/** State that the requests of one client share. */
export interface RequestParts {
  /** Calls whose outcome was not given yet, by id. */
  readonly calls: Map<string, OpenCall>;
  readonly offered: OfferedTools;
  /** Milliseconds that a call waits for the owner of the service. */
  readonly waitMs: number;
  /** Fires when the client has gone. */
  readonly gone: AbortSignal;
  /** Milliseconds, from any start. */
  readonly now: () => number;
}

/** Longer than any question stays open, in milliseconds. */
export const QUESTION_MS = 11 * 60 * 1_000;
/** Milliseconds between two progress messages; clients give up on a call that sends none. */
const BEAT_MS = 15_000;

interface Asking {
  readonly context: ServerContext;
  /** Of the connection; the newest revision of the protocol tells them with each request. */
  readonly capabilities: ReturnType<Server["getClientCapabilities"]>;
}

/** Starts a call, or goes on with the one whose question this request answers, up to its next question or its end. */
export async function takeRequest(
  parts: RequestParts,
  params: CallToolRequestParams,
  { context, capabilities }: Asking,
): Promise<CallToolResult | InputRequiredResult> {
  const { mcpReq } = context;
  const asked = canonicalJson([params.name, params.arguments ?? {}]);
  const state = mcpReq.requestState<unknown>();
  const envelope: unknown = mcpReq.envelope;
  const can = readShowing(isRecord(envelope) ? envelope[CLIENT_CAPABILITIES_META_KEY] : capabilities);
  const call = state === undefined ? startCall(parts, params, { asked, can }) : findCall(parts, state, asked);
  mcpReq.signal.addEventListener("abort", () => parts.gone.aborted || call.stop());
  const progress = openProgress(context);
  call.tell = progress.tell;
  try {
    call.take((key) => {
      const given = inputResponse(mcpReq.inputResponses, key);
      return given.kind === "elicit" ? given : undefined;
    });
    const turn = await call.next();
    if (turn.kind === "question") {
      return inputRequired({ inputRequests: { [turn.key]: turn.request }, requestState: call.id });
    }
    parts.calls.delete(call.id);
    return { ...toResult(turn.outcome), ...showWaitingCall(call, params, turn.outcome) };
  } finally {
    progress.close();
  }
}

function startCall(
  { calls, offered, waitMs, now }: RequestParts,
  { name, arguments: args = {} }: CallToolRequestParams,
  { asked, can }: { readonly asked: string; readonly can: Showing },
): OpenCall {
  const call = new OpenCall({ asked, can, now }, (own) =>
    offered.run(name, args, {
      callId: own.id,
      signal: own.signal,
      resumesHeld: { waitMs },
      ...createHumanChannel(own, waitMs),
    }),
  );
  calls.set(call.id, call);
  // An outcome that nobody comes for, because the client has dropped the question.
  void call.settled().then(() => setTimeout(() => calls.delete(call.id), QUESTION_MS).unref());
  return call;
}

/** The call that a request continues. One for other arguments than the human was shown continues nothing. */
function findCall({ calls }: RequestParts, state: unknown, asked: string): OpenCall {
  const call = typeof state === "string" ? calls.get(state) : undefined;
  if (call?.asked === asked) return call;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, "This call is not open any more. Make it again.");
}

/** Progress notifications, where the client asked for them; the last one is repeated while the request runs. */
function openProgress({ mcpReq }: ServerContext): { tell(message: string): void; close(): void } {
  const { progressToken } = mcpReq._meta ?? {};
  if (progressToken === undefined) return { tell: () => undefined, close: () => undefined };
  let progress = 0;
  let last = "Running";
  const tell = (message: string) => {
    last = message;
    progress += 1;
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
  const beat = setInterval(() => tell(last), BEAT_MS);
  return { tell, close: () => clearInterval(beat) };
}

const WAYS_OUT =
  "and the service leaves approvals to devices. Nobody has declined. Either the owner approves in the inbox of the service, by svc serve --approvals owner or by that choice on its devices page, or they use a client that shows forms (elicitation).";
/** Why no human has decided, by the code of the outcome. */
const UNASKED: Readonly<Record<string, string>> = {
  approval_required: "this client cannot show approval forms",
  approval_failed: "this client answered the approval form without showing it to anybody",
};

/** The outcome as a model reads it, and as a value for the client. */
function toResult(outcome: ToolOutcome): CallToolResult {
  const why = outcome.status === "needs_approval" ? UNASKED[outcome.code ?? ""] : undefined;
  const text = renderOutcome(why === undefined ? outcome : { ...outcome, hint: `Tell the user: ${why}, ${WAYS_OUT}` });
  const value = parseJson(text);
  return {
    content: [{ type: "text", text }],
    ...(isRecord(value) ? { structuredContent: value } : {}),
    isError: outcome.status !== "succeeded",
  };
}
