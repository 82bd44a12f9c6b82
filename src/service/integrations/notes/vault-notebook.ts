import { randomUUID } from "node:crypto";
import { createGate } from "../../../base/concurrency.ts";
import { cutSnippet, losesLines, toSearchWords } from "../../../base/text.ts";
import { isWindowsDevice } from "../../../base/windows-names.ts";
import { parseEntryPath, parseFolderPath } from "../../files/folder.ts";
import { TRASH_FOLDER, writeFileDurably } from "../../files/write-file.ts";
import { afterChange, refuseMissing, refuseValue, ServiceError } from "../../service-error.ts";
import { localFolder, saveFile } from "../connection-folder.ts";
import type { ActionContext } from "../integration.ts";
import type { NotShown } from "../not-shown.ts";
import { changeFrontMatter } from "./front-matter.ts";
import {
  checkTitle,
  type FoundPages,
  type Notebook,
  type PageChange,
  type PageDraft,
  type PageExcerpt,
  type PageFilter,
  type PageHit,
  type PageSummary,
  type PageTarget,
  scorePage,
} from "./notebook.ts";
import { breakLines, joinPage, type PageText, replaceYaml, splitPage } from "./page-text.ts";
import { isPagePath, noteId, type Page, readId, readPageAt, summarisePage, walkPages } from "./vault-pages.ts";

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
    const { found, notShown } = await this.#look(o, ({ text: { body } }, summary) => {
      const points = scorePage(summary, body, words);
      return points > 0 ? { points, snippet: cutSnippet(body, words) } : undefined;
    });
    found.sort((a, b) => b.seen.points - a.seen.points || b.summary.modified.localeCompare(a.summary.modified));
    const pages = found.slice(0, o.limit).map(({ summary, seen }) => ({ ...summary, snippet: seen.snippet }));
    return { pages, total: found.length, notShown };
  }

  async list(o: PageFilter & { readonly offset: number; readonly limit: number }): Promise<FoundPages> {
    const { found, notShown } = await this.#look(o, () => true);
    const all = found.map(({ summary }) => summary);
    all.sort((a, b) => b.modified.localeCompare(a.modified) || a.path.localeCompare(b.path));
    return { pages: all.slice(o.offset, o.offset + o.limit), total: all.length, notShown };
  }

  /** What `see` sees in the pages; pages are read one at a time, and forgotten. */
  async #look<Seen>({ parent, tag }: PageFilter, see: (page: Page, summary: PageSummary) => Seen | undefined) {
    const parents = parseFolderPath(parent, "parent");
    const found: { summary: PageSummary; id: string | undefined; seen: Seen }[] = [];
    const paths = new Map<string, string[]>();
    const notShown: NotShown[] = [];
    for await (const page of walkPages(this.#context, { start: parents, field: "parent", notShown })) {
      noteId(page, paths);
      const why = page.problem ?? page.guess;
      if (why !== undefined) notShown.push({ where: page.path, why });
      const summary = summarisePage(page);
      const seen = tag === undefined || summary.tags.includes(tag) ? see(page, summary) : undefined;
      if (seen !== undefined) found.push({ summary, id: readId(page), seen });
    }
    // An id is one page's only if no page elsewhere has it.
    const isAll = parents.length === 0 || found.every(({ id }) => id === undefined);
    const everywhere = isAll ? paths : await this.#listIds();
    return {
      found: found.map(({ summary, id, seen }) => {
        const [first, second] = everywhere.get(id ?? "") ?? [];
        const isOwn = id !== undefined && first === summary.path && second === undefined;
        return { summary: isOwn ? { ...summary, page_id: id } : summary, seen };
      }),
      notShown,
    };
  }

  /** Paths of the pages by their ids. */
  async #listIds(): Promise<Map<string, string[]>> {
    const paths = new Map<string, string[]>();
    for await (const page of walkPages(this.#context, { start: [], field: "page_id", notShown: [] }))
      noteId(page, paths);
    return paths;
  }

  /** The page at this path or with this id, and the name it was found by. Throws ServiceError 404, or 400 for an id of several. */
  async #find(pageId: string): Promise<{ page: Page; summary: PageSummary }> {
    const isPath = isPagePath(pageId);
    const [path = "", second] = isPath ? [pageId] : ((await this.#listIds()).get(pageId) ?? []);
    const hint = "Find the page with notes_search or notes_list_pages.";
    if (path === "") throw refuseMissing(`There is no page with the id "${pageId}".`, hint);
    if (second !== undefined)
      throw refuseValue("page_id", `is the id of several pages, such as "${path}" and "${second}".`, "Give the path.");
    const { parents, name: fileName } = parseEntryPath(path, "page_id");
    const page = await readPageAt(this.#context.connection, { parents, fileName, field: "page_id" });
    return { page, summary: { ...summarisePage(page), page_id: isPath ? page.path : pageId } };
  }

  async read(pageId: string, { from, to }: { readonly from: number; readonly to: number }): Promise<PageExcerpt> {
    const { page, summary } = await this.#find(pageId);
    const { body } = page.text;
    const { properties, problem, guess } = page;
    return { summary, properties, problem, guess, text: body.slice(from, to), more: to < body.length };
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
    const written = `"${[...parents, fileName].join("/")}"`;
    const page = await afterChange(written, () => readPageAt(connection, { parents, fileName, field: "parent" }));
    return { ...summarisePage(page), page_id: readId(page) ?? page.path };
  }

  change(target: PageTarget, change: PageChange): Promise<PageSummary> {
    const { connection, now, signal } = this.#context;
    return updates.run(async () => {
      const { page, summary } = await this.#find(target.pageId);
      checkTitle(summary, target);
      checkReadable(page);
      const text = joinPage(applyChange(page, change, new Date(now()).toISOString()));
      const { parents, fileName, mode } = page;
      const isLost = losesLines(joinPage(page.text), text, /^updated:/);
      const keep = () => localFolder.keep(connection, { parts: parents, field: "page_id", name: fileName }, now());
      await localFolder.open(connection, { parts: parents, field: "page_id", name: fileName }, (folder) =>
        writeFileDurably(folder, {
          name: fileName,
          bytes: [Buffer.from(text)],
          ifExists: "replace",
          mode,
          ...(isLost && { keep }),
        }),
      );
      const read = () => readPageAt(connection, { parents, fileName, field: "page_id" });
      return { ...summarisePage(await afterChange(`"${page.path}"`, read)), page_id: summary.page_id };
    }, signal);
  }

  async remove(target: PageTarget): Promise<{ page: PageSummary; trashedTo: string }> {
    const { page, summary } = await this.#find(target.pageId);
    checkTitle(summary, target);
    const { parents, fileName: name } = page;
    if (parents[0] === TRASH_FOLDER) throw refuseValue("page_id", "is in .trash already.", "A human empties .trash.");
    const { connection, now } = this.#context;
    const trashedTo = await localFolder.trash(connection, { parts: parents, field: "page_id", name }, now());
    return { page: summary, trashedTo };
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
  const name = kept.join("").trim() || "Untitled";
  return `${name}${isWindowsDevice(name) ? "_" : ""}.md`;
}

function composePage({ title, tags, properties, body: given }: PageDraft, now: string): string {
  const front = { id: randomUUID(), title, tags, created: now, updated: now, ...properties };
  const body = given === "" || given.endsWith("\n") ? given : `${given}\n`;
  return joinPage(replaceYaml(splitPage(""), changeFrontMatter("", front))) + body;
}

function appendText({ body, lineBreak }: PageText, addition: string): string {
  const start = body === "" || body.endsWith("\n") ? body : `${body}${lineBreak}`;
  return `${start}${breakLines(addition, lineBreak)}${addition.endsWith("\n") ? "" : lineBreak}`;
}

/** A time as this service writes it; one in another form was written by somebody else, and stays. */
const OWN_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function applyChange({ text, properties }: Page, change: PageChange, now: string): PageText {
  const { updated } = properties;
  const front: Record<string, unknown> = {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.tags === undefined ? {} : { tags: change.tags }),
    ...change.properties,
    ...(typeof updated === "string" && OWN_TIME.test(updated) ? { updated: now } : {}),
  };
  const { yaml = "", lineBreak } = text;
  const added = change.append === undefined ? text.body : appendText(text, change.append);
  const body = change.body === undefined ? added : breakLines(change.body, lineBreak);
  const changed = changeFrontMatter(yaml, front, { lineBreak, fields: { title: "new_title", tags: "tags" } });
  return { ...(changed === yaml ? text : replaceYaml(text, changed)), body };
}

/** Unreadable content cannot be written back without loss. */
function checkReadable({ path, problem }: Page): void {
  if (problem === undefined) return;
  throw new ServiceError(500, "provider_error", `"${path}" cannot be read well enough to be changed: ${problem}`, {
    type: "provider",
    hint: `Open "${path}" and repair it; the front matter is the YAML between its first two "---" lines.`,
  });
}
