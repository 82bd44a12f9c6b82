import { randomUUID } from "node:crypto";
import { type Folder, parseEntryPath, parseFolderPath } from "../../service/files/folder.ts";
import { chooseTrashFolder, TRASH_FOLDER, takeFreeName } from "../../service/files/write-file.ts";
import { afterChange, refuseMissing, refuseValue } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { cutSnippet, losesLines, toSearchWords } from "../../shared/base/text.ts";
import type { PreviewUndo } from "../../shared/wire/preview.ts";
import { localFolder, saveFile } from "../port/connection-folder.ts";
import type { ActionContext } from "../port/integration.ts";
import type { NotShown } from "../port/not-shown.ts";
import { checkState } from "../port/preview.ts";
import type { KeptWrite, UndoPlan, Verdict } from "../port/undo.ts";
import { readFrontMatter } from "./front-matter.ts";
import {
  type ChangedPage,
  checkTitle,
  type FoundPages,
  type NewPage,
  type Notebook,
  type PageChange,
  type PageDraft,
  type PageExcerpt,
  type PageFilter,
  type PageHit,
  type PageSummary,
  type PageTarget,
  type RemovedPage,
  scorePage,
} from "./notebook.ts";
import { joinPage, splitPage } from "./page-text.ts";
import { lookInFolder, refuseTaken, replacePage, trashPage, updates } from "./vault-files.ts";
import { fitsRecord, type VaultAfter, type VaultIntent } from "./vault-kept.ts";
import {
  isPagePath,
  MAX_PAGE_BYTES,
  noteId,
  type Page,
  readId,
  readPageAt,
  seePage,
  summarisePage,
  viewPage,
  walkPages,
} from "./vault-pages.ts";
import { settleVaultWrite } from "./vault-settle.ts";
import { applyChange, checkReadable, composePage, toFileName } from "./vault-text.ts";
import { planVaultUndo } from "./vault-undo.ts";

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
    const { connection, now, keep, leave } = this.#context;
    const { parents, fileName, newFolders } = await this.#findFree(draft);
    const id = randomUUID();
    const bytes = Buffer.from(composePage(draft, { id, now: new Date(now()).toISOString() }));
    const place = { parents, fileName, id, sha256: sha256Hex(bytes), newFolders: newFolders.length };
    await keep?.({ on: "vault", write: "create", folder: this.#folder, ...place } satisfies VaultIntent);
    const file = { name: toFileName(draft.title), bytes: [bytes], ifExists: draft.ifExists };
    const save = (folder: Folder) => saveFile(folder, parents, file, TAKEN);
    const saved = await localFolder.open(connection, { parts: parents, field: "parent", create: true }, save);
    leave?.({ fileName: saved.name } satisfies VaultAfter);
    const written = `"${[...parents, saved.name].join("/")}"`;
    const read = () => readPageAt(connection, { parents, fileName: saved.name, field: "parent" });
    const page = await afterChange(written, read);
    return { ...summarisePage(page), page_id: readId(page) ?? page.path };
  }

  async planCreate(draft: PageDraft): Promise<NewPage> {
    const { parents, fileName, newFolders, isTaken } = await this.#findFree(draft);
    const { title, tags, properties, body } = draft;
    const after = { title, tags, properties, body, path: [...parents, fileName].join("/") };
    const text = composePage(draft, { id: randomUUID(), now: new Date(this.#context.now()).toISOString() });
    // It replaces nothing, whatever is there by then: no yes to it is outdated.
    return { after, newFolders, isTaken, undo: sayUndo(text, "It can be deleted again by hand."), seen: parents };
  }

  #readParent({ parent }: PageDraft): string[] {
    const parents = parseFolderPath(parent, "parent");
    if (parents[0] === TRASH_FOLDER)
      throw refuseValue("parent", "is a place the vault keeps for itself.", "Choose another folder.");
    return parents;
  }

  /** Where a new page goes; by reads alone. Throws ServiceError 400 where its name is taken and no other one may be. */
  async #findFree(draft: PageDraft) {
    const parents = this.#readParent(draft);
    const wanted = toFileName(draft.title);
    const look = (folder: Folder) => takeFreeName(wanted, (name) => refuseTaken(folder.at(name)));
    const { connection } = this.#context;
    const { found, newFolders } = await lookInFolder(connection, { parents, field: "parent" }, look);
    const fileName = found ?? wanted;
    const isTaken = fileName !== wanted;
    if (isTaken && draft.ifExists === "error")
      throw refuseValue(TAKEN.field, `is taken: "${[...parents, wanted].join("/")}" exists.`, TAKEN.hint);
    return { parents, fileName, newFolders, isTaken };
  }

  change(target: PageTarget, change: PageChange): Promise<PageSummary> {
    const { connection, signal, keep, leave } = this.#context;
    return updates.run(async () => {
      const { page, summary, text, isLost } = await this.#compose(target, change);
      checkState(this.#context, seePage(page));
      const { parents, fileName } = page;
      const place = { folder: this.#folder, parents: [...parents], fileName, pageId: summary.page_id };
      const before = joinPage(page.text);
      const own = { was: page.sha256(), becomes: sha256Hex(text), ...(fitsRecord(before) && { before }) };
      if (before !== text) await keep?.({ on: "vault", write: "change", ...place, ...own } satisfies VaultIntent);
      await replacePage(this.#context, page, { text, isLost });
      leave?.({} satisfies VaultAfter);
      const read = () => readPageAt(connection, { parents, fileName, field: "page_id" });
      return { ...summarisePage(await afterChange(`"${page.path}"`, read)), page_id: summary.page_id };
    }, signal);
  }

  async planChange(target: PageTarget, change: PageChange): Promise<ChangedPage> {
    const { page, text, isLost } = await this.#compose(target, change);
    const split = splitPage(text);
    const left = isLost
      ? "The page as it is now is kept in .trash; a human can bring it back."
      : "Nothing is lost: a human can take out again what is added.";
    const after = viewPage({ ...page, ...readFrontMatter(split.yaml), text: split });
    const before = joinPage(page.text);
    const undo = before === text ? { possible: false, why: "It changes nothing." } : sayUndo(text, left, before);
    return { before: viewPage(page), after, undo, seen: seePage(page) };
  }

  /** The page, and the text that a change makes of it. */
  async #compose(target: PageTarget, change: PageChange) {
    const { page, summary } = await this.#find(target.pageId);
    checkTitle(summary, target);
    checkReadable(page);
    const text = joinPage(applyChange(page, change, new Date(this.#context.now()).toISOString()));
    return { page, summary, text, isLost: losesLines(joinPage(page.text), text, /^updated:/) };
  }

  async remove(target: PageTarget): Promise<{ page: PageSummary; trashedTo: string }> {
    const { page, summary } = await this.#findRemovable(target);
    checkState(this.#context, seePage(page));
    const { now, keep, leave } = this.#context;
    const { parents, fileName } = page;
    const trash = chooseTrashFolder(parents, now());
    const own = { parents: [...parents], fileName, sha256: page.sha256(), trash, page: { ...summary } };
    await keep?.({ on: "vault", write: "remove", folder: this.#folder, ...own } satisfies VaultIntent);
    const trashedTo = await trashPage(this.#context, page, trash);
    leave?.({} satisfies VaultAfter);
    return { page: summary, trashedTo };
  }

  async planRemove(target: PageTarget): Promise<RemovedPage> {
    const { page } = await this.#findRemovable(target);
    return { before: viewPage(page), undo: { possible: true }, seen: seePage(page) };
  }

  async #findRemovable(target: PageTarget) {
    const found = await this.#find(target.pageId);
    checkTitle(found.summary, target);
    if (found.page.parents[0] === TRASH_FOLDER)
      throw refuseValue("page_id", "is in .trash already.", "A human empties .trash.");
    return found;
  }

  planUndo(kept: KeptWrite): Promise<UndoPlan> {
    return planVaultUndo(this.#context, kept);
  }

  settle(kept: KeptWrite): Promise<Verdict> {
    return settleVaultWrite(this.#context, kept);
  }

  get #folder(): string {
    return localFolder.read(this.#context.connection.settings);
  }
}

const TAKEN = { field: "title", hint: 'Set if_exists to "rename" or choose another title.' };

/** `left`: what is true where a page is too long to be read again, or its old text to be kept. */
function sayUndo(text: string, left: string, before = ""): PreviewUndo {
  const isLong = Buffer.byteLength(text) > MAX_PAGE_BYTES || !fitsRecord(before);
  return isLong ? { possible: false, why: `The page is too long. ${left}` } : { possible: true };
}
