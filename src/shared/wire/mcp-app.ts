import { isRecord } from "../base/json.ts";

/** Identifier of the MCP extension by which a client shows pages of a server (MCP Apps, SEP-1865). */
const APPS_EXTENSION = "io.modelcontextprotocol/ui";
/** Type of such a page. */
export const APP_TYPE = "text/html;profile=mcp-app";

/** Address of the page that shows a call which waits for the owner of the service. */
export const APPROVAL_APP = "ui://svc/approval";
/** `_meta` of a tool whose results the page shows. */
export const SHOWN_BY_APP = { ui: { resourceUri: APPROVAL_APP } } as const;

/** True for the capabilities of a client that shows pages of servers. */
export function showsApps(capabilities: unknown): boolean {
  const extensions = isRecord(capabilities) ? capabilities.extensions : undefined;
  const settings = isRecord(extensions) ? extensions[APPS_EXTENSION] : undefined;
  return isRecord(settings) && Array.isArray(settings.mimeTypes) && settings.mimeTypes.includes(APP_TYPE);
}

/** What the page shows: the call in lines that nothing in it can draw on, and where its owner decides. */
interface WaitingCall {
  /** Page of the inbox, which asks whoever opens it to be signed in. */
  readonly url: string;
  readonly card: readonly string[];
}

/** Member of a result's `_meta` that holds a {@link WaitingCall}: for the page, and not for a model. */
export const WAITING_CALL = "svc/waiting-call";

/** `_meta` of a result that the page shows. */
export function showWaiting(call: WaitingCall): Readonly<Record<string, unknown>> {
  return { [WAITING_CALL]: call };
}
