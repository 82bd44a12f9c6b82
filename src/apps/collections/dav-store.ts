import {
  addressBookQuery,
  calendarQuery,
  createAccount,
  createObject,
  type DAVAccount,
  type DAVResponse,
  deleteObject,
  fetchCalendarUserAddresses,
  propfind,
  updateObject,
} from "tsdav";
import { z } from "zod";
import { shortenText } from "../../../base/text.ts";
import { refuseMissing, refuseValue, ServiceError } from "../../service-error.ts";
import type { NotShown } from "../not-shown.ts";
import type { RemoteCall } from "../remote-call.ts";
import {
  type Collection,
  type CollectionKind,
  type CollectionStore,
  type FoundItems,
  type ItemFilter,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  refuseConflict,
  type StoredItem,
  TOO_MANY,
  toFileStem,
} from "./collection-store.ts";
import { type DavFetch, parseHref } from "./dav-fetch.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A collection with its address, which ends with a slash. */
interface DavCollection extends Collection {
  readonly url: string;
}

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** A text of an answer: plain, or in a CDATA section. */
const textSchema = z.union([text, z.looseObject({ _cdata: text }).transform(({ _cdata }) => _cdata)]);
const namedSchema = z.looseObject({ _attributes: z.looseObject({ name: z.string() }) });
const componentsSchema = z.looseObject({
  comp: z.union([z.array(namedSchema), namedSchema.transform((one) => [one])]),
});

/** What the calls of one account share. */
export interface DavAccountCache {
  /** The account as discovery found it; a failure is not kept. */
  find(discover: () => Promise<DAVAccount>): Promise<DAVAccount>;
  forget(): void;
}

/** The collections of an account on a CalDAV or CardDAV server. */
export class DavStore implements CollectionStore {
  readonly #call: RemoteCall;
  readonly #dav: DavFetch;
  readonly #kind: CollectionKind;
  readonly #server: string;
  readonly #cache: DavAccountCache;

  constructor(o: {
    readonly call: RemoteCall;
    readonly dav: DavFetch;
    readonly kind: CollectionKind;
    /** Address from the settings. */
    readonly server: string;
    readonly cache: DavAccountCache;
  }) {
    this.#call = o.call;
    this.#dav = o.dav;
    this.#kind = o.kind;
    this.#server = o.server;
    this.#cache = o.cache;
  }

  async list(): Promise<readonly DavCollection[]> {
    const { homeUrl = "" } = await this.#findAccount();
    const props = { "d:displayname": {}, "d:resourcetype": {}, "c:supported-calendar-component-set": {} };
    const find = () => propfind({ url: homeUrl, props, depth: "1", fetch: this.#dav.fetch });
    const found = await this.#dav.run(find).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status === 404) this.#cache.forget();
      throw error;
    });
    this.#checkAnswer(found);
    const collections = found.flatMap((one) => this.#readCollection(one, homeUrl) ?? []);
    const segments = collections.map(({ id }) => id);
    const unique = collections.map((one) => {
      const isTwice = segments.filter((id) => id === one.id).length > 1;
      return isTwice ? { ...one, id: new URL(one.url).pathname.replaceAll(/^\/|\/$/g, "") } : one;
    });
    return unique.sort((a, b) => a.name.localeCompare(b.name, "en"));
  }

  async read(collections: readonly Collection[], filter: ItemFilter): Promise<FoundItems> {
    const all = await this.#locate(collections);
    const items: StoredItem[] = [];
    const left: NotShown[] = [];
    for (const collection of all) {
      const found = await this.#dav.run(() => this.#query(collection.url, filter));
      this.#checkAnswer(found);
      for (const { href = "", props = {} } of found) {
        const data = textSchema.safeParse(props.calendarData ?? props.addressData).data;
        const etag = textSchema.safeParse(props.getetag).data;
        const name = this.#nameIn(collection, href);
        if (data === undefined || etag === undefined || name === undefined)
          left.push({ where: `${collection.id}/${name ?? href}`, why: "The server gave no content for it." });
        else if (items.length >= MAX_ITEMS) left.push({ where: collection.id, why: TOO_MANY });
        else items.push({ id: `${collection.id}/${name}`, collection, etag, bytes: Buffer.from(data) });
      }
    }
    return { items, left };
  }

  async find(id: string, field: string): Promise<StoredItem> {
    const at = id.lastIndexOf("/");
    const [wanted, name] = [id.slice(0, at), id.slice(at + 1)];
    const collection = (await this.list()).find((one) => one.id === wanted);
    if (collection === undefined || this.#nameIn(collection, `${collection.url}${name}`) !== name)
      throw refuseMissing(`There is nothing with the id "${id}".`, "Look it up again.");
    const item = await this.#get(collection, name);
    if (item.bytes.length > MAX_ITEM_BYTES) throw refuseValue(field, "names something that is too large to be read.");
    return item;
  }

  async create(
    collection: Collection,
    { name: stem, bytes: data }: { name: string; bytes: Buffer },
  ): Promise<StoredItem> {
    const [place] = await this.#locate([collection]);
    if (place === undefined) throw refuseMissing(`There is no "${collection.name}".`, "Look it up again.");
    const name = `${toFileStem(stem)}${this.#kind.ending}`;
    const headers = { "content-type": this.#kind.mimetype, "if-none-match": "*" };
    await this.#write(name, (url) => createObject({ url, data, headers, fetch: this.#dav.fetch }), {
      place,
      // An answer of 200 comes from something that is no such server.
      expects: [201, 204],
    });
    return this.#getWritten(place, name, data);
  }

  async replace(item: StoredItem, data: Buffer): Promise<StoredItem> {
    const { place, name } = await this.#findPlace(item);
    const headers = { "content-type": this.#kind.mimetype };
    const { etag } = item;
    await this.#write(name, (url) => updateObject({ url, data, etag, headers, fetch: this.#dav.fetch }), {
      place,
      expects: [200, 201, 204],
    });
    return this.#getWritten(place, name, data);
  }

  async remove(item: StoredItem): Promise<undefined> {
    const { place, name } = await this.#findPlace(item);
    const { etag } = item;
    await this.#write(name, (url) => deleteObject({ url, etag, fetch: this.#dav.fetch }), {
      place,
      expects: [200, 202, 204],
    });
  }

  async listOwnAddresses(): Promise<readonly string[]> {
    if (this.#kind.accountType !== "caldav") return [];
    const account = await this.#findAccount();
    const addresses = await this.#dav
      .run(() => fetchCalendarUserAddresses({ account, fetch: this.#dav.fetch }))
      .catch((error: unknown) => {
        // A server that knows none says so in ways of its own; what passes is for the caller.
        if (error instanceof ServiceError && ![401, 429, 503].includes(error.status)) return [];
        throw error;
      });
    return addresses.flatMap((one) => /^mailto:(.+)$/i.exec(one)?.[1] ?? []);
  }

  #findAccount(): Promise<DAVAccount> {
    const { accountType } = this.#kind;
    return this.#cache.find(() =>
      this.#dav.run(() => createAccount({ account: { accountType, serverUrl: this.#server }, fetch: this.#dav.fetch })),
    );
  }

  #query(url: string, { span }: ItemFilter): Promise<DAVResponse[]> {
    const { fetch } = this.#dav;
    if (this.#kind.accountType === "carddav") {
      const props = { "d:getetag": {}, "card:address-data": {} };
      // Not by text: servers differ in which of them they find, and some fail at names of several parts.
      return addressBookQuery({ url, props, depth: "1", fetch });
    }
    const range = span && {
      // Days and times of no zone begin earlier or later than they do for the server.
      _attributes: { start: writeUtc(span.from - DAY_MS), end: writeUtc(span.to + DAY_MS) },
    };
    const event = { _attributes: { name: "VEVENT" }, ...(range && { "time-range": range }) };
    const filters = { "comp-filter": { _attributes: { name: "VCALENDAR" }, "comp-filter": event } };
    return calendarQuery({ url, props: { "d:getetag": {}, "c:calendar-data": {} }, filters, depth: "1", fetch });
  }

  #readCollection({ href = "", props = {} }: DAVResponse, homeUrl: string): DavCollection | undefined {
    const types = Object.keys(z.record(z.string(), z.unknown()).catch({}).parse(props.resourcetype));
    if (!types.includes(this.#kind.accountType === "caldav" ? "calendar" : "addressbook")) return undefined;
    const components = componentsSchema.safeParse(props.supportedCalendarComponentSet).data?.comp;
    if (components !== undefined && !components.some(({ _attributes }) => _attributes.name === "VEVENT"))
      return undefined;
    const url = parseHref(href, homeUrl);
    if (url === null) return undefined;
    const path = url.pathname.replace(/\/*$/, "/");
    const id = path.split("/").at(-2) ?? "";
    const name = textSchema.safeParse(props.displayname).data?.replaceAll(/\s+/g, " ").trim();
    return { id, name: shortenText(name || decode(id), 200), url: new URL(path, url).href };
  }

  /** The name of an address in a collection; undefined for what does not lie directly in it. */
  #nameIn({ url }: DavCollection, href: string): string | undefined {
    const place = parseHref(href, url);
    const name = place?.href.startsWith(url) ? place.href.slice(url.length) : "";
    return name === "" || name.includes("/") ? undefined : name;
  }

  async #locate(collections: readonly Collection[]): Promise<DavCollection[]> {
    const all = await this.list();
    return all.filter(({ id }) => collections.some((one) => one.id === id));
  }

  async #findPlace({ id, collection }: StoredItem): Promise<{ place: DavCollection; name: string }> {
    const [place] = await this.#locate([collection]);
    if (place === undefined) throw refuseMissing(`There is no "${collection.name}" any more.`, "Look it up again.");
    return { place, name: id.slice(collection.id.length + 1) };
  }

  async #get(collection: DavCollection, name: string): Promise<StoredItem> {
    const reply = await this.#dav.run(() => this.#dav.fetch(`${collection.url}${name}`));
    const etag = reply.headers.get("etag");
    if (etag === null) throw this.#call.refuseGarbage();
    return { id: `${collection.id}/${name}`, collection, etag, bytes: Buffer.from(await reply.arrayBuffer()) };
  }

  /** What a write left; where that cannot be told, what was written: the write itself is done. */
  async #getWritten(collection: DavCollection, name: string, data: Buffer): Promise<StoredItem> {
    const id = `${collection.id}/${name}`;
    return this.#get(collection, name).catch(() => ({ id, collection, etag: "", bytes: data }));
  }

  async #write(
    name: string,
    send: (url: string) => Promise<Response>,
    o: { readonly place: DavCollection; readonly expects: readonly number[] },
  ): Promise<void> {
    const { status } = await this.#dav
      .run(() => send(`${o.place.url}${name}`))
      .catch((error: unknown) => {
        const isTaken = error instanceof ServiceError && error.status === 409;
        throw isTaken ? refuseConflict(`"${o.place.id}/${name}"`) : error;
      });
    if (!o.expects.includes(status)) throw this.#call.refuseGarbage({ isEffect: true });
  }

  /** An answer that the library could not read comes out as one without an address. */
  #checkAnswer(found: readonly DAVResponse[]): void {
    if (found.some(({ href, raw }) => !href && typeof raw === "string")) throw this.#call.refuseGarbage();
  }
}

function writeUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
