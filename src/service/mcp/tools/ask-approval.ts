import { cutText, EXACT, toPlainText } from "../../../wire/plain-text.ts";
import type { CatalogEntry } from "../../catalog/catalog-entry.ts";
import { explainPolicy } from "../../catalog/describe-tool.ts";
import type { InputRequest, McpCall } from "../mcp-features.ts";
import { isRecord } from "../read-message.ts";

/** Key of the question and of its answer. */
export const APPROVAL = "approval";
/** Longest input shown, in characters. */
const MAX_SHOWN = 4_000;
const SEE_ALL = "Your client shows the whole call: look there, or decline.";

/** The question to the human: what would run, with its final input. */
export function askApproval(
  entry: CatalogEntry,
  input: Readonly<Record<string, unknown>>,
): Readonly<Record<string, InputRequest>> {
  const { integration, action } = entry;
  const text = toPlainText(JSON.stringify(input, null, 2), { ...EXACT, keepLines: true });
  const shown = text.length > MAX_SHOWN ? cutText(text, MAX_SHOWN) : text;
  const cut = text.length - shown.length;
  const lines = [
    toPlainText(`${integration.name}: ${action.title}`, EXACT),
    toPlainText(explainPolicy(entry) ?? "", EXACT),
    "It would run with this input:",
    ...shown.split("\n").map((line) => `  ${line}`),
    cut > 0 ? `[cut: ${cut} of ${text.length} characters are not shown. ${SEE_ALL}]` : "",
    ...(action.askBefore ?? []).map((question) => toPlainText(question, EXACT)),
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
