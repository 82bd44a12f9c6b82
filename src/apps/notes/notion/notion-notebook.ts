import { refuseValue } from "../../../service/service-error.ts";
import { cutSnippet, toSearchWords } from "../../../shared/base/text.ts";
import type { ActionContext } from "../../port/integration.ts";
import { checkState } from "../../port/preview.ts";
import type { KeptWrite, UndoPlan, Verdict } from "../../port/undo.ts";
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
} from "../notebook.ts";
import { changesAnything, keepChange } from "./keep-change.ts";
import { keepNewPage } from "./keep-new-page.ts";
import type { NotionClient } from "./notion-client.ts";
import type { NotionAfter, NotionIntent } from "./notion-kept.ts";
import { type NotionPage, readTags, readValues } from "./notion-objects.ts";
import {
  getNotionPage,
  type ListedPage,
  listPlace,
  MAX_LISTED,
  searchTitles,
  summariseNotionPage,
} from "./notion-pages.ts";
import { findPlace, makePlace, type Place, type SoughtPlace, seekPlace } from "./notion-places.ts";
import { settleNotionWrite } from "./notion-settle.ts";
import { planNotionUndo } from "./notion-undo.ts";
import { readFront, readMarkdown } from "./page-markdown.ts";
import { lookAtLeft, noteLeft, seeNotionPage } from "./see-page.ts";
import { seePlace, viewChange, viewNew, viewRemoval } from "./view-change.ts";
import {
  changeNotionPage,
  createNotionPage,
  planNotionChange,
  setInTrash,
  summariseChanged,
} from "./write-notion-page.ts";

/** Most pages of one call that are looked into, and how many at once: Notion answers about three requests a second. */
const MAX_OPENED = 100;
const AT_ONCE = 4;

interface NotebookOptions extends Pick<ActionContext, "expectedState" | "keep" | "leave" | "now"> {
  /** Label of the connection. */
  readonly notes: string;
  /** Id of the page or database in which paths begin. */
  readonly start: string | undefined;
  /** Lets one change of this workspace happen at a time. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** The notebook that is a workspace of Notion, as far as it is shared with a token. */
export class NotionNotebook implements Notebook {
  readonly #client: NotionClient;
  readonly #o: NotebookOptions;
  readonly #inTurn: NotebookOptions["inTurn"];

  constructor(client: NotionClient, o: NotebookOptions) {
    this.#client = client;
    this.#o = o;
    this.#inTurn = o.inTurn;
  }

  async search(query: string, o: PageFilter & { readonly limit: number }): Promise<FoundPages<PageHit>> {
    const words = toSearchWords(query);
    const place = await this.#findPlace(o.parent);
    const isEverywhere = place.kind === "all";
    const { pages, more } = isEverywhere
      ? { pages: await searchTitles(this.#client, query), more: false }
      : await listPlace(this.#client, place);
    const { tagged, isAll } = await this.#filter(pages, o.tag);
    const { hits, isComplete } = await this.#match(tagged, { words, limit: o.limit, opens: !isEverywhere });
    const notes = [
      ...(isEverywhere ? ["Only titles were searched; name a parent to search the text of the pages in it."] : []),
      ...(isComplete ? [] : ["More pages may match: the text of the newest ones was read, until there were enough."]),
      ...(isAll ? [] : [TAGS_NOTE]),
      ...(more ? [LIST_NOTE] : []),
    ];
    return { pages: hits.slice(0, o.limit), total: hits.length, ...toNote(notes) };
  }

  async list(o: PageFilter & { readonly offset: number; readonly limit: number }): Promise<FoundPages> {
    const { pages, more } = await listPlace(this.#client, await this.#findPlace(o.parent));
    const { tagged, isAll } = await this.#filter(pages, o.tag);
    const all = tagged.map(({ summary }) => summary);
    all.sort((a, b) => b.modified.localeCompare(a.modified) || a.path.localeCompare(b.path));
    const notes = [...(more ? [LIST_NOTE] : []), ...(isAll ? [] : [TAGS_NOTE])];
    return { pages: all.slice(o.offset, o.offset + o.limit), total: all.length, ...toNote(notes) };
  }

  async read(pageId: string, { from, to }: { readonly from: number; readonly to: number }): Promise<PageExcerpt> {
    const page = await getNotionPage(this.#client, pageId);
    const { body, yaml } = await readMarkdown(this.#client, page.id);
    const front = readFront(yaml);
    return {
      summary: summariseNotionPage(page, [...new Set([...readTags(page), ...front.tags])]),
      properties: { ...readValues(page.properties), ...front.properties },
      problem: front.problem,
      text: body.slice(from, to),
      more: body.length > to,
    };
  }

  create(draft: PageDraft): Promise<PageSummary> {
    return this.#inTurn(async () => {
      const { keep, leave } = this.#o;
      const sought = await this.#seekFree(draft);
      checkState(this.#o, seePlace(sought));
      if (keep !== undefined) await keep(await keepNewPage(this.#client, sought, { draft, at: this.#o.now() }));
      const place = await makePlace(this.#client, sought);
      const page = await createNotionPage(this.#client, place, draft);
      if (leave !== undefined) leave(await lookAtLeft(this.#client, page));
      return summariseNotionPage(page, draft.tags);
    });
  }

  async planCreate(draft: PageDraft): Promise<NewPage> {
    return viewNew(await this.#seekFree(draft), draft);
  }

  change(target: PageTarget, change: PageChange): Promise<PageSummary> {
    return this.#inTurn(async () => {
      const page = await this.#get(target);
      const plan = await planNotionChange(this.#client, page, change);
      checkState(this.#o, seeNotionPage(page, plan.old));
      if (changesAnything(page, plan)) await this.#o.keep?.(keepChange(page, plan));
      const changed = await changeNotionPage(this.#client, page, plan);
      this.#o.leave?.(noteLeft(changed.page, changed.text));
      return summariseChanged(changed.page, plan.tags);
    });
  }

  async planChange(target: PageTarget, change: PageChange): Promise<ChangedPage> {
    const page = await this.#get(target);
    return viewChange(page, await planNotionChange(this.#client, page, change), change);
  }

  async planRemove(target: PageTarget): Promise<RemovedPage> {
    const page = await this.#get(target);
    return viewRemoval(page, await readMarkdown(this.#client, page.id));
  }

  async #get(target: PageTarget): Promise<NotionPage> {
    const page = await getNotionPage(this.#client, target.pageId);
    checkTitle(summariseNotionPage(page), target);
    return page;
  }

  async remove(target: PageTarget): Promise<{ page: PageSummary; trashedTo: string }> {
    const page = await this.#get(target);
    const summary = summariseNotionPage(page);
    if (this.#o.expectedState !== undefined)
      checkState(this.#o, seeNotionPage(page, await readMarkdown(this.#client, page.id)));
    const { id, last_edited_time: edited } = page;
    await this.#o.keep?.({ on: "notion", write: "remove", id, edited, page: { ...summary } } satisfies NotionIntent);
    const removed = await setInTrash(this.#client, id, true);
    this.#o.leave?.({ id, edited: removed.last_edited_time } satisfies NotionAfter);
    return { page: summary, trashedTo: summary.path };
  }

  planUndo(kept: KeptWrite): Promise<UndoPlan> {
    return planNotionUndo({ client: this.#client, ...this.#o }, kept);
  }

  settle(kept: KeptWrite): Promise<Verdict> {
    return settleNotionWrite({ client: this.#client, ...this.#o }, kept);
  }

  #findPlace(parent: string): Promise<Place> {
    return parent === "" ? Promise.resolve({ kind: "all" }) : findPlace(this.#client, { parent, start: this.#o.start });
  }

  /** Where a new page goes; throws ServiceError 400 where none of its title may. */
  async #seekFree({ parent, ifExists, title }: PageDraft): Promise<SoughtPlace> {
    const sought = await seekPlace(this.#client, { parent, start: this.#o.start });
    if (ifExists === "error" && sought.missing.length === 0) await this.#refuseTaken(sought.place, title);
    return sought;
  }

  async #refuseTaken(place: Place, title: string): Promise<void> {
    const { pages } = await listPlace(this.#client, place);
    if (pages.every(({ summary }) => summary.title !== title.replaceAll(/\s+/g, " "))) return;
    throw refuseValue("title", "is taken by a page there.", 'Set if_exists to "rename" or choose another title.');
  }

  /** Pages with a tag; where the tags stand inside the page, only the newest pages are looked into. */
  async #filter(pages: readonly ListedPage[], tag: string | undefined) {
    if (tag === undefined) return { tagged: pages, isAll: true };
    const hidden = sortByAge(pages.filter((page) => page.mayHideTags));
    const looked = await mapSome(hidden.slice(0, MAX_OPENED), async (page) => {
      const { tags } = readFront((await readMarkdown(this.#client, page.summary.page_id)).yaml);
      return { ...page, summary: { ...page.summary, tags } };
    });
    const known = [...pages.filter((page) => !page.mayHideTags), ...looked];
    return { tagged: known.filter(({ summary }) => summary.tags.includes(tag)), isAll: hidden.length <= MAX_OPENED };
  }

  /** Titles first, which costs nothing; then the text of one page after another, newest first, until there are enough. */
  async #match(
    pages: readonly ListedPage[],
    o: { readonly words: readonly string[]; readonly limit: number; readonly opens: boolean },
  ): Promise<{ hits: PageHit[]; isComplete: boolean }> {
    const scored = pages.map((page) => ({ page, points: scoreNotionPage(page.summary, "", o.words) }));
    const byTitle = scored.filter(({ points }) => points > 0).sort((a, b) => b.points - a.points);
    const hits = byTitle.map(({ page }) => ({ ...page.summary, snippet: "" }));
    if (!o.opens) return { hits, isComplete: true };
    const closed = sortByAge(scored.filter(({ points }) => points === 0).map(({ page }) => page));
    let opened = 0;
    while (opened < Math.min(closed.length, MAX_OPENED) && hits.length < o.limit) {
      const batch = closed.slice(opened, opened + AT_ONCE);
      const found = await mapSome(batch, ({ summary }) => this.#lookInside(summary, o.words));
      hits.push(...found.filter((hit) => hit !== undefined));
      opened += batch.length;
    }
    return { hits, isComplete: opened >= closed.length };
  }

  async #lookInside(summary: PageSummary, words: readonly string[]): Promise<PageHit | undefined> {
    const { body, yaml } = await readMarkdown(this.#client, summary.page_id);
    const { tags } = readFront(yaml);
    const page = tags.length === 0 ? summary : { ...summary, tags };
    const plain = body.replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
    return scoreNotionPage(page, plain, words) > 0 ? { ...page, snippet: cutSnippet(plain, words) } : undefined;
  }
}

const LIST_NOTE = `Only ${MAX_LISTED} pages were looked at; name a parent to see others.`;
const TAGS_NOTE = `Only the ${MAX_OPENED} newest pages were asked for their tags.`;

function toNote(notes: readonly string[]): Pick<FoundPages, "note"> {
  return notes.length === 0 ? {} : { note: notes.join(" ") };
}

/** The address of a page is no text that somebody wrote. */
function scoreNotionPage(page: PageSummary, text: string, words: readonly string[]): number {
  return scorePage({ ...page, path: "" }, text, words);
}

function sortByAge(pages: readonly ListedPage[]): ListedPage[] {
  return [...pages].sort((a, b) => b.created.localeCompare(a.created));
}

/** As `Promise.all`, for a few at a time. */
async function mapSome<From, To>(all: readonly From[], work: (one: From) => Promise<To>): Promise<To[]> {
  const done: To[] = [];
  for (let at = 0; at < all.length; at += AT_ONCE)
    done.push(...(await Promise.all(all.slice(at, at + AT_ONCE).map(work))));
  return done;
}
