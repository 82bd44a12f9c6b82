import { exactTime } from "../../shared/base/text.ts";
import type { PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import { quoteName } from "../port/preview.ts";
import type { DriveThing, EntryPath, ThingsInside } from "./drive.ts";

/** Most things of a folder that are named beside it. */
const MAX_NAMED = 9;
/** More files than these are said to go with their folder. */
const MANY = 10;

/** A size as a person reads it; empty where nobody knows it. */
export function sayBytes(size: number | undefined): string {
  if (size === undefined) return "";
  if (size < 1000) return `${size} ${size === 1 ? "byte" : "bytes"}`;
  const [unit, by] = size < 1e6 ? ["kB", 1e3] : size < 1e9 ? ["MB", 1e6] : ["GB", 1e9];
  return `${(size / Number(by)).toFixed(1)} ${unit}`;
}

/** A file that is not there yet. */
export function describeNew(path: EntryPath, facts: { readonly size: string; readonly type: string }): PreviewObject {
  const folder = path.parents.join("/");
  return toObject("file", path.name, { Folder: folder, Size: facts.size, Type: facts.type });
}

/** A file, or a folder with what is inside as numbers. */
export function describeThing({ entry, inside }: DriveThing): PreviewObject {
  const { path, name, type, size, modified = "" } = entry;
  const above = { Folder: path.includes("/") ? path.slice(0, path.lastIndexOf("/")) : "" };
  if (inside === undefined)
    return toObject(type, name, { ...above, Size: sayBytes(size), "Last changed": sayTime(modified) });
  const files = listFiles(inside);
  const newest = files.map((file) => file.entry.modified ?? "").reduce((a, b) => (a > b ? a : b), "");
  const bytes = files.reduce((sum, file) => sum + (file.entry.size ?? 0), 0);
  const facts = { Inside: sayInside(inside, files), Size: sayBytes(bytes), "Newest file": sayTime(newest) };
  return toObject(type, name, { ...above, ...facts });
}

function sayTime(iso: string): string {
  return iso === "" ? "" : exactTime(iso);
}

/** A thing, what it replaces, the first files of a folder after it, and how many there are in all. */
export function listThings(source: DriveThing, replaced?: DriveThing) {
  const files = source.inside === undefined ? [] : listFiles(source.inside);
  const start = source.entry.path.length + 1;
  const inside = files.slice(0, MAX_NAMED).map((file): PreviewObject => {
    const { kind, details } = describeThing(file);
    return { kind, name: file.entry.path.slice(start), details: details.filter(({ label }) => label !== "Folder") };
  });
  const gone = replaced === undefined ? [] : [{ ...describeThing(replaced), kind: "replaced file" }];
  const objects = [describeThing(source), ...gone, ...inside];
  return { objects, objectCount: 1 + gone.length + files.length };
}

/** ` (40 files)` behind the name of a folder; nothing behind that of a file. */
export function sayCount({ inside }: DriveThing): string {
  return inside === undefined ? "" : ` (${sayInside(inside, listFiles(inside))})`;
}

/** That many files go with their folder. */
export function sayMany({ inside }: DriveThing): PreviewEffect[] {
  if (inside === undefined) return [];
  const files = listFiles(inside);
  if (inside.isWhole && files.length <= MANY) return [];
  return [{ code: "moves_many", text: `With the folder go ${sayInside(inside, files)}.` }];
}

/** What happens to a file whose name is given to another one. */
export function sayReplaced(replaced: DriveThing | undefined, isKept: boolean): PreviewEffect[] {
  if (replaced === undefined) return [];
  const { name, modified } = replaced.entry;
  const age = modified === undefined ? "" : `, last changed ${exactTime(modified)},`;
  const left = isKept ? "the old version is kept in .trash" : "the old version is lost: this server cannot copy it";
  return [{ code: "replaces", text: `The file ${quoteName(name, 60)}${age} is replaced; ${left}.` }];
}

/** Folders that a change makes. */
export function sayNewFolders(paths: readonly string[]): PreviewEffect[] {
  return paths.map((path) => ({ code: "creates_folder", text: `New folder: ${quoteName(path, 150)}.` }));
}

function listFiles({ things }: ThingsInside): readonly DriveThing[] {
  return things.filter(({ entry }) => entry.type === "file");
}

function sayInside({ isWhole }: ThingsInside, files: readonly DriveThing[]): string {
  return `${isWhole ? "" : "more than "}${files.length} ${files.length === 1 ? "file" : "files"}`;
}

function toObject(kind: string, name: string, facts: Readonly<Record<string, string>>): PreviewObject {
  const details = Object.entries(facts).map(([label, value]) => ({ label, value }));
  return { kind, name, details: details.filter(({ value }) => value !== "") };
}
