import { createApprovalCard } from "../../calls/ask/card.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../calls/ask/request.ts";
import type { Question } from "./question.ts";
import type { Answer } from "./read-interrupt-answer.ts";

const COLUMNS = 64;

/** "May this call be made?" as a question of a graph. */
export function createApprovalQuestion(request: ApprovalRequest): Question {
  const { id, expiresAt, ...rest } = request;
  return {
    id,
    expiresAt,
    action: {
      name: request.tool,
      args: request.arguments,
      description: drawCard(request),
      decisions: ["approve", "edit", "reject"],
    },
    details: { kind: "approval", ...rest },
    read: (answer) => readApproval(request, answer),
  };
}

/** Interfaces render it as Markdown, some with HTML in it; columns that fit beside the arguments they show. */
function drawCard(request: ApprovalRequest): string {
  const howToSeeAll = "The arguments of this action are complete.";
  return createApprovalCard(request, { columns: COLUMNS, howToSeeAll, isMarkdown: true }).join("\n");
}

function readApproval({ id, fingerprint, tool }: ApprovalRequest, answer: Answer): ApprovalDecision | undefined {
  const { decision, raw } = answer;
  if (decision === undefined) {
    // Words instead of a decision: nothing is run, and the model hears them.
    return typeof raw === "string" && raw.trim() !== ""
      ? { type: "decline", id, fingerprint, message: raw }
      : undefined;
  }
  if (decision.type === "approve") {
    return { type: "approve", id, fingerprint, ...(decision.always ? { always: true } : {}) };
  }
  if (decision.type === "decline") {
    const { message } = decision;
    return { type: "decline", id, fingerprint, ...(message === undefined ? {} : { message }) };
  }
  // Another tool is another call, which only the model can make.
  if (decision.name !== undefined && decision.name !== tool) return undefined;
  return { type: "edit", id, fingerprint, arguments: decision.arguments };
}

/** True for a decision {@link createApprovalQuestion} read, also after a detour through a graph's state. */
export function isApprovalDecision(value: unknown): value is ApprovalDecision {
  return typeof value === "object" && value !== null && "fingerprint" in value && "type" in value && "id" in value;
}
