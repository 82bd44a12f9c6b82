import type { SvcClient } from "../client/client.ts";
import type { NextAction } from "../errors.ts";
import { isRecord } from "../schema/json-schema.ts";

const CONNECT_MS = 10_000;

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
  return typeof url === "string" && isSafeLink(url, client.baseUrl) ? url : undefined;
}

/** What a tool of the service's MCP endpoint answered, as an object. */
export function readToolContent(result: Record<string, unknown>): Record<string, unknown> | undefined {
  if (isRecord(result.structuredContent)) return result.structuredContent;
  const first: unknown = Array.isArray(result.content) ? result.content[0] : undefined;
  if (!isRecord(first) || typeof first.text !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(first.text);
    return isRecord(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** https anywhere (accounts live on other hosts), plain http only on the service's own origin. */
function isSafeLink(text: string, baseUrl: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.username !== "" || text.length > 2_048) return false;
  return url.protocol === "https:" || (url.protocol === "http:" && url.origin === new URL(baseUrl).origin);
}
