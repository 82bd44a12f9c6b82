import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { Agent, request } from "undici";
import { sha256Hex } from "../../base/hash.ts";
import { ServiceError } from "../service-error.ts";
import type { BlobPlace } from "./blob-store.ts";
import type { S3Place } from "./open-blobs.ts";

/**
 * A bucket with connections of its own. All methods throw ServiceError 503 `file_store_unavailable` when it cannot be
 * used.
 */
export type S3Client = BlobPlace & { close(): Promise<void> };

interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  /** `open` is called again for every try. */
  readonly body?: { readonly size: number; readonly sha256: string; readonly open: () => Readable };
}

type Reply = Awaited<ReturnType<typeof request>>;

/** Of a request without a body. */
const EMPTY_SHA256 = sha256Hex("");
/** Stores ask for a retry after 500, 503 and 429; a caller waits half a second at most. */
const TRIES = 3;
const FIRST_PAUSE_MS = 100;
const TIMEOUT_MS = 30_000;

/** Creates a client with its own connections. `now` gives milliseconds since the epoch. */
export function createS3Client(place: S3Place, now: () => number): S3Client {
  const { bucket, prefix = "", endpoint } = place;
  const base = endpoint === undefined ? `https://${bucket}.s3.${place.region}.amazonaws.com` : `${endpoint}/${bucket}`;
  const agent = new Agent({ connectTimeout: 5_000, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });

  async function send({ method, name, query, body }: S3Request): Promise<Reply> {
    const url = new URL(`${base}/${name}`);
    for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
    const { accessKeyId, secretAccessKey, sessionToken, region } = place;
    const { headers } = await new AwsV4Signer({
      ...{ accessKeyId, secretAccessKey, region, ...(sessionToken && { sessionToken }) },
      ...{ method, url: url.href, service: "s3", headers: { "x-amz-content-sha256": body?.sha256 ?? EMPTY_SHA256 } },
      datetime: new Date(now()).toISOString().replace(/[-:]|\.\d{3}/g, ""),
    }).sign();
    return request(url, {
      method,
      headers: { ...Object.fromEntries(headers), ...(body && { "content-length": String(body.size) }) },
      dispatcher: agent,
      ...(body && { body: body.open() }),
    });
  }

  /** The reply, or undefined for 404. Every request here may be repeated. */
  async function ask(what: S3Request): Promise<Reply | undefined> {
    for (let tries = 1; ; tries++) {
      const reply = await send(what).catch((cause) => unavailable(what, cause));
      if (!(reply instanceof ServiceError)) {
        if (reply.statusCode < 300) return reply;
        const text = await reply.body.text();
        if (reply.statusCode === 404 && !text.includes("NoSuchBucket")) return undefined;
        if (reply.statusCode < 500 && reply.statusCode !== 429) throw unavailable(what, explain(reply, text));
      }
      if (tries === TRIES) throw reply instanceof ServiceError ? reply : unavailable(what, explain(reply, ""));
      await sleep(FIRST_PAUSE_MS * 4 ** (tries - 1));
    }
  }

  async function write(name: string, body: NonNullable<S3Request["body"]>): Promise<void> {
    const reply = await ask({ method: "PUT", name: prefix + name, body });
    if (reply === undefined) throw unavailable({ method: "PUT", name }, new Error("the store answered 404"));
    await reply.body.dump();
  }

  return {
    put: (name, { size, sha256, path }) => write(name, { size, sha256, open: () => createReadStream(path) }),
    putText(name, text) {
      const bytes = Buffer.from(text);
      const sha256 = sha256Hex(bytes);
      return write(name, { size: bytes.length, sha256, open: () => Readable.from([bytes]) });
    },
    async getText(name) {
      return (await ask({ method: "GET", name: prefix + name }))?.body.text();
    },
    async findSize(name) {
      const reply = await ask({ method: "HEAD", name: prefix + name });
      await reply?.body.dump();
      return reply && Number(reply.headers["content-length"]);
    },
    open(name) {
      async function* read() {
        const what = { method: "GET", name: prefix + name } as const;
        const reply = await ask(what);
        if (reply === undefined) throw unavailable(what, new Error("the object is gone"));
        yield* reply.body;
      }
      return Readable.from(read(), { objectMode: false });
    },
    async *list() {
      let query: Record<string, string> | undefined = { "list-type": "2", prefix };
      while (query !== undefined) {
        const xml: string = (await (await ask({ method: "GET", name: "", query }))?.body.text()) ?? "";
        for (const { name, writtenAt } of readListing(xml)) yield { name: name.slice(prefix.length), writtenAt };
        const token = /<NextContinuationToken>([^<]+)</.exec(xml)?.[1];
        query = token === undefined ? undefined : { ...query, "continuation-token": unescapeXml(token) };
      }
    },
    async remove(name) {
      await (await ask({ method: "DELETE", name: prefix + name }))?.body.dump();
    },
    close: () => agent.close(),
  };
}

function readListing(xml: string): { name: string; writtenAt: number }[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, entry = ""]) => {
    const name = /<Key>([^<]+)</.exec(entry)?.[1];
    const time = Date.parse(/<LastModified>([^<]+)</.exec(entry)?.[1] ?? "");
    return name === undefined || Number.isNaN(time) ? [] : [{ name: unescapeXml(name), writtenAt: time }];
  });
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replace(/&(\w+);/g, (whole, name: string) => ENTITIES[name] ?? whole);
}

/** Status and code; the text of the store is not passed on. */
function explain(reply: Reply, text: string): Error {
  const code = /<Code>(\w+)</.exec(text)?.[1] ?? "";
  return new Error(`the store answered ${reply.statusCode} ${code}`.trim());
}

function unavailable({ method, name }: Pick<S3Request, "method" | "name">, cause: unknown): ServiceError {
  const detail = cause instanceof Error ? cause : new Error(String(cause));
  return new ServiceError(
    503,
    "file_store_unavailable",
    "The file store of this service cannot be used at the moment.",
    {
      type: "network",
      retryable: true,
      retryAfterSeconds: 5,
      cause: new Error(`${method} ${name}: ${detail.message}`, { cause: detail }),
    },
  );
}
