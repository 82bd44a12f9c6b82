import { isRecord } from "../schema/json-schema.ts";
import { throwIfAborted, withAbort } from "./abort.ts";
import { findConnectUrl, readToolContent } from "./connect-link.ts";
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
 * Shows a human the link. True: wait until the app is healthy, then make the same call again. False: end the call as
 * `needs_connection`.
 */
export type ConnectPresenter = (link: ConnectLink, options: { readonly signal: AbortSignal }) => Promise<boolean>;

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
  const { presentConnectLink: present, client, settings } = pipeline;
  if (present === undefined) return false;
  const action = toConnectAction(plan, failure);
  const url = await findConnectUrl(client, action, call.signal);
  if (url === undefined) return false;
  const { integration, name: toolName } = plan.entry;
  const isReconnect = action.input.force_reconnect === true;
  const end = pipeline.now() + settings.connectTimeoutMs;
  const limits = [AbortSignal.timeout(settings.connectTimeoutMs), ...(call.signal === undefined ? [] : [call.signal])];
  const shown = present({ toolName, integration, url, isReconnect }, { signal: AbortSignal.any(limits) });
  const wantsToWait = await withAbort(shown, call.signal).catch(() => false);
  throwIfAborted(call.signal);
  while (wantsToWait && pipeline.now() < end) {
    if (await isUsable(pipeline, call, integration)) return true;
    await pipeline.sleep(POLL_MS, call.signal);
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
