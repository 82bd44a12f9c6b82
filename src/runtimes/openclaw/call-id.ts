import { randomUUID } from "node:crypto";
import type { HostToolContext } from "./host-tool.ts";

const HTTP = "http-direct-";

/**
 * The id under which the journal knows a call. The host's own ids come from models, of which some count from zero in
 * every answer: without the run, a call the user asks for once more would be taken for the first one. Those of its HTTP
 * endpoint are only a time, so that two requests may share one.
 *
 * @param run undefined where the host does not tell it
 */
export function createCallId(
  { sessionId, sessionKey }: Pick<HostToolContext, "sessionId" | "sessionKey">,
  toolCallId: string,
  run: string | undefined,
): string {
  if (toolCallId.startsWith(HTTP)) return `${toolCallId}:${randomUUID()}`;
  return [sessionId ?? sessionKey ?? "direct", ...(run === undefined ? [] : [run]), toolCallId].join(":");
}
