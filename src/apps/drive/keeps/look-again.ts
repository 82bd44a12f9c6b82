import { createHash } from "node:crypto";
import type { z } from "zod";
import { chooseTrashFolder } from "../../../service/files/write-file.ts";
import { ServiceError } from "../../../service/service-error.ts";
import { createKeeps, type Keeps } from "../../port/define-action.ts";
import type { ActionContext } from "../../port/integration.ts";
import { quoteName, refuseChanged } from "../../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../../port/undo.ts";
import { type Drive, type DriveThing, type EntryPath, takeName, toText } from "../drive.ts";
import { isLike, isSame, type KeptPlace, toPath } from "./kept-things.ts";

/** `createKeeps` of a drive: what a drive refuses about the places of a write is the reason why it cannot be undone or told. */
export function createDriveKeeps<Intent extends z.ZodType, After extends z.ZodType>({
  undo,
  settle,
  ...schemas
}: Parameters<typeof createKeeps<Drive, Intent, After>>[0] &
  Required<Pick<Parameters<typeof createKeeps<Drive, Intent, After>>[0], "undo" | "settle">>): Keeps<Drive> {
  return createKeeps<Drive, Intent, After>({
    ...schemas,
    undo: (...args) =>
      undo(...args).catch((error: unknown): UndoPlan => {
        if (isAboutPlaces(error)) throw refuseUndo("a place that it needs is not there, or not free, any more.");
        throw error;
      }),
    settle: (...args) =>
      settle(...args).catch((error: unknown): Verdict => {
        if (isAboutPlaces(error)) return cannotKnow("Its places were changed since.");
        throw error;
      }),
  });
}

function isAboutPlaces(error: unknown): boolean {
  return error instanceof ServiceError && (error.status === 400 || error.status === 404);
}

/** A path that a call is about to change: what it loses there goes to a folder of the trash that is chosen by now. */
export function toChanged(path: EntryPath, { expectedState, now }: ActionContext): EntryPath {
  return { ...path, isUnseen: expectedState === undefined, trashFolder: chooseTrashFolder(path.parents, now()) };
}

/** A thing with all that is in it; undefined when nothing is there. */
export async function lookWhole(drive: Drive, path: EntryPath): Promise<DriveThing | undefined> {
  const found = await drive.look(path).catch((error: unknown) => {
    // Nothing is below a file.
    if (error instanceof ServiceError && error.status === 400) return undefined;
    throw error;
  });
  return found?.entry.type === "folder" ? { ...found, inside: await drive.lookInside(path) } : found;
}

/** Notes how a write left the thing at a place. A look that fails, or finds another thing, is not noted: the write was made. */
export async function leaveThing(
  { leave }: ActionContext,
  { drive, place, isOurs }: { drive: Drive; place: KeptPlace; isOurs: (thing: DriveThing) => boolean },
): Promise<void> {
  if (leave === undefined) return;
  const left = await lookWhole(drive, toPath(place)).catch(() => undefined);
  if (left !== undefined && isOurs(left)) leave({ left });
}

/** Refuses to take back what is not as it was left. */
export function requireLeft(now: DriveThing | undefined, left: DriveThing): void {
  if (!isSame(now, left)) throw refuseUndo(`${quoteName(left.entry.name, 80)} was changed since.`);
}

/** Refuses, as the last thing before it is moved back, a folder that changed after that was planned. Files are compared by their drive. */
export async function requireStill(drive: Drive, path: EntryPath): Promise<void> {
  const { expected } = path;
  if (expected?.entry.type !== "folder" || isSame(await lookWhole(drive, { ...path, expected: undefined }), expected))
    return;
  throw refuseChanged();
}

/** Refuses to take back where something is by now. */
export async function requireFree(drive: Drive, path: EntryPath): Promise<void> {
  if ((await drive.look(path)) === undefined) return;
  throw refuseUndo(`something is at its old place ${quoteName(toText(path), 100)} now.`);
}

/** The old version of a file, in the trash. Refuses where it is not there any more. */
export async function requireOld(drive: Drive, path: EntryPath, replaced: DriveThing): Promise<DriveThing> {
  const old = await lookWhole(drive, path);
  if (old !== undefined && isLike(replaced, old)) return old;
  throw refuseUndo(`the old version of ${quoteName(path.name, 80)} is no longer in .trash.`);
}

/** Refuses where the answer of a write was lost, and nobody can tell how it left things. */
export function requireHappened(verdict: Verdict): void {
  if (verdict.verdict !== "happened") throw refuseUndo("nobody knows how it left things.");
}

/**
 * What has the name of a place that was free, and, where a call could take a numbered name instead of `wanted`, the names behind
 * it up to the first that is free.
 */
export async function listTaken(drive: Drive, place: KeptPlace, wanted: string | null): Promise<DriveThing[]> {
  const found: DriveThing[] = [];
  let hasBegun = false;
  await takeName(toPath({ ...place, name: wanted ?? place.name }), true, async (name) => {
    hasBegun ||= name === place.name;
    if (!hasBegun) return false;
    const thing = await lookWhole(drive, toPath({ ...place, name }));
    if (thing !== undefined) found.push(thing);
    return thing === undefined || wanted === null;
  });
  return found;
}

/** True when a thing is a file with these bytes; it is read where its drive does not tell. */
export async function hasBytes(
  drive: Drive,
  { entry, isOther, sha256 }: DriveThing,
  file: { readonly size: number; readonly sha256: string; readonly parents: readonly string[] },
): Promise<boolean> {
  if (entry.type === "folder" || isOther || entry.size !== file.size) return false;
  if (sha256 !== undefined) return sha256 === file.sha256;
  return drive.read(toPath({ parents: file.parents, name: entry.name }), async ({ read }) => {
    const hash = createHash("sha256");
    for await (const piece of read(0, file.size)) hash.update(piece);
    return hash.digest("hex") === file.sha256;
  });
}
