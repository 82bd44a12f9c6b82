import { refuseMissing, refuseValue } from "../../../service/service-error.ts";
import type { PageSummary } from "../notebook.ts";
import type { NotionClient } from "./notion-client.ts";
import {
  type Block,
  type NotionPage,
  pageSchema,
  readNotionId,
  readTags,
  readTitle,
  toPageUrl,
} from "./notion-objects.ts";
import { listBlocks, type Place, readBlockTitle } from "./notion-places.ts";

const TAKE_ID = "Take page_id or path of an answer of notes_search or notes_list_pages.";

/** Most pages of one list. */
export const MAX_LISTED = 1000;

/** A page of a list. */
export interface ListedPage {
  readonly summary: PageSummary;
  /** ISO 8601. */
  readonly created: string;
  /** False for an entry of a data source that has a column for tags: its tags are known without looking inside. */
  readonly mayHideTags: boolean;
}

/** Describes a page without its text. */
export function summariseNotionPage(page: NotionPage, tags: readonly string[] = readTags(page)): PageSummary {
  const { id, parent } = page;
  // A page inside a column or a list lies below a block, which is no place to name.
  const above = parent.type === "block_id" ? undefined : parent[parent.type];
  return {
    page_id: id,
    path: toPageUrl(id),
    title: readTitle(page),
    parent: typeof above === "string" ? above : "",
    tags,
    modified: page.last_edited_time,
  };
}

/** The page with this id or address. Throws ServiceError 400 for any other text, 404 also for a page in the trash. */
export async function getNotionPage(client: NotionClient, pageId: string): Promise<NotionPage> {
  const id = readNotionId(pageId);
  if (id === undefined) throw refuseValue("page_id", "is neither the id nor the address of a page of Notion.", TAKE_ID);
  const page = await client.ask({ method: "GET", path: `pages/${id}`, schema: pageSchema });
  if (page.in_trash)
    throw refuseMissing(`The page "${readTitle(page)}" is in the trash of Notion.`, "A human restores it there.");
  return page;
}

/** Pages right in a place, or all there are, most recently changed first as far as Notion knows an order; `more` are left. */
export async function listPlace(client: NotionClient, place: Place): Promise<{ pages: ListedPage[]; more: boolean }> {
  const pages: ListedPage[] = [];
  for await (const page of walkPlace(client, place)) {
    if (pages.length === MAX_LISTED) return { pages, more: true };
    pages.push(page);
  }
  return { pages, more: false };
}

async function* walkPlace(client: NotionClient, place: Place): AsyncGenerator<ListedPage> {
  if (place.kind === "page") {
    for await (const block of listBlocks(client, place.id))
      if (block.type === "child_page") yield toListed(block, place.id);
    return;
  }
  const order = { timestamp: "last_edited_time", direction: "descending" };
  const o =
    place.kind === "all"
      ? { path: "search", body: { filter: { property: "object", value: "page" }, sort: order } }
      : { path: `data_sources/${encodeURIComponent(place.id)}/query`, body: { sorts: [order] } };
  yield* toPages(client.list({ method: "POST", ...o }));
}

/** Pages that Notion's own search finds by their titles, best first; at most 100. */
export async function searchTitles(client: NotionClient, query: string): Promise<ListedPage[]> {
  const body = { query, filter: { property: "object", value: "page" } };
  const found: ListedPage[] = [];
  for await (const page of toPages(client.list({ method: "POST", path: "search", body }))) {
    found.push(page);
    if (found.length === 100) break;
  }
  return found;
}

async function* toPages(list: AsyncIterable<unknown>): AsyncGenerator<ListedPage> {
  for await (const one of list) {
    const page = pageSchema.safeParse(one).data;
    if (page === undefined || page.in_trash) continue;
    const isTagged = Object.values(page.properties).some(({ type }) => type === "multi_select");
    yield { summary: summariseNotionPage(page), created: page.created_time, mayHideTags: !isTagged };
  }
}

function toListed(block: Block, parent: string): ListedPage {
  const { id, created_time: created, last_edited_time: modified } = block;
  const summary = { page_id: id, path: toPageUrl(id), title: readBlockTitle(block), parent, tags: [], modified };
  return { summary, created, mayHideTags: true };
}
