import { diffLines, type LineDiff } from "../../shared/base/line-diff.ts";
import { exactTime } from "../../shared/base/text.ts";
import type { PreviewChange, PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import { changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import type { ChangedPage, NewPage, PageView, RemovedPage } from "./notebook.ts";

/** Front matter that is shown by another name, or that the notebook keeps for itself. */
const OWN = new Set(["id", "title", "tags", "created", "updated"]);
/** Lines that show which page is deleted. */
const FIRST_LINES = 8;

/** The preview of a new page; `notes` is the label of the connection. */
export function previewNew({ after, newFolders, isTaken, undo, seen }: NewPage, notes: string): PreviewDraft {
  const text = diffLines("", after.body);
  const exists = `A page of that name is there already; the new one becomes ${quoteName(after.path, 120)}.`;
  return {
    summary: `Create the page ${quoteName(after.title)} in ${quoteName(notes, 24)} (${count(text.added, "line")})`,
    objects: [describePage(after)],
    changes: [...showText(text), ...compareFields(undefined, after)],
    effects: [
      ...newFolders.map((path) => ({ code: "creates_folder", text: `New folder: ${quoteName(path, 120)}.` })),
      ...(isTaken ? [{ code: "renames", text: exists }] : []),
    ],
    undo,
    seen,
  };
}

/** The preview of a changed page. */
export function previewChange({ before, after, undo, seen }: ChangedPage, notes: string): PreviewDraft {
  const text = diffLines(before.body, after.body);
  const fields = compareFields(before, after);
  const where = `${quoteName(before.title)} in ${quoteName(notes, 24)}`;
  const isReplaced = before.body.trim() !== "" && text.removed > 0;
  return {
    summary: summariseChange(text, { fields, where, isEmptied: isReplaced && after.body.trim() === "" }),
    objects: [describePage(before)],
    changes: [...showText(text), ...fields],
    effects: isReplaced
      ? [{ code: "replaces", text: `${count(text.removed, "line")} of the present text will be gone from the page.` }]
      : [],
    undo,
    seen,
  };
}

/** The preview of a deleted page. */
export function previewRemoval({ before, inside = [], undo, seen }: RemovedPage, notes: string): PreviewDraft {
  return {
    summary: `Delete the page ${quoteName(before.title)} from ${quoteName(notes, 24)}`,
    objects: [describePage(before)],
    changes: showText(diffLines(before.body, "", FIRST_LINES)),
    effects: [
      { code: "moves_to_trash", text: "The page moves to the trash; nothing is erased." },
      ...(inside.length === 0 ? [] : [{ code: "moves_many", text: sayInside(inside) }]),
    ],
    undo,
    seen,
  };
}

/** What is said of an undo besides the page itself. */
interface Undone {
  /** Label of the connection. */
  readonly notes: string;
  /** How a human takes the undo back, as a sentence. */
  readonly left: string;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
  /** Default: none. */
  readonly effects?: readonly PreviewEffect[];
}

/** The preview of an undo that takes a new page away again. */
export function previewUndoneNew(page: PageView, { notes, left, seen, effects = [] }: Undone): PreviewDraft {
  const draft = previewRemoval({ before: page, undo: { possible: false, why: left }, seen }, notes);
  const summary = `Take the new page ${quoteName(page.title)} away again from ${quoteName(notes, 24)}`;
  return { ...draft, summary, effects: [...(draft.effects ?? []), ...effects] };
}

/** The preview of an undo that gives a page back the text and the fields it had. */
export function previewUndoneChange(
  { before, after }: { readonly before: PageView; readonly after: PageView },
  { notes, left, seen, effects = [] }: Undone,
): PreviewDraft {
  const draft = previewChange({ before, after, undo: { possible: false, why: left }, seen }, notes);
  const text = diffLines(before.body, after.body);
  const counts = text.removed > 0 ? ` ${countChange(text, compareFields(before, after))}` : "";
  const summary = `Put ${quoteName(before.title)} in ${quoteName(notes, 24)} back as it was${counts}`;
  return { ...draft, summary, effects: [...(draft.effects ?? []), ...effects] };
}

/** The preview of an undo that brings a deleted page back. */
export function previewUndoneRemoval(
  page: PageView,
  { newFolders = [], ...o }: Undone & { /** Paths. Default: none. */ readonly newFolders?: readonly string[] },
): PreviewDraft {
  const undo = { possible: false, why: o.left };
  const draft = previewNew({ after: page, newFolders, isTaken: false, undo, seen: o.seen }, o.notes);
  const summary = `Bring back ${quoteName(page.title)} from the trash in ${quoteName(o.notes, 24)}`;
  return { ...draft, summary, effects: [...(draft.effects ?? []), ...(o.effects ?? [])] };
}

function sayInside(titles: readonly string[]): string {
  const named = titles.slice(0, 3).map((title) => quoteName(title, 30));
  const more = titles.length - named.length;
  const all = [...named, ...(more === 0 ? [] : [`${more} more`])].join(", ");
  return `With it ${titles.length === 1 ? "goes the page" : `go ${titles.length} pages`} inside it: ${all}.`;
}

function describePage({ title, path, tags, modified, body }: PageView): PreviewObject {
  const details = [
    { label: "Path", value: path },
    { label: "Tags", value: tags.join(", ") },
    { label: "Last changed", value: modified === undefined ? "" : exactTime(modified) },
    { label: "Length", value: body.trim() === "" ? "empty" : count(body.trim().split("\n").length, "line") },
  ];
  return { kind: "page", name: title, details: details.filter(({ value }) => value !== "") };
}

function showText({ text }: LineDiff): PreviewChange[] {
  return text === "" ? [] : [{ field: "Text", diff: text }];
}

/** Title, tags and properties. */
function compareFields(before: PageView | undefined, after: PageView): PreviewChange[] {
  const names = new Set([...Object.keys(before?.properties ?? {}), ...Object.keys(after.properties)]);
  const own = [...names].filter((name) => !OWN.has(name));
  return [
    ...(before === undefined ? [] : changeValue("Title", before.title, after.title)),
    ...changeValue("Tags", before?.tags, after.tags),
    ...own.flatMap((name) => changeValue(`Property ${name}`, before?.properties[name], after.properties[name])),
  ];
}

function summariseChange(
  { added, removed }: LineDiff,
  o: { readonly fields: readonly PreviewChange[]; readonly where: string; readonly isEmptied: boolean },
): string {
  const rest = countFields(o.fields);
  const gone = count(removed, "line");
  if (o.isEmptied) return `Empty the page ${o.where} (${gone})${rest}`;
  if (removed > 0) return `Replace text of ${o.where} ${countChange({ added, removed }, o.fields)}`;
  if (added > 0) return `Add ${count(added, "line")} to ${o.where}${rest}`;
  const [first, second] = o.fields;
  if (first === undefined) return `Leave ${o.where} as it is`;
  return second === undefined
    ? `Change ${first.field.toLowerCase()} of ${o.where}`
    : `Change ${count(o.fields.length, "field")} of ${o.where}`;
}

function countChange(
  { added, removed }: Pick<LineDiff, "added" | "removed">,
  fields: readonly PreviewChange[],
): string {
  return `(${count(removed, "line")} gone, ${added} new)${countFields(fields)}`;
}

function countFields({ length }: readonly PreviewChange[]): string {
  return length > 0 ? `, and ${count(length, "field")}` : "";
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
