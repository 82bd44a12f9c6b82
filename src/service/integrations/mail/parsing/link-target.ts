import { Parser } from "htmlparser2";

/** Characters of an address that are shown; longer ones are cut. */
const MAX_SHOWN = 2000;
/** Other schemes lead nowhere that a reader could go. */
const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/** Where a link leads. */
export interface LinkTarget {
  /** As the message writes it. */
  readonly written: string;
  /** As a browser reads it: in ASCII, so that letters of another alphabet cannot make it look like another one. */
  readonly url: URL;
}

/**
 * Where a start tag `<a …>` leads; undefined without an http, https or mailto address, `unended` when the tag does not end
 * with its last ">", which stands in an attribute.
 */
export function readTarget(tag: string): LinkTarget | "unended" | undefined {
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
export function addTarget(text: string, target: LinkTarget): string {
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
