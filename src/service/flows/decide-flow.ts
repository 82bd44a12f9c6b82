import { parseExactly } from "../../shared/base/exact-number.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { isRecord } from "../../shared/base/json.ts";
import type { FlowStep } from "../../shared/wire/flow.ts";
import type { FlowStepRow } from "../store/schema.ts";
import { describeState, refuseState } from "./flow-moves.ts";
import {
  beginSegment,
  commitChange,
  type FlowParts,
  findCurrentStep,
  type LoadedFlow,
  readConnections,
  readTime,
} from "./flow-rows.ts";
import { findItems, listFollowingApps } from "./flow-view.ts";
import { joinShown, keepPreviews, splitShown } from "./shown-previews.ts";

/** The step that somebody decides about. */
interface SeenStep {
  /** Default: the step that waited at the first look. */
  readonly stepKey?: string | undefined;
  /** Mark of what was shown, see {@link markShown}; without one, what is there counts. */
  readonly seen?: string | undefined;
  /** Name of the approver. */
  readonly by: string;
}

/** A yes to the waiting step. */
export interface Approval extends SeenStep {
  /** Positions of the items that are kept, with `seen`. Default: all. */
  readonly keep?: readonly number[] | undefined;
}

/** A no to the waiting step. */
export interface Refusal extends SeenStep {
  readonly reason?: string | undefined;
}

/** A flow as it is now, and at the first look: a human decided about that. */
interface Looks {
  readonly loaded: LoadedFlow;
  readonly first: LoadedFlow;
}

/** A mark of what a waiting approval shows, equal for equal data. Names of accounts may change meanwhile. */
export function markShown({ output, previews = [] }: Pick<FlowStep, "output" | "previews">): string {
  const { accounts: _, ...shown } = isRecord(output) ? output : {};
  return sha256Hex(JSON.stringify([shown, previews]));
}

/**
 * Approves the step that waits, not one that has come to wait since the first look.
 *
 * @throws ServiceError 409, bare: nothing waits for an approval, or something else than what was seen does.
 */
export async function approveFlow(parts: FlowParts, looks: Looks, approval: Approval): Promise<boolean> {
  const { loaded } = looks;
  const { step, shown, previews } = findDecidable(looks, approval);
  requireAccounts(parts, loaded, step.step_index);
  const at = readTime(parts);
  const kept = keepItems(parts, { loaded, step, shown }, approval);
  const decision = { approved: true, approvedAt: at, approvedBy: approval.by };
  const output = joinShown({ ...shown, ...kept.output, ...decision }, keepPreviews(previews, kept.positions));
  const next = loaded.steps[step.step_index + 1];
  return beginSegment(parts, {
    was: loaded.flow,
    flow: next === undefined ? {} : { current_step: next.step_key },
    step: { was: step, to: { status: "completed", output, completed_at: at } },
  });
}

/**
 * Declines the step that waits, which ends the flow.
 *
 * @throws ServiceError 409, bare, as {@link approveFlow}.
 */
export async function declineFlow(parts: FlowParts, looks: Looks, refusal: Refusal): Promise<boolean> {
  const { step, shown } = findDecidable(looks, refusal);
  const at = readTime(parts);
  const { by, reason = null } = refusal;
  const output = JSON.stringify({ ...shown, approved: false, declinedAt: at, declinedBy: by, reason });
  return commitChange(parts, {
    was: looks.loaded.flow,
    flow: { status: "cancelled" },
    step: { was: step, to: { status: "skipped", output, completed_at: at } },
    skipsPending: true,
  });
}

/** The step that waits for an approval, as it was seen. */
function findDecidable({ loaded, first }: Looks, { stepKey = findCurrentStep(first)?.step_key, seen }: SeenStep) {
  const step = findCurrentStep(loaded);
  if (loaded.flow.status !== "waiting" || step?.step_type !== "approval") {
    throw refuseState(`Nothing waits for an approval. ${describeState(loaded.flow, step)}`);
  }
  if (stepKey !== undefined && stepKey !== step.step_key) {
    throw refuseState(`"${stepKey}" does not wait for an approval: "${step.step_key}" does.`);
  }
  const { output, previews } = splitShown(parseExactly(step.output ?? "{}"));
  if (seen !== undefined && seen !== markShown({ output, previews })) {
    throw refuseState("What the flow is about to do has changed since it was shown. Look at it again.");
  }
  return { step, shown: isRecord(output) ? output : {}, previews };
}

/** Without an account that was chosen before, a step would use the one that is the default when it runs. */
function requireAccounts({ templates }: FlowParts, loaded: LoadedFlow, index: number): void {
  const template = templates.of(loaded.flow);
  const connections = readConnections(loaded.flow);
  const missing = template && listFollowingApps(template, index).find((app) => connections[app] === undefined);
  if (missing === undefined) return;
  throw refuseState(
    `No account of ${missing} was chosen when this flow was started. Cancel it, connect one or make one the default, and start it again.`,
  );
}

/** The items that go on with those that were left out, and the positions that they had; neither where all go on. */
function keepItems(
  { templates }: FlowParts,
  { loaded, step, shown }: { loaded: LoadedFlow; step: FlowStepRow; shown: Record<string, unknown> },
  { keep, seen }: Approval,
): { readonly output?: Record<string, unknown>; readonly positions?: readonly number[] } {
  if (keep === undefined || seen === undefined) return {};
  const name = findItems(templates.of(loaded.flow), step.step_key);
  const items = name === undefined ? undefined : shown[name];
  if (name === undefined || !Array.isArray(items)) throw refuseState("Nothing can be left out here.");
  const positions = [...items.keys()].filter((index) => keep.includes(index));
  if (positions.length === 0) throw refuseState("Nothing was chosen. Decline it, if none of it is to be done.");
  if (positions.length === items.length) return {};
  const leftOut = items.filter((_, index) => !keep.includes(index));
  return { output: { [name]: positions.map((index) => items[index]), leftOut }, positions };
}
