import type { PageDraft } from "../notebook.ts";
import type { NotionClient } from "./notion-client.ts";
import type { KeptPage, KeptPlace } from "./notion-kept.ts";
import { listSchema, pageSchema, readTitle } from "./notion-objects.ts";
import { MAX_LISTED } from "./notion-pages.ts";
import { listBlocks, type Place, readBlockTitle, type SoughtPlace, toParent } from "./notion-places.ts";
import { composeNotionPage } from "./write-notion-page.ts";

/** How many of the newest pages of a data source are looked at. */
const NEWEST = 100;

/** A page of a place. */
interface PlacedPage {
  readonly id: string;
  readonly title: string;
  /** ISO 8601. */
  readonly created: string;
}

/**
 * What a new page keeps before it is made: Notion gives it its id, so that it is known by its place, its title and its text, and
 * by the pages that were there before. Throws ServiceError 400 for a page that cannot be.
 */
export async function keepNewPage(
  client: NotionClient,
  { place, missing }: SoughtPlace,
  { draft, at }: { readonly draft: PageDraft; readonly at: number },
): Promise<KeptPage> {
  const where = toKeptPlace(place);
  const { markdown = "" } = composeNotionPage(missing.length === 0 ? place : { kind: "page", id: "" }, draft);
  const there = await listPages(client, where);
  return {
    on: "notion",
    write: "create",
    at,
    place: where,
    missing: [...missing],
    title: draft.title,
    tags: [...draft.tags],
    markdown,
    ...(there !== undefined && { known: there.map(({ id }) => id), since: findNewest(there) }),
  };
}

function toKeptPlace(place: Place): KeptPlace {
  if (place.kind !== "all") return { kind: place.kind, id: place.id };
  // Refuses: there is no place for a new page.
  toParent(place);
  throw new TypeError("A place without an id.");
}

function findNewest(pages: readonly PlacedPage[]): string {
  return pages.reduce((newest, { created }) => (created > newest ? created : newest), "");
}

/** Pages that are right in a place and were not there before a write; undefined where there is too much to look through. */
export async function listNewPages(
  client: NotionClient,
  place: KeptPlace,
  { known, since = "" }: Pick<KeptPage, "known" | "since">,
): Promise<readonly PlacedPage[] | undefined> {
  const there = known && (await listPages(client, place));
  // By Notion's own clock: an older one may have come among the newest ones since others were deleted.
  return there?.filter(({ id, created }) => !known?.includes(id) && created >= since);
}

/** Pages right in a place; of a data source the newest ones. Undefined where there is too much to look through. */
async function listPages(client: NotionClient, place: KeptPlace): Promise<PlacedPage[] | undefined> {
  if (place.kind === "data_source") return listNewest(client, place.id);
  const pages: PlacedPage[] = [];
  let seen = 0;
  for await (const block of listBlocks(client, place.id)) {
    seen += 1;
    if (seen > MAX_LISTED) return undefined;
    if (block.type === "child_page")
      pages.push({ id: block.id, title: readBlockTitle(block), created: block.created_time });
  }
  return pages;
}

async function listNewest(client: NotionClient, id: string): Promise<PlacedPage[]> {
  const sorts = [{ timestamp: "created_time", direction: "descending" }];
  const path = `data_sources/${encodeURIComponent(id)}/query`;
  const body = { sorts, page_size: NEWEST };
  const { results } = await client.ask({ method: "POST", path, body, schema: listSchema });
  return results.flatMap((one) => {
    const page = pageSchema.safeParse(one).data;
    return page === undefined || page.in_trash
      ? []
      : [{ id: page.id, title: readTitle(page), created: page.created_time }];
  });
}
