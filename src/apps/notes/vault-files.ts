import { lstat } from "node:fs/promises";
import { type Folder, removeEmptyFolders } from "../../service/files/folder.ts";
import { giveName, writeFileDurably } from "../../service/files/write-file.ts";
import { ServiceError } from "../../service/service-error.ts";
import { createGate } from "../../shared/base/concurrency.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { ActionContext, ConnectionView } from "../port/integration.ts";
import { refuseChanged } from "../port/preview.ts";
import { checkSame, type Page, readPageAt } from "./vault-pages.ts";

/** Two updates of one page must not overwrite each other. */
export const updates = createGate(1);

type Context = Pick<ActionContext, "connection" | "now">;

/** Where a page lies. */
interface PagePlace {
  readonly parents: readonly string[];
  readonly fileName: string;
}

/** The page at a path; undefined where nothing is there, `other` where something is that cannot be read as a page. */
export async function findPageAt(connection: ConnectionView, place: PagePlace): Promise<Page | "other" | undefined> {
  try {
    return await readPageAt(connection, { ...place, field: "page_id" });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    if (error instanceof ServiceError && error.status === 400) return "other";
    throw error;
  }
}

/**
 * Looks into a folder. Where it is not there, `found` is undefined and `newFolders` are the paths of the folders that are
 * missing, the highest first.
 */
export async function lookInFolder<T>(
  connection: ConnectionView,
  { parents, field }: { readonly parents: readonly string[]; readonly field: string },
  look: (folder: Folder) => Promise<T>,
): Promise<{ readonly found: T | undefined; readonly newFolders: readonly string[] }> {
  for (let depth = parents.length; ; depth--) {
    const newFolders = parents.slice(depth).map((_, index) => parents.slice(0, depth + index + 1).join("/"));
    const use = async (folder: Folder) => ({ found: newFolders.length > 0 ? undefined : await look(folder) });
    const opened = await localFolder
      .open(connection, { parts: parents.slice(0, depth), field }, use)
      .catch((error: unknown) => {
        if (depth === 0 || !(error instanceof ServiceError) || error.status !== 404) throw error;
        return undefined;
      });
    if (opened !== undefined) return { ...opened, newFolders };
  }
}

/** Waits until the disk holds a page at its place. Throws ServiceError 500 where it fails: a crash may undo what was done. */
export function flushPlace(connection: ConnectionView, { parents, fileName }: PagePlace): Promise<void> {
  const place = { parts: parents, field: "page_id", name: fileName };
  return localFolder.open(connection, place, (folder) => folder.flush());
}

/** Throws `EEXIST` where something has this name. */
export async function refuseTaken(path: string): Promise<void> {
  const isFree = await lstat(path).then(
    () => false,
    (error: unknown) => hasCode(error, "ENOENT"),
  );
  if (!isFree) throw Object.assign(new Error("is taken"), { code: "EEXIST" });
}

/**
 * Writes a text in the place of a page, which is kept in the trash where `isLost`. Throws ServiceError 412 when the page is no
 * longer as it was read.
 */
export async function replacePage(
  { connection, now }: Context,
  page: Page,
  { text, isLost }: { readonly text: string; readonly isLost: boolean },
): Promise<void> {
  const { parents, fileName: name, mode } = page;
  const entry = { parts: parents, field: "page_id", name };
  const keep = () => localFolder.keep(connection, entry, now());
  const check = () => checkSame(connection, page);
  const file = { name, bytes: [Buffer.from(text)], ifExists: "replace", mode, check, ...(isLost && { keep }) } as const;
  await localFolder.open(connection, entry, (folder) => writeFileDurably(folder, file));
}

/** Moves a page to the trash, into a folder that was chosen before; its path there. Throws as {@link replacePage}. */
export function trashPage(
  { connection, now }: Context,
  page: Page,
  trashFolder: readonly string[],
): ReturnType<typeof localFolder.trash> {
  const { parents, fileName: name } = page;
  const entry = { parts: parents, field: "page_id", name, trashFolder, check: () => checkSame(connection, page) };
  return localFolder.trash(connection, entry, now());
}

/**
 * Moves a page, such as one in the trash, to a folder, which is made where it is missing. Throws ServiceError 412 when it is no
 * longer as it was read, or its name is taken there.
 */
export async function movePage({ connection }: Context, page: Page, parents: readonly string[]): Promise<void> {
  const { fileName: name } = page;
  const check = () => checkSame(connection, page);
  const refuse = (error: unknown) => {
    throw hasCode(error, "EEXIST") ? refuseChanged() : error;
  };
  await localFolder.open(connection, { parts: page.parents, field: "page_id", name }, (from) =>
    localFolder.open(connection, { parts: parents, field: "page_id", name, create: true }, async (to) => {
      await giveName(from.at(name), to, name, { ifExists: "error", check }).catch(refuse);
      await to.flush();
      await from.flush();
    }),
  );
}

/** Takes away folders below the connection's one, from `parts[first]` on, as far as nothing is in them. Never fails. */
export async function removeEmpty(
  { settings }: ConnectionView,
  parts: readonly string[],
  first: number,
): Promise<void> {
  await removeEmptyFolders({ root: localFolder.read(settings), setting: "folder", parts }, first);
}
