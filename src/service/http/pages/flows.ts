import type { Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { exactTime } from "../../../base/text.ts";
import { FLOW_PAGE } from "../../../wire/constants.ts";
import type { Flow, FlowStep, FlowView } from "../../../wire/flow.ts";
import { toPlainText } from "../../../wire/plain-text.ts";
import { mayDo } from "../../auth/people.ts";
import { toAttempt } from "../../flows/flow-rows.ts";
import { ServiceError } from "../../service-error.ts";
import type { Role } from "../../store/schema.ts";
import { type OwnForm, onlyOwner, ownerPages } from "../owner-browser.ts";
import { findNotice, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { csrfField, type Markup, messageBody, noticeLine, type Page } from "./page.ts";
import { dataView, flowTag, nameOf, stepTag, timeTag, wholeView } from "./values.ts";

const NOTICES: Readonly<Record<string, string>> = {
  approved: "Approved. The flow goes on.",
  resumed: "Resumed. The flow goes on.",
  cancelled: "The flow is cancelled.",
  changed: "The flow had changed before you pressed the button. This is how it stands now.",
};

/** The list of flows, and the page of each with its decisions. */
export function addFlowPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  ownerPages(app, parts).addPage("/flows", async (_c, { accountId }) => {
    const body = flowsBody({ flows: await flows.list({ accountId }, FLOW_PAGE.max), now: parts.now() });
    return { title: "Flows", body, section: "flows" };
  });
  ownerPages(app, parts, "approver").addPage("/flows/:id", (c, { accountId, csrfToken, person }) =>
    orUnknown(async () => {
      const view = await flows.get(accountId, c.req.param("id"));
      const notice = findNotice(NOTICES, c.req.query("notice"));
      const body = flowBody({ ...view, role: person.role, csrfToken, now: parts.now(), notice });
      return { title: view.flow.name ?? "Flow", body, section: "flows" } as const;
    }),
  );
  addMoves(app, parts);
}

function addMoves(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { flows } = parts;
  const addMove = (least: Role, verb: string, notice: string, move: (id: string, sent: OwnForm) => Promise<unknown>) =>
    ownerPages(app, parts, least).addForm(`/flows/:id/${verb}`, (c, sent) => {
      const id = c.req.param("id") ?? "";
      return orUnknown(
        async () => `/flows/${encodeURIComponent(id)}?notice=${await tryMove(notice, () => move(id, sent))}`,
      );
    });
  // The step that the page showed, so that an old page cannot approve a later step.
  addMove("approver", "approve", "approved", (id, { owner, form }) =>
    flows.approve(owner.accountId, id, { stepKey: form.get("step") ?? "", by: owner.person.name }),
  );
  // The failure that the page showed: a later one may be of a write whose outcome is unknown.
  addMove("owner", "resume", "resumed", (id, { owner, form }) =>
    flows.resume(owner.accountId, id, { attempt: form.get("attempt") ?? undefined }),
  );
  addMove("approver", "cancel", "cancelled", async (id, { owner }) => {
    const { accountId, person } = owner;
    if (!mayCancel(person.role, await flows.get(accountId, id))) throw onlyOwner();
    return flows.cancel(accountId, id);
  });
}

/** An approver may only decline a flow that waits for an approval. */
function mayCancel(role: Role, view: FlowView): boolean {
  return mayDo(role, "owner") || waitsForApproval(view);
}

function waitsForApproval(view: FlowView): boolean {
  return view.flow.status === "waiting" && findCurrentStep(view)?.stepType === "approval";
}

/** The notice of a move; `changed` when somebody else was faster. */
async function tryMove(notice: string, move: () => Promise<unknown>): Promise<string> {
  try {
    await move();
    return notice;
  } catch (error) {
    if (error instanceof ServiceError && error.status === 409) return "changed";
    throw error;
  }
}

/** The answer of `work`, or the page of an unknown flow. */
async function orUnknown<Answer>(work: () => Promise<Answer>): Promise<Answer | Page> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== "flow_not_found") throw error;
    const body = messageBody({
      heading: "This flow is unknown",
      text: "The link is incomplete, or the flow ended so long ago that it was removed.",
      next: html`<p><a href="/flows">All flows</a></p>`,
    });
    return { title: "Unknown flow", body, section: "flows", status: 404 };
  }
}

interface FlowPage extends FlowView {
  /** Of the person who looks at it. */
  readonly role: Role;
  readonly csrfToken: string;
  /** Milliseconds since the epoch. */
  readonly now: number;
  readonly notice: string | undefined;
}

function flowBody(o: FlowPage): Markup {
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
${mayDo(o.role, "owner") ? html`<p><a href="/flows">All flows</a></p>` : ""}`;
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
const errorSchema = z.looseObject({ message: z.string() });

/** Error of a step, in words; undefined when it did not fail. */
export function describeStepError({ error }: FlowStep): string | undefined {
  return error === null || error === undefined
    ? undefined
    : (errorSchema.safeParse(error).data?.message ?? "It failed.");
}

function decisionCard(o: FlowPage): Markup {
  const step = findCurrentStep(o);
  if (step !== undefined && waitsForApproval(o)) return approvalCard(o, step);
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

function resumeForm({ flow, csrfToken, role }: FlowPage, step: FlowStep | undefined, label: string): Markup {
  if (!mayDo(role, "owner")) return html``;
  const seen = step && html`<input type="hidden" name="attempt" value="${toAttempt(step.stepKey, step.attemptCount)}">`;
  return html`<form method="post" action="/flows/${flow.id}/resume">${csrfField(csrfToken)}${seen ?? ""}<button class="primary">${label}</button></form>`;
}

function cancelForm({ role, csrfToken, ...view }: FlowPage): Markup {
  const { flow } = view;
  if (!mayCancel(role, view)) return html``;
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
function flowsBody(o: { flows: readonly Flow[]; now: number }): Markup {
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

function describeStart({ triggerType, createdAt }: Flow, now: number): Markup {
  return html`started ${TRIGGERS[triggerType ?? ""] ?? ""}${createdAt ? html` ${timeTag(createdAt, now)}` : ""}`;
}
