/** An address in the answer of a DAV server, with the signs encoded that some servers leave as they are. */
export function parseHref(href: string, base: string): URL | null {
  const [, origin = "", path = ""] = /^([a-z][a-z0-9+.-]*:\/\/[^/]*)?(.*)$/is.exec(href.trim()) ?? [];
  const encoded = path.replace(/^\/+/, "/").replaceAll(/%(?![0-9A-Fa-f]{2})|[#?\\\t\n\r]/g, encodeURIComponent);
  return URL.parse(`${origin}${encoded}`, base);
}
