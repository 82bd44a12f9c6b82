import { z } from "zod";
import { listFlowSummaries } from "../../../shared/card/flow-previews.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { SvcError } from "../../../shared/errors.ts";
import type { FlowStep, FlowView } from "../../../shared/wire/flow.ts";
import type { SvcClient } from "../../client/client.ts";
import { startStopwatch } from "../../client/retry.ts";
import { toFailure } from "../ask/abort.ts";
import { type ConnectionChoice, cleanText, createOutcome, type OutcomeDetails, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import type { FlowToolName, StaticCall } from "../static-tools.ts";
import { describeSvcError } from "../steps/outcome.ts";
import { NOT_WATCHED } from "../steps/own-call.ts";

const VALUE_MAX = 6_000;
/** What a service may need to go on after a timed wait. */
const OVERDUE_MS = 60_000;
/** The end of a timed wait; services may leave it out. */
const waitSchema = z.looseObject({ waitUntil: z.iso.datetime() });
const ENDED = new Set(["completed", "failed", "cancelled"]);

/** The step that `currentStep` names, else the first waiting one; undefined without either. */
export function findCurrentStep({ flow, steps }: FlowView): FlowStep | undefined {
  return steps.find((step) => step.stepKey === flow.currentStep) ?? steps.find((step) => step.status === "waiting");
}

/** The approval step that a waiting flow has stopped at; undefined when the flow waits for a time, or not at all. */
export function findWaitingApproval(view: FlowView): FlowStep | undefined {
  if (view.flow.status !== "waiting") return undefined;
  const current = findCurrentStep(view);
  if (current?.stepType === "approval") return current;
  return view.steps.find((step) => step.stepType === "approval" && step.status === "waiting");
}

/**
 * True when the flow waits for a time that has been over for a while: its service does not go on by itself, and wants to be
 * told ("Flows").
 */
export function isOverdue(view: FlowView, now: number): boolean {
  if (view.flow.status !== "waiting" || findWaitingApproval(view) !== undefined) return false;
  const wait = waitSchema.safeParse(findCurrentStep(view)?.output);
  return wait.success && Date.parse(wait.data.waitUntil) + OVERDUE_MS <= now;
}

/** True when the flow changes no more by itself: it has ended, waits for a human, or for a time that is long over. */
function isAtRest(view: FlowView, now: number): boolean {
  return ENDED.has(view.flow.status) || findWaitingApproval(view) !== undefined || isOverdue(view, now);
}

/** True when resuming can have an effect: the flow has failed, or waits for a time that may have passed. */
export function isResumable(view: FlowView, now: number): boolean {
  if (view.flow.status === "failed") return true;
  if (view.flow.status !== "waiting" || findWaitingApproval(view) !== undefined) return false;
  const wait = waitSchema.safeParse(findCurrentStep(view)?.output);
  return !wait.success || Date.parse(wait.data.waitUntil) <= now;
}

/**
 * The effects of approving `step`: its own content, else the content that the step before it prepared, and the steps
 * that follow up to the next approval.
 */
export function readApprovalContent(view: FlowView, step: FlowStep): Record<string, unknown> {
  const shown = [step.output, step.input].find(hasContent);
  const before = view.steps.filter((other) => other.stepIndex < step.stepIndex && hasContent(other.output)).at(-1);
  const after = view.steps.filter((other) => other.stepIndex > step.stepIndex);
  const next = after.findIndex((other) => other.stepType === "approval");
  return {
    flow: view.flow.id,
    step: step.stepKey,
    about_to_do: shown ?? before?.output ?? null,
    after_that: (next === -1 ? after : after.slice(0, next)).map((other) => `${other.stepKey} (${other.stepType})`),
  };
}

const accountsSchema = z.looseObject({
  accounts: z.array(z.looseObject({ account: z.string(), connection: z.string() })).length(1),
});

/** The account used by the steps after a waiting approval, if the service names exactly one. */
export function readOnlyAccount({ output }: FlowStep): ConnectionChoice | undefined {
  const [only] = accountsSchema.safeParse(output).data?.accounts ?? [];
  return only && { id: only.connection, label: only.account };
}

/** Message of an approval step, from its output or else its input, cut at 600 characters; undefined without one. */
export function readApprovalMessage(step: FlowStep): string | undefined {
  for (const value of [step.output, step.input]) {
    const message = hasContent(value) ? Reflect.get(value, "message") : undefined;
    if (typeof message === "string" && message !== "") return cleanText(message);
  }
  return undefined;
}

const refusalSchema = z.looseObject({ declinedBy: z.string(), reason: z.string().nullish() });

/** Who declined a flow, and why; undefined when nobody did, or the service does not say. */
export function findRefusal({ flow, steps }: FlowView): { by: string; reason: string | null } | undefined {
  if (flow.status !== "cancelled") return undefined;
  const [refusal] = steps.flatMap(({ output }) => refusalSchema.safeParse(output).data ?? []);
  return refusal && { by: refusal.declinedBy, reason: refusal.reason ?? null };
}

function hasContent(value: unknown): value is object {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}

/** A flow as a model reads it: every step's state, values cut to 6,000 characters of JSON. */
export function showFlow(view: FlowView): Record<string, unknown> {
  const { flow } = view;
  const waiting = findWaitingApproval(view);
  const declined = findRefusal(view);
  const would = listFlowSummaries(waiting?.previews ?? []).map((line) => cleanText(line, 300));
  return {
    flow_id: flow.id,
    name: flow.name ?? flow.templateKey ?? null,
    template: flow.templateKey ?? null,
    status: flow.status,
    current_step: flow.currentStep ?? null,
    ...(waiting === undefined ? {} : { waiting_for_approval: showValue(readApprovalContent(view, waiting)) }),
    ...(would.length > 0 && { would_do: would }),
    ...(declined && { declined: { by: cleanText(declined.by, 80), reason: cleanText(declined.reason ?? "", 500) } }),
    steps: view.steps.map(showStep),
    created_at: flow.createdAt ?? null,
    completed_at: flow.completedAt ?? null,
  };
}

function showStep(step: FlowStep): Record<string, unknown> {
  // What an approval would do is shown once, as `waiting_for_approval`.
  const hasValue = step.output != null && step.stepType !== "approval";
  return {
    step: step.stepKey,
    type: step.stepType,
    status: step.status,
    ...(step.attemptCount === undefined || step.attemptCount < 2 ? {} : { attempts: step.attemptCount }),
    ...(hasValue ? { output: showValue(step.output) } : {}),
    ...(step.error == null ? {} : { error: showValue(step.error) }),
  };
}

/** A value of the service as a model reads it: cut to 6,000 characters of JSON. */
export function showValue(value: unknown): unknown {
  const text = JSON.stringify(value) ?? "null";
  if (text.length <= VALUE_MAX) return value;
  return `${toPlainText(text, { max: VALUE_MAX })} (cut: ${text.length} characters of JSON)`;
}

/** A refusal of the service, or the reason it cannot be reached. The flow routes refuse with plain texts. */
export function describeFlowError(error: SvcError): OutcomeDetails {
  const details = describeSvcError(error);
  if (error.status !== 404) return { ...details, code: readCode(error) };
  const hint = "Check the id; a flow is known by the id that starting it gave.";
  return { ...details, code: "flow_not_found", hint, retryable: false };
}

function readCode({ status, serviceCode, code }: SvcError): string {
  if (serviceCode !== undefined) return serviceCode;
  if (status === 400) return "invalid_arguments";
  return status === 409 ? "flow_conflict" : code;
}

/** True when a request that changes a flow was sent and no refusal is known. */
export function mayHaveActed({ sent, status }: SvcError): boolean {
  const isRefused = status !== undefined && status >= 400 && status < 500;
  return sent !== false && !isRefused;
}

const WATCH_SECONDS = 20;

type FlowParts = Pick<Pipeline, "client" | "emit" | "now" | "sleep">;

/**
 * Waits until the flow ends or needs the user, and shows its state then. Throws SvcError when it cannot be read at all.
 */
export async function followFlow(
  { client, emit, now, sleep }: FlowParts,
  { callId, signal }: StaticCall,
  toolName: FlowToolName,
  { id: flowId, seconds = WATCH_SECONDS }: { readonly id: string; readonly seconds: number | undefined },
): Promise<ToolOutcome> {
  let view: FlowView | undefined;
  const notes: string[] = [];
  try {
    for await (const next of watchFlow(client, flowId, { signal, forMs: seconds * 1_000, now, sleep })) {
      view = next;
      const { status, currentStep } = next.flow;
      emit({ type: "flow_progress", callId, toolName, flowId, status, step: currentStep ?? null });
    }
  } catch (error) {
    toFailure(error, signal);
    if (view === undefined) throw error;
    notes.push(NOT_WATCHED);
  }
  if (view === undefined) throw new TypeError("A watched flow always has a first view.");
  return describeFlow(toolName, view, now(), notes);
}

/** Outcome of a flow tool, with the next step as its hint. `now`: milliseconds since the epoch. */
export function describeFlow(
  tool: FlowToolName,
  view: FlowView,
  now: number,
  notes: readonly string[] = [],
): ToolOutcome {
  return createOutcome("succeeded", tool, { result: showFlow(view), hint: adviseNext(view, now) }, notes);
}

/** The next step for a flow's current state; undefined when it is over. */
export function adviseNext(view: FlowView, now: number): string | undefined {
  if (findWaitingApproval(view) !== undefined) {
    return "The flow waits for the user: tell them what it is about to do and call svc_approve_flow, which asks them.";
  }
  if (view.flow.status === "failed") return "Tell the user what failed; svc_resume_flow tries again from there.";
  if (isOverdue(view, now))
    return "The time it waited for is over: svc_resume_flow lets it go on, after the user agreed.";
  const isOver = view.flow.status === "completed" || view.flow.status === "cancelled";
  return isOver ? undefined : "The flow goes on by itself; look again with svc_get_flow.";
}

const FIRST_WAIT_MS = 250;
const MAX_WAIT_MS = 3_000;

interface WatchOptions {
  readonly signal?: AbortSignal | undefined;
  /** Most milliseconds to watch. Default: no limit. */
  readonly forMs?: number | undefined;
  readonly now?: (() => number) | undefined;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
}

/**
 * Polls a flow and yields its view at first and after every change. Ends when the flow has ended, waits for a human, or
 * the time is over. The poll interval grows from 250 ms to 3 s while nothing changes.
 */
export async function* watchFlow(client: SvcClient, id: string, options: WatchOptions): AsyncGenerator<FlowView> {
  const { signal, forMs = Number.POSITIVE_INFINITY, now = Date.now, sleep } = options;
  const elapsed = startStopwatch(now);
  let before = "";
  let wait = FIRST_WAIT_MS;
  for (;;) {
    const view = await client.getFlow(id, { signal });
    const after = describeProgress(view);
    wait = after === before ? Math.min(MAX_WAIT_MS, wait * 1.5) : FIRST_WAIT_MS;
    if (after !== before) yield view;
    before = after;
    if (isAtRest(view, now())) return;
    const left = forMs - elapsed();
    if (left <= 0) return;
    await sleep(Math.min(wait, left), signal);
  }
}

function describeProgress({ flow, steps }: FlowView): string {
  const states = steps.map(({ stepKey, status, attemptCount, output }) => [stepKey, status, attemptCount, output]);
  return JSON.stringify([flow.status, flow.currentStep, states]);
}
