import { isRecord } from "../base/json.ts";
import type { Preview, PreviewChange } from "../wire/preview.ts";
import type { CardFact } from "./card-layout.ts";
import { type DrawnValue, drawPart, drawText } from "./card-text.ts";

/** What a service found out about a call before anybody is asked. */
export interface LookedCall {
  readonly preview?: Preview | undefined;
  /** True where the present state could not be read. */
  readonly previewFailed?: boolean | undefined;
}

/** Labels of the facts of a preview; see {@link drawPreview}. */
export const PREVIEW_LABELS = ["In short", "Changes", "Besides", "Undo", "About", "Lines"];

/**
 * What a call would do, as the first facts of a card: the sentence, what was and what will be, consequences, the way back, what
 * it is about, and last, as they may be long, lines of texts that change. None where nobody looked. Escapes characters that match
 * `also`.
 */
export function drawPreview({ preview, previewFailed }: LookedCall, also?: RegExp): CardFact[] {
  const text = (value: string) => drawText(value, also);
  if (preview === undefined)
    return previewFailed === true
      ? [{ label: "In short", values: [{ line: "not known: the present state could not be read" }] }]
      : [];
  const { summary, changes, effects, undo } = preview;
  const facts: readonly [string, readonly DrawnValue[]][] = [
    ["In short", [{ line: text(summary) }]],
    ["Changes", changes.flatMap((change) => (change.diff === undefined ? [drawChange(change, also)] : []))],
    ["Besides", effects.map((effect) => ({ line: text(effect.text) }))],
    ["Undo", [{ line: describeUndo(undo, text) }]],
    ["About", drawObjects(preview, also)],
    ["Lines", changes.flatMap((change) => drawDiff(change, also))],
  ];
  return facts.flatMap(([label, values]) => (values.length === 0 ? [] : [{ label, values }]));
}

/** Whether there is a way back, in one line. */
export function describeUndo({ possible, until, why }: Preview["undo"], text: (value: string) => string): string {
  const day = until === undefined ? "" : ` until ${text(until.replace(/^(\d{4}-\d\d-\d\d)T.*$/, "$1"))}`;
  const said = possible ? `possible${day}` : "not by the service";
  return why === undefined ? said : `${said}: ${text(why)}`;
}

function drawChange({ field, before, after }: PreviewChange, also?: RegExp): DrawnValue {
  const name = drawPart(field, also);
  const was = before === undefined ? undefined : drawSide(before, also);
  const is = after === undefined ? undefined : drawSide(after, also);
  if (was === undefined) return { line: `${name}: ${is ?? ""} (new)` };
  return { line: is === undefined ? `${name}: ${was} (goes away)` : `${name}: ${was} -> ${is}` };
}

/** One side of a change; in quotes where it could be taken for more than that. */
function drawSide(text: string, also?: RegExp): string {
  const isPlain = drawText(text, also) === text && text.trim() === text && text !== "" && !/->|["()]/.test(text);
  return isPlain ? text : drawText(JSON.stringify(text), also);
}

function drawDiff({ field, diff }: PreviewChange, also?: RegExp): DrawnValue[] {
  if (diff === undefined) return [];
  return [{ line: `${drawPart(field, also)}:` }, ...listDiffLines(diff).map((line) => drawDiffLine(line, also))];
}

/** One line of a diff. */
export interface DiffLine {
  /** `@`: where a part begins; `\`: a note of the service, such as how many lines are left out. */
  readonly sign: "+" | "-" | " " | "@" | "\\";
  readonly text: string;
}

/** Lines of a unified diff, without where its first part begins; a line that is none counts as unchanged. */
export function listDiffLines(diff: string): DiffLine[] {
  const lines = diff.split("\n");
  return lines.slice(lines[0]?.startsWith("@") ? 1 : 0).map((line) => {
    const sign = line[0];
    if (sign === "@") return { sign, text: line };
    if (sign === "+" || sign === "-" || sign === "\\" || sign === " ") return { sign, text: line.slice(1) };
    return { sign: " ", text: line };
  });
}

function drawDiffLine({ sign, text }: DiffLine, also?: RegExp): DrawnValue {
  if (sign === "@") return { line: "..." };
  // Two blanks would be escaped in text: the sign and what follows are apart.
  return { line: `${sign} ${drawIndented(text, also)}`.trimEnd() };
}

/** Indentation is seen as it is: a card puts it behind its gutter and a sign. */
function drawIndented(text: string, also?: RegExp): string {
  const depth = /^ */.exec(text)?.[0].length ?? 0;
  return " ".repeat(depth) + drawText(text.slice(depth), also);
}

function drawObjects({ objects, objectCount }: Preview, also?: RegExp): DrawnValue[] {
  const rest = objectCount - objects.length;
  const lines = objects.map(({ kind, name, details }) => {
    const told = details.map(({ label, value }) => `${drawPart(label, also)}: ${drawPart(value, also)}`);
    return { line: [`${drawPart(kind, also)} ${drawPart(name, also)}`, ...told].join("; ") };
  });
  return rest > 0 ? [...lines, { line: `and ${rest.toLocaleString("en-GB")} more` }] : lines;
}

/** Names of arguments that name something for programs. */
const IDS = /(?:^|_)ids?$|[a-z]Ids?$/;

/**
 * The arguments that a preview does not tell by itself, and the others: ids of what it names, and values and texts that stand
 * among its changes. `isShown`: true for what else stands on the card beside the preview.
 */
export function splitTold(
  args: Readonly<Record<string, unknown>>,
  preview: Preview | undefined,
  isShown: (value: unknown) => boolean = () => false,
): { readonly untold: Record<string, unknown>; readonly told: Record<string, unknown> } {
  const isSaid = preview === undefined ? () => false : createTold(preview);
  const isTold = (name: string, value: unknown) => preview !== undefined && (isShown(value) || isSaid(name, value));
  const entries = Object.entries(args);
  return {
    untold: Object.fromEntries(entries.filter(([name, value]) => !isTold(name, value))),
    told: Object.fromEntries(entries.filter(([name, value]) => isTold(name, value))),
  };
}

function createTold({ changes, objects }: Preview): (name: string, value: unknown) => boolean {
  const details = objects.flatMap((one) => [one.name, ...one.details.map(({ value }) => value)]);
  const texts = new Set([...changes.flatMap(({ after }) => after ?? []), ...details]);
  const gone = new Set(changes.filter(({ after, diff }) => after === undefined && diff === undefined).map(nameOf));
  const added = changes.flatMap(({ diff }) => (diff === undefined ? [] : [listDiffLines(diff)])).filter(isWhole);
  const isToldText = (text: string) => texts.has(text) || added.some((lines) => addsOnly(lines, text));
  const isTold = (name: string, value: unknown): boolean => {
    if (IDS.test(name)) return objects.length > 0;
    if (typeof value === "string") return isToldText(value);
    if (value === null) return gone.has(name);
    if (Array.isArray(value)) return texts.has(value.join(", ")) || value.every((item) => isTold(name, item));
    if (isRecord(value)) return Object.entries(value).every(([key, part]) => isTold(key, part));
    return texts.has(String(value));
  };
  return isTold;
}

/** The last word of a field, such as `status` of `Property status`. */
function nameOf({ field }: PreviewChange): string {
  return field.split(" ").at(-1) ?? "";
}

function isWhole(lines: readonly DiffLine[]): boolean {
  return lines.every(({ sign }) => sign !== "\\");
}

/** True where a text has every line that a diff adds: what else is in it is there already. */
function addsOnly(lines: readonly DiffLine[], text: string): boolean {
  const own = new Set(text.split(/\r\n|[\r\n]/));
  const added = lines.filter(({ sign }) => sign === "+");
  return added.length > 0 && added.every((line) => own.has(line.text));
}
