import { html } from "hono/html";
import { z } from "zod";
import { exactTime } from "../../../base/text.ts";
import type { Flow, FlowStep, FlowView } from "../../../wire/flow.ts";
import { toPlainText } from "../../../wire/plain-text.ts";
import { toAttempt } from "../../flows/flow-rows.ts";
import { dataView, nameOf, wholeView } from "./data-view.ts";
import { csrfField, type Markup, messageBody, noticeLine } from "./page.ts";
import { flowTag, stepTag } from "./state-tag.ts";
import { timeTag } from "./time-tag.ts";

interface FlowPage extends FlowView {
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

/** One flow: its state, the possible decisions, and every step. */
export function flowBody(o: FlowPage): Markup {
  const { flow, steps } = o;
  return html`<h1>${flow.name ?? flow.id}</h1>
<p class="lead">${flowTag(flow.status)} · ${describeStart(flow, o.now)}</p>
${noticeLine(o.notice)}
${decisionCard(o)}
<section class="card" aria-labelledby="steps">
<h2 id="steps">Steps</h2>
<ol class="rows steps">${steps.map((step) => stepRow(step, o.now))}</ol>
</section>
<section class="card" aria-labelledby="facts">
<h2 id="facts">What it was started with</h2>
${dataView(flow.input ?? {})}
<p class="muted">Id <code>${flow.id}</code></p>
</section>
<p><a href="/flows">All flows</a></p>`;
}

/** No flow of the owner has this id. */
export function unknownFlowBody(): Markup {
  return messageBody({
    heading: "This flow is unknown",
    text: "The link is incomplete, or the flow ended so long ago that it was removed.",
    next: html`<p><a href="/flows">All flows</a></p>`,
  });
}

/** The step a flow stands at. */
export function findCurrentStep({ flow, steps }: FlowView): FlowStep | undefined {
  return steps.find((step) => step.stepKey === flow.currentStep);
}

/** See `FlowAccount`. */
const accountSchema = z.object({ app: z.string(), account: z.string().nullable(), connection: z.string().nullable() });
type Account = z.infer<typeof accountSchema>;

/** Output of an approval step: a sentence, and the data it is about. */
const shownSchema = z.looseObject({
  message: z.string().optional(),
  approved: z.unknown(),
  accounts: z.array(accountSchema).default([]),
});
const waitSchema = z.looseObject({ waitUntil: z.iso.datetime() });
const errorSchema = z.looseObject({ message: z.string() });

/** Error of a step, in words; undefined when it did not fail. */
export function describeStepError({ error }: FlowStep): string | undefined {
  return error === null || error === undefined
    ? undefined
    : (errorSchema.safeParse(error).data?.message ?? "It failed.");
}

function decisionCard(o: FlowPage): Markup {
  const step = findCurrentStep(o);
  if (o.flow.status === "waiting" && step?.stepType === "approval") return approvalCard(o, step);
  if (o.flow.status === "waiting") return waitCard(o, step);
  if (o.flow.status === "failed") return failureCard(o, step);
  if (o.flow.status !== "running" && o.flow.status !== "pending") return html``;
  return html`<section class="card" aria-label="State"><p>It is running. <a href="/flows/${o.flow.id}">Look again</a></p>
<div class="actions">${cancelForm(o)}</div></section>`;
}

function approvalCard(o: FlowPage, step: FlowStep): Markup {
  const { message, approved: _, accounts = [], ...shown } = shownSchema.safeParse(step.output).data ?? {};
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">It waits for your approval</h2>
<p><strong>${message ?? nameOf(step.stepKey)}</strong></p>
${accountList(accounts)}
${Object.keys(shown).length === 0 ? "" : wholeView(shown)}
<div class="actions">
<form method="post" action="/flows/${o.flow.id}/approve">${csrfField(o.csrfToken)}<input type="hidden" name="step" value="${step.stepKey}"><button class="primary">Approve</button></form>
${cancelForm(o)}
</div>
</section>`;
}

/** Accounts by label and id. */
function accountList(accounts: readonly Account[]): Markup {
  if (accounts.length === 0) return html``;
  const describe = ({ account, connection }: Account) => {
    if (connection === null) return html`no account was chosen; cancel the flow and start it again`;
    return html`${account === null ? "an account that was disconnected" : html`<strong>${toPlainText(account)}</strong>`} <code>${connection}</code>`;
  };
  return html`<p>It then uses:</p><dl>${accounts.map((one) => html`<dt>${nameOf(one.app)}</dt><dd>${describe(one)}</dd>`)}</dl>`;
}

function waitCard(o: FlowPage, step: FlowStep | undefined): Markup {
  const until = waitSchema.safeParse(step?.output).data?.waitUntil;
  const isOver = until !== undefined && Date.parse(until) <= o.now;
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">It waits for its time</h2>
<p>${until === undefined ? "It goes on by itself." : html`It goes on by itself ${timeTag(until, o.now)}, at ${exactTime(until)}.`}</p>
<div class="actions">${isOver ? resumeForm(o, step, "Go on now") : ""}${cancelForm(o)}</div>
</section>`;
}

function failureCard(o: FlowPage, step: FlowStep | undefined): Markup {
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">It failed${step === undefined ? "" : html` at “${nameOf(step.stepKey)}”`}</h2>
<p class="notice bad">${(step && describeStepError(step)) ?? "It failed."}</p>
<p>Steps that are done are not repeated. Resuming tries the failed one again.</p>
<div class="actions">${resumeForm(o, step, "Resume")}${cancelForm(o)}</div>
</section>`;
}

function resumeForm({ flow, csrfToken }: FlowPage, step: FlowStep | undefined, label: string): Markup {
  const seen = step && html`<input type="hidden" name="attempt" value="${toAttempt(step.stepKey, step.attemptCount)}">`;
  return html`<form method="post" action="/flows/${flow.id}/resume">${csrfField(csrfToken)}${seen ?? ""}<button class="primary">${label}</button></form>`;
}

function cancelForm({ flow, csrfToken }: { flow: Flow; csrfToken: string }): Markup {
  return html`<details><summary>Cancel this flow</summary>
<p class="muted">It ends here. What its steps have done already stays done.</p>
<form method="post" action="/flows/${flow.id}/cancel">${csrfField(csrfToken)}<button class="danger">Cancel the flow</button></form>
</details>`;
}

const TYPES: Readonly<Record<string, string>> = {
  tool_call: "tool call",
  transform: "worked out here",
  wait: "wait",
  approval: "approval",
};

function stepRow(step: FlowStep, now: number): Markup {
  const { stepKey, stepType, attemptCount = 0, completedAt, output } = step;
  const facts = [TYPES[stepType] ?? stepType, attemptCount > 1 ? `${attemptCount} attempts` : ""].filter(Boolean);
  const error = describeStepError(step);
  // The output of a waiting approval is shown above.
  const hasResult = output !== null && output !== undefined && step.status !== "waiting";
  return html`<li><div><strong>${nameOf(stepKey)}</strong><span class="muted">${facts.join(" · ")}${completedAt ? html` · ${timeTag(completedAt, now)}` : ""}</span></div>
${stepTag(step)}
${error === undefined ? "" : html`<p class="problem">${error}</p>`}
${!hasResult ? "" : html`<details><summary>What came out<span class="hidden"> of ${nameOf(stepKey)}</span></summary>${dataView(output)}</details>`}</li>`;
}

/** Flows, the one that changed last first. */
export function flowsBody(o: { flows: readonly Flow[]; now: number }): Markup {
  return html`<h1>Flows</h1>
<p class="lead">Work in several steps that runs here on its own, and waits where a person must decide.</p>
<section class="card" aria-label="Flows">
${
  o.flows.length === 0
    ? html`<p class="muted">No flow was started yet. An agent starts one from a template, for example to turn unread mail into task pages.</p>`
    : html`<ul class="rows">${o.flows.map((flow) => flowRow(flow, o.now))}</ul>`
}
</section>`;
}

function flowRow(flow: Flow, now: number): Markup {
  return html`<li><div><strong><a href="/flows/${flow.id}">${flow.name ?? flow.id}</a></strong><span class="muted">${describeStart(flow, now)}${flow.updatedAt ? html` · changed ${timeTag(flow.updatedAt, now)}` : ""}</span></div>
${flowTag(flow.status)}</li>`;
}

const TRIGGERS: Readonly<Record<string, string>> = {
  agent: "by an agent",
  manual: "by hand",
  webhook: "by a webhook",
  schedule: "on schedule",
};

/** Who started a flow and when. */
function describeStart({ triggerType, createdAt }: Flow, now: number): Markup {
  return html`started ${TRIGGERS[triggerType ?? ""] ?? ""}${createdAt ? html` ${timeTag(createdAt, now)}` : ""}`;
}
