import type { Dispatcher } from "undici";
import { readText } from "../../../service/fetch/read-body.ts";
import { readListing, type S3Listing, type S3Object } from "../../../service/files/s3-listing.ts";
import { createS3Requests, type S3Request, type S3Requests } from "../../../service/files/s3-requests.ts";
import type { HeldFile } from "../../port/integration.ts";
import { type RemoteCall, takeRange } from "../../port/remote-call.ts";
import type { BucketSettings } from "./bucket-settings.ts";

/** What an object has to be for a request to be carried out: a version of it, or not there at all. */
export type Condition = { readonly ifMatch: string } | "absent";

const MAX_ANSWER = 64 * 1024;

/** The objects of one bucket for the length of one call, by whole names. Every failure is a ServiceError. */
export class BucketClient {
  readonly #call: RemoteCall;
  readonly #s3: S3Requests;

  constructor(call: RemoteCall, { place }: BucketSettings, dispatcher: Dispatcher) {
    this.#call = call;
    this.#s3 = createS3Requests(place, { dispatcher, now: call.now });
  }

  /** Facts of an object; undefined when it is not there. */
  async find(name: string): Promise<S3Object | undefined> {
    const { statusCode, headers, body } = await this.#ask({ method: "HEAD", name }, { expects: [403, 404] });
    await body.dump();
    if (statusCode === 404) return undefined;
    if (statusCode === 403) throw await this.#findRefusal(name);
    const writtenAt = Date.parse(String(headers["last-modified"]));
    const etag = typeof headers.etag === "string" ? headers.etag : undefined;
    return { name, size: Number(headers["content-length"]), writtenAt: writtenAt || this.#call.now(), etag };
  }

  /** Why an object may not be looked at: only an answer to GET has words, which tell a wrong key from missing rights. */
  async #findRefusal(name: string): Promise<unknown> {
    const headers = { range: "bytes=0-0" };
    const { body } = await this.#ask({ method: "GET", name, headers });
    await body.dump();
    return this.#call.refuseGarbage();
  }

  /** The listing of names that begin with `prefix`, page by page; with a delimiter only up to the next one. */
  async *list(
    prefix: string,
    o: { readonly delimiter?: "/"; readonly limit?: number } = {},
  ): AsyncGenerator<S3Listing> {
    let next: string | undefined;
    do {
      const query = {
        "list-type": "2",
        "encoding-type": "url",
        prefix,
        ...(o.delimiter && { delimiter: o.delimiter }),
        ...(o.limit && { "max-keys": String(o.limit) }),
        ...(next && { "continuation-token": next }),
      };
      const { body } = await this.#ask({ method: "GET", name: "", query });
      const page = await readListing(body).catch((error: unknown) => {
        throw this.#call.explain(error);
      });
      if (page === undefined) throw this.#call.refuseGarbage();
      yield page;
      next = page.next;
    } while (next !== undefined);
  }

  /** Bytes of one version of an object. */
  async *read({ name, etag }: S3Object, from: number, length: number): AsyncGenerator<Uint8Array> {
    if (length <= 0) return;
    const headers = { range: `bytes=${from}-${from + length - 1}`, ...(etag && { "if-match": etag }) };
    const reply = await this.#ask({ method: "GET", name, headers }, { expects: [416] });
    if (reply.statusCode === 416) return void (await reply.body.dump());
    try {
      yield* takeRange(reply, from, length);
    } catch (error) {
      throw this.#call.explain(error);
    }
  }

  /** Writes an object; false when the condition does not hold. Without a file an empty one. */
  async put(name: string, condition: Condition, held?: HeldFile): Promise<boolean> {
    if (await this.#put(name, condition, held)) return true;
    if (condition === "absent" || !condition.ifMatch.startsWith('"')) return false;
    // Ceph compares versions without their quotes, and so says of every one that it is another.
    const isSame = (await this.find(name))?.etag === condition.ifMatch;
    return isSame && this.#put(name, { ifMatch: condition.ifMatch.slice(1, -1) }, held);
  }

  async #put(name: string, condition: Condition, held: HeldFile | undefined): Promise<boolean> {
    const headers = { ...toHeaders(condition), "content-type": held?.mimetype ?? "application/x-directory" };
    const body = held && { size: held.size, sha256: held.sha256, open: () => held.open() };
    const what = { method: "PUT", name, headers, ...(body && { body }) } as const;
    const reply = await this.#ask(what, { isEffect: true, expects: [412] });
    await reply.body.dump();
    return reply.statusCode !== 412;
  }

  /** Copies one version of an object inside the bucket; false when the condition of the target does not hold. */
  async copy(source: S3Object, target: string, condition: Condition): Promise<boolean> {
    const headers = {
      ...toHeaders(condition),
      "x-amz-copy-source": this.#s3.toCopySource(source.name),
      ...(source.etag && { "x-amz-copy-source-if-match": source.etag }),
    };
    const reply = await this.#ask({ method: "PUT", name: target, headers }, { isEffect: true, expects: [412] });
    const text = await readText(reply.body, MAX_ANSWER).catch((error: unknown) => {
      throw this.#call.explain(error, { isEffect: true });
    });
    if (reply.statusCode === 412) return false;
    // The status is sent before the copy is made; how it ended stands in the body.
    if (!text?.includes("<CopyObjectResult")) throw this.#call.refuseGarbage({ isEffect: true });
    return true;
  }

  /** Removes one version of an object; false when it is another one by now. */
  async remove({ name, etag }: S3Object): Promise<boolean> {
    const headers = etag ? { "if-match": etag } : {};
    const reply = await this.#ask({ method: "DELETE", name, headers }, { isEffect: true, expects: [404, 412] });
    await reply.body.dump();
    return reply.statusCode !== 412;
  }

  #ask(what: S3Request, o: Parameters<RemoteCall["ask"]>[1] = {}) {
    return this.#call.ask(() => this.#s3.send({ ...what, signal: this.#call.signal }), o);
  }
}

function toHeaders(condition: Condition): Record<string, string> {
  return condition === "absent" ? { "if-none-match": "*" } : { "if-match": condition.ifMatch };
}
