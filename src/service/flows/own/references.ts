import { getAt, isRecord, setOwn } from "../../../shared/base/json.ts";

/** What references in a template may lead to: inputs, outputs of earlier steps, and the entry of a list. */
export interface Scope {
  readonly inputs: unknown;
  readonly steps: unknown;
  readonly item?: unknown;
}

/** `{{inputs.folder}}`, `{{steps.find.messages.0.subject}}`, `{{item.subject}}`: a path of names, and nothing else. */
const REFERENCE = /\{\{ *([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*) *\}\}/g;
const WHOLE = new RegExp(`^${REFERENCE.source}$`);

/**
 * A copy of a JSON value in which references are replaced. A text that is one reference becomes its value, of any type, and
 * is left out where that leads nowhere; within a longer text a value is written as text.
 */
export function fill(template: unknown, scope: Scope): unknown {
  if (typeof template === "string") return fillString(template, scope);
  if (Array.isArray(template)) return template.map((one) => fill(one, scope)).filter((one) => one !== undefined);
  if (!isRecord(template)) return template;
  const filled: Record<string, unknown> = {};
  for (const [name, part] of Object.entries(template)) {
    const value = fill(part, scope);
    if (value !== undefined) setOwn(filled, name, value);
  }
  return filled;
}

function fillString(text: string, scope: Scope): unknown {
  const [, path] = WHOLE.exec(text) ?? [];
  return path === undefined ? fillText(text, scope) : lookUp(path, scope);
}

/** A text in which references are replaced by their values as text: nothing for none, JSON for lists and objects. */
export function fillText(text: string, scope: Scope): string {
  return text.replaceAll(REFERENCE, (_, path: string) => {
    const value = lookUp(path, scope) ?? "";
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  });
}

function lookUp(path: string, scope: Scope): unknown {
  return getAt(scope, path.split("."));
}

/** A text within a JSON value, with the place where it stands. */
export interface PlacedText {
  /** E.g. `.tags[0]`; empty for the value itself. */
  readonly place: string;
  readonly text: string;
}

/** Every text of a JSON value. */
export function listTexts(value: unknown, place = ""): PlacedText[] {
  if (typeof value === "string") return [{ place, text: value }];
  if (Array.isArray(value)) return value.flatMap((one, index) => listTexts(one, `${place}[${index}]`));
  return isRecord(value) ? Object.entries(value).flatMap(([name, one]) => listTexts(one, `${place}.${name}`)) : [];
}

/** The paths of the references of a text, each as its names; undefined when something between `{{` and `}}` is none. */
export function readReferences(text: string): string[][] | undefined {
  if (text.replaceAll(REFERENCE, "").includes("{{")) return undefined;
  return [...text.matchAll(REFERENCE)].map(([, path = ""]) => path.split("."));
}
