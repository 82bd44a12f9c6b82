import { createHash, createHmac } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { S3Place } from "../../../src/service/files/files-place.ts";
import type { HttpAnswer } from "../../apps/contract/http-faults.ts";
import { listenPausably } from "../pausable-server.ts";

/** A bucket on this machine. It checks every signature by the rules of Signature Version 4, written down a second time. */
export interface FakeS3 {
  readonly place: S3Place;
  /** Names and bytes. */
  readonly objects: Map<string, { bytes: Buffer; writtenAt: number }>;
  /** What came in, e.g. `PUT 200 files/a`. */
  readonly seen: string[];
  /** Statuses for the next requests, instead of an answer. */
  readonly faults: number[];
  /** Answers requests otherwise; nothing is done then. */
  fail(rule: (request: IncomingMessage) => HttpAnswer | undefined): void;
  /** Does what these requests ask, and ends the connection before it answers. */
  lose(rule: (request: IncomingMessage) => boolean): void;
  /** Stops listening. */
  stop(): Promise<void>;
  /** Listens again. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

interface S3Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const refuse = (status: number, code: string): S3Answer => ({ status, body: `<Error><Code>${code}</Code></Error>` });
/** Of the beginning only, which is enough here. */
const toEtag = (bytes: Buffer) =>
  `"${createHash("md5").update(bytes.subarray(0, 100_000)).digest("hex")}-${bytes.length}"`;
const readName = (path: string) => decodeURIComponent(path.slice("/files/".length));

const SECRET = "a secret key / with + signs";

/**
 * Starts the bucket. `now` is its clock, in milliseconds since the epoch.
 *
 * @param pageSize entries on one page of a listing
 */
export async function startFakeS3(now: () => number = Date.now, pageSize = 2): Promise<FakeS3> {
  const objects: FakeS3["objects"] = new Map();
  const seen: string[] = [];
  const faults: number[] = [];
  let rule: Parameters<FakeS3["fail"]>[0] = () => undefined;
  let loses: Parameters<FakeS3["lose"]>[0] = () => false;

  function answer(request: IncomingMessage, body: Buffer): S3Answer {
    const fault = faults.shift();
    if (fault !== undefined) return { status: fault, body: "<Error><Code>SlowDown</Code></Error>" };
    if (!isSigned(request, body)) return refuse(403, "SignatureDoesNotMatch");
    const url = new URL(request.url ?? "", "http://s3");
    const name = readName(url.pathname);
    if (url.searchParams.has("list-type")) return { status: 200, body: listPage(objects, url.searchParams, pageSize) };
    const { headers, method } = request;
    const object = objects.get(name);
    const etag = object && toEtag(object.bytes);
    if (headers["if-match"] !== undefined && headers["if-match"] !== etag)
      return refuse(object === undefined ? 404 : 412, "PreconditionFailed");
    if (headers["if-none-match"] === "*" && object !== undefined) return refuse(412, "PreconditionFailed");
    if (method === "PUT") {
      const from = headers["x-amz-copy-source"];
      const source = from === undefined ? undefined : objects.get(readName(String(from)));
      if (from !== undefined && source === undefined) return refuse(404, "NoSuchKey");
      if (source && headers["x-amz-copy-source-if-match"] !== toEtag(source.bytes))
        return refuse(412, "PreconditionFailed");
      objects.set(name, { bytes: source?.bytes ?? body, writtenAt: now() });
      return { status: 200, body: source ? "<CopyObjectResult><ETag>e</ETag></CopyObjectResult>" : "" };
    }
    if (method === "DELETE") {
      objects.delete(name);
      return { status: 204 };
    }
    if (object === undefined) return refuse(404, "NoSuchKey");
    const facts = { etag: toEtag(object.bytes), "last-modified": new Date(object.writtenAt).toUTCString() };
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
    if (from === undefined) return { status: 200, body: object.bytes, headers: facts };
    return { status: 206, body: object.bytes.subarray(Number(from), Number(to) + 1), headers: facts };
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    const told = rule(request);
    if (told?.hang) return;
    if (told?.drop) return void request.socket.destroy();
    const reply = told === undefined ? answer(request, body) : { status: 200, ...told };
    seen.push(`${request.method} ${reply.status} ${request.url?.split("?")[0]?.slice(1)}`);
    if (loses(request)) return void request.socket.destroy();
    const sent = Buffer.from(reply.body ?? "");
    response.writeHead(reply.status, { ...reply.headers, "content-length": sent.length });
    response.end(request.method === "HEAD" ? undefined : sent);
  }

  const server = createServer((request, response) => void serve(request, response));
  const { port, ...listener } = await listenPausably(server);
  const endpoint = `http://127.0.0.1:${port}`;
  return {
    place: { bucket: "files", endpoint, region: "eu-test-1", accessKeyId: "AKTEST", secretAccessKey: SECRET },
    objects,
    seen,
    faults,
    fail: (next) => {
      rule = next;
    },
    lose: (next) => {
      loses = next;
    },
    ...listener,
  };
}

const escapeXml = (text: string) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");

/** One page of ListObjectsV2: names in the order of bytes, those with the delimiter in them as one prefix. */
function listPage(objects: FakeS3["objects"], query: URLSearchParams, pageSize: number): string {
  const [prefix = "", delimiter] = [query.get("prefix") ?? "", query.get("delimiter")];
  const encode = (name: string) => (query.has("encoding-type") ? encodeURIComponent(name) : escapeXml(name));
  const found = new Map<string, string>();
  for (const [name, { bytes, writtenAt }] of [...objects].sort(([a], [b]) => (a < b ? -1 : 1))) {
    if (!name.startsWith(prefix)) continue;
    const end = delimiter === null ? -1 : name.indexOf(delimiter, prefix.length);
    const group = end < 0 ? name : name.slice(0, end + 1);
    const facts = `<LastModified>${new Date(writtenAt).toISOString()}</LastModified><ETag>${escapeXml(toEtag(bytes))}</ETag><Size>${bytes.length}</Size>`;
    const entry = end < 0 ? `<Contents><Key>${encode(name)}</Key>${facts}</Contents>` : undefined;
    found.set(group, entry ?? `<CommonPrefixes><Prefix>${encode(group)}</Prefix></CommonPrefixes>`);
  }
  const after = query.get("continuation-token") ?? "";
  const left = [...found].filter(([name]) => name > after);
  const page = left.slice(0, Math.min(pageSize, Number(query.get("max-keys") ?? pageSize)));
  const last = page.at(-1)?.[0] ?? "";
  const token = page.length < left.length ? `<NextContinuationToken>${escapeXml(last)}</NextContinuationToken>` : "";
  const encoding = query.has("encoding-type") ? "<EncodingType>url</EncodingType>" : "";
  const entries = page.map(([, entry]) => entry).join("");
  return `<?xml version="1.0"?><ListBucketResult>${encoding}${entries}${token}</ListBucketResult>`;
}

/** As the signature wants it: every character but the unreserved ones. */
const encodeAgain = (text: string) =>
  encodeURIComponent(decodeURIComponent(text)).replaceAll(
    /[!'()*]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const sha256 = (data: Buffer | string) => createHash("sha256").update(data).digest("hex");
const hmac = (key: Buffer | string, data: string) => createHmac("sha256", key).update(data).digest();

function isSigned(request: IncomingMessage, body: Buffer): boolean {
  const pattern =
    /^AWS4-HMAC-SHA256 Credential=AKTEST\/(\d{8})\/eu-test-1\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
  const [, day = "", signed = "", signature = ""] = pattern.exec(request.headers.authorization ?? "") ?? [];
  const names = signed.split(";");
  const stamp = String(request.headers["x-amz-date"]);
  const required = ["host", "x-amz-content-sha256", "x-amz-date"].every((name) => names.includes(name));
  if (!required || !stamp.startsWith(day) || request.headers["x-amz-content-sha256"] !== sha256(body)) return false;
  const [path = "", query = ""] = (request.url ?? "").split("?");
  const pairs = query.split("&").filter(Boolean);
  const canonicalQuery = pairs
    .map((pair) => pair.split("=").map(encodeAgain).join("="))
    .sort()
    .join("&");
  const lines = names.map((name) => `${name}:${request.headers[name]}\n`).join("");
  const canonical = [request.method, path, canonicalQuery, lines, signed, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", stamp, `${day}/eu-test-1/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), "eu-test-1"), "s3"), "aws4_request");
  return hmac(key, text).toString("hex") === signature;
}
