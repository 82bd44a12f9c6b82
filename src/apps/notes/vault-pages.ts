import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { readWholeFile } from "../../service/files/folder.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { ActionContext, ConnectionView } from "../port/integration.ts";
import type { NotShown } from "../port/not-shown.ts";
import { refuseChanged } from "../port/preview.ts";
import { type FrontMatter, readFrontMatter } from "./front-matter.ts";
import type { PageSummary, PageView } from "./notebook.ts";
import { type PageText, splitPage } from "./page-text.ts";

/** Largest page that is read. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024;
const MAX_PAGES = 10_000;

/** One page of the vault. */
export interface Page extends FrontMatter {
  readonly parents: readonly string[];
  readonly fileName: string;
  readonly path: string;
  readonly text: PageText;
  readonly modified: Date;
  readonly mode: number;
  /** Of its bytes. */
  sha256(): string;
}

function toTags(value: unknown): string[] {
  const list: unknown[] = typeof value === "string" ? value.split(/[,\s]+/) : Array.isArray(value) ? value : [value];
  const texts = list.map((tag) => (typeof tag === "string" || typeof tag === "number" ? String(tag) : ""));
  return texts.filter((tag) => tag !== "").map((tag) => tag.replace(/^#/, ""));
}

/** Describes a page without its body, named by its path. */
export function summarisePage(page: Page): PageSummary {
  const { title, tags } = page.properties;
  const own = typeof title === "string" || typeof title === "number" ? String(title) : "";
  return {
    page_id: page.path,
    path: page.path,
    title: own.trim() === "" ? page.fileName.replace(/\.md$/i, "") : own,
    parent: page.parents.join("/"),
    tags: toTags(tags),
    modified: page.modified.toISOString(),
  };
}

/** All that a write of the page depends on, for the state of a preview. */
export function seePage({ path, sha256 }: Page): unknown {
  return [path, sha256()];
}

/** Throws ServiceError 412 once the file of a page is another than it was. */
export async function checkSame(connection: ConnectionView, page: Page): Promise<void> {
  const { parents, fileName } = page;
  const now = await readPageAt(connection, { parents, fileName, field: "page_id" }).catch(() => undefined);
  if (now?.sha256() !== page.sha256()) throw refuseChanged();
}

/** A page as a preview shows it. */
export function viewPage(page: Page): PageView {
  const { title, tags, path, modified } = summarisePage(page);
  return { title, tags, path, modified, properties: page.properties, body: page.text.body };
}

/** Whether an address of a page is its path. */
export function isPagePath(pageId: string): boolean {
  return /\.md$/i.test(pageId);
}

/** The front matter's `id`; undefined also for one that looks like a path. */
export function readId({ properties: { id } }: Page): string | undefined {
  const own = typeof id === "string" || typeof id === "number" ? String(id) : "";
  return own === "" || isPagePath(own) ? undefined : own;
}

/** Notes the path of a page at its id. */
export function noteId(page: Page, paths: Map<string, string[]>): void {
  const id = readId(page);
  if (id !== undefined) paths.set(id, [...(paths.get(id) ?? []), page.path]);
}

/** Reads the page at a path. Errors name the argument `field`. */
export async function readPageAt(
  connection: ConnectionView,
  place: { readonly parents: readonly string[]; readonly fileName: string; readonly field: string },
): Promise<Page> {
  const { parents, fileName, field } = place;
  return localFolder.open(connection, { parts: parents, field, name: fileName }, async (folder) => {
    const { bytes, stats } = await readWholeFile(folder, fileName, MAX_PAGE_BYTES);
    const text = splitPage(bytes.toString("utf8"));
    const path = [...parents, fileName].join("/");
    const garbled = isUtf8(bytes) ? {} : { problem: "The file is not UTF-8 text." };
    const front = { ...readFrontMatter(text.yaml), ...garbled };
    return {
      ...front,
      parents,
      fileName,
      path,
      text,
      modified: stats.mtime,
      mode: stats.mode & 0o777,
      sha256: () => sha256Hex(bytes),
    };
  });
}

/** Every page below `start`, in the order of paths; what is left out, dot names apart, is added to `notShown`. */
export async function* walkPages(
  { connection, signal }: ActionContext,
  { start, field, notShown }: { start: readonly string[]; field: string; notShown: NotShown[] },
): AsyncGenerator<Page> {
  const open: (readonly string[])[] = [start];
  let seen = 0;
  for (let parts = open.shift(); parts !== undefined; parts = open.shift()) {
    const here = parts;
    const entries = await localFolder
      .open(connection, { parts, field }, (folder) => readdir(folder.self, { withFileTypes: true }))
      .catch((error: unknown) => {
        if (here === start) throw error;
        notShown.push({ where: here.join("/"), why: "The folder cannot be opened." });
        return [];
      });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      signal.throwIfAborted();
      if (entry.name.startsWith(".")) continue;
      const where = [...here, entry.name].join("/");
      if (entry.isDirectory()) open.push([...here, entry.name]);
      if (entry.isSymbolicLink()) notShown.push({ where, why: "It is a link; links are not followed." });
      if (!entry.isFile() || !isPagePath(entry.name)) continue;
      if (++seen > MAX_PAGES) {
        notShown.push({ where, why: `Only ${MAX_PAGES} pages are read; those from here on are left out.` });
        return;
      }
      const page = await readPageAt(connection, { parents: here, fileName: entry.name, field }).catch(() => {
        notShown.push({ where, why: "The file cannot be opened, or is larger than 2 MB." });
      });
      if (page) yield page;
    }
  }
}
