import { z } from "zod";
import type { HeldFile } from "../../port/integration.ts";
import { quoteName } from "../../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../../port/undo.ts";
import { type Drive, type DriveThing, toText } from "../drive.ts";
import { type PlannedPlace, planMove, planRemoval } from "../plan-change.ts";
import { previewRemoval, previewRestore } from "../preview-change.ts";
import { isLike, isSame, leftSchema, placeSchema, takenSchema, toPath, toPlace } from "./kept-things.ts";
import { createDriveKeeps, hasBytes, listTaken, lookWhole, requireLeft, requireOld } from "./look-again.ts";
import { listMade, removeMade, sayMade } from "./made-folders.ts";

const intentSchema = takenSchema.extend({
  /** With the name that was free, or the file's that is replaced. */
  path: placeSchema,
  file: z.object({ size: z.number(), sha256: z.string(), mimetype: z.string() }),
});
type Intent = z.output<typeof intentSchema>;

/** What is kept of a file that is about to be saved; undefined where the replaced one cannot be brought back. */
export function toUploadIntent(
  { path, replaced, newFolders }: PlannedPlace,
  { drive, held, wanted }: { readonly drive: Drive; readonly held: HeldFile; readonly wanted: string | null },
): Intent | undefined {
  if (!path.trashFolder || replaced?.isOther) return undefined;
  const { size, sha256, mimetype } = held;
  return intentSchema.parse({
    ...{ path: toPlace(path), wanted, file: { size, sha256, mimetype }, replaced: replaced ?? null },
    trashed: { parents: [...path.trashFolder], name: path.name },
    madeFolders: listMade(drive, newFolders),
  });
}

/** Moves the new file to the trash, and the old version back over it. */
export const uploadKeeps = createDriveKeeps({
  intent: intentSchema,
  after: leftSchema,
  async undo({ intent, after }, drive, { connection: { label } }): Promise<UndoPlan> {
    const left = after?.left ?? (await findSaved(intent, drive)).left;
    if (left === undefined) throw refuseUndo("nobody knows how it left things.");
    const now = await lookWhole(drive, toPath({ ...intent.path, name: left.entry.name }));
    // A server may have given the same bytes another version, such as when a later call was undone.
    const isOurs = isSame(now, left) || (now && (await hasBytes(drive, now, { ...intent.file, ...intent.path })));
    if (!now || !isOurs) throw refuseUndo(`${quoteName(left.entry.name, 80)} was changed since.`);
    return intent.replaced === null
      ? planTrash(intent, { drive, left: now, label })
      : planRestore(intent, { drive, left: now, label, replaced: intent.replaced });
  },
  async settle({ intent }, drive): Promise<Verdict> {
    const { left, isUndone, why } = await findSaved(intent, drive);
    if (isUndone) return { verdict: "did_not" };
    if (left === undefined) return cannotKnow(why);
    const { size, sha256, mimetype } = intent.file;
    return { verdict: "happened", output: { ...left.entry, size, sha256, mimetype }, after: { left } };
  },
});

interface Undone {
  readonly drive: Drive;
  readonly left: DriveThing;
  readonly label: string;
}

async function planTrash(intent: Intent, { drive, left, label }: Undone): Promise<UndoPlan> {
  const plan = await planRemoval(drive, toPath({ ...intent.path, name: left.entry.name }));
  requireLeft(plan.source, left);
  const draft = previewRemoval(plan, label);
  return {
    draft: {
      ...draft,
      summary: `Take the saved file ${quoteName(left.entry.name)} away from ${quoteName(label, 24)}`,
      effects: [...(draft.effects ?? []), ...sayMade(intent.madeFolders)],
      undo: { possible: false, why: "It can be moved back from .trash." },
    },
    raised: { level: "delete", says: "moves the saved file to .trash" },
    async act() {
      const trashed = await drive.trash(plan.path);
      await removeMade(drive, intent.madeFolders);
      return { path: toText(plan.path), trashed_to: trashed };
    },
  };
}

async function planRestore(
  intent: Intent,
  { drive, left, label, replaced }: Undone & { readonly replaced: DriveThing },
): Promise<UndoPlan> {
  const [from, to] = [toPath(intent.trashed), toPath(intent.path)];
  await requireOld(drive, from, replaced);
  const plan = await planMove(drive, { from, to }, "replace");
  if (plan.place?.replaced === undefined) throw refuseUndo(`${quoteName(to.name, 80)} was changed since.`);
  requireLeft(plan.place.replaced, left);
  return {
    draft: await previewRestore(plan, { drive, label }),
    raised: { level: "delete", says: "replaces the file with its old version" },
    act: async () => ({ ...(await drive.move(plan.from, plan.to, "replace")), restored: true }),
  };
}

/** The file, where its bytes are at its place; or that all is as before. */
async function findSaved(
  { path, wanted, file, replaced, trashed }: Intent,
  drive: Drive,
): Promise<{ readonly left?: DriveThing; readonly isUndone?: boolean; readonly why: string }> {
  const name = quoteName(path.name, 80);
  const taken = await listTaken(drive, path, wanted);
  const found: DriveThing[] = [];
  for (const thing of taken) if (await hasBytes(drive, thing, { ...file, parents: path.parents })) found.push(thing);
  const [left] = found;
  const old = replaced === null ? undefined : await lookWhole(drive, toPath(trashed));
  // It is copied there before it is replaced.
  const isKept = replaced === null || (old !== undefined && isLike(replaced, old));
  if (found.length === 1 && left !== undefined && isKept) return { left, why: "" };
  const isAsBefore = replaced === null ? taken.length === 0 : isSame(taken[0], replaced);
  if (isAsBefore) return { isUndone: true, why: "" };
  return { why: `${name} is another file than was to be saved, or was changed since.` };
}
