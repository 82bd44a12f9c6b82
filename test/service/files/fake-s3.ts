import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { S3Place } from "../../../src/service/files/open-blobs.ts";

/** A bucket on this machine. It checks every signature by the rules of Signature Version 4, written down a second time. */
export interface FakeS3 {
  readonly place: S3Place;
  /** Names and bytes. */
  readonly objects: Map<string, { bytes: Buffer; writtenAt: number }>;
  /** What came in, e.g. `PUT 200 files/a`. */
  readonly seen: string[];
  /** Statuses for the next requests, instead of an answer. */
  readonly faults: number[];
  close(): Promise<void>;
}

const SECRET = "a secret key / with + signs";
/** Entries on one page of a listing. */
const PAGE = 2;

/** Starts the bucket. `now` is its clock, in milliseconds since the epoch. */
export async function startFakeS3(now: () => number = Date.now): Promise<FakeS3> {
  const objects: FakeS3["objects"] = new Map();
  const seen: string[] = [];
  const faults: number[] = [];

  function answer(request: IncomingMessage, body: Buffer): { status: number; body?: Buffer | string } {
    const fault = faults.shift();
    if (fault !== undefined) return { status: fault, body: "<Error><Code>SlowDown</Code></Error>" };
    if (!isSigned(request, body)) return { status: 403, body: "<Error><Code>SignatureDoesNotMatch</Code></Error>" };
    const url = new URL(request.url ?? "", "http://s3");
    const name = url.pathname.slice("/files/".length);
    if (url.searchParams.has("list-type")) return { status: 200, body: list(url.searchParams) };
    const object = objects.get(name);
    if (request.method === "PUT") objects.set(name, { bytes: body, writtenAt: now() });
    else if (request.method === "DELETE") objects.delete(name);
    else if (object === undefined) return { status: 404, body: "<Error><Code>NoSuchKey</Code></Error>" };
    else return { status: 200, body: object.bytes };
    return { status: request.method === "DELETE" ? 204 : 200 };
  }

  function list(query: URLSearchParams): string {
    const all = [...objects].filter(([name]) => name.startsWith(query.get("prefix") ?? "")).sort();
    const after = query.get("continuation-token") ?? "";
    const page = all.filter(([name]) => name > after).slice(0, PAGE);
    const last = page.at(-1)?.[0];
    const entries = page.map(([name, { writtenAt }]) => {
      const time = new Date(writtenAt).toISOString();
      return `<Contents><Key>${name}</Key><LastModified>${time}</LastModified><Size>1</Size></Contents>`;
    });
    const isCut = last !== undefined && last !== all.at(-1)?.[0];
    const token = isCut ? `<NextContinuationToken>${last}</NextContinuationToken>` : "";
    return `<?xml version="1.0"?><ListBucketResult><Name>files</Name>${entries.join("")}${token}</ListBucketResult>`;
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const reply = answer(request, await buffer(request));
    seen.push(`${request.method} ${reply.status} ${request.url?.split("?")[0]?.slice(1)}`);
    const body = Buffer.from(reply.body ?? "");
    response.writeHead(reply.status, { "content-length": body.length });
    response.end(request.method === "HEAD" ? undefined : body);
  }

  const server = createServer((request, response) => void serve(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("The bucket has no port.");
  const endpoint = `http://127.0.0.1:${address.port}`;
  return {
    place: { bucket: "files", endpoint, region: "eu-test-1", accessKeyId: "AKTEST", secretAccessKey: SECRET },
    objects,
    seen,
    faults,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

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
  const canonicalQuery = query.split("&").filter(Boolean).sort().join("&").replaceAll("+", "%20");
  const lines = names.map((name) => `${name}:${request.headers[name]}\n`).join("");
  const canonical = [request.method, path, canonicalQuery, lines, signed, sha256(body)].join("\n");
  const text = ["AWS4-HMAC-SHA256", stamp, `${day}/eu-test-1/s3/aws4_request`, sha256(canonical)].join("\n");
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), "eu-test-1"), "s3"), "aws4_request");
  return hmac(key, text).toString("hex") === signature;
}
