import { z } from "zod";
import { type DriveThing, type EntryPath, seeThing } from "../drive.ts";

const flatSchema = z.object({
  entry: z.object({
    path: z.string(),
    name: z.string(),
    type: z.enum(["file", "folder"]),
    size: z.number().exactOptional(),
    mimetype: z.string().exactOptional(),
    modified: z.string().exactOptional(),
  }),
  etag: z.string().optional(),
  sha256: z.string().optional(),
  isOther: z.boolean().exactOptional(),
});

/** A {@link DriveThing} as it is kept. */
export const thingSchema = flatSchema.extend({
  inside: z.object({ things: z.array(flatSchema), isWhole: z.boolean() }).exactOptional(),
});

/** Where a thing is. */
export const placeSchema = z.object({ parents: z.array(z.string()), name: z.string() });
/** A place without the rest of its path. */
export type KeptPlace = z.output<typeof placeSchema>;

/** How a write left the one thing that it made or moved. */
export const leftSchema = z.object({ left: thingSchema });

/** What is kept of the name that a move or an upload takes. */
export const takenSchema = z.object({
  /** Where a numbered name may be taken instead: the name that was asked for. */
  wanted: z.string().nullable(),
  replaced: thingSchema.nullable(),
  /** Of the replaced file. */
  trashed: placeSchema,
  madeFolders: z.array(z.string()),
});

/** The place of a path. */
export function toPlace({ parents, name }: EntryPath): KeptPlace {
  return { parents: [...parents], name };
}

/** The path of a place, as no argument names it. */
export function toPath({ parents, name }: Pick<EntryPath, "parents" | "name">): EntryPath {
  return { parents, name, field: "execution_id" };
}

/** The path of a folder by its text. */
export function readPath(text: string): EntryPath {
  const parents = text.split("/");
  const name = parents.pop() ?? "";
  return toPath({ parents, name });
}

/** True when both are the same state of the same thing. */
export function isSame(one: DriveThing | undefined, other: DriveThing | undefined): boolean {
  return JSON.stringify(one && seeThing(one)) === JSON.stringify(other && seeThing(other));
}

/** True when a thing may be another one at a new place: with equal names and sizes, and bytes where they are known. */
export function isLike(before: DriveThing, now: DriveThing): boolean {
  return compare(before, now, () => true);
}

/**
 * True when a thing is another one at a new place: its bytes are known to be equal, or it has kept its version or its time. A
 * server may give it new ones: then it cannot be told.
 */
export function isMoved(before: DriveThing, now: DriveThing): boolean {
  return compare(before, now, (one, other) => {
    if (one.sha256 !== undefined && other.sha256 !== undefined) return true;
    const [etag, version] = [one, other].map((thing) => thing.etag?.replace(/^W\//, ""));
    if (etag !== undefined && etag === version) return true;
    return one.entry.modified !== undefined && one.entry.modified === other.entry.modified;
  });
}

type Compare = (one: DriveThing, other: DriveThing) => boolean;

function compare(before: DriveThing, now: DriveThing, isFile: Compare): boolean {
  if (before.inside === undefined && now.inside === undefined) return compareOne(before, now, isFile);
  const [old, fresh] = [listBelow(before), listBelow(now)];
  return (
    before.entry.type === now.entry.type &&
    before.inside?.isWhole === now.inside?.isWhole &&
    old.length === fresh.length &&
    old.every(([path, thing], at) => {
      const [samePath, other] = fresh[at] ?? [];
      return path === samePath && other !== undefined && compareOne(thing, other, isFile);
    })
  );
}

function compareOne(one: DriveThing, other: DriveThing, isFile: Compare): boolean {
  if (one.entry.type !== other.entry.type || one.isOther !== other.isOther) return false;
  if (one.entry.type === "folder" || one.isOther) return true;
  const isOtherText = one.sha256 !== undefined && other.sha256 !== undefined && one.sha256 !== other.sha256;
  return one.entry.size === other.entry.size && !isOtherText && isFile(one, other);
}

/** What is inside, by its paths below the folder. */
function listBelow({ entry, inside }: DriveThing): (readonly [string, DriveThing])[] {
  const below = (inside?.things ?? []).map((thing) => [thing.entry.path.slice(entry.path.length), thing] as const);
  return below.sort(([a], [b]) => (a < b ? -1 : 1));
}
