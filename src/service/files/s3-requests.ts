import type { Readable } from "node:stream";
import { AwsV4Signer } from "aws4fetch";
import { type Dispatcher, request } from "undici";
import { sha256Hex } from "../../shared/base/hash.ts";
import type { S3Place } from "./files-place.ts";

/** One request to a bucket. */
export interface S3Request {
  readonly method: "GET" | "PUT" | "HEAD" | "DELETE";
  /** Whole name of an object; empty for the bucket itself. No part of it is "." or "..". */
  readonly name: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Further headers, such as conditions; signed with the others. */
  readonly headers?: Readonly<Record<string, string>>;
  /** `open` is called for every try. */
  readonly body?: { readonly size: number; readonly sha256: string; readonly open: () => Readable };
  readonly signal?: AbortSignal;
}

/** The answer of a store; redirects are not followed. */
export type S3Reply = Awaited<ReturnType<typeof request>>;

/** Sends requests to one bucket. */
export interface S3Requests {
  /** Sends once, signed; throws errors of the network. */
  send(what: S3Request): Promise<S3Reply>;
  /** Names an object in the header `x-amz-copy-source`. */
  toCopySource(name: string): string;
}

/** Of a request without a body. */
const EMPTY_SHA256 = sha256Hex("");

/** Signs for the bucket at `place` (Signature Version 4). `now` gives milliseconds since the epoch. */
export function createS3Requests(
  place: S3Place,
  { dispatcher, now }: { readonly dispatcher: Dispatcher; readonly now: () => number },
): S3Requests {
  const { bucket, endpoint, accessKeyId, secretAccessKey, sessionToken, region } = place;
  const amazon = `s3.${region}.amazonaws.com`;
  // The certificate of Amazon holds for one label before it.
  const isHost = endpoint === undefined && !bucket.includes(".");
  const base = isHost ? `https://${bucket}.${amazon}` : `${endpoint ?? `https://${amazon}`}/${bucket}`;
  return {
    async send({ method, name, query, headers: more, body, signal }) {
      const url = new URL(`${base}/${encodeName(name)}`);
      for (const [key, value] of Object.entries(query ?? {})) url.searchParams.set(key, value);
      // Not every store takes a plus for a space.
      url.search = url.search.replaceAll("+", "%20");
      const { headers } = await new AwsV4Signer({
        ...{ accessKeyId, secretAccessKey, region, ...(sessionToken && { sessionToken }) },
        ...{ method, url: url.href, service: "s3" },
        headers: { ...more, "x-amz-content-sha256": body?.sha256 ?? EMPTY_SHA256 },
        datetime: new Date(now()).toISOString().replace(/[-:]|\.\d{3}/g, ""),
      }).sign();
      const hasBody = method === "PUT";
      return request(url, {
        method,
        headers: { ...Object.fromEntries(headers), ...(hasBody && { "content-length": String(body?.size ?? 0) }) },
        dispatcher,
        ...(body && { body: body.open() }),
        ...(signal && { signal }),
      });
    },
    toCopySource: (name) => `/${bucket}/${encodeName(name)}`,
  };
}

/** As a URL and the signature need it: everything but unreserved characters and slashes (RFC 3986). */
function encodeName(name: string): string {
  return encodeURIComponent(name)
    .replaceAll("%2F", "/")
    .replaceAll(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
