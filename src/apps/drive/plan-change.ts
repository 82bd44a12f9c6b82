import type { IfExists } from "../../service/files/write-file.ts";
import type { ActionContext } from "../port/integration.ts";
import { checkState } from "../port/preview.ts";
import { type Drive, type DriveThing, type EntryPath, refusePath, seeThing, takeName, toText } from "./drive.ts";

/** A change worked out by reads alone; what it acts on is `expected` of its paths. */
interface Planned {
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** Where a file or folder is to be. */
export interface PlannedPlace extends Planned {
  /** With the name that it gets. */
  readonly path: EntryPath;
  readonly ifExists: "error" | "replace";
  /** The file that has the name now. */
  readonly replaced: DriveThing | undefined;
  /** True where another name was wanted. */
  readonly isRenamed: boolean;
  /** False where the drive cannot copy the file that is replaced to the trash before. */
  readonly isKept: boolean;
  readonly newFolders: readonly string[];
}

/** What is moved, and where to. */
export interface PlannedMove extends Planned {
  readonly source: DriveThing;
  readonly from: EntryPath;
  readonly to: EntryPath;
  readonly ifExists: IfExists;
  /** Undefined for a file that stays where it is. */
  readonly place: PlannedPlace | undefined;
}

/** What is moved to the trash. */
export interface PlannedRemoval extends Planned {
  readonly source: DriveThing;
  readonly path: EntryPath;
}

/** A folder that is created. */
export interface PlannedFolder extends Planned {
  readonly path: EntryPath;
  /** None where it is there already. */
  readonly newFolders: readonly string[];
}

/**
 * What a change depends on, planned for a call that is kept, and again for one that was approved for a state; throws ServiceError
 * 412 for another state.
 */
export async function planChange<Plan extends Planned>(
  context: Pick<ActionContext, "expectedState" | "keep">,
  plan: () => Promise<Plan>,
): Promise<Plan | undefined> {
  if (context.expectedState === undefined && context.keep === undefined) return undefined;
  const made = await plan();
  checkState(context, made.seen);
  return made;
}

/** Plans a place for a file. Refuses as a write to it does. */
export async function planPlace(drive: Drive, wanted: EntryPath, ifExists: IfExists): Promise<PlannedPlace> {
  let replaced: DriveThing | undefined;
  const name = await takeName(wanted, ifExists === "rename", async (free) => {
    const found = await drive.look({ ...wanted, name: free });
    if (ifExists === "replace") replaced = found;
    return found === undefined || ifExists === "replace";
  });
  if (replaced?.entry.type === "folder") throw refusePath("EISDIR", wanted);
  const isKept = replaced === undefined || (await drive.canKeep(wanted));
  const path = { ...wanted, name, expected: replaced ?? null, ...(!isKept && { trashFolder: null }) };
  const newFolders = replaced === undefined ? await listMissing(drive, wanted) : [];
  const was = replaced === undefined ? null : seeThing(replaced);
  const seen = [toText(path), was, newFolders, ...(isKept ? [] : ["not kept"])];
  const how = replaced === undefined ? "error" : "replace";
  return { path, ifExists: how, replaced, isRenamed: name !== wanted.name, isKept, newFolders, seen };
}

/**
 * What a call takes: the planned place, or where none was planned, the one that was asked for. A numbered name that nobody was
 * shown may become another one at the last moment: `numbered` is the name that was asked for then, else null.
 */
export function aimAt(
  place: PlannedPlace | undefined,
  { path, wanted, ifExists }: { readonly path: EntryPath; readonly wanted: EntryPath; readonly ifExists: IfExists },
): { readonly path: EntryPath; readonly ifExists: IfExists; readonly numbered: string | null } {
  if (place === undefined) return { path, ifExists, numbered: null };
  if (ifExists === "rename" && wanted.isUnseen) return { path: wanted, ifExists, numbered: wanted.name };
  return { path: place.path, ifExists: place.ifExists, numbered: null };
}

/** Where the version is that a call replaced; nothing where it replaced none. */
export function sayOldVersion(place: PlannedPlace | undefined) {
  if (place?.replaced === undefined) return {};
  const { name, trashFolder } = place.path;
  if (!trashFolder) return { note: "The old version is lost: the server cannot copy a file to .trash." };
  return { old_version: toText({ parents: trashFolder, name }) };
}

/** Plans a new folder: which folders are missing, its own included. Refuses as `createFolder` does. */
export async function planFolder(drive: Drive, path: EntryPath): Promise<PlannedFolder> {
  const { parents, name } = path;
  const found = await drive.look(path);
  if (found !== undefined && (found.isOther || found.entry.type === "file")) throw refusePath("EEXIST", path);
  const newFolders = found === undefined ? await listMissing(drive, { ...path, parents: [...parents, name] }) : [];
  return { path, newFolders, seen: [toText(path), newFolders] };
}

/** Plans a move. Refuses as `move` does. */
export async function planMove(
  drive: Drive,
  wanted: { readonly from: EntryPath; readonly to: EntryPath },
  ifExists: IfExists,
): Promise<PlannedMove> {
  const { source, path: from } = await planRemoval(drive, wanted.from);
  if (source.isOther) throw refusePath("ELOOP", from);
  const isFolder = source.entry.type === "folder";
  if (isFolder && toText(wanted.to).startsWith(`${toText(from)}/`)) throw refusePath("INSIDE", wanted.to);
  if (!isFolder && ifExists === "replace" && toText(wanted.to) === toText(from))
    return { source, from, to: wanted.to, ifExists, place: undefined, seen: seeThing(source) };
  const place = await planPlace(drive, wanted.to, isFolder ? "error" : ifExists);
  return { source, from, to: place.path, ifExists: place.ifExists, place, seen: [seeThing(source), place.seen] };
}

/** Plans a removal, with what is inside of a folder. Throws ServiceError 404. */
export async function planRemoval(drive: Drive, wanted: EntryPath): Promise<PlannedRemoval> {
  const found = await drive.look(wanted);
  if (found === undefined) throw refusePath("ENOENT", wanted);
  const isFolder = found.entry.type === "folder";
  const source = isFolder ? { ...found, inside: await drive.lookInside(wanted) } : found;
  return { source, path: { ...wanted, expected: source }, seen: seeThing(source) };
}

/** The folders that an entry is to be in, as far as they are missing. */
async function listMissing(drive: Drive, { parents, field, parentsField = field }: EntryPath): Promise<string[]> {
  const missing: string[] = [];
  for (let depth = parents.length; depth > 0; depth -= 1) {
    const path = { parents: parents.slice(0, depth - 1), name: parents[depth - 1] ?? "", field: parentsField };
    const found = await drive.look(path);
    if (found !== undefined && (found.isOther || found.entry.type === "file")) throw refusePath("ENOTDIR", path);
    if (found !== undefined) break;
    missing.unshift(toText(path));
  }
  return missing;
}
