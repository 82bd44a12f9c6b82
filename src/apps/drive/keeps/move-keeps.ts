import type { z } from "zod";
import { afterChange } from "../../../service/service-error.ts";
import { quoteName } from "../../port/preview.ts";
import { isFilePutAway } from "../../port/put-away.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../../port/undo.ts";
import { type Drive, type DriveThing, seeThing, toText } from "../drive.ts";
import { type PlannedMove, planMove } from "../plan-change.ts";
import { previewMove } from "../preview-change.ts";
import {
  isLike,
  isMoved,
  isSame,
  type KeptPlace,
  leftSchema,
  placeSchema,
  takenSchema,
  thingSchema,
  toPath,
  toPlace,
} from "./kept-things.ts";
import {
  createDriveKeeps,
  listTaken,
  lookWhole,
  requireFree,
  requireLeft,
  requireOld,
  requireStill,
} from "./look-again.ts";
import { listMade, removeMade, sayMade } from "./made-folders.ts";

const intentSchema = takenSchema.extend({
  from: placeSchema,
  /** With the name that was free, or the file's that is replaced. */
  to: placeSchema,
  source: thingSchema,
});
type Intent = z.output<typeof intentSchema>;

/** What is kept of a move; undefined where nothing changes, or the replaced file cannot be brought back. */
export function toMoveIntent(
  { source, from, place }: PlannedMove,
  { drive, wanted }: { readonly drive: Drive; readonly wanted: string | null },
): Intent | undefined {
  if (place === undefined || !place.path.trashFolder || place.replaced?.isOther) return undefined;
  const to = toPlace(place.path);
  return intentSchema.parse({
    ...{ from: toPlace(from), to, wanted, source, replaced: place.replaced ?? null },
    trashed: { parents: [...place.path.trashFolder], name: to.name },
    madeFolders: listMade(drive, place.newFolders),
  });
}

/** Moves a thing back, and a file that it replaced out of the trash. */
export const moveKeeps = createDriveKeeps({
  intent: intentSchema,
  after: leftSchema,
  async undo({ intent, after }, drive, { connection }): Promise<UndoPlan> {
    const left = after?.left ?? (await findMoved(intent, drive)).left;
    if (left === undefined) throw refuseUndo("nobody knows how it left things.");
    const [from, to] = [toPath({ ...intent.to, name: left.entry.name }), toPath(intent.from)];
    requireLeft(await lookWhole(drive, from), left);
    await requireFree(drive, to);
    const old = intent.replaced && (await requireOld(drive, toPath(intent.trashed), intent.replaced));
    const plan = await planMove(drive, { from, to }, "error");
    requireLeft(plan.source, left);
    const draft = previewMove(plan, connection.label);
    const place = quoteName(toText(to), 60);
    return {
      draft: {
        ...draft,
        summary: `Move ${quoteName(left.entry.name, 30)} back to ${place} in ${quoteName(connection.label, 16)}`,
        effects: [...(draft.effects ?? []), ...sayOld(old, intent.to), ...sayMade(intent.madeFolders)],
        undo: { possible: false, why: "It can be moved again." },
        seen: [plan.seen, old && seeThing(old)],
      },
      raised: isFilePutAway(toText(to))
        ? { level: "delete", says: "moves it back to where it was hidden or thrown away" }
        : undefined,
      act: () => moveBack(plan, { intent, old, drive }),
    };
  },
  async settle({ intent }, drive): Promise<Verdict> {
    const { left, isUndone, why } = await findMoved(intent, drive);
    if (isUndone) return { verdict: "did_not" };
    if (left === undefined) return cannotKnow(why);
    return { verdict: "happened", output: { ...left.entry, moved_from: toText(intent.from) }, after: { left } };
  },
});

function sayOld(old: DriveThing | null, { name }: KeptPlace) {
  return old === null
    ? []
    : [{ code: "restores", text: `The replaced file ${quoteName(name, 80)} comes back from .trash.` }];
}

async function moveBack(
  plan: PlannedMove,
  { intent, old, drive }: { readonly intent: Intent; readonly old: DriveThing | null; readonly drive: Drive },
) {
  await requireStill(drive, plan.from);
  const moved = await drive.move(plan.from, plan.to, "error");
  if (old !== null) {
    const [from, to] = [toPath(intent.trashed), toPath(intent.to)];
    const what = `The move of ${quoteName(plan.from.name, 80)} back`;
    await afterChange(what, () => drive.move({ ...from, expected: old }, { ...to, expected: null }, "error"));
  }
  await removeMade(drive, intent.madeFolders);
  return { ...moved, moved_from: toText(plan.from) };
}

/** Where the thing is: at its new place alone, or, as before, at the old one alone. */
async function findMoved(
  { from, to, wanted, source, replaced, trashed }: Intent,
  drive: Drive,
): Promise<{ readonly left?: DriveThing; readonly isUndone?: boolean; readonly why: string }> {
  const there = await lookWhole(drive, toPath(from));
  const taken = await listTaken(drive, to, wanted);
  const found = taken.filter((thing) => isMoved(source, thing));
  // Where a numbered name may be taken, somebody else may have taken one, too.
  const isFree = (wanted === null ? taken : found).length === 0;
  const isAsBefore = replaced === null ? isFree : taken.length === 1 && isSame(taken[0], replaced);
  const name = quoteName(from.name, 80);
  if (isSame(there, source) && isAsBefore) return { isUndone: true, why: "" };
  const [left] = found;
  const old = replaced === null ? undefined : await lookWhole(drive, toPath(trashed));
  const isKept = replaced === null || (old !== undefined && isLike(replaced, old));
  if (there === undefined && found.length === 1 && left !== undefined && isKept) return { left, why: "" };
  const where = there === undefined ? "not at its old place" : "at its old place";
  const target = found.length > 0 ? "and at the new one" : "and not at the new one";
  return { why: `${name}, or a part of it, is ${where} ${target}, and may have been changed since.` };
}
