import { createApprovalCard } from "../../approvals/card.ts";
import type { ApprovalRequest, Approver } from "../../approvals/request.ts";
import type { Terminal } from "./line-reader.ts";

/** Settings of {@link createUnattendedApprover}. */
export interface UnattendedApproverOptions {
  readonly output: Terminal["output"];
  /** What the played human says. Default: approves everything. */
  readonly answer?: ((request: ApprovalRequest) => "approve" | "decline") | undefined;
}

/** Plays the human, for scripts and CI, and says so on every line: the card as usual, then the answer. */
export function createUnattendedApprover(options: UnattendedApproverOptions): Approver {
  const say = (line: string) => options.output.write(`[unattended] ${line}\n`);
  return async (request) => {
    for (const line of createApprovalCard(request, { maxArguments: Number.POSITIVE_INFINITY })) say(line);
    const { id, fingerprint } = request;
    const type = options.answer?.(request) ?? "approve";
    say(type === "approve" ? "Approved by the unattended run, no human was asked." : "Declined by the unattended run.");
    return type === "approve"
      ? { type, id, fingerprint }
      : { type, id, fingerprint, message: "The unattended run declined it." };
  };
}
