import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { foldText, toOneLine } from "../../shared/base/text.ts";
import type { PreviewUndo } from "../../shared/wire/preview.ts";
import { createActionDefiner, createKeeps, type PlaceAction } from "../port/define-action.ts";
import type { NotShown } from "../port/not-shown.ts";
import type { KeptWrite, UndoPlan, Verdict } from "../port/undo.ts";

/** A page as the actions show it. */
export interface PageSummary {
  /** Accepted by every action, like `path`. */
  readonly page_id: string;
  /** Where a human finds it: the file in a vault, the address of the page in Notion. */
  readonly path: string;
  readonly title: string;
  /** Where it lies, as the argument `parent` names it; empty at the top. */
  readonly parent: string;
  readonly tags: readonly string[];
  /** ISO 8601. */
  readonly modified: string;
}

/** Which pages are meant. */
export interface PageFilter {
  /** A folder, or a page or database; empty for all. */
  readonly parent: string;
  readonly tag: string | undefined;
}

/** Pages that were found. */
export interface FoundPages<Page extends PageSummary = PageSummary> {
  readonly pages: readonly Page[];
  /** How many there are, as far as was looked. */
  readonly total: number;
  /** A note to the caller, for example that not everything was looked at. */
  readonly note?: string;
  readonly notShown?: readonly NotShown[];
}

/** A page with the place in its text that answers a search. */
export interface PageHit extends PageSummary {
  readonly snippet: string;
}

/** A part of a page's text. */
export interface PageExcerpt {
  readonly summary: PageSummary;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Why the properties cannot be read. */
  readonly problem: string | undefined;
  /** What had to be guessed to read them. */
  readonly guess?: string | undefined;
  /** Markdown. */
  readonly text: string;
  /** True when text follows. */
  readonly more: boolean;
}

/** Values of further properties; null removes one. */
type PageProperties = Readonly<
  Record<string, string | number | boolean | null | readonly (string | number | boolean)[]>
>;

/** A page to be created. */
export interface PageDraft {
  readonly title: string;
  /** Markdown. */
  readonly body: string;
  /** As the argument names it. */
  readonly parent: string;
  readonly tags: readonly string[];
  readonly properties: PageProperties;
  readonly ifExists: "rename" | "error";
}

/** Which page is to be changed, and the title that whoever approved it saw. */
export interface PageTarget {
  readonly pageId: string;
  readonly title: string;
}

/** Changes of a page; at least one member is there, and not both `body` and `append`. */
export interface PageChange {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly append?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly properties?: PageProperties | undefined;
}

/** A page as a preview shows it. */
export interface PageView extends Pick<PageSummary, "title" | "tags" | "path"> {
  readonly properties: Readonly<Record<string, unknown>>;
  /** Markdown, whole. */
  readonly body: string;
  /** ISO 8601; undefined for a page that is not there yet. */
  readonly modified?: string;
}

/** What a write would do, by reads alone. */
interface PlannedWrite {
  /** Whether the service can take it back, and what else is true of that. */
  readonly undo: PreviewUndo;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** What `create` would do. */
export interface NewPage extends PlannedWrite {
  readonly after: PageView;
  /** Paths of the folders that it brings with it. */
  readonly newFolders: readonly string[];
  /** True where another page has the name that it should get. */
  readonly isTaken: boolean;
}

/** What `change` would do. */
export interface ChangedPage extends PlannedWrite {
  readonly before: PageView;
  readonly after: PageView;
}

/** What `remove` would do. */
export interface RemovedPage extends PlannedWrite {
  readonly before: PageView;
  /** Titles of the pages that go with it. Default: none. */
  readonly inside?: readonly string[];
}

/**
 * The pages of one connection for the length of one call: a folder of this machine, or a workspace of Notion. Every
 * method throws ServiceError for failures it can name; arguments are named as the actions name them.
 */
export interface Notebook {
  /** Pages in which every word occurs, best first. */
  search(query: string, o: PageFilter & { readonly limit: number }): Promise<FoundPages<PageHit>>;
  /** Pages, most recently changed first. */
  list(o: PageFilter & { readonly offset: number; readonly limit: number }): Promise<FoundPages>;
  /** The text from one character up to another. Throws ServiceError 404. */
  read(pageId: string, o: { readonly from: number; readonly to: number }): Promise<PageExcerpt>;
  create(draft: PageDraft): Promise<PageSummary>;
  /** Throws ServiceError 400 naming `title` when the page has another one; then nothing is changed. */
  change(target: PageTarget, change: PageChange): Promise<PageSummary>;
  /** Moves a page to where a human can bring it back from. Refuses as `change` does. */
  remove(target: PageTarget): Promise<{ readonly page: PageSummary; readonly trashedTo: string }>;
  /** What `create`, `change` and `remove` would do; they refuse like these. Absent: it is not known before. */
  planCreate?(draft: PageDraft): Promise<NewPage>;
  planChange?(target: PageTarget, change: PageChange): Promise<ChangedPage>;
  planRemove?(target: PageTarget): Promise<RemovedPage>;
  /** See `Action.undo` and `Action.settle`; `kept` was kept by `create`, `change` or `remove`, perhaps of another notebook. */
  planUndo(kept: KeptWrite): Promise<UndoPlan>;
  settle(kept: KeptWrite): Promise<Verdict>;
}

/** Opens the notebook of the connection in `context`; does no I/O yet. */
export type OpenNotebook = Parameters<PlaceAction<Notebook>>[0];

/** Defines an action on the notebook of the connection it is called with. */
export const defineNotesAction = createActionDefiner<Notebook>();

/** How writes are taken back and looked for: each notebook reads what it has kept itself. */
export const keepsPages = createKeeps({
  intent: z.unknown(),
  after: z.unknown(),
  undo: (kept, notebook: Notebook) => notebook.planUndo(kept),
  settle: (kept, notebook: Notebook) => notebook.settle(kept),
});

/** Throws ServiceError 400 for a page whose title is not the one that was shown. */
export function checkTitle(page: PageSummary, { title }: PageTarget): void {
  const own = toOneLine(page.title);
  if (toOneLine(title) !== own)
    throw refuseValue("title", `is not the title of this page, which is "${own}".`, "Check which page is meant.");
}

/** How well a page answers the words: title before tags and path before text; 0 when a word is missing. */
export function scorePage(page: PageSummary, text: string, words: readonly string[]): number {
  const title = foldText(page.title);
  const tags = foldText(`${page.tags.join(" ")} ${page.path}`);
  const body = foldText(text);
  let total = 0;
  for (const word of words) {
    const points = (title.includes(word) ? 10 : 0) + (tags.includes(word) ? 4 : 0) + (body.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    total += points;
  }
  return total;
}
