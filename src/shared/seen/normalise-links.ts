import { domainToASCII, domainToUnicode } from "node:url";
import { cleanText } from "./clean-text.ts";
import { decodePercent } from "./disguises.ts";

/** A host in lower case and Unicode, as IDNA reads it; undefined for what is none. */
export function normaliseHost(host: string): string | undefined {
  const bare = host.replace(/\.$/, "");
  if (bare === "" || bare.length > 253) return undefined;
  if (/^[a-z0-9.-]+$/.test(bare) && !bare.includes("xn--")) return bare;
  const ascii = domainToASCII(bare);
  return ascii === "" ? undefined : domainToUnicode(ascii) || ascii;
}

/** The form of a mail address: `local@host`. A `+tag` belongs to it: who reads `a+b@x` is for the host to say. */
export function normaliseAddress(address: string): string | undefined {
  const clean = cleanText(address);
  const at = clean.lastIndexOf("@");
  const host = normaliseHost(clean.slice(at + 1).toLowerCase());
  const local = clean.slice(0, at).toLowerCase();
  return at > 0 && host ? `${local}@${host}` : undefined;
}

/** A link in the parts that are compared. */
export interface LinkParts {
  /** Empty for http and https. */
  readonly scheme: string;
  readonly host: string;
  /** Without the slash at its end. */
  readonly path: string;
  /** Decoded names and values. */
  readonly query: readonly (readonly [string, string])[];
  readonly fragment: string;
}

/** Splits a link, with or without `https://`; undefined for what is none. */
export function splitLink(link: string): LinkParts | undefined {
  const clean = cleanText(link).replaceAll("\\", "/").trim();
  const url = URL.parse(
    /^[a-z][a-z0-9+.-]{1,20}:/i.test(clean) && !/^[^:/]+:\d/.test(clean) ? clean : `https://${clean}`,
  );
  if (!url?.hostname) return undefined;
  const scheme = /^https?:$/.test(url.protocol) ? "" : url.protocol;
  const host = normaliseHost(url.hostname.toLowerCase()) ?? url.hostname;
  const port = url.port === "" ? "" : `:${url.port}`;
  return {
    scheme,
    host: `${url.username === "" ? "" : `${decodePercent(url.username)}@`}${host}${port}`,
    path: cleanText(decodePercent(url.pathname)).toLowerCase().replace(/\/+$/, ""),
    query: [...url.searchParams].slice(0, 50).map(([name, value]) => [name.toLowerCase(), cleanText(value)] as const),
    fragment: cleanText(decodePercent(url.hash)).toLowerCase(),
  };
}

/** The form of a whole link. */
export function joinLink({ scheme, host, path, query, fragment }: LinkParts): string {
  const asked = query.map(([name, value]) => `${name}=${value.toLowerCase()}`).join("&");
  return `${scheme}${host}${path}${asked === "" ? "" : `?${asked}`}${fragment}`;
}

/** A path with `/` alone, without `.`, `..` and slashes at its ends. */
export function normalisePath(path: string): string {
  const kept: string[] = [];
  for (const part of cleanText(path)
    .toLowerCase()
    .split(/[\\/]+/)) {
    if (part === "..") kept.pop();
    else if (part !== "" && part !== ".") kept.push(part.trim());
  }
  return kept.join("/");
}

/** The folders that a path in its form lies in, and its own name. */
export function pathForms(path: string): string[] {
  const parts = path.split("/").slice(0, 30);
  const folders = parts.slice(0, -1).map((_, index) => `path:${parts.slice(0, index + 1).join("/")}`);
  const name = parts.at(-1) ?? "";
  return [`path:${path}`, ...folders, ...(name.includes(".") ? [`file:${name}`] : [])];
}
