import { html } from "hono/html";
import { z } from "zod";
import { STATE_CHANGED } from "../../../apps/port/preview.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { FlowStep } from "../../../shared/wire/flow.ts";
import { listNames } from "../../flows/describe-wait.ts";
import type { NamedExecution } from "./named-execution.ts";
import type { Markup } from "./page.ts";
import { dataView, describeDuration, executionTag, nameOf, stepTag, tag, timeTag } from "./values.ts";

const errorSchema = z.looseObject({ message: z.string(), code: z.string().optional(), hint: z.string().optional() });
/** Codes of calls for which resuming is no way on. */
const ASKED_ANEW: ReadonlySet<string> = new Set(["flow_call_changed", STATE_CHANGED]);

/** Error of a step, in words; undefined when it did not fail. */
export function describeStepError({ error }: FlowStep): string | undefined {
  if (error === null || error === undefined) return undefined;
  const { message = "It failed.", code = "", hint = "" } = errorSchema.safeParse(error).data ?? {};
  return ASKED_ANEW.has(code) ? `${message} ${hint}`.trimEnd() : message;
}

/** What an approval step keeps about its decision. */
const decisionSchema = z.looseObject({
  approvedBy: z.string().optional(),
  declinedBy: z.string().optional(),
  reason: z.string().nullish(),
  leftOut: z.array(z.unknown()).default([]),
});

/** The decision about an approval step; nothing in it for any other step. */
export function readStepDecision({ stepType, output }: FlowStep): Partial<z.output<typeof decisionSchema>> {
  return (stepType === "approval" ? decisionSchema.safeParse(output).data : undefined) ?? {};
}

/** The steps of a flow in order: what became of each, when, how long it took, and the calls it made. */
export function timeline(
  steps: readonly FlowStep[],
  { calls, now }: { calls: ReadonlyMap<string, readonly NamedExecution[]>; now: number },
): Markup {
  return html`<ol class="rows">${steps.map((step) => stepRow(step, calls.get(step.stepKey) ?? [], now))}</ol>`;
}

const TYPES: Readonly<Record<string, string>> = {
  tool_call: "tool call",
  transform: "worked out here",
  wait: "wait",
  approval: "approval",
};

function stepRow(step: FlowStep, calls: readonly NamedExecution[], now: number): Markup {
  const { stepKey, output } = step;
  const error = describeStepError(step);
  const { declinedBy, reason, leftOut = [] } = readStepDecision(step);
  // The output of a waiting approval is shown above.
  const hasResult = output !== null && output !== undefined && step.status !== "waiting";
  return html`<li><div><strong>${nameOf(stepKey)}</strong><span class="muted">${describeCourse(step, now)}</span></div>
${declinedBy === undefined ? stepTag(step) : tag("plain", "Declined")}
${error === undefined ? "" : html`<p class="problem">${error}</p>`}
${reason ? html`<p class="grant">Reason: ${toPlainText(reason)}</p>` : ""}
${leftOut.length === 0 ? "" : html`<p class="grant">Left out: ${toPlainText(listNames(leftOut).join(", ") || String(leftOut.length))}</p>`}
${calls.length === 0 ? "" : callList(stepKey, calls)}
${!hasResult ? "" : html`<details><summary>What came out<span class="hidden"> of ${nameOf(stepKey)}</span></summary>${dataView(output)}</details>`}</li>`;
}

/** What kind of step it is, how it went, how long that took and when. */
function describeCourse(step: FlowStep, now: number): Markup {
  const { stepType, attemptCount = 0, startedAt, completedAt } = step;
  const { approvedBy, declinedBy } = readStepDecision(step);
  const waits = stepType === "approval" || stepType === "wait";
  const facts = [
    TYPES[stepType] ?? stepType,
    approvedBy && `approved by ${toPlainText(approvedBy)}`,
    declinedBy && `declined by ${toPlainText(declinedBy)}`,
    attemptCount > 1 && `${attemptCount} attempts`,
    startedAt && completedAt && `${waits ? "waited" : "took"} ${describeDuration(startedAt, completedAt)}`,
  ].filter(Boolean);
  const begun = startedAt && !completedAt && step.status !== "skipped" ? html` · began ${timeTag(startedAt, now)}` : "";
  return html`${facts.join(" · ")}${completedAt ? html` · ${timeTag(completedAt, now)}` : begun}`;
}

/** Calls of one step that are shown at once. */
const MAX_CALLS = 5;

function callList(stepKey: string, calls: readonly NamedExecution[]): Markup {
  const shown = calls.map(
    ({ execution, title }) =>
      html`<li><a href="/log/${execution.id}">${title}</a>${execution.object === undefined ? "" : ` ${execution.object}`} ${executionTag(execution)}</li>`,
  );
  const rest = shown.length - MAX_CALLS;
  const list = (part: readonly Markup[]) => html`<ul class="calls">${part}</ul>`;
  if (rest <= 0) return list(shown);
  return html`${list(shown.slice(0, MAX_CALLS))}<details><summary>${rest} more calls<span class="hidden"> of ${nameOf(stepKey)}</span></summary>${list(shown.slice(MAX_CALLS))}</details>`;
}
