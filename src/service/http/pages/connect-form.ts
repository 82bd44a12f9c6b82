import { html } from "hono/html";
import type { Integration, SettingField, SettingOption, Suggestion } from "../../../apps/port/integration.ts";
import type { Connection } from "../../connections/connection.ts";
import {
  type ConnectionForm,
  type FormProblems,
  listMissingScopes,
  offersReadOnly,
} from "../../connections/connection-form.ts";
import { missingList } from "./connection-page.ts";
import { csrfField, type Markup } from "./page.ts";

interface ConnectPage {
  readonly integration: Integration;
  /** Values of the fields: as typed, or the settings so far. Secrets are never shown. */
  readonly form: ConnectionForm;
  readonly problems: FormProblems;
  readonly csrfToken: string;
  /** Secrets that were typed the time before: names of their settings, and what stands for them. */
  readonly kept?: { readonly token: string; readonly names: ReadonlySet<string> } | undefined;
  /** What the values of a new form are based on. */
  readonly suggestion?: Suggestion | undefined;
  /** Name of the account that calls use which name none; undefined where the form does not ask about it. */
  readonly defaultLabel?: string | undefined;
}

/**
 * The form that connects an app; `isFirstStep` stands for the setting alone that the others follow from. `unwell` are its
 * connections that need help more than a new one.
 */
export function connectBody(
  o: ConnectPage & { readonly unwell: readonly Connection[]; readonly isFirstStep: boolean },
): Markup {
  const { integration, unwell } = o;
  return html`<h1>Connect ${integration.name}</h1>
<p class="lead">${integration.description}</p>
${unwell.map(
  (connection) =>
    html`<div class="notice warn"><p>“${connection.label}” is connected already but needs help.</p><p><a class="button" href="/connections/${connection.id}/reconnect">Reconnect “${connection.label}”</a></p></div>`,
)}
${o.isFirstStep ? firstStepCard(o) : formCard({ ...o, action: `/connect/${integration.slug}`, button: `Connect ${integration.name}`, keeps: () => false })}`;
}

function firstStepCard(o: ConnectPage): Markup {
  const { integration, problems } = o;
  const path = `/connect/${integration.slug}`;
  const fields = (integration.settingsForm ?? []).filter(({ name }) => name === integration.firstStep?.setting);
  return html`${problemSummary(fields, problems)}
<section class="card" aria-label="Settings">
<form method="post" action="${path}" novalidate>
${csrfField(o.csrfToken)}<input type="hidden" name="step" value="first">
${fields.map((field) => settingInput(field, { ...o, keeps: () => false }))}
<div class="actions"><button class="primary">Look up the rest</button><a href="${path}?all">Type everything yourself</a></div>
</form>
</section>`;
}

function suggestionNote({ note, page }: Suggestion): Markup {
  const link =
    page === undefined ? "" : html` <a href="${page}" rel="noreferrer" target="_blank">${new URL(page).host}</a>`;
  return html`<p class="notice" role="status">${note}${link}</p>`;
}

/** The form that makes a connection healthy again, or gives it more. */
export function reconnectBody(o: ConnectPage & { readonly connection: Connection }): Markup {
  const { integration, connection } = o;
  const missing = listMissingScopes(integration, connection);
  return html`<h1>Reconnect ${connection.label}</h1>
<p class="lead">${integration.name}. Its id <code>${connection.id}</code> stays, so waiting calls can simply be repeated.</p>
${
  missing.length === 0
    ? ""
    : html`<div class="notice warn">${missingList(missing)}<p>Choose “Read and write” below to grant it.</p></div>`
}
${formCard({
  ...o,
  action: `/connections/${connection.id}/reconnect`,
  button: "Reconnect",
  keeps: (name) => typeof connection.settings[name] === "string",
})}`;
}

type FormCard = ConnectPage & {
  readonly action: string;
  readonly button: string;
  /** True for a secret that stays when its field is left empty. */
  readonly keeps: (name: string) => boolean;
};

function formCard(card: FormCard): Markup {
  const { integration, form, problems } = card;
  const fields = (integration.settingsForm ?? []).map((field) =>
    field.group === undefined && !isMeant(field, card) ? { ...field, group: field.label } : field,
  );
  // Others say themselves in which ways they are signed in to.
  const isSignInNext = integration.findSignIn !== undefined && fields.every(({ kind }) => kind === "scopes");
  return html`${problemSummary(fields, problems)}
${card.suggestion === undefined ? "" : suggestionNote(card.suggestion)}
<section class="card" aria-label="Settings">
<form method="post" action="${card.action}" novalidate>
${csrfField(card.csrfToken)}${card.kept === undefined ? "" : html`<input type="hidden" name="kept" value="${card.kept.token}">`}
<div class="field"><label for="label">Name</label><p class="help" id="label-help">What you call this connection, to tell it from others.</p>
<input id="label" name="label" value="${form.label}" maxlength="60" autocomplete="off" aria-describedby="label-help"></div>
${integration.settingsHelp === undefined ? "" : html`<p>${integration.settingsHelp}</p>`}
${fields.filter(({ group }) => group === undefined).map((field) => settingInput(field, card))}
${groupFields(fields).map((group) => fieldGroup(group, card))}
${offersReadOnly(integration) ? accessChoice(form) : ""}
${card.defaultLabel === undefined ? "" : defaultChoice(form, card.defaultLabel)}
${isSignInNext ? html`<p class="help">The sign-in at its provider comes next.</p>` : ""}
<div class="actions"><button class="primary">${card.button}</button><a href="/connections">Cancel</a></div>
</form>
</section>`;
}

function problemSummary(fields: readonly SettingField[], problems: FormProblems): Markup {
  if (problems.size === 0) return html``;
  const general = problems.get("");
  const named = fields.filter((field) => problems.has(field.name));
  return html`<div class="notice bad" role="alert"><p><strong>This did not work yet.</strong></p>
${general === undefined ? "" : html`<p>${general}</p>`}
${named.length === 0 ? "" : html`<ul>${named.map((field) => html`<li><a href="#set-${field.name}">${field.label}</a>: ${problems.get(field.name)}</li>`)}</ul>`}</div>`;
}

/** Line breaks of what is pasted into a text field would be lost. */
const LINES = html` rows="4" spellcheck="false" autocapitalize="off"`;

const INPUTS = {
  text: html` type="text"`,
  folder: html` type="text" spellcheck="false" autocapitalize="off"`,
  email: html` type="email"`,
  secret: html` type="password"`,
} as const;

interface FieldGroup {
  readonly heading: string;
  readonly fields: readonly SettingField[];
}

function groupFields(fields: readonly SettingField[]): FieldGroup[] {
  const headings = new Set(fields.flatMap(({ group }) => (group === undefined ? [] : [group])));
  return [...headings].map((heading) => ({ heading, fields: fields.filter(({ group }) => group === heading) }));
}

/** False for a field that the choice it belongs to does not need. */
function isMeant({ with: needed }: SettingField, { form, integration }: ConnectPage): boolean {
  if (needed === undefined) return true;
  const choice = integration.settingsForm?.find(({ name }) => name === needed.setting);
  return needed.values.includes(form.values[needed.setting] || choice?.options?.[0]?.value || "");
}

/** Fields that few people need; open where something in it is wrong, or is not as it would be by itself. */
function fieldGroup({ heading, fields }: FieldGroup, card: FormCard): Markup {
  const isOpen = fields.some((field) => {
    const { name, kind, options } = field;
    if (field.with !== undefined && isMeant(field, card)) return true;
    const value = card.form.values[name] ?? "";
    const isChanged = value !== "" && value !== options?.[0]?.value;
    const isKept = kind === "secret" && (card.keeps(name) || card.kept?.names.has(name) === true);
    return card.problems.has(name) || isChanged || isKept;
  });
  return html`<details class="more"${isOpen ? html` open` : ""}><summary>${heading}</summary>
${fields.map((field) => settingInput(field, card))}</details>`;
}

function settingInput(
  field: SettingField,
  { integration, form, problems, keeps, kept: typed }: ConnectPage & Pick<FormCard, "keeps">,
): Markup {
  const { name, label, kind, optional } = field;
  const id = `set-${name}`;
  const problem = problems.get(name);
  const kept = typed?.names.has(name)
    ? "Leave it empty to use the one that you typed."
    : kind === "secret" && keeps(name)
      ? "Leave it empty to keep the one that is stored."
      : undefined;
  const help = [field.help, kept].filter((text) => text !== undefined).join(" ");
  const described = [help && `${id}-help`, problem !== undefined && `${id}-problem`].filter(Boolean).join(" ");
  const marks = html`${problem === undefined ? "" : html` aria-invalid="true"`}${described === "" ? "" : html` aria-describedby="${described}"`}`;
  const value = form.values[name] ?? "";
  // Not where a help text explains which fields are needed.
  const isMarked = optional && kind !== "choice" && field.group === undefined && integration.settingsHelp === undefined;
  if (kind === "scopes") return scopeInputs(field, { given: form.values[name], help });
  const control =
    kind === "choice"
      ? html`<select id="${id}" name="set.${name}"${marks}>${field.options?.map((one) => html`<option value="${one.value}"${one.value === value ? html` selected` : ""}>${one.label}</option>`)}</select>`
      : kind === "lines"
        ? html`<textarea id="${id}" name="set.${name}"${LINES}${optional ? "" : " required"}${marks}>${value}</textarea>`
        : html`<input id="${id}" name="set.${name}"${INPUTS[kind]} value="${kind === "secret" ? "" : value}" autocomplete="off"${
            optional || kept !== undefined ? "" : html` required`
          }${marks}>`;
  return html`<div class="field"><label for="${id}">${label}${isMarked ? html` <span class="optional">(optional)</span>` : ""}</label>
${help === "" ? "" : html`<p class="help" id="${id}-help">${help}</p>`}
${problem === undefined ? "" : html`<p class="problem" id="${id}-problem">${problem}</p>`}
${control}</div>`;
}

function scopeInputs(
  { name, label, options = [] }: SettingField,
  o: { given: string | undefined; help: string },
): Markup {
  const given = o.given?.split(" ");
  const isOn = (one: SettingOption) => given?.includes(one.value) ?? one.preselected === true;
  return html`<fieldset><legend>${label}</legend>${o.help === "" ? "" : html`<p class="help">${o.help}</p>`}
${options.map((one, index) => html`<div class="choice"><input type="checkbox" id="set-${name}-${index}" name="set.${name}" value="${one.value}"${isOn(one) ? html` checked` : ""}><label for="set-${name}-${index}">${one.label}${one.label === one.value ? "" : html` <span class="muted">${one.value}</span>`}</label></div>`)}
</fieldset>`;
}

function defaultChoice({ isDefault }: ConnectionForm, defaultLabel: string): Markup {
  return html`<fieldset><legend>Default account</legend>
<div class="choice"><input type="checkbox" id="default" name="default" value="yes"${isDefault === true ? html` checked` : ""}><label for="default"><strong>Use this one when an agent names no account</strong><br><span class="muted">So far that is “${defaultLabel}”, which stays connected.</span></label></div>
</fieldset>`;
}

function accessChoice({ access }: ConnectionForm): Markup {
  const choice = (value: ConnectionForm["access"], title: string, text: string) =>
    html`<div class="choice"><input type="radio" id="access-${value}" name="access" value="${value}"${access === value ? html` checked` : ""}><label for="access-${value}"><strong>${title}</strong><br><span class="muted">${text}</span></label></div>`;
  return html`<fieldset><legend>Access</legend>
${choice("read", "Read only", "Agents can look, and change nothing.")}
${choice("full", "Read and write", "Agents can also change things, after a person confirmed it.")}
</fieldset>`;
}
