import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  visit,
  type YAMLMap,
} from "yaml";
import { refuseValue } from "../../service/service-error.ts";
import type { LineBreak } from "./page-text.ts";

const MAX_FRONT_MATTER = 64 * 1024;
/** Aliases of one page that are followed: more of them may stand for more than there is memory. */
const MAX_ALIASES = 100;

/** The front matter of a page, as far as it can be read. */
export interface FrontMatter {
  /** Numbers that would be written in another way, such as `01234`, are given as they are written. */
  readonly properties: Readonly<Record<string, unknown>>;
  /** Why it cannot be read; then there are no properties. */
  readonly problem?: string;
  /** What had to be guessed. */
  readonly guess?: string;
}

/** Reads YAML with the names and values of a page; undefined where the page has none. */
export function readFrontMatter(yaml: string | undefined): FrontMatter {
  if (yaml === undefined) return { properties: {} };
  try {
    const document = parse(yaml);
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    const properties = typeof value === "object" && value !== null ? { ...value } : {};
    if (document.errors.length === 0) return { properties };
    return { properties, guess: "A property is there more than once; its last value is shown." };
  } catch (error) {
    return { properties: {}, problem: error instanceof Error ? (error.message.split("\n")[0] ?? "") : "unreadable" };
  }
}

function parse(yaml: string): Document.Parsed {
  if (yaml.length > MAX_FRONT_MATTER) throw new Error("The front matter is too long.");
  const document = parseDocument(yaml, { logLevel: "silent", keepSourceTokens: true });
  const error = document.errors.find(({ code }) => code !== "DUPLICATE_KEY");
  if (error !== undefined) throw error;
  if (document.contents !== null && !isMap(document.contents))
    throw new Error("The front matter is not a list of properties.");
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "number" && node.source !== undefined && String(node.value) !== node.source)
        node.value = node.source;
    },
  });
  return document;
}

/** A property as it stands in the text. */
interface Entry {
  readonly name: string;
  readonly key: Node;
  readonly value: Node | null;
  /** Where its `:` ends; undefined without one. */
  readonly colon: number | undefined;
  /** The value as JSON. */
  readonly json: string;
}

function listEntries(document: Document.Parsed): Entry[] {
  if (!isMap(document.contents)) return [];
  return document.contents.items.flatMap(({ key, value, srcToken }: Pair<unknown, unknown>) => {
    if (!isScalar(key)) return [];
    const sign = srcToken?.sep?.find(({ type }) => type === "map-value-ind");
    const node = isScalar(value) || isCollection(value) || isAlias(value) ? value : null;
    const json = JSON.stringify(node?.toJS(document, { maxAliasCount: MAX_ALIASES }) ?? null);
    return [{ name: String(key.value), key, value: node, colon: sign && sign.offset + 1, json }];
  });
}

/** YAML that is changed. */
interface Draft {
  readonly yaml: string;
  readonly root: YAMLMap | undefined;
  readonly lineBreak: LineBreak;
}

/** A part of the text and what comes in its place. */
interface Splice {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Sets properties (null removes one) in readable YAML; all other bytes stay. Throws ServiceError 400 naming the property for
 * what cannot be changed alone, and where the result would be too long to be read again.
 *
 * @param o.fields the arguments of properties that are not in `properties`
 */
export function changeFrontMatter(
  yaml: string,
  changes: Readonly<Record<string, unknown>>,
  { lineBreak = "\n", fields = {} }: { lineBreak?: LineBreak; fields?: Readonly<Record<string, string>> } = {},
): string {
  const document = parse(yaml);
  const draft = { yaml, root: isMap(document.contents) ? document.contents : undefined, lineBreak };
  const before = listEntries(document);
  const refuse = (name: string, why: string) =>
    refuseValue(fields[name] ?? `properties.${name}`, `cannot be changed without changing more: ${why}`, EDIT);
  const splices: Splice[] = [];
  for (const [name, value] of Object.entries(changes)) {
    const [entry, second] = before.filter((one) => one.name === name);
    if (second !== undefined) throw refuse(name, `"${name}" is there more than once.`);
    if (entry === undefined ? value === null : entry.json === JSON.stringify(value) && value !== null) continue;
    const splice =
      entry === undefined
        ? add(draft, name, value)
        : value === null
          ? remove(draft, entry)
          : replace(draft, entry, value);
    if (splice === undefined) throw refuse(name, `of the way "${name}" is written.`);
    splices.push(splice);
  }
  const changed = splices
    .toReversed()
    .toSorted((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: own }) => text.slice(0, from) + own + text.slice(to), yaml);
  if (changed.length > MAX_FRONT_MATTER)
    throw refuseValue("properties", "would make the front matter longer than 64 KB.", "Remove some of them first.");
  const [wrong] = splices.length === 0 ? [] : findWrong(before, changed, changes);
  if (wrong !== undefined) throw refuse(wrong, "other properties depend on it, or on how it is written.");
  return changed;
}

const EDIT = "Have a human change it in an editor.";

/** Names of changes that have not come out as they are meant; all of them when something else has changed, too. */
function findWrong(before: readonly Entry[], yaml: string, changes: Readonly<Record<string, unknown>>): string[] {
  const names = Object.keys(changes);
  let after: readonly Entry[];
  try {
    after = listEntries(parse(yaml));
  } catch {
    return names;
  }
  const listOthers = (all: readonly Entry[]) =>
    JSON.stringify(all.flatMap(({ name, json }) => (Object.hasOwn(changes, name) ? [] : [name, json])));
  if (listOthers(before) !== listOthers(after)) return names;
  return names.filter((name) => {
    const values = after.filter((one) => one.name === name).map(({ json }) => json);
    return JSON.stringify(values) !== JSON.stringify(changes[name] === null ? [] : [JSON.stringify(changes[name])]);
  });
}

function startOfLine({ yaml }: Draft, at: number): number {
  return yaml.lastIndexOf("\n", at - 1) + 1;
}

/** At the end, in the style of the others. */
function add(draft: Draft, name: string, value: unknown): Splice {
  const { root, yaml, lineBreak } = draft;
  const key = writeScalar(name, true);
  const start = root?.range?.[0] ?? 0;
  if (root?.flow) {
    const end = (root.range?.[1] ?? 0) - 1;
    return { from: end, to: end, text: `${root.items.length === 0 ? "" : ", "}${key}: ${writeInline(value, true)}` };
  }
  const indent = root === undefined ? "" : yaml.slice(startOfLine(draft, start), start);
  const isList = Array.isArray(value) && value.length > 0;
  const own = isList
    ? value.map((item) => `${lineBreak}${indent}  - ${writeScalar(item, false)}`).join("")
    : ` ${writeInline(value, false)}`;
  return { from: yaml.length, to: yaml.length, text: `${indent}${key}:${own}${lineBreak}` };
}

/** Its lines; undefined where it shares one. */
function remove(draft: Draft, { key, value }: Entry): Splice | undefined {
  const { yaml, root } = draft;
  const at = key.range?.[0] ?? 0;
  const from = startOfLine(draft, at);
  if (root?.flow || yaml.slice(from, at).trim() !== "") return undefined;
  const end = yaml.indexOf("\n", Math.max(endOf(key, yaml), value === null ? 0 : endOf(value, yaml)));
  return { from, to: end < 0 ? yaml.length : end + 1, text: "" };
}

/** The bytes of the value alone; undefined where a comment would be lost, or more than a value be needed. */
function replace(draft: Draft, { value, colon }: Entry, wanted: unknown): Splice | undefined {
  const { yaml, root, lineBreak } = draft;
  if (colon === undefined) return undefined;
  const inline = writeInline(wanted, root?.flow ?? false);
  const from = value?.range?.[0] ?? colon;
  const to = value === null ? from : endOf(value, yaml);
  if (value === null || from === to) return { from: colon, to: colon, text: ` ${inline}` };
  if (hasComment(value, yaml)) return undefined;
  if (isSeq(value) && !value.flow && Array.isArray(wanted) && wanted.length > 0) {
    const indent = yaml.slice(startOfLine(draft, from), from);
    return { from, to, text: wanted.map((item) => `- ${writeScalar(item, false)}`).join(`${lineBreak}${indent}`) };
  }
  const gap = yaml.slice(colon, from);
  // A value that begins on a line of its own may stand there only for its indentation.
  if (gap.includes("\n")) return gap.trim() === "" ? { from: colon, to, text: ` ${inline}` } : undefined;
  return { from, to, text: isScalar(value) ? quoteLike(value, wanted, inline) : inline };
}

/** Where the text of a value ends, without the comments and empty lines behind it. */
function endOf(node: unknown, yaml: string): number {
  if (isPair(node)) return endOf(node.value ?? node.key, yaml);
  if (isCollection(node) && !node.flow && node.items.length > 0) return endOf(node.items.at(-1), yaml);
  const [from, to] = (isNode(node) ? node.range : undefined) ?? [0, 0];
  return from + yaml.slice(from, to).trimEnd().length;
}

function hasComment(value: Node, yaml: string): boolean {
  let found = isScalar(value) && /^[|>]/.test(yaml.slice(value.range?.[0])) && Boolean(value.comment);
  const end = endOf(value, yaml);
  visit(value, (_, node) => {
    if (!isNode(node)) return;
    if ((node !== value && node.commentBefore) || (node.comment && endOf(node, yaml) < end)) found = true;
  });
  return found;
}

function quoteLike(old: Scalar, wanted: unknown, inline: string): string {
  if (typeof wanted !== "string") return inline;
  if (old.type === "QUOTE_DOUBLE") return JSON.stringify(wanted);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: quotes of this kind cannot hold them
  return old.type === "QUOTE_SINGLE" && !/[\u0000-\u001f]/.test(wanted) ? `'${wanted.replaceAll("'", "''")}'` : inline;
}

function writeInline(value: unknown, isInFlow: boolean): string {
  return Array.isArray(value)
    ? `[${value.map((item) => writeScalar(item, true)).join(", ")}]`
    : writeScalar(value, isInFlow);
}

/** On one line. */
function writeScalar(value: unknown, isInFlow: boolean): string {
  const text = stringify(value, { lineWidth: 0, blockQuote: false }).trimEnd();
  return typeof value === "string" && (text.includes("\n") || (isInFlow && /^[^"'].*[,[\]{}]/.test(text)))
    ? JSON.stringify(value)
    : text;
}
