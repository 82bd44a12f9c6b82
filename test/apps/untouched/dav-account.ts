import { createHash } from "node:crypto";
import { createServer, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { listenPausably } from "../../service/pausable-server.ts";
import type { SharedAccount } from "./check-seen-state.ts";

/** What accounts of calendars and contacts have beside their place. */
export const COMMON = { address: "ana@example.org", timeZone: "Europe/Berlin" };

const NAMES = 'xmlns:d="DAV:" xmlns:c="urn:ietf:params:xml:ns:caldav" xmlns:a="urn:ietf:params:xml:ns:carddav"';
const HOME = "<d:href>/me/</d:href>";
const ACCOUNT = `<d:current-user-principal>${HOME}</d:current-user-principal><c:calendar-home-set>${HOME}</c:calendar-home-set><a:addressbook-home-set>${HOME}</a:addressbook-home-set>`;
const COLLECTION =
  "<d:resourcetype><d:collection/><c:calendar/><a:addressbook/></d:resourcetype><d:displayname>c</d:displayname>";
const XML = { "content-type": "application/xml" };
const toEtag = (bytes: Buffer) => `"${createHash("md5").update(bytes).digest("hex")}"`;
const respond = (href: string, props: string) =>
  `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${props}</d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>`;

/**
 * A server of calendars and contacts with the collection `c`, which keeps what it is sent byte for byte. A `packed` one sends
 * its answers in gzip, whatever was asked for.
 */
export async function startDavAccount({ packed = false }: { readonly packed?: boolean } = {}) {
  const items = new Map<string, Buffer>();
  const answer = ({ method, url = "", headers }: IncomingMessage, body: Buffer) => {
    if (method === "PROPFIND") {
      const below = url === "/me/" && headers.depth === "1" ? respond("/me/c/", COLLECTION) : "";
      return {
        status: 207,
        headers: XML,
        body: `<d:multistatus ${NAMES}>${respond(url, ACCOUNT)}${below}</d:multistatus>`,
      };
    }
    const known = items.get(url);
    if (method === "REPORT") {
      const all = [...items].map(([href, bytes]) => {
        const name = href.endsWith("ics") ? "c:calendar-data" : "a:address-data";
        const data = bytes.toString().replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\r", "&#13;");
        return respond(
          href,
          `<d:getetag>${toEtag(bytes).replaceAll('"', "&quot;")}</d:getetag><${name}>${data}</${name}>`,
        );
      });
      return { status: 207, headers: XML, body: `<d:multistatus ${NAMES}>${all.join("")}</d:multistatus>` };
    }
    if (method === "GET" && known !== undefined) return { status: 200, body: known, headers: { etag: toEtag(known) } };
    if (headers["if-none-match"] === "*" && known !== undefined) return { status: 412 };
    if (headers["if-match"] !== undefined && headers["if-match"] !== (known && toEtag(known))) return { status: 412 };
    if (method === "PUT") {
      items.set(url, body);
      return { status: 204 };
    }
    if (method === "DELETE" && items.delete(url)) return { status: 204 };
    return { status: 404 };
  };
  const server = createServer(async (request, response) => {
    const { status, ...reply }: { status: number; body?: string | Buffer; headers?: Record<string, string> } = answer(
      request,
      await buffer(request),
    );
    const isPacked = packed && reply.body !== undefined;
    response.writeHead(status, { ...reply.headers, ...(isPacked && { "content-encoding": "gzip" }) });
    response.end(isPacked ? gzipSync(reply.body ?? "") : reply.body);
  });
  const { port, close } = await listenPausably(server);
  const account: SharedAccount = {
    settings: { ...COMMON, server: `http://127.0.0.1:${port}`, user: "ana", password: "x" },
    async fill(things) {
      items.clear();
      for (const [path, bytes] of things) items.set(toHref(path), Buffer.from(bytes, "latin1"));
    },
    async put(path, text) {
      if (text === undefined) items.delete(toHref(path));
      else items.set(toHref(path), Buffer.from(text, "latin1"));
    },
    look: async () => new Map([...items].map(([href, bytes]) => [toPath(href), bytes.toString("latin1")])),
  };
  return { ...account, close };
}

const toHref = (path: string) => `/me/${path.split("/").map(encodeURIComponent).join("/")}`;
const toPath = (href: string) => decodeURIComponent(href.slice("/me/".length));
