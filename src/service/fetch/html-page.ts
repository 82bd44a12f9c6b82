/** How much of an answer decides whether it is a page. */
export const OPENING_BYTES = 512;

const HTML_TYPE = /^\s*(?:text\/html|application\/xhtml\+xml)\s*(?:;|$)/i;

/** The start of a whole document. Single elements do not count: Markdown and SVG begin with them too. */
const HTML_START = /^<(?:!doctype\s+html|html|head|body)[\s>]/i;

/** Encoding by byte order mark; pages without one are read as UTF-8, which web addresses in them survive in any case. */
export function readEncoding(head: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" {
  if (head[0] === 0xff && head[1] === 0xfe) return "utf-16le";
  return head[0] === 0xfe && head[1] === 0xff ? "utf-16be" : "utf-8";
}

/** True when the declared type or the first 512 bytes say that an answer is a web page. */
export function isHtmlPage(contentType: string, head: Uint8Array): boolean {
  if (HTML_TYPE.test(contentType)) return true;
  const opening = new TextDecoder(readEncoding(head)).decode(head.subarray(0, OPENING_BYTES));
  return HTML_START.test(skipProlog(opening));
}

/** What follows the XML declaration and comments. A pattern for both would try every way to cut a row of comments. */
function skipProlog(text: string): string {
  let rest = text.trimStart().replace(/^<\?xml[^>]*>\s*/i, "");
  while (rest.startsWith("<!--")) {
    const end = rest.indexOf("-->", 4);
    if (end < 0) return "";
    rest = rest.slice(end + 3).trimStart();
  }
  return rest;
}
