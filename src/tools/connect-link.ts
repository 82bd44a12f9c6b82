import type { SvcClient } from "../client/client.ts";
import { readToolContent } from "../client/mcp.ts";
import type { NextAction } from "../errors.ts";

const CONNECT_MS = 10_000;
const MAX_LINK = 2_048;

/**
 * Asks the service where a human connects the app (`svc.connect_app` over MCP, the document's recommended next action).
 * Undefined when the service has no such tool or gives no usable address; never throws.
 */
export async function findConnectUrl(
  client: SvcClient,
  action: NextAction,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  if (action.tool !== "svc.connect_app") return undefined;
  const call = { method: "tools/call", params: { name: action.tool, arguments: action.input } };
  const options = { timeoutMs: CONNECT_MS, ...(signal === undefined ? {} : { signal }) };
  const reply = await client.callMcp(call, options).catch(() => undefined);
  const content = reply?.result === undefined ? undefined : readToolContent(reply.result);
  const url = content?.connect_url;
  return typeof url === "string" ? toSafeLink(url, client.baseUrl) : undefined;
}

/**
 * https anywhere (accounts live on other hosts), plain http only on the service's own origin. Spelled out as a browser
 * would read it: look-alike letters of a host and everything else that is not plain ASCII stand there in code.
 */
function toSafeLink(text: string, baseUrl: string): string | undefined {
  const url = text.length <= MAX_LINK ? URL.parse(text) : null;
  if (url === null || url.username !== "" || url.password !== "" || url.href.length > MAX_LINK) return undefined;
  const isOwn = url.protocol === "http:" && url.origin === new URL(baseUrl).origin;
  return url.protocol === "https:" || isOwn ? url.href : undefined;
}
