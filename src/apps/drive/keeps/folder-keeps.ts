import { z } from "zod";
import { quoteName, refuseChanged } from "../../port/preview.ts";
import { cannotKnow, refuseUndo, type UndoPlan, type Verdict } from "../../port/undo.ts";
import { type Drive, type DriveThing, seeThing, toText } from "../drive.ts";
import type { PlannedFolder } from "../plan-change.ts";
import { type KeptPlace, placeSchema, readPath, toPath, toPlace } from "./kept-things.ts";
import { createDriveKeeps, lookWhole } from "./look-again.ts";

const intentSchema = z.object({ path: placeSchema, newFolders: z.array(z.string()).min(1) });
type Intent = z.output<typeof intentSchema>;

/** What is kept of a folder that is about to be created; undefined where it is there already. */
export function toFolderIntent({ path, newFolders }: PlannedFolder): Intent | undefined {
  return newFolders.length === 0 ? undefined : { path: toPlace(path), newFolders: [...newFolders] };
}

/** Takes the new folders away while nothing is in them. */
export const folderKeeps = createDriveKeeps({
  intent: intentSchema,
  after: z.object({ created: z.boolean() }),
  async undo({ intent, after }, drive, { connection }) {
    const name = quoteName(intent.path.name, 80);
    if (after?.created === false) throw refuseUndo(`somebody else made the folder ${name} at that moment.`);
    const top = await requireEmpty(intent, drive);
    return planRemoval(intent, { drive, top, label: connection.label });
  },
  async settle({ intent: { path, newFolders } }, drive): Promise<Verdict> {
    const found = await Promise.all(newFolders.map((folder) => lookWhole(drive, readPath(folder))));
    if (found.every((one) => one === undefined)) return { verdict: "did_not" };
    const made = found.filter((one) => one?.entry.type === "folder" && !one.isOther);
    const [top] = found;
    const own = made.at(-1);
    const isWhole = own !== undefined && made.length === found.length;
    // What is in it by now was not put there by this call, and the folder may not be from it either.
    if (isWhole && top !== undefined && findOther(top, newFolders) === undefined) {
      return {
        verdict: "happened",
        output: { ...own.entry, ...toEntry(path), created: true },
        after: { created: true },
      };
    }
    const name = quoteName(toText(path), 60);
    const there = made.map((one) => quoteName(one?.entry.path ?? "", 60)).join(", ");
    const why = isWhole
      ? `The folder ${name} is there, with something in it that was put there since.`
      : `Of the folders to ${name}, these are there: ${there || "none, but a file"}.`;
    return cannotKnow(why);
  },
});

function toEntry(path: KeptPlace) {
  return { path: toText(path), name: path.name, type: "folder" } as const;
}

/** The uppermost new folder, in which there is nothing but the other ones. */
async function requireEmpty({ path, newFolders }: Intent, drive: Drive): Promise<DriveThing> {
  const [first = toText(path)] = newFolders;
  const top = await lookWhole(drive, readPath(first));
  const own = await drive.look(toPath(path));
  if (top?.inside === undefined || own?.entry.type !== "folder")
    throw refuseUndo(`the folder ${quoteName(toText(path), 80)} is no longer there.`);
  const other = findOther(top, newFolders);
  if (other !== undefined) throw refuseUndo(`${quoteName(other, 80)} is in the new folder now.`);
  return top;
}

/** The path of something in the uppermost of the folders that is none of them. */
function findOther({ entry, inside }: DriveThing, newFolders: readonly string[]): string | undefined {
  // In a bucket, the path of a folder inside ends in a slash.
  const paths = inside?.things.map((thing) => thing.entry.path) ?? [];
  const other = paths.find((path) => !newFolders.includes(path.replace(/\/$/, "")));
  return other ?? (inside?.isWhole ? undefined : entry.path);
}

function planRemoval(
  { path, newFolders }: Intent,
  { drive, top, label }: { readonly drive: Drive; readonly top: DriveThing; readonly label: string },
): UndoPlan {
  return {
    draft: {
      summary: `Take the empty folder ${quoteName(toText(path), 60)} away from ${quoteName(label, 24)}`,
      objects: newFolders.map((folder) => ({ kind: "folder", name: folder, details: [] })),
      effects: [{ code: "removes_folder", text: "Only empty folders go; one that holds something by then stays." }],
      undo: { possible: false, why: "It can be created again." },
      seen: [newFolders, seeThing(top)],
    },
    raised: { level: "delete", says: "takes the empty folder away" },
    async act() {
      const gone: string[] = [];
      for (const folder of newFolders.toReversed()) {
        if (!(await drive.removeEmpty(readPath(folder)))) break;
        gone.push(folder);
      }
      if (gone.length === 0) throw refuseChanged();
      const left = newFolders.filter((folder) => !gone.includes(folder));
      return { removed_folders: gone, ...(left.length > 0 && { left_folders: left }) };
    },
  };
}
