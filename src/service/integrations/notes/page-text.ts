import { Document, isMap, parseDocument } from "yaml";
import { refuseValue } from "../../service-error.ts";

const MAX_FRONT_MATTER = 64 * 1024;

/** The text of a page, taken apart so that it can be put together again without changing what nobody touched. */
export interface PageText {
  /** The YAML between the `---` lines, as written; undefined when the page has none. */
  readonly yaml: string | undefined;
  readonly body: string;
  /** Line break of the front matter. */
  readonly lineBreak: "\n" | "\r\n";
}

/** Splits a Markdown text at its front matter. */
export function splitPage(text: string): PageText {
  const start = /^\uFEFF?---[ \t]*(\r?\n)/.exec(text);
  if (start === null) return { yaml: undefined, body: text, lineBreak: "\n" };
  const rest = text.slice(start[0].length);
  const end = /(?:^|\n)---[ \t]*(?:\r?\n|$)/.exec(rest);
  if (end === null) return { yaml: undefined, body: text, lineBreak: "\n" };
  const yaml = rest.slice(0, end.index + (end[0].startsWith("\n") ? 1 : 0));
  return { yaml, body: rest.slice(end.index + end[0].length), lineBreak: start[1] === "\r\n" ? "\r\n" : "\n" };
}

/** Inverse of {@link splitPage}. */
export function joinPage({ yaml, body, lineBreak }: PageText): string {
  if (yaml === undefined) return body;
  const lines = yaml === "" || yaml.endsWith("\n") ? yaml : `${yaml}\n`;
  return `---${lineBreak}${lines.replaceAll(/\r?\n/g, lineBreak)}---${lineBreak}${body}`;
}

function parse(yaml: string): Document {
  if (yaml.length > MAX_FRONT_MATTER) throw new Error("The front matter is too long.");
  const document = parseDocument(yaml, { logLevel: "silent" });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  if (document.contents !== null && !isMap(document.contents))
    throw new Error("The front matter is not a list of properties.");
  return document;
}

/** The properties of a page; `problem` instead when its front matter cannot be read. */
export function readProperties(yaml: string | undefined): { properties: Record<string, unknown>; problem?: string } {
  if (yaml === undefined) return { properties: {} };
  try {
    const value: unknown = parse(yaml).toJS({ maxAliasCount: 100 });
    return { properties: typeof value === "object" && value !== null ? { ...value } : {} };
  } catch (error) {
    return { properties: {}, problem: error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unreadable" };
  }
}

/**
 * Sets properties (null removes one) in readable front matter; order, comments and unknown properties stay.
 *
 * @throws ServiceError 400 when it would be too long to be read again.
 */
export function changeProperties(text: PageText, changes: Readonly<Record<string, unknown>>): PageText {
  let document = parse(text.yaml ?? "");
  if (document.contents === null) document = new Document({});
  for (const [key, value] of Object.entries(changes)) {
    if (value === null) document.delete(key);
    else document.set(key, document.createNode(value));
  }
  const isEmpty = isMap(document.contents) && document.contents.items.length === 0;
  const yaml = isEmpty ? undefined : document.toString({ lineWidth: 0 });
  if (yaml !== undefined && yaml.length > MAX_FRONT_MATTER)
    throw refuseValue("properties", "would make the front matter longer than 64 KB.", "Remove some of them first.");
  return { ...text, yaml };
}
