import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { parseEntryPath, readWholeFile } from "../../files/folder.ts";

import { refuseMissing } from "../../service-error.ts";
import { localFolder } from "../connection-folder.ts";
import type { ActionContext, ConnectionView } from "../integration.ts";
import type { PageSummary } from "./notebook.ts";
import { type PageText, readProperties, splitPage } from "./page-text.ts";

const MAX_PAGE_BYTES = 2 * 1024 * 1024;
const MAX_PAGES = 10_000;

/** One page of the vault. */
export interface Page {
  readonly parents: readonly string[];
  readonly fileName: string;
  readonly path: string;
  readonly text: PageText;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Why the front matter cannot be read. */
  readonly problem: string | undefined;
  readonly modified: Date;
  readonly mode: number;
}

function toTags(value: unknown): string[] {
  const list = typeof value === "string" ? value.split(/[,\s]+/) : Array.isArray(value) ? value : [];
  return list.filter((tag): tag is string => typeof tag === "string" && tag !== "").map((tag) => tag.replace(/^#/, ""));
}

/** Describes a page without its body. `page_id` is the front matter's `id`, else the path; both are accepted everywhere. */
export function summarisePage(page: Page): PageSummary {
  const { id, title, tags } = page.properties;
  const hasId = typeof id === "string" || typeof id === "number";
  return {
    page_id: hasId && id !== "" ? String(id) : page.path,
    path: page.path,
    title: typeof title === "string" && title.trim() !== "" ? title : page.fileName.replace(/\.md$/i, ""),
    parent: page.parents.join("/"),
    tags: toTags(tags),
    modified: page.modified.toISOString(),
  };
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
    const front = readProperties(text.yaml);
    const problem = isUtf8(bytes) ? front.problem : "The file is not UTF-8 text.";
    const path = [...parents, fileName].join("/");
    const { properties } = front;
    return { parents, fileName, path, text, properties, problem, modified: stats.mtime, mode: stats.mode & 0o777 };
  });
}

/**
 * Every page below `start`, in the order of paths. Links, dot names and pages that cannot be read are left out; it stops
 * after 10,000 pages.
 */
export async function* walkPages(
  context: ActionContext,
  start: readonly string[],
  field: string,
): AsyncGenerator<Page> {
  const { connection, signal } = context;
  const open: (readonly string[])[] = [start];
  let seen = 0;
  for (let parts = open.shift(); parts !== undefined; parts = open.shift()) {
    const here = parts;
    const entries = await localFolder.open(connection, { parts, field }, (folder) =>
      readdir(folder.self, { withFileTypes: true }),
    );
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    for (const entry of entries) {
      signal.throwIfAborted();
      if (entry.name.startsWith(".")) continue;
      if (entry.isDirectory()) open.push([...here, entry.name]);
      if (!entry.isFile() || !/\.md$/i.test(entry.name)) continue;
      if (++seen > MAX_PAGES) return;
      const page = await readPageAt(connection, { parents: here, fileName: entry.name, field }).catch(() => undefined);
      if (page !== undefined) yield page;
    }
  }
}

/** The page with this id or at this path. Throws ServiceError 404 `not_found` (type `provider`). */
export async function findPage(context: ActionContext, pageId: string): Promise<Page> {
  if (/\.md$/i.test(pageId)) {
    const { parents, name } = parseEntryPath(pageId, "page_id");
    return readPageAt(context.connection, { parents, fileName: name, field: "page_id" });
  }
  for await (const page of walkPages(context, [], "page_id")) if (summarisePage(page).page_id === pageId) return page;
  const hint = "Find the page with notes_search or notes_list_pages.";
  throw refuseMissing(`There is no page with the id "${pageId}".`, hint);
}
