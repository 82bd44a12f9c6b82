import { buffer } from "node:stream/consumers";
import { looksLikeText } from "../../service/files/sniff-mimetype.ts";
import { diffLines, type LineDiff } from "../../shared/base/line-diff.ts";
import type { PreviewChange, PreviewUndo } from "../../shared/wire/preview.ts";
import type { PreviewFile } from "../port/integration.ts";
import { changeText, changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import { isFilePutAway } from "../port/put-away.ts";
import {
  describeNew,
  describeThing,
  listThings,
  sayBytes,
  sayCount,
  sayMany,
  sayNewFolders,
  sayReplaced,
} from "./describe-thing.ts";
import { type Drive, type DriveThing, type EntryPath, toText } from "./drive.ts";
import type { PlannedFolder, PlannedMove, PlannedPlace, PlannedRemoval } from "./plan-change.ts";

/** Longest text that is compared line by line, in bytes. */
const MAX_TEXT = 64 * 1024;
/** Lines that show which text is replaced. */
const FIRST_LINES = 8;
const NOTHING = { possible: false, why: "Nothing changes." };
const LOST = { possible: false, why: "The old version is not kept: this server cannot copy it to .trash." };
const LINK = { possible: false, why: "It is a link or no usual file; a human finds it in .trash." };

/** The preview of a file that is saved. Reads texts of at most 64 kB, to show what changes in them. */
export async function previewSave(
  plan: PlannedPlace,
  { file, drive, label }: { readonly file: PreviewFile; readonly drive: Drive; readonly label: string },
): Promise<PreviewDraft> {
  const { path, replaced, newFolders, isKept, seen } = plan;
  const size = sayBytes(file.size) || "size unknown";
  const text = await compareTexts(plan, file, drive);
  const diff = text === undefined ? await showReplaced(plan, drive) : showLines("Text", text);
  return {
    summary: summariseSave(plan, { size, text, label }),
    objects: [replaced ? describeThing(replaced) : describeNew(path, { size, type: file.mimetype })],
    changes: [...diff, ...(replaced ? changeValue("Size", sayBytes(replaced.entry.size), size) : [])],
    effects: [...sayNewFolders(newFolders), ...sayRenamed(plan), ...sayReplaced(replaced, isKept)],
    undo: sayUndo(plan),
    seen,
  };
}

function summariseSave(
  { path, replaced }: PlannedPlace,
  { size, text, label }: { readonly size: string; readonly text: LineDiff | undefined; readonly label: string },
): string {
  const name = quoteName(path.name);
  const drive = quoteName(label, 24);
  if (replaced === undefined) {
    const folder = path.parents.length === 0 ? "" : `${quoteName(path.parents.join("/"), 24)} of `;
    return `Save ${name} in ${folder}${drive} (${size})`;
  }
  const old = sayBytes(replaced.entry.size);
  const lines = text && `${text.removed} ${text.removed === 1 ? "line" : "lines"} gone, ${text.added} new`;
  return `Replace ${name} in ${drive} (${lines ?? `${old}, now ${size}`})`;
}

/** The preview of a folder that is created. */
export function previewFolder({ path, newFolders, seen }: PlannedFolder, label: string): PreviewDraft {
  const where = `the folder ${quoteName(toText(path), 60)} in ${quoteName(label, 24)}`;
  const isThere = newFolders.length === 0;
  return {
    summary: isThere ? `Leave ${where} as it is` : `Create ${where}`,
    objects: [{ kind: "folder", name: path.name, details: [{ label: "Path", value: toText(path) }] }],
    effects: sayNewFolders(newFolders),
    undo: isThere ? NOTHING : { possible: true },
    seen,
  };
}

/** The preview of a move. */
export function previewMove({ source, from, to, place, seen }: PlannedMove, label: string): PreviewDraft {
  const drive = quoteName(label, 16);
  if (place === undefined) {
    const summary = `Leave ${quoteName(from.name)} in ${drive} as it is`;
    return { summary, objects: [describeThing(source)], undo: NOTHING, seen };
  }
  const { replaced, newFolders, isKept } = place;
  const [old, fresh] = [from, to].map(({ parents }) => parents.join("/") || "top of the drive");
  const isSame = old === fresh;
  const what = `${isSame ? "Rename" : "Move"} ${quoteName(from.name, 24)}${sayCount(source)}`;
  const target = quoteName(isSame ? to.name : (fresh ?? ""), 24);
  return {
    summary: `${what} to ${target} in ${drive}${replaced ? ", replacing a file" : ""}`,
    ...listThings(source, replaced),
    changes: [
      ...changeValue("Name", from.name, to.name),
      ...changeValue("Folder", old, fresh),
      ...(replaced ? changeValue("Size", sayBytes(replaced.entry.size), sayBytes(source.entry.size)) : []),
    ],
    effects: [
      ...sayNewFolders(newFolders),
      ...sayRenamed(place),
      ...sayReplaced(replaced, isKept),
      ...(isFilePutAway(toText(to)) ? [HIDES] : []),
      ...sayMany(source),
    ],
    undo: sayUndo(place),
    seen,
  };
}

/** The preview of an old version that is moved from the trash over the file that replaced it. */
export async function previewRestore(
  { source, from, to, place, seen }: PlannedMove,
  { drive, label }: { readonly drive: Drive; readonly label: string },
): Promise<PreviewDraft> {
  const now = place?.replaced;
  const [before, after] = [await readText(drive, to, now), await readText(drive, from, source)];
  const diff = before === undefined || after === undefined ? [] : changeText("Text", before, after);
  return {
    summary: `Bring back the old version of ${quoteName(to.name)} in ${quoteName(label, 24)}`,
    objects: now ? [describeThing(now)] : [],
    changes: [...diff, ...changeValue("Size", sayBytes(now?.entry.size), sayBytes(source.entry.size))],
    effects: [{ code: "replaces", text: "The version of now goes to .trash, and the old one comes back from there." }],
    undo: { possible: false, why: "The version of now is kept in .trash; a human can bring it back." },
    seen,
  };
}

const HIDES = { code: "hides", text: "It moves to where it is hidden or thrown away." };

/** The preview of a deletion. */
export function previewRemoval({ source, path, seen }: PlannedRemoval, label: string): PreviewDraft {
  const what = `${source.entry.type} ${quoteName(path.name)}${sayCount(source)}`;
  return {
    summary: `Delete the ${what} from ${quoteName(label, 24)}`,
    ...listThings(source),
    effects: [
      { code: "moves_to_trash", text: "It moves to .trash of this drive; nothing is erased." },
      ...sayMany(source),
    ],
    undo: source.isOther ? LINK : { possible: true },
    seen,
  };
}

/** Whether what gets a place there can be taken back: then {@link PlannedPlace.replaced} comes back from the trash. */
function sayUndo({ replaced, isKept }: PlannedPlace): PreviewUndo {
  if (replaced?.isOther) return LINK;
  return isKept ? { possible: true } : LOST;
}

function sayRenamed({ path, isRenamed }: PlannedPlace) {
  return isRenamed ? [{ code: "renames", text: `The name is taken; it becomes ${quoteName(path.name, 120)}.` }] : [];
}

/** Undefined unless both are short texts in UTF-8, or the file is one and new. */
async function compareTexts({ path, replaced }: PlannedPlace, file: PreviewFile, drive: Drive) {
  const after = isShort(file.size) ? await toUtf8(file.open && buffer(file.open())) : undefined;
  if (after === undefined || replaced === undefined) return after === undefined ? undefined : diffLines("", after);
  const before = await readText(drive, path, replaced);
  return before === undefined ? undefined : diffLines(before, after);
}

/** What goes with a replaced text whose successor is not here yet, or is none. */
async function showReplaced({ path, replaced }: PlannedPlace, drive: Drive): Promise<PreviewChange[]> {
  const before = await readText(drive, path, replaced);
  return before === undefined ? [] : showLines("Replaced text", diffLines(before, "", FIRST_LINES));
}

function showLines(field: string, { text }: LineDiff): PreviewChange[] {
  return text === "" ? [] : [{ field, diff: text }];
}

function isShort(size: number | undefined): boolean {
  return size !== undefined && size <= MAX_TEXT;
}

/** Undefined unless it is a short text in UTF-8. */
async function readText(drive: Drive, path: EntryPath, thing: DriveThing | undefined): Promise<string | undefined> {
  return isShort(thing?.entry.size) ? toUtf8(readAll(drive, path)) : undefined;
}

function readAll(drive: Drive, path: EntryPath): Promise<Buffer> {
  return drive.read(path, ({ entry, read }) => buffer(read(0, Math.min(entry.size, MAX_TEXT))));
}

/** What cannot be read is shown without its text. */
async function toUtf8(reading: Promise<Buffer> | undefined): Promise<string | undefined> {
  const bytes = await reading?.catch(() => undefined);
  return bytes !== undefined && (await looksLikeText(bytes)) ? bytes.toString("utf8") : undefined;
}
