import { parseFolderPath } from "../../../service/files/folder.ts";
import type { PreviewUndo } from "../../../shared/wire/preview.ts";
import type { ChangedPage, NewPage, PageChange, PageDraft, RemovedPage } from "../notebook.ts";
import { changesAnything, explainFinal, isReplaced } from "./keep-change.ts";
import { findColumn, type NotionPage, readNotionId } from "./notion-objects.ts";
import type { Place, SoughtPlace } from "./notion-places.ts";
import { keepChildren, listChildTitles, type PageMarkdown } from "./page-markdown.ts";
import { seeNotionPage, viewNotionPage } from "./see-page.ts";
import { composeNotionPage, type NotionChange } from "./write-notion-page.ts";

const IN_HISTORY = "Notion keeps what the page was in its page history; a human goes back there.";

/** What a new page would be. Throws ServiceError 400 for one that cannot be. */
export function viewNew(sought: SoughtPlace, draft: PageDraft): NewPage {
  const { place, missing } = sought;
  composeNotionPage(missing.length === 0 ? place : { kind: "page", id: "" }, draft);
  const { title, tags, properties, body, parent } = draft;
  const above = readNotionId(parent) === undefined ? parseFolderPath(parent, "parent") : [namePlace(place)];
  const path = [...above, title].join("/");
  const known = above.length - missing.length;
  const newFolders = missing.map((_, index) => above.slice(0, known + index + 1).join("/"));
  const undo = { possible: true };
  return { after: { title, tags, properties, body, path }, newFolders, isTaken: false, undo, seen: seePlace(sought) };
}

function namePlace(place: Place): string {
  return (place.kind === "page" && place.title) || "a database";
}

/** Where a new page goes, for the state of a preview. */
export function seePlace({ place, missing }: SoughtPlace): unknown {
  return [place.kind, place.kind === "all" ? "" : place.id, missing];
}

/** What a page would become. */
export function viewChange(page: NotionPage, plan: NotionChange, change: PageChange): ChangedPage {
  const { old, columns } = plan;
  const before = viewNotionPage(page, old);
  const { title = before.title, tags = before.tags, body, append, properties = {} } = change;
  const set = Object.entries(properties).map(([name, value]) => [findColumn(name, columns)?.[0] ?? name, value]);
  const merged = Object.entries({ ...before.properties, ...Object.fromEntries(set) });
  const after = {
    ...before,
    title,
    tags,
    properties: Object.fromEntries(merged.filter(([, value]) => value !== null)),
    body: body === undefined ? addText(old.body, append) : replaceText(old, body),
  };
  return { before, after, undo: sayUndo(page, plan), seen: seeNotionPage(page, old) };
}

function sayUndo(page: NotionPage, plan: NotionChange): PreviewUndo {
  if (!changesAnything(page, plan)) return { possible: false, why: "It changes nothing." };
  const final = explainFinal(page, plan);
  if (final !== undefined) return { possible: false, why: `${final} ${IN_HISTORY}` };
  const why = "The text comes back as Markdown, without comments on it.";
  return { possible: true, ...(isReplaced(plan) && { why }) };
}

function addText(old: string, added = ""): string {
  return [old.trimEnd(), added].filter((part) => part !== "").join("\n\n");
}

/** Pages inside the page stay in front of a text that does not name them. */
function replaceText(old: PageMarkdown, body: string): string {
  const kept = keepChildren(old).flatMap(({ url, tag }) => (body.includes(`"${url}"`) ? [] : [tag]));
  return [...kept, body].filter((part) => part !== "").join("\n");
}

/** What goes to the trash of Notion. */
export function viewRemoval(page: NotionPage, text: PageMarkdown): RemovedPage {
  const undo = { possible: true };
  return { before: viewNotionPage(page, text), inside: listChildTitles(text), undo, seen: seeNotionPage(page, text) };
}
