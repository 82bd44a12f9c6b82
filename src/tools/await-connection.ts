import { throwIfAborted, withAbort } from "../approvals/abort.ts";
import { openAnswerWindow } from "../approvals/answer-window.ts";
import { readToolContent } from "../client/mcp.ts";
import { startStopwatch } from "../client/stopwatch.ts";
import { isRecord } from "../schema/json-schema.ts";
import { findConnectUrl } from "./connect-link.ts";
import { toConnectAction } from "./describe-failure.ts";
import type { CallPlan, Pipeline, ToolCall } from "./pipeline.ts";
import type { Failure } from "./read-failure.ts";

const POLL_MS = 2_000;
const LOOK_MS = 10_000;

/** Where a human connects an app, or signs in to it again. */
export interface ConnectLink {
  readonly toolName: string;
  readonly integration: string;
  readonly url: string;
  /** True when the app is connected and its sign-in has expired. */
  readonly isReconnect: boolean;
}

/**
 * What became of a shown link. `connected`: a human says that it is done, make the call again now · true: wait until the
 * app is healthy, then make the call again · false: end the call as `needs_connection`.
 */
export type ConnectAnswer = boolean | "connected";

/**
 * Shows a human the link. May take as long as the human does: the app is looked at meanwhile, and `signal` fires when it
 * is healthy or the time is over.
 */
export type ConnectPresenter = (link: ConnectLink, options: { readonly signal: AbortSignal }) => Promise<ConnectAnswer>;

/**
 * Lets the host show the link and waits until the service says that the app can be used (`svc.get_connection` over MCP).
 * False when there is no link or nobody to show it, when the host does not want to wait, or when the time is over.
 */
export async function awaitConnection(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  failure: Failure,
): Promise<boolean> {
  const { client, settings } = pipeline;
  const present = call.presentConnectLink ?? pipeline.presentConnectLink;
  if (present === undefined) return false;
  const action = toConnectAction(plan, failure);
  const url = await findConnectUrl(client, action, call.signal);
  if (url === undefined) return false;
  const { integration, name: toolName } = plan.entry;
  const isReconnect = action.input.force_reconnect === true;
  // While another account of the app can be used, only the human knows when this one can.
  const canTell = !(await isUsable(pipeline, call, integration));
  const over = new AbortController();
  const answering = openAnswerWindow(settings.connectTimeoutMs, call.signal);
  const signal = AbortSignal.any([over.signal, answering.signal]);
  try {
    // Given up when the time is over or the caller gave up, also when the presenter does not listen.
    const shown = withAbort(present({ toolName, integration, url, isReconnect }, { signal }), signal);
    return await waitUntilUsable(pipeline, call, { integration, shown, canTell });
  } finally {
    answering.close();
    over.abort();
  }
}

async function waitUntilUsable(
  pipeline: Pipeline,
  call: ToolCall,
  { integration, shown, canTell }: { integration: string; shown: Promise<ConnectAnswer>; canTell: boolean },
): Promise<boolean> {
  const elapsed = startStopwatch(pipeline.now);
  let answer: ConnectAnswer | undefined;
  const answered = shown
    .catch(() => false)
    .then((given) => {
      answer = given;
    });
  if (!canTell) await answered;
  while (elapsed() < pipeline.settings.connectTimeoutMs) {
    if (answer === undefined) await Promise.race([answered, pipeline.sleep(POLL_MS, call.signal)]);
    throwIfAborted(call.signal);
    if (answer === false) return false;
    if (answer === "connected") return true;
    if (await isUsable(pipeline, call, integration)) return true;
    if (answer === true) await pipeline.sleep(POLL_MS, call.signal);
    throwIfAborted(call.signal);
  }
  return false;
}

async function isUsable(pipeline: Pipeline, call: ToolCall, integration: string): Promise<boolean> {
  const params = { name: "svc.get_connection", arguments: { integration_id: integration } };
  const options = { timeoutMs: LOOK_MS, ...(call.signal === undefined ? {} : { signal: call.signal }) };
  const reply = await pipeline.client.callMcp({ method: "tools/call", params }, options).catch(() => undefined);
  const content = reply?.result === undefined ? undefined : readToolContent(reply.result);
  return isRecord(content) && (content.can_execute === true || content.state === "healthy");
}
