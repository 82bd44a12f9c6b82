import { Parser } from "htmlparser2";

/** Elements whose content is nothing to read. */
const HIDDEN = /<(style|script|head|title)\b/gi;

/**
 * Readable text of an HTML-only message. Only for reading: nothing here is ever rendered as HTML again. Whoever writes
 * a message chooses its HTML, so every step takes time in proportion to its length, whatever it is made of.
 */
export function stripHtml(html: string): string {
  const visible = dropHidden(html).replaceAll(/<br\s*\/?>|<\/(?:p|div|tr|li|h[1-6])\s*>/gi, "\n");
  // Behind the last ">" no tag can end: looking for its end from every "<" there would take for ever.
  const end = visible.lastIndexOf(">") + 1;
  return `${visible.slice(0, end).replaceAll(/<[^>]*>/g, "")}${visible.slice(end)}`
    .replaceAll(/&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi, readReference)
    .replaceAll("\u00a0", " ")
    .replaceAll(/\n{3,}/g, "\n\n")
    .trim();
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
