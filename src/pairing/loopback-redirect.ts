import { timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** The browser came back. */
export interface Redirect {
  /** The query it was sent with; its `state` is the expected one. */
  readonly params: URLSearchParams;
  /** Shows how it ended in the browser; resolves when the page has left. */
  show(title: string, text: string): Promise<void>;
}

/** A place on this machine where a browser is sent after signing in (RFC 8252, 7.3). */
export interface LoopbackRedirect {
  readonly redirectUri: string;
  /** The first request with the expected state. Others are answered and not taken for it. */
  readonly arrival: Promise<Redirect>;
  close(): Promise<void>;
}

const PATH = "/callback";
const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  connection: "close",
};

/** Listens on a free port of 127.0.0.1 for the answer to the request with this `state`. */
export async function openLoopbackRedirect(state: string): Promise<LoopbackRedirect> {
  const { promise: arrival, resolve } = Promise.withResolvers<Redirect>();
  let hasArrived = false;
  const server = createServer((request, response) => {
    const params = readAnswer(request, (server.address() as AddressInfo).port);
    if (params === undefined) return void sendPage(response, 404, "Nothing here", "This address is of no use.");
    if (!isEqual(params.get("state") ?? "", state)) {
      const text = "This is not the sign-in that svc is waiting for. Use the link it printed last.";
      return void sendPage(response, 400, "Not this one", text);
    }
    if (hasArrived) return void sendPage(response, 409, "Already here", "The answer came before; see the terminal.");
    hasArrived = true;
    resolve({ params, show: (title, text) => sendPage(response, 200, title, text) });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    redirectUri: `http://127.0.0.1:${port}${PATH}`,
    arrival,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The query of a request to our path, made for our address: other web sites can reach this port by another name. */
function readAnswer({ method, url = "", headers }: IncomingMessage, port: number): URLSearchParams | undefined {
  const target = URL.parse(url, `http://127.0.0.1:${port}`);
  if (method !== "GET" || headers.host !== `127.0.0.1:${port}` || target?.pathname !== PATH) return undefined;
  return target.searchParams;
}

function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function sendPage(response: ServerResponse, status: number, title: string, text: string): Promise<void> {
  if (response.destroyed) return;
  const body = `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${escapeHtml(title)}</title>
<style>:root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1rem}</style>
<main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(text)}</p></main></html>
`;
  response.writeHead(status, HEADERS).end(body);
  // Ends with the answer, or with the browser that went away before.
  await once(response, "close");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
