import type { ApprovalDecision, ApprovalRequest, Approver } from "./request.ts";

/** What the played human says to one request. */
export type ScriptedAnswer =
  | "approve"
  | "always"
  | "decline"
  | "stay silent"
  | { readonly edit: Record<string, unknown> }
  | ((request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>);

/** An approver for tests, with everything it was asked. */
export type ScriptedApprover = Approver & { readonly requests: readonly ApprovalRequest[] };

/**
 * Plays the human in tests: answers one request after the other from `script`; further ones get the last answer of the
 * script, and an empty script approves nothing. "stay silent" never answers.
 *
 * @example
 * const approve = createScriptedApprover(["decline", "approve"]);
 */
export function createScriptedApprover(script: readonly ScriptedAnswer[]): ScriptedApprover {
  const requests: ApprovalRequest[] = [];
  const approve: Approver = async (request, { signal }) => {
    const answer = script[Math.min(requests.length, script.length - 1)] ?? "decline";
    requests.push(request);
    return answer === "stay silent" ? waitForAbort(signal) : decide(request, answer);
  };
  return Object.assign(approve, { requests });
}

function decide(
  request: ApprovalRequest,
  answer: Exclude<ScriptedAnswer, "stay silent">,
): ApprovalDecision | Promise<ApprovalDecision> {
  if (typeof answer === "function") return answer(request);
  const { id, fingerprint } = request;
  if (typeof answer === "object") return { type: "edit", id, fingerprint, arguments: answer.edit };
  if (answer === "decline") return { type: "decline", id, fingerprint };
  return { type: "approve", id, fingerprint, always: answer === "always" };
}

function waitForAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}
