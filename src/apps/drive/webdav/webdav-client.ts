import { type Dispatcher, request } from "undici";
import { decodeBody } from "../../../service/fetch/read-body.ts";
import { readXmlRecords, type XmlFields } from "../../../service/files/xml-records.ts";
import type { createTurns } from "../../../shared/base/concurrency.ts";
import type { HeldFile } from "../../port/integration.ts";
import type { NotShown } from "../../port/not-shown.ts";
import { type RemoteCall, takeRange } from "../../port/remote-call.ts";
import { parseHref } from "../../text/parse-href.ts";
import type { WebdavSettings } from "./webdav-settings.ts";

/** A file or folder of the server. */
export interface DavResource {
  /** Names below the folder of the settings. */
  readonly parts: readonly string[];
  readonly isFolder: boolean;
  /** In bytes; 0 of a folder. */
  readonly size: number;
  /** ISO 8601; undefined where the server does not say it. */
  readonly modified: string | undefined;
  /** With its quotes; undefined where the server gives none. */
  readonly etag: string | undefined;
}

/** How a move treats what is at its target. */
export type Overwrite = "never" | { readonly etag: string | undefined };

const PROPERTIES =
  '<?xml version="1.0"?><propfind xmlns="DAV:"><prop><resourcetype/><getcontentlength/><getlastmodified/><getetag/></prop></propfind>';
const DISCARD_MS = 5_000;
const NO_FILE = "Its address lies outside of the folder, or holds a name that cannot be read: it is left out.";
/** More than a hundred thousand entries. */
const MAX_LISTING_BYTES = 100 * 1024 * 1024;

/**
 * A WebDAV server (RFC 4918) for the length of one call, by names below the folder of the settings. Every failure is a
 * ServiceError.
 */
export class WebdavClient {
  readonly #call: RemoteCall;
  readonly #settings: WebdavSettings;
  readonly #dispatcher: Dispatcher;
  readonly #takeTurn: ReturnType<typeof createTurns>;

  /** @param takeTurn shared by all calls: some servers do not look for a target and move in one step */
  constructor(
    call: RemoteCall,
    settings: WebdavSettings,
    dispatcher: Dispatcher,
    takeTurn: ReturnType<typeof createTurns>,
  ) {
    this.#call = call;
    this.#settings = settings;
    this.#dispatcher = dispatcher;
    this.#takeTurn = takeTurn;
  }

  /** What is at a place; undefined when nothing is. */
  async find(parts: readonly string[]): Promise<DavResource | undefined> {
    const found = await this.#ask(parts, "0");
    return found?.find((one) => one.parts.length === parts.length);
  }

  /** A folder and what is right in it; undefined when nothing is there. */
  async list(
    parts: readonly string[],
    notShown?: NotShown[],
  ): Promise<{ folder: DavResource; entries: DavResource[] } | undefined> {
    const found = await this.#ask(parts, "1", notShown);
    const folder = found?.find((one) => one.parts.length === parts.length);
    if (found === undefined || folder === undefined) return undefined;
    return { folder, entries: found.filter((one) => one.parts.length === parts.length + 1) };
  }

  /** Bytes of one version of a file. */
  async *read({ parts, etag, size }: DavResource, from: number, length: number): AsyncGenerator<Uint8Array> {
    if (length <= 0) return;
    const headers = { range: `bytes=${from}-${from + length - 1}`, ...toCondition(etag) };
    const reply = await this.#call.ask(() => this.#send("GET", parts, { headers }), { expects: [416] });
    if (reply.statusCode === 416) return void (await reply.body.dump());
    const { statusCode, headers: said } = reply;
    // Some servers pack what nobody asked to be packed; the length tells it from a file that is packed itself.
    const isPacked = statusCode === 200 && Number(said["content-length"] ?? -1) !== size;
    const body = isPacked ? decodeBody(reply.body, said["content-encoding"]) : reply.body;
    try {
      yield* takeRange({ statusCode, body }, from, length);
    } catch (error) {
      throw this.#call.explain(error);
    }
  }

  /**
   * Writes a file; false when it is another version by now.
   *
   * @param etag of the version that is replaced; without it nobody but us knows the name, and so a failure changes nothing
   */
  async put(parts: readonly string[], held: HeldFile, etag?: string): Promise<boolean> {
    const headers = {
      "content-type": held.mimetype,
      "content-length": String(held.size),
      ...(etag === undefined ? {} : { "if-match": etag }),
    };
    const send = () => this.#send("PUT", parts, { headers, body: held.open() });
    return this.#write(send, { isEffect: etag !== undefined, expects: [412], done: [200, 201, 204] });
  }

  /** Makes a folder whose parent is there; false when something has its name. */
  makeFolder(parts: readonly string[]): Promise<boolean> {
    return this.#write(() => this.#send("MKCOL", parts, { isFolder: true }), { isEffect: true, expects: [405] });
  }

  /**
   * Moves a file or folder; false when its target is taken, or not as `overwrite` says.
   *
   * @param isVersioned true when a file is moved only as it was found, by servers that compare its version; false also then
   */
  move(from: DavResource, to: readonly string[], overwrite: Overwrite, isVersioned = false): Promise<boolean> {
    const { isFolder } = from;
    const destination = this.#toUrl(to, isFolder).href;
    const etag = overwrite === "never" ? undefined : overwrite.etag;
    const headers = {
      destination,
      overwrite: overwrite === "never" ? "F" : "T",
      ...(isVersioned && toCondition(from.etag)),
      ...(etag === undefined ? {} : { if: `<${destination}> ([${etag}])` }),
    };
    const send = () => this.#send("MOVE", from.parts, { headers, isFolder });
    return this.#takeTurn(destination, () => this.#write(send, { isEffect: true, expects: [412] }));
  }

  /** Copies a file to a name that nobody else knows. Throws when it is taken. */
  async copy(from: DavResource, to: readonly string[]): Promise<void> {
    const headers = { destination: this.#toUrl(to, false).href, overwrite: "F", depth: "0" };
    await this.#write(() => this.#send("COPY", from.parts, { headers }), { isEffect: false, expects: [] });
  }

  /** False where the server says what it does with a file, and that it does not copy it. */
  async canCopy(parts: readonly string[]): Promise<boolean> {
    const reply = await this.#send("OPTIONS", parts, {}).catch((error: unknown) => {
      throw this.#call.explain(error);
    });
    await reply.body.dump();
    const said = [reply.headers.allow ?? ""].flat().join(",");
    return reply.statusCode >= 300 || said.trim() === "" || /\bCOPY\b/i.test(said);
  }

  /** Removes a file that only we know; whether that works makes no difference to anybody. */
  async discard(parts: readonly string[]): Promise<void> {
    // Also when the call was ended, which left the file there.
    const signal = AbortSignal.timeout(DISCARD_MS);
    const reply = await this.#send("DELETE", parts, { signal }).catch(() => undefined);
    await reply?.body.dump().catch(() => {});
  }

  /** False for one of the expected statuses, which say that nothing was done. */
  async #write(
    send: Parameters<RemoteCall["ask"]>[0],
    o: { readonly isEffect: boolean; readonly expects: readonly number[]; readonly done?: readonly number[] },
  ): Promise<boolean> {
    const reply = await this.#call.ask(send, o);
    await reply.body.dump().catch((error: unknown) => {
      throw this.#call.explain(error, o);
    });
    if (o.expects.includes(reply.statusCode)) return false;
    // 207 says that only a part was done; a 200 comes from something that does not know the method.
    if (!(o.done ?? [201, 204]).includes(reply.statusCode)) throw this.#call.refuseGarbage(o);
    return true;
  }

  async #ask(parts: readonly string[], depth: "0" | "1", notShown?: NotShown[]) {
    const headers = { depth, "content-type": "application/xml" };
    const isFolder = depth === "1";
    const send = () => this.#send("PROPFIND", parts, { headers, body: PROPERTIES, isFolder });
    // Below a file there is nothing: some servers call that a conflict, or a thing that has no properties.
    const reply = await this.#call.ask(send, { expects: parts.length === 0 ? [] : [404, 405, 409] });
    if (reply.statusCode >= 400) {
      await reply.body.dump();
      return undefined;
    }
    if (reply.statusCode !== 207) throw this.#call.refuseGarbage();
    const found: DavResource[] = [];
    const body = decodeBody(reply.body, reply.headers["content-encoding"]);
    const outer = await readXmlRecords(limit(body), ["response"], (_, fields) => {
      const resource = this.#readResource(fields);
      if (resource !== undefined) found.push(resource);
      else notShown?.push({ where: fields.get("href") || "(no address)", why: NO_FILE });
    }).catch((error: unknown) => {
      throw this.#call.explain(error);
    });
    if (!outer.has("multistatus")) throw this.#call.refuseGarbage();
    return found;
  }

  /** Undefined for what lies outside of the folder of the settings. */
  #readResource(fields: XmlFields): DavResource | undefined {
    const href = fields.get("href") ?? "";
    const url = href === "" ? null : parseHref(href, this.#settings.url.href);
    const base = splitPath(this.#settings.url.pathname);
    const whole = splitPath(url?.pathname ?? "");
    if (base === undefined || whole === undefined || !base.every((part, index) => whole[index] === part))
      return undefined;
    const time = Date.parse(fields.get("getlastmodified") ?? "");
    return {
      parts: whole.slice(base.length),
      isFolder: fields.has("collection"),
      size: Number(fields.get("getcontentlength")) || 0,
      modified: Number.isNaN(time) ? undefined : new Date(time).toISOString(),
      etag: fields.get("getetag") || undefined,
    };
  }

  #toUrl(parts: readonly string[], isFolder: boolean): URL {
    const path = parts.map(encodeURIComponent).join("/");
    return new URL(`${path}${isFolder && path !== "" ? "/" : ""}`, this.#settings.url);
  }

  async #send(
    method: string,
    parts: readonly string[],
    o: {
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Dispatcher.DispatchOptions["body"];
      readonly isFolder?: boolean;
      readonly signal?: AbortSignal;
    },
  ) {
    const { user, password } = this.#settings;
    const sign = user === "" ? {} : { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}` };
    const headers = { "user-agent": "svc-agent-plugin", "accept-encoding": "identity", ...sign, ...o.headers };
    const { signal = this.#call.signal } = o;
    const own = { method: method as Dispatcher.HttpMethod, headers, dispatcher: this.#dispatcher, signal };
    return request(this.#toUrl(parts, o.isFolder ?? false), { ...own, ...(o.body && { body: o.body }) });
  }
}

/** A weak version is none that a condition could name. */
function toCondition(etag: string | undefined): Record<string, string> {
  return etag?.startsWith('"') ? { "if-match": etag } : {};
}

/** The names in a path; undefined when one cannot be decoded, or is none. */
function splitPath(path: string): string[] | undefined {
  try {
    const encoded = path.split("/").filter((part) => part !== "");
    const names = encoded.map(decodeURIComponent);
    return names.some((name) => name.includes("/")) ? undefined : names;
  } catch {
    return undefined;
  }
}

async function* limit(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MAX_LISTING_BYTES) throw new Error("The listing is too long.");
    yield piece;
  }
}
