import { isRecord } from "../../../../shared/base/json.ts";
import type { NextAction } from "../../../../shared/errors.ts";
import type { SvcClient } from "../../../client/client.ts";
import { readToolContent } from "../../../client/mcp.ts";
import { startStopwatch } from "../../../client/retry.ts";
import { openAnswerWindow, throwIfAborted, withAbort } from "../../ask/abort.ts";
import type { ConnectAnswer } from "../../pipeline.ts";
import type { CallContext, CallPlan } from "../plan.ts";
import type { Failure } from "./read-reply.ts";

const POLL_MS = 2_000;
const LOOK_MS = 10_000;

/**
 * Shows the link through the host and waits until the service reports that the app can be used (`svc.get_connection`
 * over MCP). False without a link or a presenter, when the host does not want to wait, or when the time is over.
 */
export async function awaitConnection(context: CallContext, plan: CallPlan, failure: Failure): Promise<boolean> {
  const { client, settings, presentConnectLink } = context;
  if (presentConnectLink === undefined) return false;
  const action = toConnectAction(plan, failure);
  const url = await findConnectUrl(client, action, context.signal);
  if (url === undefined) return false;
  const { integration, name: toolName } = plan.entry;
  const account = { integration, connectionId: action.input.connection_id };
  const isReconnect = action.input.force_reconnect === true;
  // While another account of the app is usable, only the human knows when this one is.
  const canTell = !(await isUsable(context, account));
  const over = new AbortController();
  const answering = openAnswerWindow(settings.connectTimeoutMs, context.signal);
  const signal = AbortSignal.any([over.signal, answering.signal]);
  try {
    // Ends on timeout or abort, even if the presenter ignores the signal.
    const shown = withAbort(presentConnectLink({ toolName, integration, url, isReconnect }, { signal }), signal);
    return await waitUntilUsable(context, { account, shown, canTell });
  } finally {
    answering.close();
    over.abort();
  }
}

async function waitUntilUsable(
  context: CallContext,
  { account, shown, canTell }: { account: Account; shown: Promise<ConnectAnswer>; canTell: boolean },
): Promise<boolean> {
  const elapsed = startStopwatch(context.now);
  let answer: ConnectAnswer | undefined;
  const answered = shown
    .catch(() => false)
    .then((given) => {
      answer = given;
    });
  if (!canTell) await answered;
  while (elapsed() < context.settings.connectTimeoutMs) {
    if (answer === undefined) await Promise.race([answered, context.sleep(POLL_MS, context.signal)]);
    throwIfAborted(context.signal);
    if (answer === false) return false;
    if (answer === "connected") return true;
    if (await isUsable(context, account)) return true;
    if (answer === true) await context.sleep(POLL_MS, context.signal);
    throwIfAborted(context.signal);
  }
  return false;
}

/** The account of a failed call; without an id, the whole app. */
interface Account {
  readonly integration: string;
  readonly connectionId: unknown;
}

async function isUsable({ client, signal }: CallContext, { integration, connectionId }: Account): Promise<boolean> {
  const named = connectionId === undefined ? {} : { connection_id: connectionId };
  const params = { name: "svc.get_connection", arguments: { integration_id: integration, ...named } };
  const options = { timeoutMs: LOOK_MS, signal };
  const reply = await client.callMcp({ method: "tools/call", params }, options).catch(() => undefined);
  const content = reply?.result === undefined ? undefined : readToolContent(reply.result);
  return isRecord(content) && (content.can_execute === true || content.state === "healthy");
}

const CONNECT_MS = 10_000;
const MAX_LINK = 2_048;

/**
 * Asks the service for the page where a human connects the app (`svc.connect_app` over MCP, the document's recommended
 * next action). Undefined when the service has no such tool or gives no usable address; never throws.
 */
export async function findConnectUrl(
  client: SvcClient,
  action: NextAction,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (action.tool !== "svc.connect_app") return undefined;
  const call = { method: "tools/call", params: { name: action.tool, arguments: action.input } };
  const reply = await client.callMcp(call, { timeoutMs: CONNECT_MS, signal }).catch(() => undefined);
  const content = reply?.result === undefined ? undefined : readToolContent(reply.result);
  const url = content?.connect_url;
  return typeof url === "string" ? toSafeLink(url, client.baseUrl) : undefined;
}

/**
 * Accepts https on any host (accounts live on other hosts) and plain http only on the service's own origin. The result
 * is spelled as a browser reads it: look-alike host letters and other non-ASCII characters are encoded.
 */
export function toSafeLink(text: string, baseUrl: string): string | undefined {
  const url = text.length <= MAX_LINK ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.href.length > MAX_LINK) return undefined;
  const isOwn = url.protocol === "http:" && url.origin === new URL(baseUrl).origin;
  return url.protocol === "https:" || isOwn ? url.href : undefined;
}

/** The service's recommended action for restoring the connection, else the one in the document. */
export function toConnectAction(plan: CallPlan, failure: Failure): NextAction {
  const reconnect = isSignInExpired(failure) ? { force_reconnect: true } : {};
  const usual = { tool: "svc.connect_app", input: { integration_id: plan.entry.integration, ...reconnect } };
  return failure.nextAction ?? usual;
}

/** True when the app is connected and its sign-in has expired. */
export function isSignInExpired({ status, canonicalCode }: Failure): boolean {
  return status === 401 || canonicalCode === "reauth_required";
}
