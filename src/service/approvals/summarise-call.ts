import { EXACT, toPlainText } from "../../shared/card/plain-text.ts";
import { describeObject } from "../executions/describe-object.ts";
import type { ApprovalContent } from "./approval-rows.ts";

/**
 * What a held call is about, in one line: the sentence of its preview, else the thing that its arguments name; undefined where
 * they name none. The same wherever the call stands in a list, a note or the log.
 */
export function summariseCall(content: Pick<ApprovalContent, "preview" | "arguments"> | undefined): string | undefined {
  const summary = content?.preview?.summary;
  return summary === undefined ? describeObject(content?.arguments) : toPlainText(summary, EXACT);
}
