import type { CallToolRequestParams } from "@modelcontextprotocol/server";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import { type CardFact, layOutFacts } from "../../../shared/card/card-layout.ts";
import { drawArguments, drawText } from "../../../shared/card/card-text.ts";
import { showWaiting } from "../../../shared/wire/mcp-app.ts";
import { AWAITING_OWNER, type ToolOutcome } from "../../calls/outcome.ts";
import type { OpenCall } from "./open-call.ts";

/** Calls any tool by its name. */
export const CALL_TOOL = "svc_call_tool";
const SPACE = { columns: 64, rows: Number.POSITIVE_INFINITY };

/**
 * `_meta` for a client that shows pages, of a call that waits for the owner of the service: tool and arguments as the model
 * wrote them. The inbox shows what would run, files and account included. Empty for every other call.
 */
export function showWaitingCall(
  { held, can }: OpenCall,
  { name, arguments: args = {} }: CallToolRequestParams,
  { code, toolName }: ToolOutcome,
): { readonly _meta?: Record<string, unknown> } {
  if (!can.page || code !== AWAITING_OWNER || held?.url === undefined) return {};
  const target = name === CALL_TOOL ? args.arguments : args;
  const given = typeof target === "string" ? parseJson(target) : target;
  const facts: CardFact[] = [
    { label: "Tool", values: [{ line: drawText(toolName) }] },
    { label: "Arguments", values: drawArguments(isRecord(given) ? Object.entries(given) : []) },
  ];
  return { _meta: { ...showWaiting({ url: held.url, card: layOutFacts(facts, SPACE).rows }) } };
}
