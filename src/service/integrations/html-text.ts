import { Parser } from "htmlparser2";

/** Elements whose content is nothing to read. */
const HIDDEN = /<(style|script|head|title)\b/gi;
const ENDS_LINE = /^<(?:br\s*\/?|\/(?:p|div|tr|li|h[1-6])\s*)>$/i;
const IS_LINK = /^<a[^a-z\d>]/i;
const ENDS_LINK = /^<\/a\s*>$/i;

/**
 * Readable text of an HTML-only message, each link followed by where it leads. Only for reading: nothing here is ever
 * rendered as HTML again. The sender of a message chooses its HTML, so every step takes time in proportion to its length,
 * whatever it is made of.
 */
export function stripHtml(html: string): string {
  const visible = dropHidden(html);
  // Behind the last ">" no tag can end: looking for its end from every "<" there would take for ever.
  const end = visible.lastIndexOf(">") + 1;
  return `${readTags(visible.slice(0, end))}${readReferences(visible.slice(end))}`
    .replaceAll("\u00a0", " ")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
}

function readTags(html: string): string {
  const written: string[] = [];
  let link: { readonly target: LinkTarget; readonly start: number } | undefined;
  const endLink = () => {
    if (link !== undefined) written.push(addTarget(written.splice(link.start).join(""), link.target));
    link = undefined;
  };
  let from = 0;
  for (const { 0: tag, index } of html.matchAll(/<[^>]*>/g)) {
    written.push(readReferences(html.slice(from, index)));
    from = index + tag.length;
    if (ENDS_LINE.test(tag)) written.push("\n");
    else if (ENDS_LINK.test(tag)) endLink();
    else if (IS_LINK.test(tag)) {
      endLink();
      const target = readTarget(tag);
      // The tag continues after a ">" in an attribute: its rest could be mistaken for a different address.
      if (target === "unended") written.push(tag);
      else if (target !== undefined) link = { target, start: written.length };
    }
  }
  endLink();
  return written.join("");
}

function readReferences(text: string): string {
  return text.replaceAll(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, readReference);
}

/** The characters of one reference such as `&rsquo;`; an unknown one stays. */
function readReference(reference: string): string {
  let text = "";
  new Parser({ ontext: (part) => (text += part) }).end(reference);
  return text;
}

/** Removes hidden elements with their content; one that does not end stays, and its end is looked for only once. */
function dropHidden(html: string): string {
  const kept: string[] = [];
  const endless = new Set<string>();
  let from = 0;
  for (const { index, 1: tag = "" } of html.matchAll(HIDDEN)) {
    const name = tag.toLowerCase();
    if (index < from || endless.has(name)) continue;
    const closing = new RegExp(`</${name}\\s*>`, "gi");
    closing.lastIndex = index;
    if (closing.exec(html) === null) {
      endless.add(name);
      continue;
    }
    kept.push(html.slice(from, index));
    from = closing.lastIndex;
  }
  return kept.join("") + html.slice(from);
}

/** Characters of an address that are shown; longer ones are cut. */
const MAX_SHOWN = 2000;
/** Other schemes lead nowhere that a reader could go. */
const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** Where a link leads. */
interface LinkTarget {
  /** As the message writes it. */
  readonly written: string;
  /** As a browser reads it: in ASCII, so that letters of another alphabet cannot make it look like another one. */
  readonly url: URL;
}

/**
 * Where a start tag `<a …>` leads; undefined without an http, https or mailto address, `unended` when the tag does not end
 * with its last ">", which stands in an attribute.
 */
function readTarget(tag: string): LinkTarget | "unended" | undefined {
  let attributes: Readonly<Record<string, string>> | undefined;
  let name = "";
  const onopentag = (found: string, all: Readonly<Record<string, string>>) => {
    name = found;
    attributes = all;
  };
  new Parser({ onopentag }).end(tag);
  if (attributes === undefined) return "unended";
  const written = name === "a" ? attributes.href : undefined;
  const url = written === undefined ? null : URL.parse(written);
  if (written === undefined || url === null || !SCHEMES.has(url.protocol)) return undefined;
  return { written, url };
}

/** The text of a link with its address behind it, in brackets; without it where the text is the address. */
function addTarget(text: string, target: LinkTarget): string {
  if (isTarget(text.replaceAll(/\s+/g, " ").trim(), target)) return text;
  const { href } = target.url;
  const shown = href.length > MAX_SHOWN ? `${href.slice(0, MAX_SHOWN)}…` : href;
  const said = text.trimEnd();
  return `${said} (${shown})${text.slice(said.length)}`;
}

function isTarget(text: string, { written, url }: LinkTarget): boolean {
  if ([text, `${text}/`, `mailto:${text}`].includes(url.href)) return true;
  return text === written.trim() && text.includes(url.hostname);
}
