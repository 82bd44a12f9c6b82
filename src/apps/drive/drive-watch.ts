import { parseFolderPath } from "../../service/files/folder.ts";
import { refuseValue, ServiceError } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { foldText } from "../../shared/base/text.ts";
import type { FolderEntry } from "../port/connection-folder.ts";
import type { ActionContext, AppEvent, Watch } from "../port/integration.ts";
import type { Drive, OpenDrive } from "./drive.ts";
import { searchFiles } from "./list-files.ts";

/** A file that changed less than this many milliseconds ago may still be written: a later look takes it. */
const SETTLED_MS = 2000;
/** Most files that fit a trigger: all of them are remembered. */
const MAX_FILES = 10_000;

/** Most entries of a walk: some seconds on a slow disk. */
const MAX_VISITED = 50_000;

/** Finds files at paths where there was none. Folders, links and names that begin with a dot are left out. */
export function createDriveWatch(open: OpenDrive): Watch {
  const like = searchFiles(open);
  return {
    kind: "file",
    like: like.id,
    async look({ query, folder, limit, isKnown }, context) {
      const drive = await open(context, like);
      const found = await listFitting(drive, { parts: parseFolderPath(folder, "folder"), pattern: query }, context);
      const now = context.now();
      const fresh = found.filter((entry) => !isKnown(entry.path) && isSettled(now - Date.parse(entry.modified ?? "")));
      const events = fresh.slice(0, limit).map((entry) => toEvent(entry, now));
      return { events, more: fresh.length > limit, places: found.map(({ path }) => path) };
    },
  };
}

async function listFitting(
  drive: Drive,
  { parts, pattern }: { readonly parts: readonly string[]; readonly pattern: string },
  { signal }: ActionContext,
): Promise<FolderEntry[]> {
  const fits = readPattern(pattern);
  const start = parts.length === 0 ? 0 : parts.join("/").length + 1;
  const found: FolderEntry[] = [];
  let visited = 0;
  for await (const entry of drive.walk({ parts, field: "folder" })) {
    signal.throwIfAborted();
    visited += 1;
    if (visited > MAX_VISITED) throw tooMany(`more than ${MAX_VISITED} entries`);
    if (entry.type === "file" && fits(entry.path.slice(start))) found.push(entry);
    if (found.length > MAX_FILES) throw tooMany(`more than ${MAX_FILES} files that fit`);
  }
  return found;
}

function toEvent({ path, name, modified, size }: FolderEntry, now: number): AppEvent {
  const facts = {
    ...(modified === undefined ? {} : { modified }),
    ...(size === undefined ? {} : { size: String(size) }),
  };
  return {
    id: sha256Hex(JSON.stringify([path, modified, size])),
    place: path,
    at: now,
    values: { path, name, ...facts },
  };
}

/** A time that is not known, or in the future, says nothing. */
function isSettled(age: number): boolean {
  return !(age >= 0 && age < SETTLED_MS);
}

/**
 * A pattern of paths below the folder, in which `*` stands for any text, also with slashes; case does not matter. An empty
 * one fits every file.
 */
function readPattern(pattern: string): (path: string) => boolean {
  const wanted = foldText(pattern.trim());
  if (wanted === "") return () => true;
  if (wanted.length > 200) throw refuseValue("pattern", "is longer than 200 characters.", "Shorten it.");
  const parts = wanted.split("*");
  return (path) => fitsParts(foldText(path), parts);
}

/** Whether the texts come one after another, the first at the beginning and the last at the end. */
function fitsParts(path: string, [first = "", ...others]: readonly string[]): boolean {
  if (!path.startsWith(first)) return false;
  let at = first.length;
  const last = others.pop();
  if (last === undefined) return at === path.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return path.length - last.length >= at && path.endsWith(last);
}

function tooMany(what: string): ServiceError {
  return new ServiceError(422, "too_many_files", `The folder has ${what}.`, {
    type: "validation",
    hint: "Name a folder below it.",
  });
}
