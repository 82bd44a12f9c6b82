import { chooseTrashFolder } from "../../service/files/write-file.ts";
import { ServiceError } from "../../service/service-error.ts";
import { losesLines } from "../../shared/base/text.ts";
import type { ActionContext } from "../port/integration.ts";
import { quoteName } from "../port/preview.ts";
import { type KeptWrite, refuseUndo, type UndoPlan } from "../port/undo.ts";
import { readFrontMatter } from "./front-matter.ts";
import { joinPage, splitPage } from "./page-text.ts";
import { previewUndoneChange, previewUndoneNew, previewUndoneRemoval } from "./preview-page.ts";
import {
  findPageAt,
  lookInFolder,
  movePage,
  refuseTaken,
  removeEmpty,
  replacePage,
  trashPage,
  updates,
} from "./vault-files.ts";
import { type ChangedFile, type CreatedPage, type RemovedFile, readVaultKept } from "./vault-kept.ts";
import { type Page, seePage, summarisePage, viewPage } from "./vault-pages.ts";

type Context = Pick<ActionContext, "connection" | "now" | "signal">;

/** Plans how a write of a vault is taken back. Throws as `Action.undo`. */
export async function planVaultUndo(context: Context, kept: KeptWrite): Promise<UndoPlan> {
  const write = readVaultKept(kept, context.connection);
  if (typeof write === "string") throw refuseUndo(write);
  const { intent, after } = write;
  if (intent.write === "create") return undoCreate(context, intent, after?.fileName ?? intent.fileName);
  return intent.write === "change" ? undoChange(context, intent) : undoRemove(context, intent);
}

/** Throws ServiceError 409 where the page is not as the write left it. */
async function getLeft(
  { connection }: Context,
  place: Parameters<typeof findPageAt>[1],
  sha256: string,
): Promise<Page> {
  const name = quoteName([...place.parents, place.fileName].join("/"), 120);
  const page = await findPageAt(connection, place);
  if (page === undefined) throw refuseUndo(`${name} was moved or deleted since.`);
  if (page === "other" || page.sha256() !== sha256) throw refuseUndo(`${name} was changed since.`);
  return page;
}

async function undoCreate(context: Context, intent: CreatedPage, fileName: string): Promise<UndoPlan> {
  const { connection, now } = context;
  const { parents, sha256, newFolders } = intent;
  const page = await getLeft(context, { parents, fileName }, sha256);
  const first = parents.length - newFolders;
  const made = parents.slice(first).map((_, index) => parents.slice(0, first + index + 1).join("/"));
  const effects = made.map((path) => ({
    code: "removes_folder",
    text: `The folder ${quoteName(path, 80)} was made for it: it goes, too, unless something else is in it.`,
  }));
  const left = "It goes to .trash; a human can bring it back.";
  return {
    draft: previewUndoneNew(viewPage(page), { notes: connection.label, left, seen: seePage(page), effects }),
    raised: { level: "delete", says: "takes away the page" },
    async act() {
      const trashedTo = await trashPage(context, page, chooseTrashFolder(parents, now()));
      await removeEmpty(connection, parents, first);
      return { ...summarisePage(page), deleted: true, trashed_to: trashedTo };
    },
  };
}

async function undoChange(context: Context, intent: ChangedFile): Promise<UndoPlan> {
  const { before, pageId, becomes } = intent;
  if (before === undefined) throw refuseUndo("the old text was too long to be kept.");
  const page = await getLeft(context, intent, becomes);
  const text = splitPage(before);
  const old = { ...page, ...readFrontMatter(text.yaml), text };
  const isLost = losesLines(joinPage(page.text), before, /^updated:/);
  const left = isLost ? "What the page is now is kept in .trash." : "Nothing is lost by it.";
  const o = { notes: context.connection.label, left, seen: seePage(page) };
  return {
    draft: previewUndoneChange({ before: viewPage(page), after: viewPage(old) }, o),
    raised: isLost ? { level: "delete", says: "takes away or replaces text of the page" } : undefined,
    async act() {
      await updates.run(() => replacePage(context, page, { text: before, isLost }), context.signal);
      return { ...summarisePage(old), modified: new Date(context.now()).toISOString(), page_id: pageId };
    },
  };
}

async function undoRemove(context: Context, intent: RemovedFile): Promise<UndoPlan> {
  const { connection } = context;
  const { parents, fileName, sha256, trash, page: was } = intent;
  const path = [...parents, fileName].join("/");
  const name = quoteName(path, 120);
  const page = await findPageAt(connection, { parents: trash, fileName });
  if (page === undefined || page === "other" || page.sha256() !== sha256)
    throw refuseUndo(`${name} is no longer in .trash as it was.`);
  const look = lookInFolder(connection, { parents, field: "page_id" }, (folder) => refuseTaken(folder.at(fileName)));
  const { newFolders } = await look.catch((error: unknown) => {
    const isTaken = error instanceof ServiceError && error.status === 400;
    throw isTaken ? refuseUndo(`something else is at ${name} now.`) : error;
  });
  const left = "The page can be deleted again by hand.";
  const seen = [...[seePage(page)], path, newFolders];
  return {
    draft: previewUndoneRemoval({ ...viewPage(page), path }, { notes: connection.label, left, seen, newFolders }),
    async act() {
      await movePage(context, page, parents);
      await removeEmpty(connection, trash, 1);
      return was;
    },
  };
}
