import { html } from "hono/html";
import { isRecord } from "../../../shared/base/json.ts";
import { toPlainText } from "../../../shared/card/plain-text.ts";
import type { Connection } from "../../connections/connection.ts";
import { findDefaultConnection } from "../../connections/connections.ts";
import type { InputField } from "../../flows/template-input.ts";
import type { Markup } from "./page.ts";
import { dataView, nameOf } from "./values.ts";

/** Values of a form, as they were typed. */
export type TypedValues = Readonly<Record<string, string>>;

/** A field that cannot be used as it is, and why; an empty name stands for the whole form. */
export interface FieldProblem {
  readonly field: string;
  readonly problem: string;
}

/** Texts up to this length fit one line. */
const ONE_LINE = 500;

/** Name of the control of an input, which is never one of the form itself. */
function toControl(name: string): string {
  return `in.${name}`;
}

/** The values of a form as they were typed. */
export function readTyped(fields: readonly InputField[], form: URLSearchParams): TypedValues {
  return Object.fromEntries(fields.map(({ name }) => [name, form.get(toControl(name)) ?? ""]));
}

/** A text in which fields stand as `name` or `input.name`, with what people call them. */
export function nameFields(text: string, fields: readonly InputField[]): string {
  return text.replaceAll(/`(?:input\.)?(\w+)`/g, (whole, name) => {
    const label = fields.find((field) => field.name === name)?.label;
    return label === undefined ? whole : `“${label}”`;
  });
}

/** The input that a form means: an empty field is left out, and what is no number stays as it was typed. */
export function readInput(fields: readonly InputField[], form: URLSearchParams): Record<string, unknown> {
  const read = fields.map((field) => [field.name, readValue(field, form.get(toControl(field.name)))] as const);
  return Object.fromEntries(read.filter(([, value]) => value !== undefined));
}

const LOCAL_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/;

function readValue({ type, format }: InputField, typed: string | null): unknown {
  const text = (typed ?? "").replaceAll("\r\n", "\n");
  if (type === "boolean") return text === "yes";
  if (text.trim() === "") return undefined;
  if (type === "array") return text.split("\n").flatMap((line) => line.trim() || []);
  if (type === "string") return format === "date-time" && LOCAL_TIME.test(text) ? toUtc(text) : text;
  const number = Number(text);
  return Number.isFinite(number) ? number : text;
}

function toUtc(time: string): string {
  return time.length === "2027-01-31T09:00".length ? `${time}:00Z` : `${time}Z`;
}

/** The values that the form of a flow's input would have. */
export function toTyped(fields: readonly InputField[], input: Readonly<Record<string, unknown>>): TypedValues {
  const typed = fields.map((field) => [field.name, writeValue(field, input[field.name])] as const);
  return Object.fromEntries(typed.filter(([, value]) => value !== ""));
}

function writeValue({ type, format }: InputField, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (type === "boolean") return value === true ? "yes" : "no";
  if (Array.isArray(value)) return value.join("\n");
  if (isRecord(value)) return String(Object.values(value)[0] ?? "");
  const time = format === "date-time" ? Date.parse(String(value)) : Number.NaN;
  return Number.isNaN(time) ? String(value) : new Date(time).toISOString().slice(0, 19);
}

/** Fields of a form. `typed` undefined: it is new, and has the defaults. */
export function inputFields(
  fields: readonly InputField[],
  o: { typed: TypedValues | undefined; problem: FieldProblem | undefined; connections: readonly Connection[] },
): Markup {
  return html`${fields.map((field) => inputField(field, o))}`;
}

type FieldParts = Parameters<typeof inputFields>[1];

function inputField(field: InputField, o: FieldParts): Markup {
  const { name, label, description, type, format, isRequired } = field;
  const id = `in-${name}`;
  const problem = o.problem?.field === name ? o.problem.problem : undefined;
  const zone = format === "date-time" ? "In UTC." : "";
  const lines = type === "array" ? "One on each line." : "";
  const help = [field.app === undefined && description, lines, zone].filter(Boolean).join(" ");
  const described = [help && `${id}-help`, problem !== undefined && `${id}-problem`].filter(Boolean).join(" ");
  const marks = html`${problem === undefined ? "" : html` aria-invalid="true"`}${described === "" ? "" : html` aria-describedby="${described}"`}${isRequired ? html` required` : ""}`;
  const value = o.typed === undefined ? writeValue(field, field.default) : (o.typed[name] ?? "");
  const heading = html`${help === "" ? "" : html`<p class="help" id="${id}-help">${help}</p>`}${problem === undefined ? "" : html`<p class="problem" id="${id}-problem">${label}: ${problem}.</p>`}`;
  if (type === "boolean") {
    return html`<div class="field"><div class="choice"><input type="checkbox" id="${id}" name="${toControl(name)}" value="yes"${value === "yes" ? html` checked` : ""}${marks}><label for="${id}">${label}</label></div>${heading}</div>`;
  }
  const mark = isRequired || field.app !== undefined ? "" : html` <span class="optional">(optional)</span>`;
  return html`<div class="field"><label for="${id}">${label}${mark}</label>${heading}
${control(field, { id, value, marks, connections: o.connections })}</div>`;
}

function control(
  { name, type, format, app, enum: options, maxLength = 0 }: InputField,
  o: { id: string; value: string; marks: Markup; connections: readonly Connection[] },
): Markup {
  const { id, value, marks } = o;
  const attributes = html` id="${id}" name="${toControl(name)}"${marks}`;
  if (app !== undefined)
    return accountChoice(
      o.connections.filter(({ integration }) => integration === app),
      { ...o, attributes },
    );
  if (options !== undefined) {
    return html`<select${attributes}><option value=""></option>${options.map((one) => option(one, one, value))}</select>`;
  }
  if (type === "array" || (type === "string" && maxLength > ONE_LINE && format === undefined)) {
    return html`<textarea rows="3"${attributes}>${value}</textarea>`;
  }
  if (format === "date-time") return html`<input type="datetime-local" step="1" value="${value}"${attributes}>`;
  if (type === "string") return html`<input type="text" value="${value}" autocomplete="off"${attributes}>`;
  return html`<input type="text" inputmode="decimal" value="${value}" autocomplete="off"${attributes}>`;
}

/** Accounts by name; the first choice is the one that is the default when the flow starts. */
function accountChoice(
  own: readonly Connection[],
  { value, attributes }: { value: string; attributes: Markup },
): Markup {
  const standard = findDefaultConnection(own);
  const first =
    standard === undefined ? "No account is connected" : `The default account (${toPlainText(standard.label)})`;
  return html`<select${attributes}><option value="">${first}</option>${own.map(({ id, label }) => option(id, toPlainText(label), value))}</select>`;
}

function option(value: string, name: string, chosen: string): Markup {
  return html`<option value="${value}"${value === chosen ? html` selected` : ""}>${name}</option>`;
}

/** What a flow was started with, under the names that people know. */
export function inputView(
  input: Readonly<Record<string, unknown>>,
  { fields, connections }: { fields: readonly InputField[]; connections: readonly Connection[] },
): Markup {
  const entries = Object.entries(input);
  if (entries.length === 0) return dataView({});
  const row = ([name, value]: [string, unknown]) => {
    const field = fields.find((one) => one.name === name);
    const account = field?.app === undefined ? undefined : connections.find(({ id }) => id === value)?.label;
    return html`<dt>${field?.label ?? nameOf(name)}</dt><dd>${dataView(account ?? value)}</dd>`;
  };
  return html`<dl>${entries.map(row)}</dl>`;
}
