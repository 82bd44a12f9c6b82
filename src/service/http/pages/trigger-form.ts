import { html } from "hono/html";
import type { FlowTemplate } from "../../../wire/flow.ts";
import { ServiceError } from "../../service-error.ts";
import {
  EVENT_VALUES,
  TRIGGER_DEEDS,
  TRIGGER_KINDS,
  type TriggerContent,
  type TriggerDeed,
  type TriggerKind,
  triggerContentSchema,
} from "../../triggers/trigger.ts";
import { csrfField, type Markup } from "./page.ts";

/** What a trigger waits for, and what it does, in words. */
export const KIND_NAMES: Readonly<Record<TriggerKind, string>> = {
  schedule: "A time",
  mail: "New mail",
  file: "A new file",
  webhook: "A webhook",
};
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
const DEED_HELP: Readonly<Record<TriggerDeed, string>> = {
  flow: "What it changes waits for your approval as always.",
  wake: "By the hooks of its gateway.",
  post: "Signed, to an address of yours.",
};

/** The choice that a form is for; undefined where the address names none. */
export function readChoice(query: Readonly<Record<string, string | undefined>>) {
  const kind = TRIGGER_KINDS.find((one) => one === query.kind);
  const deed = TRIGGER_DEEDS.find((one) => one === query.does);
  return kind === undefined || deed === undefined ? undefined : { kind, deed };
}

/** The first step of a new trigger. */
export function choiceBody(): Markup {
  const choice = (field: string, value: string, o: { name: string; help: string; isFirst: boolean }) =>
    html`<div class="choice"><input type="radio" id="${field}-${value}" name="${field}" value="${value}"${o.isFirst ? html` checked` : ""}><label for="${field}-${value}">${o.name} <span class="help">${o.help}</span></label></div>`;
  return html`<h1>New trigger</h1>
<section class="card" aria-label="New trigger">
<form method="get" action="/triggers/new">
<fieldset><legend>It waits for</legend>${TRIGGER_KINDS.map((kind, index) => choice("kind", kind, { name: KIND_NAMES[kind], help: KIND_HELP[kind], isFirst: index === 0 }))}</fieldset>
<fieldset><legend>Then it does this</legend>${TRIGGER_DEEDS.map((deed, index) => choice("does", deed, { name: DEED_NAMES[deed], help: DEED_HELP[deed], isFirst: index === 0 }))}</fieldset>
<div class="actions"><button class="primary">Go on</button></div>
</form>
</section>
<p><a href="/triggers">All triggers</a></p>`;
}

/** What was wrong with a form. */
export interface FormProblem {
  /** Name of the input; undefined where it is about none of them. */
  readonly field: string | undefined;
  readonly text: string;
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
  template: "Flow",
  input: "Input",
  take: "Values",
  url: "Address",
  token: "Hook token",
  text: "Text",
};

/** Fields of a form as they were typed. */
export type Typed = Readonly<Record<string, string>>;

/** Pairs of a field of the input and a value of the event that a form takes. */
const PAIRS = [1, 2] as const;

interface TriggerForm {
  readonly kind: TriggerKind;
  readonly deed: TriggerDeed;
  readonly typed: Typed;
  readonly problem: FormProblem | undefined;
  readonly templates: readonly FlowTemplate[];
  /** Accounts that can be looked into, by id. */
  readonly accounts: readonly (readonly [id: string, label: string])[];
  readonly csrfToken: string;
}

/** The form of a new trigger. */
export function formBody(o: TriggerForm): Markup {
  const { kind, deed, problem } = o;
  const where =
    problem?.field === undefined ? html`${problem?.text}` : html`<a href="#${problem.field}">${problem.text}</a>`;
  return html`<h1>New trigger</h1>
<p class="lead">${KIND_NAMES[kind]} ${DEED_PHRASES[deed]}. <a href="/triggers/new">Choose something else</a></p>
${problem === undefined ? "" : html`<p class="notice bad" role="alert">The trigger was not made. ${where}</p>`}
<section class="card" aria-label="New trigger">
<form method="post" action="/triggers/new" novalidate>${csrfField(o.csrfToken)}<input type="hidden" name="kind" value="${kind}"><input type="hidden" name="does" value="${deed}">
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
    html`${textField(o, "query", html`As <code>mail_search</code> knows it: <code>from:anna has:attachment</code>. <code>is:any</code> finds every message.`, { example: "is:any" })}
${accountField(o)}`,
  file: (o) =>
    html`${textField(o, "folder", html`For example <code>Scans/2026</code>; empty for the whole drive.`, { isOptional: true })}
${textField(o, "pattern", html`Below the folder, <code>*</code> stands for anything: <code>*.pdf</code>. Empty for every file.`, { isOptional: true })}
${accountField(o)}`,
  webhook: () =>
    html`<p class="muted">The address and the secret that signs it are shown when the trigger is made.</p>`,
};

const DEED_FIELDS: Readonly<Record<TriggerDeed, (o: TriggerForm) => Markup>> = {
  flow: (o) =>
    html`<div class="field"><label for="template">${LABELS.template}</label>${said(o, "template")}<select id="template" name="template"${marks(o, "template")}>${o.templates.map(({ key, name }) => html`<option value="${key}"${o.typed.template === key ? html` selected` : ""}>${name ?? key}</option>`)}</select></div>
<div class="field"><label for="input">${LABELS.input} <span class="optional">(optional)</span></label><p class="help" id="input-help">As JSON, like an agent sends it: <code>{"notionParent": "Tasks"}</code></p>${said(o, "input")}<textarea id="input" name="input" rows="4" spellcheck="false"${marks(o, "input", "input-help")}>${o.typed.input ?? ""}</textarea></div>
${o.kind === "schedule" ? "" : takeFields(o)}`,
  wake: (o) =>
    html`${textField(o, "url", html`Ends with <code>/hooks/agent</code>, for a run of its own, or <code>/hooks/wake</code>, for the main session.`, { example: "http://127.0.0.1:18789/hooks/agent" })}
<div class="field"><label for="token">${LABELS.token}</label><p class="help" id="token-help">The <code>hooks.token</code> of its configuration. It is encrypted and never shown.</p>${said(o, "token")}<input id="token" name="token" type="password" autocomplete="off"${marks(o, "token", "token-help")}></div>
<div class="field"><label for="text">${LABELS.text}</label><p class="help" id="text-help">What the agent is to do.</p>${said(o, "text")}<textarea id="text" name="text" rows="4" maxlength="2000"${marks(o, "text", "text-help")}>${o.typed.text ?? ""}</textarea></div>`,
  post: (o) =>
    html`${textField(o, "url", "In the form of Standard Webhooks, signed with a secret that is shown when the trigger is made.", {})}`,
};

function takeFields(o: TriggerForm): Markup {
  const names = EVENT_VALUES[o.kind];
  const value = (id: string) =>
    names.length === 0
      ? html`<input id="${id}" name="${id}" value="${o.typed[id] ?? ""}" maxlength="64" autocomplete="off" spellcheck="false">`
      : html`<select id="${id}" name="${id}"><option value="">nothing</option>${names.map((name) => html`<option value="${name}"${o.typed[id] === name ? html` selected` : ""}>${name}</option>`)}</select>`;
  return html`<fieldset id="take"><legend>${LABELS.take} of the event <span class="optional">(optional)</span></legend><p class="help">Texts from outside that go into fields of the input, as they are.</p>${said(o, "take")}
${PAIRS.map(
  (pair) =>
    html`<div class="inline"><div><label for="field-${pair}">Field${pair === 1 ? "" : html`<span class="hidden"> ${pair}</span>`}</label><input id="field-${pair}" name="field-${pair}" value="${o.typed[`field-${pair}`] ?? ""}" maxlength="64" autocomplete="off" autocapitalize="off" spellcheck="false"></div><div><label for="value-${pair}">Value${pair === 1 ? "" : html`<span class="hidden"> ${pair}</span>`}</label>${value(`value-${pair}`)}</div></div>`,
)}</fieldset>`;
}

function accountField(o: TriggerForm): Markup {
  if (o.accounts.length < 2) return html``;
  const options = o.accounts.map(
    ([id, label]) => html`<option value="${id}"${o.typed.account === id ? html` selected` : ""}>${label}</option>`,
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

function said({ problem }: TriggerForm, field: string): Markup {
  return problem?.field === field ? html`<p class="problem" id="${field}-problem">${problem.text}</p>` : html``;
}

function marks({ problem }: TriggerForm, field: string, help = ""): Markup {
  const isWrong = problem?.field === field;
  const described = [help, isWrong ? `${field}-problem` : ""].filter(Boolean).join(" ");
  return html`${isWrong ? html` aria-invalid="true"` : ""}${described === "" ? "" : html` aria-describedby="${described}"`}`;
}

/** The trigger that a form describes, or its first problem. */
export function readTriggerForm(typed: Typed): TriggerContent | FormProblem {
  const read = triggerContentSchema.safeParse({ name: typed.name ?? "", on: readOn(typed), act: readAct(typed) });
  if (!read.success) {
    const [issue] = read.error.issues;
    return describeProblem(String(issue?.path.at(-1) ?? ""), issue?.message ?? "is not valid");
  }
  const { act } = read.data;
  if (act.does === "wake" && (typed.token ?? "") === "") return describeProblem("token", "is needed");
  return read.data;
}

/** A problem of a field, told by its label. */
function describeProblem(field: string, text: string): FormProblem {
  const label = LABELS[field];
  return label === undefined ? { field: undefined, text } : { field, text: `${label} ${text}.` };
}

/** A refusal as a problem of the form; undefined for anything that is no mistake in it. */
export function toProblem(error: unknown): FormProblem | undefined {
  if (!(error instanceof ServiceError) || error.status >= 500) return undefined;
  const { field } = error.options.extra ?? {};
  if (typeof field === "string") return describeProblem(field, error.message);
  const [, argument = ""] = /^arguments\.(\w+) /.exec(error.message) ?? [];
  if (argument !== "")
    return describeProblem(argument, error.message.slice(`arguments.${argument} `.length).replace(/\.$/, ""));
  return { field: /^invalid_flow_input$/.test(error.code) ? "input" : undefined, text: error.message };
}

function readOn(typed: Typed): unknown {
  const { kind, cron = "", zone = "", query = "", folder = "", pattern = "", account = "" } = typed;
  const own = account === "" ? {} : { account };
  switch (kind) {
    case "schedule":
      return { kind, cron, zone };
    case "mail":
      return { kind, query, ...own };
    case "file":
      return { kind, folder, pattern, ...own };
    default:
      return { kind };
  }
}

function readAct(typed: Typed): unknown {
  const { does, template = "", url = "", text = "" } = typed;
  switch (does) {
    case "flow":
      return { does, template, input: readInput(typed.input ?? ""), take: readTake(typed) };
    case "wake":
      return { does, url, text };
    default:
      return { does, url };
  }
}

function readInput(text: string): unknown {
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function readTake(typed: Typed): Record<string, string> {
  const pairs = PAIRS.map((pair) => [typed[`field-${pair}`]?.trim() ?? "", typed[`value-${pair}`]?.trim() ?? ""]);
  return Object.fromEntries(pairs.filter(([field, value]) => field !== "" && value !== ""));
}
