import { canonicalJson } from "../ask/fingerprint.ts";
import type { ToolOutcome } from "../outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "../pipeline.ts";
import { planCall, toApprovalFile } from "./plan-call.ts";

import { prepareCall } from "./prepare-call.ts";
import { parseArguments } from "./restore-arguments.ts";

/** What an edit of the arguments made of a plan. */
export interface AppliedEdit {
  readonly plan: CallPlan;
  /** True when what was typed is, without any change, what would be sent. */
  readonly isAsTyped: boolean;
  readonly reason: string;
}

/** Puts what a human typed through the checks of step 3 and 4; the plan stays as it was when they refuse it. */
export async function applyEdit(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  typed: Record<string, unknown>,
): Promise<AppliedEdit> {
  const keep = (outcome: ToolOutcome): AppliedEdit => {
    const why = [outcome.message, (outcome.details ?? []).join("; ")].filter(Boolean).join(" ");
    return { plan, isAsTyped: false, reason: `Your edit cannot be used; this is the call before it. ${why}` };
  };
  const parsed = parseArguments(plan.entry.name, typed);
  if (!parsed.ok) return keep(parsed.outcome);
  const { validation } = pipeline.settings;
  const prepared = prepareCall(plan.entry, parsed.value.args, { validation, advised: pipeline.advised });
  if (!prepared.ok) return keep(prepared.outcome);
  const parts = { entry: plan.entry, prepared: prepared.value, connectionId: plan.connectionId, notes: [] };
  const planned = await planCall(pipeline, call, parts);
  if (!planned.ok) return keep(planned.outcome);
  const { arguments: args, files, notes } = planned.value;
  const next: CallPlan = {
    ...plan,
    arguments: args,
    files,
    notes: [...plan.notes, "the user edited the arguments", ...notes],
  };
  const isAsTyped =
    prepared.value.problems.length === 0 &&
    canonicalJson(args) === canonicalJson(parsed.value.args) &&
    canonicalJson(files.map(toApprovalFile)) === canonicalJson(plan.files.map(toApprovalFile));
  const adjusted = notes.length === 0 ? "a file changed or the arguments were completed" : notes.join("; ");
  return { plan: next, isAsTyped, reason: `This is your edit as it would be sent (${adjusted}).` };
}
