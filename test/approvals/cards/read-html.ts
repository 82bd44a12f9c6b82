import { isValidElement, type ReactNode } from "react";

/** The text of what a React component draws; markup in it counts as markup only where it became elements. */
export function readElement(node: ReactNode | Promise<unknown>): string {
  if (Array.isArray(node)) return node.map(readElement).join("");
  if (isValidElement<{ readonly children?: ReactNode }>(node)) {
    return HIDDEN.has(String(node.type)) ? "" : readElement(node.props.children);
  }
  return typeof node === "string" || typeof node === "number" ? String(node) : "";
}

const HIDDEN = new Set(["script", "style", "template", "noscript", "title"]);

/** The text of HTML that our pages wrote, in which every sign of a value is escaped. */
export function readMarkup(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&");
}
