import { z } from "zod";
import { quoteName } from "../../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../../port/undo.ts";
import { type Drive, toText } from "../drive.ts";
import { type PlannedRemoval, planMove } from "../plan-change.ts";
import { previewMove } from "../preview-change.ts";
import { isLike, isSame, leftSchema, placeSchema, thingSchema, toPath, toPlace } from "./kept-things.ts";
import { createDriveKeeps, lookWhole, requireFree, requireHappened, requireLeft, requireStill } from "./look-again.ts";

const intentSchema = z.object({ path: placeSchema, trashed: placeSchema, source: thingSchema });
type Intent = z.output<typeof intentSchema>;

/** What is kept of a thing that is about to be deleted; undefined for a link, which cannot be moved back. */
export function toRemovalIntent({ path, source }: PlannedRemoval): Intent | undefined {
  if (source.isOther || !path.trashFolder) return undefined;
  const intent = { path: toPlace(path), trashed: { parents: [...path.trashFolder], name: path.name }, source };
  return intentSchema.parse(intent);
}

/** What the call answers. */
export function sayRemoved(path: string, trashed: string) {
  return { path, deleted: true, trashed_to: trashed, restore: `Move "${trashed}" back to restore it.` };
}

/** Moves a deleted thing back out of the trash. */
export const removalKeeps = createDriveKeeps({
  intent: intentSchema,
  after: leftSchema,
  async undo({ intent, after }, drive, { connection }): Promise<UndoPlan> {
    const [from, to] = [toPath(intent.trashed), toPath(intent.path)];
    if (after === undefined) requireHappened(await settle(intent, drive));
    const now = await lookWhole(drive, from);
    const name = quoteName(intent.path.name, 80);
    if (now === undefined) throw refuseUndo(`${name} is no longer in .trash.`);
    if (after !== undefined) requireLeft(now, after.left);
    await requireFree(drive, to);
    const plan = await planMove(drive, { from, to }, "error");
    requireLeft(plan.source, now);
    const draft = previewMove(plan, connection.label);
    return {
      draft: {
        ...draft,
        summary: `Bring back ${quoteName(intent.path.name)} from the trash in ${quoteName(connection.label, 24)}`,
        changes: [{ field: "Place", before: ".trash", after: toText(intent.path) }],
        undo: { possible: false, why: "It can be deleted again." },
      },
      async act() {
        await requireStill(drive, plan.from);
        return { ...(await drive.move(plan.from, plan.to, "error")), restored: true };
      },
    };
  },
  settle: ({ intent }, drive) => settle(intent, drive),
});

async function settle({ path, trashed, source }: Intent, drive: Drive): Promise<Verdict> {
  const [there, left] = [await lookWhole(drive, toPath(path)), await lookWhole(drive, toPath(trashed))];
  if (left === undefined && isSame(there, source)) return { verdict: "did_not" };
  // Nobody else knows this place of the trash.
  if (there === undefined && left !== undefined && isLike(source, left)) {
    return { verdict: "happened", output: sayRemoved(toText(path), toText(trashed)), after: { left } };
  }
  const name = quoteName(path.name, 80);
  const where = `${there === undefined ? "not at its place" : "at its place"} and ${left === undefined ? "not in" : "in"}`;
  return cannotKnow(`${name}, or a part of it, is ${where} .trash, and may have been changed since.`);
}
