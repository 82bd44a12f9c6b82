import { createServer, type IncomingHttpHeaders } from "node:http";
import { listenPausably } from "../../service/pausable-server.ts";

/** What a host answers at one path. */
export interface FeedAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/** A host of feeds on loopback. An answer with an `etag` is 304 for those who know it. */
export async function startFeeds() {
  const answers = new Map<string, FeedAnswer>();
  const asked: { readonly path: string; readonly headers: IncomingHttpHeaders }[] = [];
  const server = createServer(({ url: path = "/", headers }, response) => {
    asked.push({ path, headers });
    const answer = answers.get(path) ?? { status: 404 };
    const isKnown = answer.headers?.etag !== undefined && headers["if-none-match"] === answer.headers.etag;
    response.writeHead(isKnown ? 304 : (answer.status ?? 200), answer.headers);
    response.end(isKnown ? undefined : answer.body);
  });
  const { port, ...listener } = await listenPausably(server);
  return {
    host: `127.0.0.1:${port}`,
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    answers,
    asked,
    ...listener,
  };
}

/** One entry of {@link writeRss}. */
interface RssItem {
  readonly title: string;
  readonly html?: string;
  /** ISO 8601. */
  readonly date?: string;
}

/** An RSS document. */
export function writeRss(title: string, items: readonly RssItem[]): string {
  const entries = items.map(({ title, html = "", date }) => {
    const time = date === undefined ? "" : `<pubDate>${new Date(date).toUTCString()}</pubDate>`;
    return `<item><title>${title}</title><guid>${title}</guid><link>/${encodeURIComponent(title)}</link>${time}<description><![CDATA[${html}]]></description></item>`;
  });
  return `<?xml version="1.0"?><rss version="2.0"><channel><title>${title}</title><link>https://example.org/</link>${entries.join("")}</channel></rss>`;
}
