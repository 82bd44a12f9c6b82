import { html } from "hono/html";
import { z } from "zod";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { FlowStep, FlowView } from "../../../shared/wire/flow.ts";
import { mayDo } from "../../auth/people.ts";
import type { Connection } from "../../connections/connection.ts";
import { markShown } from "../../flows/decide-flow.ts";
import { toAttempt } from "../../flows/flow-rows.ts";
import type { FlowTemplate } from "../../flows/flow-template.ts";
import { listFields } from "../../flows/template-input.ts";
import type { Role } from "../../store/schema.ts";
import { MAX_REASON } from "./call-card.ts";
import { inputView } from "./flow-inputs.ts";
import { flowPreviews, itemChoice } from "./flow-items.ts";
import { describeStart } from "./flow-list.ts";
import { describeStepError, readStepDecision, timeline } from "./flow-steps.ts";
import type { NamedExecution } from "./named-execution.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { exactTimeTag, flowTag, nameOf, timeTag, wholeView } from "./values.ts";

/** Content of the page of a flow. */
export interface FlowPage extends FlowView {
  /** The template it was started from; undefined when it is gone. */
  readonly template: FlowTemplate | undefined;
  readonly connections: readonly Connection[];
  /** Calls that it made, by step. */
  readonly calls: ReadonlyMap<string, readonly NamedExecution[]>;
  /** Of the person who looks at it. */
  readonly role: Role;
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

/** A flow with what can be done about it, and its steps. */
export function flowBody(o: FlowPage): Markup {
  const { flow, steps } = o;
  return html`<h1>${flow.name ?? flow.id}</h1>
<p class="lead">${flowTag(flow.status)} · ${describeStart(flow, o.now)}</p>
${noticeLine(o.notice)}
${decisionCard(o)}
<section class="card" aria-labelledby="steps">
<h2 id="steps">Steps</h2>
${timeline(steps, o)}
</section>
<section class="card" aria-labelledby="facts">
<h2 id="facts">Inputs</h2>
${inputView(flow.input ?? {}, { fields: o.template === undefined ? [] : listFields(o.template), connections: o.connections })}
<p class="muted">Id <code>${flow.id}</code></p>
${againLink(o)}
</section>
${mayDo(o.role, "owner") ? html`<p><a href="/flows">All flows</a></p>` : ""}`;
}

function againLink({ flow, template, role }: FlowPage): Markup {
  const isOver = flow.status === "completed" || flow.status === "failed" || flow.status === "cancelled";
  if (!isOver || template === undefined || !mayDo(role, "owner")) return html``;
  return html`<p class="actions"><a class="button" href="/flows/templates/${template.key}?from=${flow.id}">Run again</a></p>`;
}

/** The step a flow stands at. */
export function findCurrentStep({ flow, steps }: FlowView): FlowStep | undefined {
  return steps.find((step) => step.stepKey === flow.currentStep);
}

const accountSchema = z.object({ app: z.string(), account: z.string().nullable(), connection: z.string().nullable() });
type Account = z.infer<typeof accountSchema>;

/** Output of an approval step: a sentence, and the data it is about. */
const shownSchema = z.looseObject({
  message: z.string().optional(),
  approved: z.unknown(),
  accounts: z.array(accountSchema).default([]),
});
const waitSchema = z.looseObject({ waitUntil: z.iso.datetime() });
function decisionCard(o: FlowPage): Markup {
  const step = findCurrentStep(o);
  if (step !== undefined && waitsForApproval(o)) return approvalCard(o, step);
  if (o.flow.status === "waiting") return waitCard(o, step);
  if (o.flow.status === "failed") return failureCard(o, step);
  if (o.flow.status === "cancelled") return refusalCard(o);
  if (o.flow.status !== "running" && o.flow.status !== "pending") return html``;
  return html`<section class="card" aria-label="State"><p>It is running. <a href="/flows/${o.flow.id}">Look again</a></p>
<div class="actions">${cancelForm(o)}</div></section>`;
}

function approvalCard(o: FlowPage, step: FlowStep): Markup {
  const { flow, csrfToken } = o;
  const { message, approved: _, accounts, ...shown } = shownSchema.parse(step.output ?? {});
  const items = step.items === undefined ? undefined : shown[step.items];
  const previews = step.previews ?? [];
  const choice = Array.isArray(items) ? itemChoice(items, previews) : undefined;
  const rest = Object.entries(shown).filter(([name]) => choice === undefined || name !== step.items);
  const hidden = html`${csrfField(csrfToken)}<input type="hidden" name="step" value="${step.stepKey}"><input type="hidden" name="seen" value="${markShown(step)}">`;
  // Forms of their own, so that Enter in the field for the reason can never approve.
  return html`<section class="card" aria-labelledby="decision">
<h2 id="decision">It waits for your approval</h2>
<p><strong>${message ?? nameOf(step.stepKey)}</strong></p>
${accountList(accounts)}
${previews.length === 0 || !step.startedAt ? "" : html`<p class="muted">As it was ${timeTag(step.startedAt, o.now)}. A call does not run if what it acts on has changed since.</p>`}
${flowPreviews(previews.filter(({ item }) => choice === undefined || item === undefined))}
${rest.length === 0 ? "" : wholeView(Object.fromEntries(rest))}
<form method="post" action="/flows/${flow.id}/approve">${hidden}
${choice ?? ""}
<button class="primary">Approve</button></form>
<form method="post" action="/flows/${flow.id}/decline">${hidden}
<div class="field"><label for="reason">Reason <span class="optional">(optional; whoever started it sees it)</span></label><input id="reason" name="reason" maxlength="${MAX_REASON}" autocomplete="off"></div>
<button class="secondary">Decline</button></form>
</section>`;
}

/** Why it was declined; nothing where nobody declined it. */
function refusalCard({ steps }: FlowPage): Markup {
  const { declinedBy, reason } = steps.map(readStepDecision).find((one) => one.declinedBy !== undefined) ?? {};
  if (declinedBy === undefined) return html``;
  return html`<p class="notice" role="status">Declined by ${toPlainText(declinedBy)}. ${reason ? html`Reason: ${toPlainText(reason)}` : "No reason was given."}</p>`;
}

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
<p>${until === undefined ? "It goes on by itself." : html`It goes on by itself ${timeTag(until, o.now)}, at ${exactTimeTag(until)}.`}</p>
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

function resumeForm({ flow, csrfToken, role }: FlowPage, step: FlowStep | undefined, label: string): Markup {
  if (!mayDo(role, "owner")) return html``;
  const seen = step && html`<input type="hidden" name="attempt" value="${toAttempt(step.stepKey, step.attemptCount)}">`;
  return html`<form method="post" action="/flows/${flow.id}/resume">${csrfField(csrfToken)}${seen ?? ""}<button class="primary">${label}</button></form>`;
}

function cancelForm({ role, csrfToken, flow }: FlowPage): Markup {
  if (!mayDo(role, "owner")) return html``;
  return html`<details><summary>Cancel this flow</summary>
<p class="muted">It ends here. What its steps have done already stays done.</p>
<form method="post" action="/flows/${flow.id}/cancel">${csrfField(csrfToken)}<button class="danger">Cancel the flow</button></form>
</details>`;
}

function waitsForApproval(view: FlowView): boolean {
  return view.flow.status === "waiting" && findCurrentStep(view)?.stepType === "approval";
}
