import { SvcError } from "../../../shared/errors.ts";
import type { ApprovalDecision, ApprovalRequest, Approver } from "./request.ts";

/** One answer of a script. `always` also gives a standing permission; `edit` holds the complete new arguments. */
export type ScriptedAnswer =
  | "approve"
  | "always"
  | "decline"
  | "stay silent"
  | { readonly edit: Record<string, unknown> }
  | ((request: ApprovalRequest) => ApprovalDecision | Promise<ApprovalDecision>);

/** An approver for tests that records its requests. */
export type ScriptedApprover = Approver & { readonly requests: readonly ApprovalRequest[] };

/**
 * Plays the human in tests: answers one request after the other from `script`; further ones get the last answer of the
 * script, and an empty script approves nothing. "stay silent" never answers.
 *
 * @example
 * const approve = createScriptedApprover(["decline", "approve"]);
 *
 * @throws SvcError `invalid_config` for a word that is no answer: a slip must not approve
 */
export function createScriptedApprover(script: readonly ScriptedAnswer[]): ScriptedApprover {
  for (const answer of script) refuseSlip(answer);
  const requests: ApprovalRequest[] = [];
  const approve: Approver = async (request, { signal }) => {
    const answer = script[Math.min(requests.length, script.length - 1)] ?? "decline";
    requests.push(request);
    return answer === "stay silent" ? waitForAbort(signal) : decide(request, answer);
  };
  return Object.assign(approve, { requests });
}

const WORDS: readonly unknown[] = ["approve", "always", "decline", "stay silent"];

function refuseSlip(answer: unknown): void {
  if (WORDS.includes(answer) || typeof answer === "function") return;
  if (typeof answer === "object" && answer !== null && "edit" in answer) return;
  throw new SvcError("invalid_config", `A scripted approver cannot answer ${JSON.stringify(answer)}.`, {
    field: "script",
    hint: 'Use "approve", "always", "decline", "stay silent", { edit } or a function.',
    sent: false,
  });
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
