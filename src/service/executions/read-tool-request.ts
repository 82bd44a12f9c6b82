import type { ToolCall } from "./execute-tool.ts";

/** Fields of an execute request that are never arguments. */
const RESERVED = new Set(["connectionId", "confirmed", "files"]);

/**
 * Reads the body of a tool-name execute request: without `arguments`, everything but the reserved fields are the
 * arguments. Only the boolean `true` confirms.
 */
export function readToolRequest(
  body: Readonly<Record<string, unknown>>,
): Pick<ToolCall, "arguments" | "connectionId" | "confirmed"> {
  const { connectionId, confirmed } = body;
  const loose = Object.fromEntries(Object.entries(body).filter(([key]) => !RESERVED.has(key)));
  return {
    arguments: "arguments" in body ? body.arguments : loose,
    connectionId: connectionId == null || connectionId === "" ? undefined : describeId(connectionId),
    confirmed: confirmed === true,
  };
}

/** Ids are strings here; anything else can only be unknown, and is shown as it was sent. */
function describeId(connectionId: unknown): string {
  return typeof connectionId === "string" ? connectionId : JSON.stringify(connectionId);
}
