import { html } from "hono/html";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { Connection } from "../../connections/connection.ts";
import type { FlowTemplate } from "../../flows/flow-template.ts";
import { listFields } from "../../flows/template-input.ts";
import type { TriggerSecrets } from "../../triggers/secrets.ts";
import type { Trigger } from "../../triggers/trigger.ts";
import type { EventSummary, TriggerEvent } from "../../triggers/triggers.ts";
import { inputView } from "./flow-inputs.ts";
import { csrfField, type Markup, noticeLine } from "./page.ts";
import { DEED_NAMES, DEED_PHRASES, KIND_NAMES } from "./trigger-form.ts";
import { dataView, exactTimeTag, tag, timeTag } from "./values.ts";

/** All triggers, the oldest first. */
export function triggersBody(o: {
  triggers: readonly Trigger[];
  summaries: ReadonlyMap<string, EventSummary>;
  now: number;
  notice: string | undefined;
}): Markup {
  return html`<h1>Triggers</h1>
<p class="lead">What starts a flow, wakes an agent or sends a webhook by itself: at a time, or when something arrives.</p>
${noticeLine(o.notice)}
<section class="card" aria-label="Triggers">
${
  o.triggers.length === 0
    ? html`<p class="muted">There is no trigger, and nothing is looked for.</p>`
    : html`<ul class="rows">${o.triggers.map((trigger) => triggerRow(trigger, o.summaries.get(trigger.row.id), o.now))}</ul>`
}
<div class="actions"><a class="button" href="/triggers/new">New trigger</a></div>
</section>
<p><a href="/flows">All flows</a></p>`;
}

function triggerRow(trigger: Trigger, summary: EventSummary | undefined, now: number): Markup {
  const { row, on, act } = trigger;
  const last = summary === undefined ? "no event yet" : html`last event ${timeTag(summary.last, now)}`;
  const next =
    row.paused_at === null && row.due_at !== null && on.kind === "schedule"
      ? html` · next ${timeTag(row.due_at, now)}`
      : "";
  return html`<li><div><strong><a href="/triggers/${row.id}">${toPlainText(trigger.name)}</a></strong><span class="muted">${KIND_NAMES[on.kind]} ${DEED_PHRASES[act.does]} · ${last}${next}</span></div>
${stateTag(trigger, summary)}</li>`;
}

function stateTag({ row }: Trigger, summary: EventSummary | undefined): Markup {
  if (row.paused_at !== null) return tag("plain", "Paused");
  if (row.error !== null || (summary?.failing ?? 0) > 0) return tag("bad", "Failing");
  if ((summary?.failed ?? 0) > 0) return tag("warn", "Gave some up");
  return tag("ok", "On");
}

interface TriggerPage {
  readonly trigger: Trigger;
  /** Of the flow that it starts; undefined also where that is gone. */
  readonly template: FlowTemplate | undefined;
  readonly connections: readonly Connection[];
  readonly events: readonly TriggerEvent[];
  readonly summary: EventSummary | undefined;
  readonly hasSecrets: boolean;
  /** Where its webhooks are sent to. */
  readonly hookUrl: string;
  /** Names this showing of the page: its button acts once. */
  readonly press: string;
  readonly csrfToken: string;
  readonly now: number;
  readonly notice: string | undefined;
}

/** One trigger with its events. */
export function triggerBody(o: TriggerPage): Markup {
  const { trigger, summary, now } = o;
  const { row } = trigger;
  return html`<h1>${toPlainText(trigger.name)}</h1>
<p class="lead">${stateTag(trigger, summary)} · made by ${toPlainText(row.made_by)} ${timeTag(row.made_at, now)}</p>
${noticeLine(o.notice)}
${row.error === null ? "" : html`<p class="notice bad">It could not look ${row.failures === 1 ? "the last time" : `${row.failures} times in a row`}: ${toPlainText(row.error)}${row.due_at === null || row.paused_at !== null ? "" : html` It tries again ${timeTag(row.due_at, now)}.`}</p>`}
${row.note === null ? "" : html`<p class="notice warn">${row.note}</p>`}
${o.hasSecrets ? "" : html`<p class="notice bad">Its secret is lost with the key that it was encrypted with: delete the trigger and make it again.</p>`}
<section class="card" aria-labelledby="what"><h2 id="what">What it does</h2>
<dl>${listFacts(o).map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
${buttons(o)}
</section>
<section class="card" aria-labelledby="events"><h2 id="events">Latest events</h2>
${o.events.length === 0 ? html`<p class="muted">There was none since it was made.</p>` : html`<ul class="rows">${o.events.map((event) => eventRow(event, now))}</ul>`}
</section>
<p><a href="/triggers">All triggers</a></p>`;
}

type Fact = readonly [name: string, value: Markup | string];

const code = (text: string) => html`<code>${toPlainText(text)}</code>`;

function listFacts(o: TriggerPage): readonly Fact[] {
  const { row, on } = o.trigger;
  const due = row.due_at === null ? "none" : html`${exactTimeTag(row.due_at)}, ${timeTag(row.due_at, o.now)}`;
  const isTimed = on.kind !== "webhook" && row.paused_at === null;
  const next: readonly Fact[] = isTimed ? [[on.kind === "schedule" ? "Next run" : "Next look", due]] : [];
  return [["Waits for", describeWait(o)], ...next, ...listDeed(o)];
}

function describeWait({ trigger, hookUrl }: TriggerPage): Markup {
  const { on } = trigger;
  switch (on.kind) {
    case "schedule":
      return html`${code(on.cron)} in ${code(on.zone)}`;
    case "mail":
      return html`new mail: ${code(on.query === "" ? "is:unread" : on.query)}`;
    case "file":
      return html`a new file${on.folder === "" ? "" : html` in ${code(on.folder)}`}${on.pattern === "" ? "" : html` like ${code(on.pattern)}`}`;
    case "webhook":
      return html`a webhook to ${code(hookUrl)}`;
  }
}

function listDeed({ trigger, template, connections }: TriggerPage): readonly Fact[] {
  const { act } = trigger;
  switch (act.does) {
    case "wake":
      return [
        [DEED_NAMES.wake, code(act.url)],
        ["Text", html`<span class="text">${toPlainText(act.text, { keepLines: true })}</span>`],
      ];
    case "post":
      return [[DEED_NAMES.post, code(act.url)]];
    case "flow": {
      const fields = template === undefined ? [] : listFields(template);
      const taken = Object.entries(act.take).map(
        ([field, value]): Fact => [
          fields.find(({ name }) => name === field)?.label ?? field,
          html`takes ${code(value)} of the event`,
        ],
      );
      return [
        [DEED_NAMES.flow, template?.name ?? html`${code(act.template)}, a template that is gone`],
        ["Input", inputView(act.input, { fields, connections })],
        ...taken,
      ];
    }
  }
}

function buttons({ trigger, press, csrfToken }: TriggerPage): Markup {
  const { row } = trigger;
  const form = (verb: string, label: string, more: Markup | "" = "") =>
    html`<form method="post" action="/triggers/${row.id}/${verb}">${csrfField(csrfToken)}${more}<button>${label}</button></form>`;
  const run = form("run", "Run now", html`<input type="hidden" name="press" value="${press}">`);
  return html`<div class="actions">${row.paused_at === null ? html`${run}${form("pause", "Pause")}` : form("resume", "Resume")}</div>
<details><summary>Delete this trigger</summary>
<p class="muted">Events that wait are dropped with it. Flows that it started go on.</p>
<form method="post" action="/triggers/${row.id}/delete">${csrfField(csrfToken)}<button class="danger">Delete the trigger</button></form>
</details>`;
}

function eventRow({ row, values }: TriggerEvent, now: number): Markup {
  const isFailing = row.status === "pending" && row.error !== null;
  const state = {
    done: tag("ok", "Done"),
    failed: tag("bad", "Given up"),
    pending: isFailing ? tag("bad", "Failing") : tag("plain", "Waits"),
  }[row.status];
  const tries = isFailing
    ? html` · ${row.attempts} of its attempts failed, the next one ${timeTag(row.next_at, now)}`
    : "";
  return html`<li><div><strong>${timeTag(row.at, now)}</strong><span class="muted">${row.flow_id === null ? "" : html`<a href="/flows/${row.flow_id}">its flow</a> · `}<code>${row.id}</code>${tries}</span></div>
${state}
${row.error === null ? "" : html`<p class="problem">${toPlainText(row.error)}</p>`}
<details><summary>Its values</summary>${dataView(values)}</details></li>`;
}

/** What is shown once, when a trigger was made. */
export function madeBody(o: { trigger: Trigger; secrets: TriggerSecrets; hookUrl: string }): Markup {
  const { hook, out } = o.secrets;
  const secret = (text: string) => html`<pre class="copy line"><code>${text}</code></pre>`;
  return html`<section class="card">
<div role="status"><h1>The trigger is made</h1></div>
${hook === undefined ? "" : html`<p>Send webhooks in the form of <a href="https://www.standardwebhooks.com" rel="noreferrer" target="_blank">Standard Webhooks</a> to this address:</p>${secret(o.hookUrl)}<p>They are signed with this secret:</p>${secret(hook)}`}
${out === undefined ? "" : html`<p>The webhooks that it sends are signed with this secret, which their receiver needs:</p>${secret(out)}`}
<p>This is shown only now. Copy it before you go on.</p>
<p><a class="button" href="/triggers/${o.trigger.row.id}">Go on</a></p>
</section>`;
}
