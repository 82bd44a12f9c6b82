import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { listenPausably } from "../../service/pausable-server.ts";
import type { HttpAnswer } from "../contract/http-faults.ts";

export const USER = "ana";
export const PASSWORD = "pass wörd: 1";

/** A file, or a folder when it has no bytes. */
interface Item {
  readonly bytes?: Buffer;
  readonly modified: Date;
}

interface Answer {
  readonly status: number;
  readonly body?: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A WebDAV server on loopback, with versions (strong ETags) in If-Match and in the header If. */
export type TestWebdav = Awaited<ReturnType<typeof startWebdav>>;

/** Starts it with the empty folder `/dav/files`. */
export async function startWebdav() {
  const items = new Map<string, Item>([["/dav/files", { modified: new Date() }]]);
  const seen: string[] = [];
  let rule: (request: IncomingMessage) => HttpAnswer | undefined = () => undefined;
  let loses: (request: IncomingMessage) => boolean = () => false;
  const server = createServer(async (request, response) => {
    const body = await buffer(request).catch(() => undefined);
    if (body === undefined) return;
    const told = rule(request);
    if (told?.hang) return;
    if (told?.drop) return void request.socket.destroy();
    const reply: Answer = told === undefined ? answer(items, request, body) : { status: 200, ...told };
    seen.push(`${request.method} ${reply.status} ${decodeURIComponent(request.url ?? "")}`);
    if (loses(request)) return void request.socket.destroy();
    response.writeHead(reply.status, reply.headers);
    response.end(request.method === "HEAD" ? undefined : reply.body);
  });
  const { port, ...listener } = await listenPausably(server);
  return {
    url: `http://127.0.0.1:${port}/dav/files`,
    /** By paths without a slash at the end. */
    items,
    /** What came in, e.g. `PUT 201 /dav/files/a.txt`. */
    seen,
    /** Answers requests otherwise; nothing is done then. */
    fail: (next: typeof rule) => {
      rule = next;
    },
    /** Does what these requests ask, and ends the connection before it answers. */
    lose: (next: typeof loses) => {
      loses = next;
    },
    ...listener,
  };
}

const SIGN = `Basic ${Buffer.from(`${USER}:${PASSWORD}`).toString("base64")}`;
const toEtag = ({ bytes = Buffer.alloc(0) }: Item) =>
  `"${createHash("md5").update(bytes.subarray(0, 100_000)).digest("hex")}-${bytes.length}"`;
const readPath = (text: string) => decodeURIComponent(text).replace(/\/+$/, "");

function answer(items: Map<string, Item>, request: IncomingMessage, body: Buffer): Answer {
  const { headers, method } = request;
  if (headers.authorization !== SIGN) return { status: 401, headers: { "www-authenticate": "Basic" } };
  const path = readPath(request.url ?? "/");
  const item = items.get(path);
  const parent = items.get(path.slice(0, path.lastIndexOf("/")));
  const isPlaced = path === "/dav/files" || (parent !== undefined && parent.bytes === undefined);
  if (method === "PUT" || method === "MKCOL") {
    if (!isPlaced) return { status: 409 };
    if (method === "MKCOL" ? item !== undefined : item !== undefined && item.bytes === undefined)
      return { status: 405 };
    if (headers["if-match"] && headers["if-match"] !== (item && toEtag(item))) return { status: 412 };
    items.set(path, { ...(method === "PUT" && { bytes: body }), modified: new Date() });
    return { status: item === undefined ? 201 : 204 };
  }
  if (item === undefined) return { status: 404 };
  if (method === "PROPFIND") return { status: 207, body: describe(items, path, headers.depth === "1") };
  if (method === "MOVE" || method === "COPY") return move(items, path, request);
  if (method === "DELETE") {
    for (const name of listBelow(items, path)) items.delete(name);
    return { status: 204 };
  }
  const bytes = item.bytes ?? Buffer.alloc(0);
  if (headers["if-match"] && headers["if-match"] !== toEtag(item)) return { status: 412 };
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? "") ?? [];
  if (from === undefined) return { status: 200, body: bytes };
  return { status: 206, body: bytes.subarray(Number(from), Number(to) + 1) };
}

function move(items: Map<string, Item>, from: string, { headers, method }: IncomingMessage): Answer {
  const source = items.get(from);
  if (headers["if-match"] && headers["if-match"] !== (source && toEtag(source))) return { status: 412 };
  const to = readPath(new URL(String(headers.destination)).pathname);
  const target = items.get(to);
  if (items.get(to.slice(0, to.lastIndexOf("/")))?.bytes !== undefined) return { status: 409 };
  if (target !== undefined && headers.overwrite === "F") return { status: 412 };
  const [, etag] = /^<.*> \(\[(.*)\]\)$/.exec(String(headers.if ?? "")) ?? [];
  if (etag !== undefined && etag !== (target && toEtag(target))) return { status: 412 };
  const moved = listBelow(items, from).map((name) => [name, items.get(name)] as const);
  const left = method === "COPY" ? [] : moved.map(([name]) => name);
  for (const name of [...listBelow(items, to), ...left]) items.delete(name);
  for (const [name, item] of moved) if (item !== undefined) items.set(to + name.slice(from.length), item);
  return { status: target === undefined ? 201 : 204 };
}

function listBelow(items: Map<string, Item>, path: string): string[] {
  return [...items.keys()].filter((name) => name === path || name.startsWith(`${path}/`));
}

function describe(items: Map<string, Item>, path: string, isDeep: boolean): string {
  const shown = listBelow(items, path).filter(
    (name) => name === path || (isDeep && !name.slice(path.length + 1).includes("/")),
  );
  const entries = shown.map((name) => {
    const item = items.get(name);
    if (item === undefined) return "";
    const isFolder = item.bytes === undefined;
    const type = isFolder ? "<d:resourcetype><d:collection/></d:resourcetype>" : "<d:resourcetype/>";
    const size = isFolder ? "" : `<d:getcontentlength>${item.bytes?.length}</d:getcontentlength>`;
    const etag = isFolder ? "" : `<d:getetag>${toEtag(item).replaceAll('"', "&quot;")}</d:getetag>`;
    const time = `<d:getlastmodified>${item.modified.toUTCString()}</d:getlastmodified>`;
    const missing = isFolder
      ? "<d:propstat><d:prop><d:getetag/></d:prop><d:status>HTTP/1.1 404 Not Found</d:status></d:propstat>"
      : "";
    const href = name.split("/").map(encodeURIComponent).join("/") + (isFolder ? "/" : "");
    const own = `<d:propstat><d:prop>${type}${size}${etag}${time}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat>`;
    return `<d:response><d:href>${href.replaceAll("&", "&amp;")}</d:href>${own}${missing}</d:response>`;
  });
  return `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${entries.join("")}</d:multistatus>`;
}
