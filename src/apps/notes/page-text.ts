/** The text of a page, taken apart so that it can be put together again without changing what nobody touched. */
export interface PageText {
  /** What stands before the YAML: the byte order mark, the first `---` line; as written, as all other members are. */
  readonly head: string;
  /** The YAML between the `---` lines; undefined when the page has none. */
  readonly yaml: string | undefined;
  /** The `---` line behind it. */
  readonly tail: string;
  readonly body: string;
  /** The first line break of the page. */
  readonly lineBreak: LineBreak;
}

/** How lines end. */
export type LineBreak = "\n" | "\r\n";

/** Splits a Markdown text at its front matter. */
export function splitPage(text: string): PageText {
  const lineBreak = /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n";
  const [head = ""] = /^\uFEFF?---[ \t]*\r?\n/.exec(text) ?? [];
  const rest = text.slice(head.length);
  const end = head === "" ? null : /(?<=^|\n)---[ \t]*(?:\r?\n|$)/.exec(rest);
  if (end !== null) {
    const [tail] = end;
    return { head, yaml: rest.slice(0, end.index), tail, body: rest.slice(end.index + tail.length), lineBreak };
  }
  const mark = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  return { head: mark, yaml: undefined, tail: "", body: text.slice(mark.length), lineBreak };
}

/** Inverse of {@link splitPage}. */
export function joinPage({ head, yaml, tail, body, lineBreak }: PageText): string {
  const isOpen = tail !== "" && !tail.endsWith("\n") && body !== "";
  return `${head}${yaml ?? ""}${tail}${isOpen ? lineBreak : ""}${body}`;
}

/** The page with this YAML between its `---` lines, which are added where there are none. */
export function replaceYaml(page: PageText, yaml: string): PageText {
  if (page.yaml !== undefined) return { ...page, yaml };
  const line = `---${page.lineBreak}`;
  return { ...page, head: `${page.head}${line}`, yaml, tail: line };
}

/** Text with the line breaks of the page it goes into. */
export function breakLines(text: string, lineBreak: LineBreak): string {
  return text.replaceAll(/\r?\n/g, lineBreak);
}
