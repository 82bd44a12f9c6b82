import { Parser } from "htmlparser2";

/** How much of an answer decides whether it is a page. */
export const OPENING_BYTES = 512;

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** The start of a whole document. Single elements do not count: Markdown and SVG begin with them too. */
const HTML_START = /^<(?:!doctype\s+html|html|head|body)[\s>]/i;

/** Encoding by byte order mark; pages without one are read as UTF-8, which web addresses in them survive in any case. */
function readEncoding(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
}

/** True when the declared type or the first 512 bytes say that an answer is a web page. */
export function isHtmlPage(contentType: string, head: Uint8Array): boolean {
  if (HTML_TYPE.test(contentType)) return true;
  const opening = new TextDecoder(readEncoding(head)).decode(head.subarray(0, OPENING_BYTES));
  return HTML_START.test(skipProlog(opening));
}

/** The text after the XML declaration and comments. One pattern for both would backtrack over a row of comments. */
function skipProlog(text: string): string {
  let rest = text.trimStart().replace(/^<\?xml[^>]*>\s*/i, "");
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->", 4);
    if (end < 0) return "";
    rest = rest.slice(end + 3).trimStart();
  }
  return rest;
}

/** Heads are shorter; a page without one ends here. */
const MAX_PAGE_BYTES = 512 * 1024;
/** Only the first usable one counts. */
const MAX_CANDIDATES = 20;
const OPEN_GRAPH = new Set(["og:image", "og:image:url", "og:image:secure_url"]);
const TWITTER = new Set(["twitter:image", "twitter:image:src"]);

class PageHead {
  isComplete = false;
  #base: string | undefined;
  readonly #openGraph: string[] = [];
  readonly #twitter: string[] = [];
  readonly #parser = new Parser({
    onopentag: (name, attributes) => this.#open(name, attributes),
    onclosetag: (name) => {
      if (name === "head") this.isComplete = true;
    },
  });

  write(text: string): void {
    this.#parser.write(text);
  }

  #open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (this.isComplete) return;
    if (name === "body") this.isComplete = true;
    if (name === "base") this.#base ??= attributes.href;
    if (name !== "meta") return;
    const key = (attributes.property ?? attributes.name ?? "").trim().toLowerCase();
    const content = (attributes.content ?? "").trim();
    if (content === "") return;
    const list = OPEN_GRAPH.has(key) ? this.#openGraph : TWITTER.has(key) ? this.#twitter : undefined;
    if (list !== undefined && list.length < MAX_CANDIDATES) list.push(content);
  }

  findImage(pageUrl: URL): URL | undefined {
    const base = this.#base === undefined ? pageUrl : (URL.parse(this.#base.trim(), pageUrl.href) ?? pageUrl);
    const found = [...this.#openGraph, ...this.#twitter]
      .map((text) => URL.parse(text, base.href))
      .filter((url) => url !== null)
      .filter(({ protocol }) => protocol === "https:" || protocol === "http:");
    return found.find(({ protocol }) => protocol === "https:") ?? found[0];
  }
}

function createDecoder(head: Uint8Array): (piece: Uint8Array) => string {
  const decoder = new TextDecoder(readEncoding(head));
  return (piece) => decoder.decode(piece, { stream: true });
}

/**
 * The social preview image that the head of a page names: `og:image` (also `:url`, `:secure_url`), then `twitter:image`
 * (also `:src`), an https address before an http one, relative to the first `<base>`. Reads up to `</head>`, `<body>` or
 * 512 KiB. The address is as hostile as the page: it still has to pass the guard.
 */
export async function findPreviewImage(page: AsyncIterable<Uint8Array>, pageUrl: URL): Promise<URL | undefined> {
  const head = new PageHead();
  let decode: ((piece: Uint8Array) => string) | undefined;
  let size = 0;
  for await (const piece of page) {
    decode ??= createDecoder(piece);
    head.write(decode(piece.subarray(0, MAX_PAGE_BYTES - size)));
    size += piece.length;
    if (head.isComplete || size >= MAX_PAGE_BYTES) break;
  }
  return head.findImage(pageUrl);
}
