import { parseFolderPath } from "../../../service/files/folder.ts";
import { refuseMissing, refuseValue, ServiceError } from "../../../service/service-error.ts";
import type { NotionClient } from "./notion-client.ts";
import {
  type Block,
  blockSchema,
  databaseSchema,
  dataSourceSchema,
  findTitleName,
  type PropertyMap,
  pageSchema,
  readNotionId,
  readTitle,
  toPlainRuns,
} from "./notion-objects.ts";

/** Where pages lie. */
export type Place =
  | { readonly kind: "page"; readonly id: string; readonly title?: string }
  | { readonly kind: "data_source"; readonly id: string; readonly columns: PropertyMap }
  /** Everything that is shared with the token. */
  | { readonly kind: "all" };

/** How far a path leads: the last place of it that is there, and the titles of the pages that are missing below. */
export interface SoughtPlace {
  readonly place: Place;
  readonly missing: readonly string[];
}

/**
 * Looks for the place that `parent` names: titles separated by "/" from `start` on, an id or an address. Throws ServiceError
 * 400 or 404 naming the argument where nothing can be made that would be it.
 */
export async function seekPlace(
  client: NotionClient,
  { parent, start }: { readonly parent: string; readonly start: string | undefined },
): Promise<SoughtPlace> {
  const id = readNotionId(parent);
  if (id !== undefined) return { place: await openPlace(client, id), missing: [] };
  const titles = parseFolderPath(parent, "parent");
  let place: Place = start === undefined ? { kind: "all" } : await openPlace(client, start);
  for (const [index, title] of titles.entries()) {
    const next: Place | undefined = await findChild(client, place, title);
    if (next === undefined && place.kind === "all") throw refusePlace(title, start);
    if (next === undefined) return { place, missing: titles.slice(index) };
    place = next;
  }
  return { place, missing: [] };
}

/** The place that `parent` names, as {@link seekPlace} finds it. Throws ServiceError 404 when a page on the way is missing. */
export async function findPlace(client: NotionClient, o: Parameters<typeof seekPlace>[1]): Promise<Place> {
  const { place, missing } = await seekPlace(client, o);
  if (missing[0] !== undefined) throw refusePlace(missing[0], o.start);
  return place;
}

/** Makes the pages that are missing. */
export async function makePlace(client: NotionClient, { place, missing }: SoughtPlace): Promise<Place> {
  let made = place;
  for (const title of missing) made = { kind: "page", id: await createEmptyPage(client, made, title) };
  return made;
}

function refusePlace(title: string, start: string | undefined): ServiceError {
  const hint =
    start === undefined
      ? "Share a page of that title with the Notion connection, name its page_id, or set the page for new notes in the connection."
      : "List the pages to see what is there, or name a page_id.";
  return refuseMissing(`There is no page or database "${title}" there in Notion.`, hint);
}

/** Opens a page, a data source, or the only data source of a database. */
export async function openPlace(client: NotionClient, id: string): Promise<Place> {
  const part = encodeURIComponent(id);
  const page = await askIfThere(() => client.ask({ method: "GET", path: `pages/${part}`, schema: pageSchema }));
  if (page !== undefined) return checkThere({ kind: "page", id: page.id, title: readTitle(page) }, page.in_trash);
  const source = await askIfThere(() => openDataSource(client, id));
  if (source !== undefined) return source;
  const path = `databases/${part}`;
  const database = await client.ask({ method: "GET", path, schema: databaseSchema });
  const [first, second] = database.data_sources;
  if (first === undefined || second !== undefined)
    throw refuseValue("parent", "is a database with several sources of data.", "Name one of them by its id.");
  return openDataSource(client, first.id);
}

/** Opens a data source. */
export async function openDataSource(client: NotionClient, id: string): Promise<Place & { kind: "data_source" }> {
  const path = `data_sources/${encodeURIComponent(id)}`;
  const { id: own, in_trash, properties } = await client.ask({ method: "GET", path, schema: dataSourceSchema });
  return checkThere({ kind: "data_source", id: own, columns: properties }, in_trash);
}

function checkThere<Found extends Place>(place: Found, isInTrash: boolean): Found {
  if (isInTrash) throw refuseMissing("What parent names is in the trash of Notion.", "A human restores it there.");
  return place;
}

/** Undefined when Notion says that there is no such thing, or that the id is of another kind. */
async function askIfThere<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    const isOther = error instanceof ServiceError && (error.code === "not_found" || error.code === "invalid_arguments");
    if (isOther && !error.message.includes("trash")) return undefined;
    throw error;
  }
}

async function findChild(client: NotionClient, place: Place, title: string): Promise<Place | undefined> {
  if (place.kind === "page") return findBelowPage(client, place.id, title);
  if (place.kind === "data_source") {
    const filter = { property: findTitleName(place.columns), title: { equals: title } };
    return findPage(client.list({ method: "POST", path: `data_sources/${place.id}/query`, body: { filter } }), title);
  }
  const body = { query: title, filter: { property: "object", value: "page" } };
  return findPage(client.list({ method: "POST", path: "search", body }), title);
}

async function findPage(pages: AsyncIterable<unknown>, title: string): Promise<Place | undefined> {
  for await (const one of pages) {
    const page = pageSchema.safeParse(one).data;
    if (page !== undefined && !page.in_trash && isTitle(readTitle(page), title)) return { kind: "page", id: page.id };
  }
  return undefined;
}

/** The blocks right below a page, without their children. Those in the trash are left out. */
export async function* listBlocks(client: NotionClient, id: string): AsyncGenerator<Block> {
  for await (const one of client.list({ method: "GET", path: `blocks/${encodeURIComponent(id)}/children` })) {
    const parsed = blockSchema.safeParse(one);
    if (parsed.success && !parsed.data.in_trash) yield parsed.data;
  }
}

async function findBelowPage(client: NotionClient, id: string, title: string): Promise<Place | undefined> {
  for await (const block of listBlocks(client, id)) {
    if (block.type === "child_page" && isTitle(readBlockTitle(block), title)) return { kind: "page", id: block.id };
    if (block.type === "child_database" && isTitle(readBlockTitle(block), title)) return openPlace(client, block.id);
  }
  return undefined;
}

/** Title of a block that stands for a page or database. */
export function readBlockTitle(block: Block): string {
  const own = block[block.type];
  const title = typeof own === "object" && own !== null && "title" in own ? String(own.title) : "";
  return title.replaceAll(/\s+/g, " ").trim() || "Untitled";
}

/** True for the same title, as people see it. */
export function isTitle(found: string, wanted: string): boolean {
  return found.normalize("NFC") === wanted.normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

async function createEmptyPage(client: NotionClient, place: Place, title: string): Promise<string> {
  const body = { parent: toParent(place), properties: writeTitle(place, title) };
  const { id } = await client.ask({ method: "POST", path: "pages", body, schema: pageSchema, isEffect: true });
  return id;
}

/** The member `parent` of a new page. Throws ServiceError 400 when there is no place for it. */
export function toParent(place: Place): unknown {
  if (place.kind === "page") return { type: "page_id", page_id: place.id };
  if (place.kind === "data_source") return { type: "data_source_id", data_source_id: place.id };
  throw refuseValue(
    "parent",
    "is needed: this connection names no page for new notes.",
    "Name a page by its title or page_id, or set the page for new notes in the connection.",
  );
}

/** The title as a value of a new page. */
export function writeTitle(place: Place, title: string): Record<string, unknown> {
  const name = place.kind === "data_source" ? findTitleName(place.columns) : "title";
  return { [name]: { title: toPlainRuns(title) } };
}
