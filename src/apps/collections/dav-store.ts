import {
  createAccount,
  createObject,
  type DAVAccount,
  type DAVResponse,
  deleteObject,
  fetchCalendarUserAddresses,
  propfind,
  updateObject,
} from "tsdav";
import { refuseMissing, refuseValue, ServiceError } from "../../service/service-error.ts";
import type { NotShown } from "../port/not-shown.ts";
import type { RemoteCall } from "../port/remote-call.ts";
import { parseHref } from "../text/parse-href.ts";
import {
  type Collection,
  type CollectionKind,
  type CollectionStore,
  type FoundItems,
  type ItemFilter,
  type LeftOver,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  type NewItem,
  refuseConflict,
  type StoredItem,
  TOO_MANY,
  toFileStem,
  type WrittenItem,
} from "./collection-store.ts";
import { type DavCollection, queryItems, readCollection, textSchema } from "./dav-collection.ts";
import type { DavFetch } from "./dav-fetch.ts";
import { isSameContent } from "./same-content.ts";

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
    const collections = found.flatMap((one) => readCollection(one, homeUrl, this.#kind) ?? []);
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
      const found = await this.#dav.run(() => queryItems(collection.url, filter, this.#kind, this.#dav.fetch));
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

  nameNew({ id }: Collection, name: string): string {
    return `${id}/${toFileStem(name)}${this.#kind.ending}`;
  }

  async create(item: NewItem): Promise<WrittenItem> {
    const { place, name } = await this.#findPlace(item);
    const { bytes: data } = item;
    const headers = { "content-type": this.#kind.mimetype, "if-none-match": "*" };
    const written = await this.#write(name, (url) => createObject({ url, data, headers, fetch: this.#dav.fetch }), {
      place,
      // An answer of 200 comes from something that is no such server.
      expects: [201, 204],
    });
    return this.#getWritten(place, name, data, written);
  }

  async replace(item: StoredItem, data: Buffer): Promise<WrittenItem> {
    const { place, name } = await this.#findPlace(item);
    const headers = { "content-type": this.#kind.mimetype };
    const { etag } = item;
    const written = await this.#write(
      name,
      (url) => updateObject({ url, data, etag, headers, fetch: this.#dav.fetch }),
      {
        place,
        expects: [200, 201, 204],
      },
    );
    return this.#getWritten(place, name, data, written);
  }

  chooseTrash(): undefined {}

  async isTrashed(): Promise<boolean> {
    return false;
  }

  isSame(present: Buffer, written: Buffer): boolean {
    return isSameContent(present, written);
  }

  async remove(item: StoredItem): Promise<void> {
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

  sayLeft(): LeftOver {
    return {
      isKept: false,
      isFinal: true,
      left: "Cannot be undone here; whether the server keeps a copy is not known.",
    };
  }

  async tellsPeople(): Promise<boolean | undefined> {
    if (this.#kind.accountType !== "caldav") return false;
    const { homeUrl = "" } = await this.#findAccount();
    const reply = await this.#dav
      .run(() => this.#dav.fetch(homeUrl, { method: "OPTIONS" }))
      .catch((error: unknown) => {
        if (error instanceof ServiceError) return undefined;
        throw error;
      });
    return reply && /(?:^|[\s,])calendar-auto-schedule(?:[\s,]|$)/i.test(reply.headers.get("dav") ?? "");
  }

  #findAccount(): Promise<DAVAccount> {
    const { accountType } = this.#kind;
    return this.#cache.find(() =>
      this.#dav.run(() => createAccount({ account: { accountType, serverUrl: this.#server }, fetch: this.#dav.fetch })),
    );
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

  async #findPlace({ id, collection }: NewItem): Promise<{ place: DavCollection; name: string }> {
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
  async #getWritten(collection: DavCollection, name: string, data: Buffer, written: Headers): Promise<WrittenItem> {
    const id = `${collection.id}/${name}`;
    const item = await this.#get(collection, name).catch(() => ({ id, collection, etag: "", bytes: data }));
    const isOurs = item.etag !== "" && (item.etag === written.get("etag") || this.isSame(item.bytes, data));
    return { ...item, isOurs };
  }

  async #write(
    name: string,
    send: (url: string) => Promise<Response>,
    o: { readonly place: DavCollection; readonly expects: readonly number[] },
  ): Promise<Headers> {
    const { status, headers } = await this.#dav
      .run(() => send(`${o.place.url}${name}`))
      .catch((error: unknown) => {
        const isTaken = error instanceof ServiceError && error.status === 409;
        throw isTaken ? refuseConflict(`"${o.place.id}/${name}"`) : error;
      });
    if (!o.expects.includes(status)) throw this.#call.refuseGarbage({ isEffect: true });
    return headers;
  }

  /** An answer that the library could not read comes out as one without an address. */
  #checkAnswer(found: readonly DAVResponse[]): void {
    if (found.some(({ href, raw }) => !href && typeof raw === "string")) throw this.#call.refuseGarbage();
  }
}
