import { isUtf8 } from "node:buffer";
import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { createGate } from "../../../base/concurrency.ts";
import { cutSnippet, toSearchWords } from "../../../base/text.ts";
import { parseEntryPath, parseFolderPath, readWholeFile } from "../../files/folder.ts";
import { TRASH_FOLDER, writeFileDurably } from "../../files/write-file.ts";
import { refuseMissing, refuseValue, ServiceError } from "../../service-error.ts";
import { localFolder, saveFile } from "../connection-folder.ts";
import type { ActionContext, ConnectionView } from "../integration.ts";
import {
  type FoundPages,
  type Notebook,
  type PageChange,
  type PageDraft,
  type PageExcerpt,
  type PageFilter,
  type PageHit,
  type PageSummary,
  scorePage,
} from "./notebook.ts";
import { changeProperties, joinPage, type PageText, readProperties, splitPage } from "./page-text.ts";

const MAX_STEM_BYTES = 200;

/** Two updates of one page must not overwrite each other. */
const updates = createGate(1);

/** The notebook that is a folder of Markdown files on this machine. */
export class VaultNotebook implements Notebook {
  readonly #context: ActionContext;

  constructor(context: ActionContext) {
    this.#context = context;
  }

  async search(query: string, o: PageFilter & { readonly limit: number }): Promise<FoundPages<PageHit>> {
    const words = toSearchWords(query);
    const hits: { page: PageHit; points: number }[] = [];
    for await (const { page, summary } of this.#walk(o)) {
      const points = scorePage(summary, page.text.body, words);
      if (points > 0) hits.push({ page: { ...summary, snippet: cutSnippet(page.text.body, words) }, points });
    }
    hits.sort((a, b) => b.points - a.points || b.page.modified.localeCompare(a.page.modified));
    return { pages: hits.slice(0, o.limit).map(({ page }) => page), total: hits.length };
  }

  async list(o: PageFilter & { readonly offset: number; readonly limit: number }): Promise<FoundPages> {
    const all: PageSummary[] = [];
    for await (const { summary } of this.#walk(o)) all.push(summary);
    all.sort((a, b) => b.modified.localeCompare(a.modified) || a.path.localeCompare(b.path));
    return { pages: all.slice(o.offset, o.offset + o.limit), total: all.length };
  }

  async *#walk({ parent, tag }: PageFilter): AsyncGenerator<{ page: Page; summary: PageSummary }> {
    for await (const page of walkPages(this.#context, parseFolderPath(parent, "parent"), "parent")) {
      const summary = summarisePage(page);
      if (tag === undefined || summary.tags.includes(tag)) yield { page, summary };
    }
  }

  async read(pageId: string, { from, to }: { readonly from: number; readonly to: number }): Promise<PageExcerpt> {
    const page = await findPage(this.#context, pageId);
    const { body } = page.text;
    const { properties, problem } = page;
    return { summary: summarisePage(page), properties, problem, text: body.slice(from, to), more: to < body.length };
  }

  async create(draft: PageDraft): Promise<PageSummary> {
    const { connection, now } = this.#context;
    const parents = parseFolderPath(draft.parent, "parent");
    if (parents[0] === TRASH_FOLDER)
      throw refuseValue("parent", "is a place the vault keeps for itself.", "Choose another folder.");
    const bytes = [Buffer.from(composePage(draft, new Date(now()).toISOString()))];
    const wanted = toFileName(draft.title);
    const place = { parts: parents, field: "parent", create: true };
    const taken = { field: "title", hint: 'Set if_exists to "rename" or choose another title.' };
    const { name: fileName } = await localFolder.open(connection, place, (folder) =>
      saveFile(folder, parents, { name: wanted, bytes, ifExists: draft.ifExists }, taken),
    );
    return summarisePage(await readPageAt(connection, { parents, fileName, field: "parent" }));
  }

  change(pageId: string, change: PageChange): Promise<PageSummary> {
    const { connection, now, signal } = this.#context;
    return updates.run(async () => {
      const page = await findPage(this.#context, pageId);
      checkReadable(page);
      const text = joinPage(applyChange(page, change, new Date(now()).toISOString()));
      const { parents, fileName, mode } = page;
      await localFolder.open(connection, { parts: parents, field: "page_id", name: fileName }, (folder) =>
        writeFileDurably(folder, { name: fileName, bytes: [Buffer.from(text)], ifExists: "replace", mode }),
      );
      return summarisePage(await readPageAt(connection, { parents, fileName, field: "page_id" }));
    }, signal);
  }

  async remove(pageId: string): Promise<{ page: PageSummary; trashedTo: string }> {
    const page = await findPage(this.#context, pageId);
    const { parents, fileName: name } = page;
    if (parents[0] === TRASH_FOLDER) throw refuseValue("page_id", "is in .trash already.", "A human empties .trash.");
    const { connection, now } = this.#context;
    const trashedTo = await localFolder.trash(connection, { parts: parents, field: "page_id", name }, now());
    return { page: summarisePage(page), trashedTo };
  }
}

/** A title as a file name that every operating system accepts. */
function toFileName(text: string): string {
  const stem = text
    .normalize("NFC")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replaceAll(/[\u0000-\u001f\u007f/\\:*?"<>|#^[\]]/g, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const kept = [...stem.toWellFormed()];
  while (Buffer.byteLength(kept.join("")) > MAX_STEM_BYTES) kept.pop();
  return `${kept.join("").trim() || "Untitled"}.md`;
}

function composePage({ title, tags, properties, body: given }: PageDraft, now: string): string {
  const front = { id: randomUUID(), title, tags, created: now, updated: now, ...properties };
  const body = given === "" || given.endsWith("\n") ? given : `${given}\n`;
  return joinPage(changeProperties({ yaml: "", body, lineBreak: "\n" }, front));
}

function appendText(body: string, addition: string): string {
  const start = body === "" || body.endsWith("\n") ? body : `${body}\n`;
  return `${start}${addition}${addition.endsWith("\n") ? "" : "\n"}`;
}

function applyChange(page: Page, change: PageChange, now: string): PageText {
  const front: Record<string, unknown> = {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.tags === undefined ? {} : { tags: change.tags }),
    ...change.properties,
    ...("updated" in page.properties ? { updated: now } : {}),
  };
  const body =
    change.body ?? (change.append === undefined ? page.text.body : appendText(page.text.body, change.append));
  const text = Object.keys(front).length === 0 ? page.text : changeProperties(page.text, front);
  return { ...text, body };
}

/** Unreadable content cannot be written back without loss. */
function checkReadable({ path, problem }: Page): void {
  if (problem === undefined) return;
  throw new ServiceError(500, "provider_error", `"${path}" cannot be read well enough to be changed: ${problem}`, {
    type: "provider",
    hint: `Open "${path}" and repair it; the front matter is the YAML between its first two "---" lines.`,
  });
}

const MAX_PAGE_BYTES = 2 * 1024 * 1024;
const MAX_PAGES = 10_000;

/** One page of the vault. */
interface Page {
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
function summarisePage(page: Page): PageSummary {
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
async function readPageAt(
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
async function* walkPages(context: ActionContext, start: readonly string[], field: string): AsyncGenerator<Page> {
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
async function findPage(context: ActionContext, pageId: string): Promise<Page> {
  if (/\.md$/i.test(pageId)) {
    const { parents, name } = parseEntryPath(pageId, "page_id");
    return readPageAt(context.connection, { parents, fileName: name, field: "page_id" });
  }
  for await (const page of walkPages(context, [], "page_id")) if (summarisePage(page).page_id === pageId) return page;
  const hint = "Find the page with notes_search or notes_list_pages.";
  throw refuseMissing(`There is no page with the id "${pageId}".`, hint);
}
