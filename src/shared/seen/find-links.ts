import type { FoundValue } from "./found-value.ts";
import { joinLink, normaliseAddress, normaliseHost, normalisePath, pathForms, splitLink } from "./normalise-links.ts";

const LONGEST_LINK = 2000;

const EAST_ASIAN = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\u3000-\u303f]/u;

/** What ends a link in a text. */
const LINK_END = /[\s<>"{}|^`\p{Cc}]/u;

const LINK_TAIL = /[.,;:!?'")\]*_]+$/;

const LOCAL = /[\p{L}\p{N}\p{M}._%+'*!#$&=~/-]/u;

const HOST_CHARACTER = /[\p{L}\p{N}\p{M}.-]/u;

/** Names with an ending of these are files rather than hosts. */
const FILE_ENDING =
  /\.(?:md|txt|csv|tsv|pdf|docx?|xlsx?|pptx?|od[tsp]|rtf|html?|xml|json|ya?ml|ics|vcf|eml|png|jpe?g|gif|svg|webp|heic|mp[34]|mov|wav|zip|gz|tar|7z|log|ini|py|js|ts|sh|sql|key|pages|numbers|bak)$/i;

/** Links with a scheme. */
export function findLinks(text: string): FoundValue[] {
  const found: FoundValue[] = [];
  for (let mark = text.indexOf("://"); mark >= 0; mark = text.indexOf("://", mark + 3)) {
    const scheme = /[a-z][a-z0-9+.-]{0,15}$/i.exec(text.slice(Math.max(0, mark - 16), mark))?.[0];
    if (!scheme) continue;
    const at = mark - scheme.length;
    if (at < (found.at(-1)?.end ?? 0)) continue;
    const end = endOfLink(text, mark + 3);
    const value = linkValue(text.slice(at, end), at);
    if (value) found.push(value);
  }
  for (const { 0: whole, 1: target = "", index } of text.matchAll(/\b(?:mailto|tel):([^\s<>"?]{1,320})/gi)) {
    const value = addressValue(target, index + whole.length - target.length);
    if (value) found.push(value);
  }
  return found;
}

function endOfLink(text: string, from: number): number {
  const eastern = EAST_ASIAN.test(text[from] ?? "");
  let end = from;
  while (end < text.length && end - from < LONGEST_LINK) {
    const character = text[end] ?? "";
    if (LINK_END.test(character) || (!eastern && EAST_ASIAN.test(character))) break;
    end += 1;
  }
  const tail = LINK_TAIL.exec(text.slice(from, end))?.[0] ?? "";
  const open = text.slice(from, end).split("(").length;
  const closed = text.slice(from, end).split(")").length;
  return tail.startsWith(")") && open === closed ? end - tail.length + 1 : end - tail.length;
}

/** A link as a value; `link` may lack its scheme. */
function linkValue(link: string, at: number): FoundValue | undefined {
  const parts = splitLink(link);
  if (!parts) return undefined;
  const form = `link:${joinLink(parts)}`;
  const bare = { ...parts, query: [], fragment: "" };
  const prefixes = parts.query.map((_, index) => {
    const query = parts.query
      .slice(0, index + 1)
      .map(([name, value], nth) => [name, nth === index ? "" : value] as const);
    return `link:${joinLink({ ...parts, query, fragment: "" })}`;
  });
  const gives = [form, `link:${joinLink(bare)}`, ...prefixes, ...hostForms(parts.host.replace(/:\d+$|^.*@/g, ""))];
  return { kind: "link", at, end: at + link.length, asks: [form], gives };
}

function hostForms(host: string): string[] {
  return [`host:${host}`];
}

/** A whole text as a link: also what is left without the points and brackets that end a sentence. */
export function wholeLink(text: string): FoundValue | undefined {
  const link = /\s/.test(text) ? undefined : linkValue(text, 0);
  const bare = linkValue(text.replace(LINK_TAIL, ""), 0);
  return link && { ...link, asks: [...new Set([...link.asks, ...(bare?.asks ?? [])])] };
}

/** Mail addresses, from each `@` to both sides. */
export function findAddresses(text: string): FoundValue[] {
  const found: FoundValue[] = [];
  for (let mark = text.indexOf("@"); mark >= 0; mark = text.indexOf("@", mark + 1)) {
    let at = mark;
    while (at > 0 && mark - at < 64 && LOCAL.test(text[at - 1] ?? "")) at -= 1;
    while (at < mark && /[.'*/=&-]/.test(text[at] ?? "")) at += 1;
    let end = mark + 1;
    while (end < text.length && end - mark < 254 && HOST_CHARACTER.test(text[end] ?? "")) end += 1;
    const host = text.slice(mark + 1, end);
    const eastern = host.search(EAST_ASIAN);
    if (eastern > 0 && /\.[a-z]{2,}$/i.test(host.slice(0, eastern))) end = mark + 1 + eastern;
    while (/[.-]/.test(text[end - 1] ?? "")) end -= 1;
    const local = text.slice(at, mark);
    const start = EAST_ASIAN.test(local) ? afterEastern(local) : 0;
    const value = addressValue(text.slice(at + start, end), at + start);
    if (value) found.push(value);
  }
  return found;
}

/** Where the Latin end of a local part begins, after text that no blank parts from it. */
function afterEastern(local: string): number {
  const tail = /[\w.+%'-]+$/.exec(local)?.[0] ?? "";
  return tail === "" ? 0 : local.length - tail.length;
}

/** A mail address as a value. */
function addressValue(address: string, at: number): FoundValue | undefined {
  const form = normaliseAddress(address);
  const host = form?.slice(form.lastIndexOf("@") + 1);
  if (!form || !host?.includes(".") || !isHost(host)) return undefined;
  return {
    kind: "address",
    at,
    end: at + address.length,
    asks: [`address:${form}`],
    gives: [`address:${form}`, `host:${host}`],
  };
}

function isHost(text: string): boolean {
  return (
    /^(?:[\p{L}\p{N}\p{M}_-]+\.)+[\p{L}\p{M}][\p{L}\p{N}\p{M}-]*\p{L}$/u.test(text) || /^\d+(?:\.\d+){3}$/.test(text)
  );
}

/** Hosts, links without a scheme, paths and names of files: pieces between blanks with a point or slash in them. */
export function findPieces(text: string): FoundValue[] {
  const found: FoundValue[] = [];
  for (const { 0: whole, index } of text.matchAll(/[^\s<>"'()[\]{}|,;:=*!?`\u3000-\u3002]{3,400}/gu)) {
    if (!/[./\\]/.test(whole) || !/\p{L}/u.test(whole)) continue;
    const piece = whole.replace(/[.]+$/, "");
    for (const part of splitEastern(piece)) {
      const value = pieceValue(part.text, index + part.at);
      if (value) found.push(value);
    }
  }
  return found;
}

/** A piece as it is, and its Latin run where text without blanks stands around it. */
function splitEastern(piece: string): { text: string; at: number }[] {
  const whole = { text: piece, at: 0 };
  if (!EAST_ASIAN.test(piece)) return [whole];
  const latin = /[\w%-]+(?:[./\\][\w%.-]+)+/.exec(piece);
  return latin && !/[\\/]/.test(piece.replace(latin[0], "")) ? [{ text: latin[0], at: latin.index }] : [whole];
}

function pieceValue(piece: string, at: number): FoundValue | undefined {
  const end = at + piece.length;
  const [first = ""] = piece.split(/[\\/]/, 1);
  if (first !== piece && first.includes(".") && isHost(first) && !FILE_ENDING.test(first)) {
    const link = linkValue(piece, at);
    return link && { ...link, gives: [...link.gives, ...pathForms(normalisePath(piece))] };
  }
  if (/[\\/]/.test(piece) || FILE_ENDING.test(piece)) return pathValue(piece, at, end);
  const host = isHost(piece) ? normaliseHost(piece.toLowerCase()) : undefined;
  if (!host || !/\p{L}{2}/u.test(piece)) return undefined;
  return { kind: "host", at, end, asks: [`host:${host}`], gives: [`host:${host}`, `link:${host}`, `file:${host}`] };
}

/** A path of a file or folder as a value. */
export function pathValue(path: string, at: number, end: number): FoundValue | undefined {
  const form = normalisePath(path);
  if (form === "") return undefined;
  const asks = [`path:${form}`];
  if (!form.includes("/")) asks.push(`file:${form}`);
  const folder = form.slice(0, Math.max(0, form.lastIndexOf("/")));
  const parts = folder === "" ? [] : [[`path:${folder}`], [`file:${form.slice(folder.length + 1)}`]];
  return { kind: "path", at, end, asks, gives: pathForms(form), parts };
}
