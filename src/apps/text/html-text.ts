import { findHidingRules, HiddenParts } from "./html-hidden.ts";
import { readTokens, toSet } from "./html-tokens.ts";

/** Elements that begin and end a line. */
const BLOCKS = toSet(
  "address article aside blockquote caption center dd details dialog dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr legend li main menu nav ol optgroup option p pre section select summary table tbody tfoot thead tr ul",
);
const CELLS = toSet("td th");
/** Elements that stand beside each other with a space between them. */
const APART = toSet("button input label textarea");
const KEEPS_SPACE = toSet("pre textarea listing xmp");

/**
 * Readable text of HTML: blocks on lines of their own, cells with a tab between them, what images say in their place, each
 * link followed by where it leads; without what a browser would not show. Only for reading: nothing here is ever rendered as
 * HTML again. The sender of a message chooses its HTML, so every step takes time in proportion to its length.
 *
 * @param base what addresses are relative to; without it relative ones are left out
 */
export function stripHtml(html: string, base?: string): string {
  const text = new TextWriter(base);
  const hidden = new HiddenParts(findHidingRules(html));
  let kept = 0;
  readTokens(html, {
    open(name, attribs) {
      if (!hidden.open(name, attribs)) return;
      if (KEEPS_SPACE.has(name)) kept += 1;
      text.open(name, attribs);
    },
    close(name) {
      const isSeen = hidden.isSeen;
      hidden.close(name);
      if (!isSeen) return;
      if (KEEPS_SPACE.has(name) && kept > 0) kept -= 1;
      text.close(name);
    },
    text(piece) {
      if (hidden.isSeen) text.add(piece, kept > 0);
    },
  });
  return text.end();
}

/** Where a link leads. */
interface LinkTarget {
  /** As the message writes it. */
  readonly written: string;
  /** As a browser reads it: in ASCII, so that letters of another alphabet cannot make it look like another one. */
  readonly url: URL;
}

/** Puts texts together, with one gap between two of them: the widest that was asked for. */
class TextWriter {
  readonly #parts: string[] = [];
  #base: string | undefined;
  #gap: "" | " " | "\t" = "";
  #lines = 0;
  #link: { readonly target: LinkTarget; readonly start: number } | undefined;

  constructor(base: string | undefined) {
    this.#base = base;
  }

  open(name: string, attribs: ReadonlyMap<string, string>): void {
    this.#separate(name);
    if (name === "br") this.#lines += 1;
    if (name === "img" || name === "area") this.add(attribs.get("alt") ?? "", false);
    if (name === "base") this.#base = readTarget(attribs.get("href"), this.#base)?.url.href ?? this.#base;
    if (name !== "a") return;
    this.#endLink();
    const target = readTarget(attribs.get("href"), this.#base);
    if (target !== undefined) this.#link = { target, start: this.#parts.length };
  }

  close(name: string): void {
    if (name === "a") this.#endLink();
    this.#separate(name);
  }

  add(text: string, keepsSpace: boolean): void {
    if (keepsSpace) {
      this.#say(text);
      return;
    }
    const flat = text.replaceAll(/[ \t\n\r\f]+/g, " ");
    if (flat.startsWith(" ")) this.#gap ||= " ";
    this.#say(flat.replaceAll(/^ | $/g, ""));
    if (flat !== " " && flat.endsWith(" ")) this.#gap ||= " ";
  }

  end(): string {
    this.#endLink();
    return this.#parts
      .join("")
      .replaceAll(FILLING, "")
      .replaceAll("\u00a0", " ")
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .replaceAll(/\n{3,}/g, "\n\n")
      .trim();
  }

  #separate(name: string): void {
    if (BLOCKS.has(name)) this.#lines = Math.max(this.#lines, 1);
    else if (CELLS.has(name)) this.#gap = "\t";
    else if (APART.has(name)) this.#gap ||= " ";
  }

  #say(text: string): void {
    if (text === "") return;
    if (this.#parts.length > 0) this.#parts.push(this.#lines > 0 ? "\n".repeat(Math.min(this.#lines, 2)) : this.#gap);
    this.#parts.push(text);
    this.#gap = "";
    this.#lines = 0;
  }

  #endLink(): void {
    if (this.#link === undefined) return;
    const { target, start } = this.#link;
    this.#link = undefined;
    const text = this.#parts.slice(start).join("").replaceAll(/\s+/g, " ").trim();
    if (isTarget(text, target)) return;
    const { href } = target.url;
    const shown = `(${href.length > MAX_SHOWN ? `${href.slice(0, MAX_SHOWN)}…` : href})`;
    if (text === "") this.#say(shown);
    else this.#parts.push(` ${shown}`);
  }
}

/** Characters without a width, many of which fill the preview of a newsletter. */
const FILLING = /(?:(?:\u00ad|\u034f|[\u200b-\u200f\u2060\ufeff])[ \u00a0\n]*){3,}/g;
/** Characters of an address that are shown; longer ones are cut. */
const MAX_SHOWN = 2000;
/** Other schemes lead nowhere that a reader could go. */
const SCHEMES = toSet("http: https: mailto:");

function readTarget(written: string | undefined, base: string | undefined): LinkTarget | undefined {
  if (written === undefined || written.trim().startsWith("#")) return undefined;
  const url = URL.parse(written, base);
  return url === null || !SCHEMES.has(url.protocol) ? undefined : { written, url };
}

function isTarget(text: string, { written, url }: LinkTarget): boolean {
  if ([text, `${text}/`, `mailto:${text}`].includes(url.href)) return true;
  return text === written.trim() && text.includes(url.hostname);
}
