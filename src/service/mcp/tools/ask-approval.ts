import type { CatalogEntry } from "../../catalog/catalog-entry.ts";
import { explainPolicy } from "../../catalog/describe-tool.ts";
import type { InputRequest, McpCall } from "../mcp-features.ts";
import { isRecord } from "../read-message.ts";

/** Key of the question and of its answer. */
export const APPROVAL = "approval";
/** Longest input shown, in characters. */
const MAX_SHOWN = 4_000;

/** The question to the human: what would run, with its final input. */
export function askApproval(
  entry: CatalogEntry,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, InputRequest>> {
  const { integration, action } = entry;
  const text = JSON.stringify(input, null, 2);
  const shown =
    text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN).toWellFormed()}\n… (${text.length} characters)` : text;
  const lines = [
    `${integration.name}: ${action.title}`,
    explainPolicy(entry) ?? "",
    "It would run with this input:",
    shown,
    ...(action.askBefore ?? []),
  ];
  const approve = {
    type: "boolean",
    title: "Approve",
    description: "Run exactly this call, once.",
    default: false,
  };
  const requestedSchema = { type: "object", properties: { approve }, required: ["approve"] };
  const params = { mode: "form", message: lines.filter((line) => line !== "").join("\n"), requestedSchema };
  return { [APPROVAL]: { method: "elicitation/create", params } };
}

/** What the human said; undefined when this call was not asked about, or not answered. */
export function readApproval(call: McpCall): "approved" | "declined" | undefined {
  const wasAsked = isRecord(call.state?.data) && call.state.data.asked === APPROVAL;
  const answer = call.answers[APPROVAL];
  if (!wasAsked || !isRecord(answer)) return undefined;
  const { action, content } = answer;
  return action === "accept" && isRecord(content) && content.approve === true ? "approved" : "declined";
}
