import { html } from "hono/html";
import type { Connection } from "../../connections/connection.ts";
import type { FlowTemplate } from "../../flows/flow-template.ts";
import { type InputField, listFields } from "../../flows/template-input.ts";
import { EVENT_VALUES, TRIGGER_KINDS, type TriggerDeed, type TriggerKind } from "../../triggers/trigger.ts";
import { type FieldProblem, inputFields, nameFields } from "./flow-inputs.ts";
import { csrfField, type Markup } from "./page.ts";
import { nameOf } from "./values.ts";

/** Events that a trigger can wait for, as its form names them. */
export const KIND_NAMES: Readonly<Record<TriggerKind, string>> = {
  schedule: "A time",
  mail: "New mail",
  file: "A new file",
  webhook: "A webhook",
};
/** Deeds that a trigger can do, as its form names them. */
export const DEED_NAMES: Readonly<Record<TriggerDeed, string>> = {
  flow: "Start a flow",
  wake: "Wake an OpenClaw agent",
  post: "Send a webhook",
};

/** What a trigger does, within a sentence. */
export const DEED_PHRASES: Readonly<Record<TriggerDeed, string>> = {
  flow: "starts a flow",
  wake: "wakes an OpenClaw agent",
  post: "sends a webhook",
};

const KIND_HELP: Readonly<Record<TriggerKind, string>> = {
  schedule: "Again and again, by a cron expression.",
  mail: "That a search finds, looked for every minute.",
  file: "In the drive, looked for every minute.",
  webhook: "That another program sends to this service, signed.",
};
const DEED_HELP: Readonly<Record<Exclude<TriggerDeed, "flow">, string>> = {
  wake: "By the hooks of its gateway.",
  post: "Signed, to an address of yours.",
};

/** The form that the owner chose: what the trigger waits for, and what it does. */
export interface Choice {
  readonly kind: TriggerKind;
  readonly deed: TriggerDeed;
  /** Of the flow that it starts. */
  readonly template: FlowTemplate | undefined;
}

/** Chosen as `does`: a flow by its template. */
const FLOW = /^flow\/(.+)$/;

/** The form that an address or a form names; undefined where that is none. */
export function readChoice(query: Typed, templates: readonly FlowTemplate[]): Choice | undefined {
  const kind = TRIGGER_KINDS.find((one) => one === query.kind);
  const key = FLOW.exec(query.does ?? "")?.[1];
  const template = templates.find((one) => one.key === key);
  const deed = template === undefined ? (["wake", "post"] as const).find((one) => one === query.does) : "flow";
  return kind === undefined || deed === undefined ? undefined : { kind, deed, template };
}

/** The first step of a new trigger. */
export function choiceBody(templates: readonly FlowTemplate[]): Markup {
  const choice = (field: string, value: string, o: { name: string; help: string; isFirst: boolean }) =>
    html`<div class="choice"><input type="radio" id="${field}-${value}" name="${field}" value="${value}"${o.isFirst ? html` checked` : ""}><label for="${field}-${value}">${o.name} <span class="help">${o.help}</span></label></div>`;
  const flows = templates.map((template) => ({
    value: `flow/${template.key}`,
    name: `${DEED_NAMES.flow}: ${template.name}`,
    help: nameFields(template.description, listFields(template)),
  }));
  const others = (["wake", "post"] as const).map((deed) => ({
    value: deed,
    name: DEED_NAMES[deed],
    help: DEED_HELP[deed],
  }));
  return html`<h1>New trigger</h1>
<p class="lead">What a flow changes waits for your approval, whoever started it.</p>
<section class="card" aria-label="New trigger">
<form method="get" action="/triggers/new">
<fieldset><legend>It waits for</legend>${TRIGGER_KINDS.map((kind, index) => choice("kind", kind, { name: KIND_NAMES[kind], help: KIND_HELP[kind], isFirst: index === 0 }))}</fieldset>
<fieldset><legend>Then it does this</legend>${[...flows, ...others].map(({ value, ...o }, index) => choice("does", value, { ...o, isFirst: index === 0 }))}</fieldset>
<div class="actions"><button class="primary">Go on</button></div>
</form>
</section>
<p><a href="/triggers">All triggers</a></p>`;
}

/** Names of the inputs as people read them. */
const LABELS: Readonly<Record<string, string>> = {
  name: "Name",
  cron: "When",
  zone: "Time zone",
  query: "Search",
  folder: "Folder",
  pattern: "Name or pattern",
  account: "Account",
  take: "Values of the event",
  url: "Address",
  token: "Hook token",
  text: "Text",
};

/** Fields of a form as they were typed. */
export type Typed = Readonly<Record<string, string>>;

/** What a field may take of an event, within a sentence; the values of a webhook are up to its sender. */
const EVENT_EXAMPLES: Readonly<Record<TriggerKind, string>> = {
  schedule: "its time",
  mail: "the subject",
  file: "the name",
  webhook: "a member of its data",
};

/** Pairs of a field of the input and a value of the event that a form takes. */
export const PAIRS = [1, 2] as const;

interface TriggerForm extends Choice {
  readonly typed: Typed;
  /** Inputs of the flow as they were typed; undefined in a new form. */
  readonly inputs: Typed | undefined;
  readonly problems: readonly FieldProblem[];
  /** Stands for the token that was typed the time before. */
  readonly keptToken: string | undefined;
  readonly connections: readonly Connection[];
  /** Accounts that can be looked into. */
  readonly accounts: readonly Connection[];
  readonly csrfToken: string;
}

/** The form of a new trigger. */
export function formBody(o: TriggerForm): Markup {
  const { kind, deed, template } = o;
  const does = template === undefined ? deed : `flow/${template.key}`;
  return html`<h1>New trigger</h1>
<p class="lead">${KIND_NAMES[kind]} ${DEED_PHRASES[deed]}${template === undefined ? "" : html`: ${template.name}`}. <a href="/triggers/new">Choose something else</a></p>
${problemSummary(o)}
<section class="card" aria-label="New trigger">
<form method="post" action="/triggers/new" novalidate>${csrfField(o.csrfToken)}<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="does" value="${does}">${o.keptToken === undefined ? "" : html`<input type="hidden" name="kept" value="${o.keptToken}">`}
${textField(o, "name", "Stands in the list, and with the flows that it starts.", { example: "Every morning" })}
${KIND_FIELDS[kind](o)}
${DEED_FIELDS[deed](o)}
<div class="actions"><button class="primary">Make the trigger</button></div>
</form>
</section>
<p><a href="/triggers">All triggers</a></p>`;
}

const KIND_FIELDS: Readonly<Record<TriggerKind, (o: TriggerForm) => Markup>> = {
  schedule: (o) =>
    html`${textField(o, "cron", html`Minute, hour, day of the month, month, day of the week: <code>0 8 * * 1-5</code> is eight on weekdays.`, { example: "0 8 * * *" })}
${textField(o, "zone", html`For example <code>Europe/Berlin</code>.`, { example: "UTC" })}`,
  mail: (o) =>
    html`${textField(o, "query", html`As <code>mail_search</code> knows it: <code>from:anna has:attachment</code>. <code>is:any</code> finds every message; empty finds unread ones.`, { isOptional: true })}
${accountField(o)}`,
  file: (o) =>
    html`${textField(o, "folder", html`For example <code>Scans/2026</code>; empty for the whole drive.`, { isOptional: true })}
${textField(o, "pattern", html`Below the folder, <code>*</code> stands for anything: <code>*.pdf</code>. Empty for every file.`, { isOptional: true })}
${accountField(o)}`,
  webhook: () =>
    html`<p class="muted">The address and the secret that signs it are shown when the trigger is made.</p>`,
};

const DEED_FIELDS: Readonly<Record<TriggerDeed, (o: TriggerForm) => Markup>> = {
  flow: (o) => flowFields(o),
  wake: (o) =>
    html`${textField(o, "url", html`Ends with <code>/hooks/agent</code>, for a run of its own, or <code>/hooks/wake</code>, for the main session.`, { example: "http://127.0.0.1:18789/hooks/agent" })}
<div class="field"><label for="token">${LABELS.token}</label><p class="help" id="token-help">The <code>hooks.token</code> of its configuration. It is encrypted and never shown.${o.keptToken === undefined ? "" : " Leave it empty to use the one that you typed."}</p>${said(o, "token")}<input id="token" name="token" type="password" autocomplete="off"${marks(o, "token", "token-help")}></div>
<div class="field"><label for="text">${LABELS.text}</label><p class="help" id="text-help">What the agent is to do.</p>${said(o, "text")}<textarea id="text" name="text" rows="4" maxlength="2000"${marks(o, "text", "text-help")}>${o.typed.text ?? ""}</textarea></div>`,
  post: (o) =>
    html`${textField(o, "url", "In the form of Standard Webhooks, signed with a secret that is shown when the trigger is made.", {})}`,
};

function flowFields(o: TriggerForm): Markup {
  const fields = o.template === undefined ? [] : listFields(o.template);
  const texts = fields.filter(
    ({ type, app, format, enum: options }) =>
      type === "string" && app === undefined && format === undefined && options === undefined,
  );
  return html`${inputFields(fields, { typed: o.inputs, problem: o.problems.find(({ field }) => fields.some(({ name }) => name === field)), connections: o.connections })}
${o.kind === "schedule" || texts.length === 0 ? "" : takeFields(o, texts)}`;
}

function takeFields(o: TriggerForm, fields: readonly InputField[]): Markup {
  const names = EVENT_VALUES[o.kind];
  const choose = (id: string, choices: readonly (readonly [value: string, label: string])[]) =>
    html`<select id="${id}" name="${id}"><option value="">Nothing</option>${choices.map(([value, label]) => html`<option value="${value}"${o.typed[id] === value ? html` selected` : ""}>${label}</option>`)}</select>`;
  const value = (id: string) =>
    names.length === 0
      ? html`<input id="${id}" name="${id}" value="${o.typed[id] ?? ""}" maxlength="64" autocomplete="off" autocapitalize="off" spellcheck="false">`
      : choose(
          id,
          names.map((name) => [name, nameOf(name)] as const),
        );
  const ordinal = (pair: number) => (pair === 1 ? "" : html`<span class="hidden"> ${pair}</span>`);
  const pairs = PAIRS.map(
    (pair) =>
      html`<div class="inline field"><div><label for="field-${pair}">Into the field${ordinal(pair)}</label>${choose(
        `field-${pair}`,
        fields.map(({ name, label }) => [name, label] as const),
      )}</div><div><label for="value-${pair}">${names.length === 0 ? "Member of its data" : "Value"}${ordinal(pair)}</label>${value(`value-${pair}`)}</div></div>`,
  );
  return html`<fieldset id="take"><legend>${LABELS.take} <span class="optional">(optional)</span></legend><p class="help">A field that is chosen here takes a text of each event, such as ${EVENT_EXAMPLES[o.kind]}, instead of what is written above.</p>${said(o, "take")}
${pairs}</fieldset>`;
}

function accountField(o: TriggerForm): Markup {
  if (o.accounts.length < 2) return html``;
  const options = o.accounts.map(
    ({ id, label }) => html`<option value="${id}"${o.typed.account === id ? html` selected` : ""}>${label}</option>`,
  );
  return html`<div class="field"><label for="account">${LABELS.account}</label>${said(o, "account")}<select id="account" name="account"><option value="">The default one</option>${options}</select></div>`;
}

function textField(
  o: TriggerForm,
  name: string,
  help: Markup | string,
  { example = "", isOptional = false }: { example?: string; isOptional?: boolean },
): Markup {
  return html`<div class="field"><label for="${name}">${LABELS[name]}${isOptional ? html` <span class="optional">(optional)</span>` : ""}</label><p class="help" id="${name}-help">${help}</p>${said(o, name)}<input id="${name}" name="${name}" value="${o.typed[name] ?? ""}" placeholder="${example}" autocomplete="off" autocapitalize="off" spellcheck="false"${marks(o, name, `${name}-help`)}></div>`;
}

function problemSummary({ problems, template }: TriggerForm): Markup {
  if (problems.length === 0) return html``;
  const inputs = template === undefined ? [] : listFields(template);
  const tell = ({ field, problem }: FieldProblem) => {
    const input = inputs.find(({ name }) => name === field);
    const label = input?.label ?? LABELS[field];
    if (label === undefined) return html`${problem}`;
    return html`<a href="#${input === undefined ? "" : "in-"}${field}">${label}</a>: ${problem}.`;
  };
  return html`<div class="notice bad" role="alert"><p><strong>The trigger was not made.</strong></p>${problems.map((problem) => html`<p>${tell(problem)}</p>`)}</div>`;
}

function said({ problems }: TriggerForm, field: string): Markup {
  const own = problems.find((problem) => problem.field === field);
  return own === undefined
    ? html``
    : html`<p class="problem" id="${field}-problem">${LABELS[field]}: ${own.problem}.</p>`;
}

function marks({ problems }: TriggerForm, field: string, help = ""): Markup {
  const isWrong = problems.some((problem) => problem.field === field);
  const described = [help, isWrong ? `${field}-problem` : ""].filter(Boolean).join(" ");
  return html`${isWrong ? html` aria-invalid="true"` : ""}${described === "" ? "" : html` aria-describedby="${described}"`}`;
}
