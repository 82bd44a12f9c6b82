import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Agent } from "undici";
import { sha256Hex } from "../../shared/base/hash.ts";
import { ServiceError } from "../service-error.ts";
import type { BlobPlace } from "./blob-store.ts";
import type { S3Place } from "./files-place.ts";
import { readListing } from "./s3-listing.ts";
import { createS3Requests, type S3Reply, type S3Request } from "./s3-requests.ts";

/**
 * A bucket with connections of its own. All methods throw ServiceError 503 `file_store_unavailable` when it cannot be
 * used.
 */
export type S3Client = BlobPlace & { close(): Promise<void> };

/** Stores ask for a retry after 500, 503 and 429; a caller waits half a second at most. */
const TRIES = 3;
const FIRST_PAUSE_MS = 100;
const TIMEOUT_MS = 30_000;

/** Creates a client with its own connections. `now` gives milliseconds since the epoch. */
export function createS3Client(place: S3Place, now: () => number): S3Client {
  const { prefix = "" } = place;
  const agent = new Agent({ connectTimeout: 5_000, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const { send } = createS3Requests(place, { dispatcher: agent, now });

  /** The reply, or undefined for 404. Every request here may be repeated. */
  async function ask(what: S3Request): Promise<S3Reply | undefined> {
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
      let token: string | undefined;
      do {
        const next = token === undefined ? {} : { "continuation-token": token };
        const what = { method: "GET", name: "", query: { "list-type": "2", prefix, ...next } } as const;
        const reply = await ask(what);
        const page = reply && (await readListing(reply.body));
        if (page === undefined) throw unavailable(what, new Error("the answer is no listing"));
        for (const { name, writtenAt } of page.objects) yield { name: name.slice(prefix.length), writtenAt };
        token = page.next;
      } while (token !== undefined);
    },
    async remove(name) {
      await (await ask({ method: "DELETE", name: prefix + name }))?.body.dump();
    },
    close: () => agent.close(),
  };
}

/** Status and code; the text of the store is not passed on. */
function explain(reply: S3Reply, text: string): Error {
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
