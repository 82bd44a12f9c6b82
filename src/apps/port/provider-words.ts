import { isRecord, parseJson } from "../../shared/base/json.ts";

/** What an error answer says to people. */
export interface ProviderWords {
  readonly message?: string | undefined;
  /** One line for each problem it lists, with the field that it is about. */
  readonly details?: readonly string[] | undefined;
}

const TEXT_MAX = 300;
const MOST_DETAILS = 10;
const MAX_DEPTH = 4;

/** Members by which APIs say which field a problem is about, and what it is. */
const FIELDS = ["field", "param", "parameter", "loc", "path", "pointer", "instancePath", "attribute", "property"];
const MORE_FIELDS = ["target", "name", "fields", "location", "source", "key"];
const WORDS = [
  "message",
  "msg",
  "detail",
  "description",
  "error_description",
  "reason",
  "why",
  "title",
  "error",
  "code",
];
/** Members that list problems: those of FastAPI, RFC 9457, JSON:API, Google, ASP.NET, Rails and others. */
const LISTS =
  /^(?:details?|errors?|errormessages|issues|violations|fieldviolations|invalidparams|validationerrors|fielderrors|causes|problems)$/;
/** Of a program, and not for people. */
const STACK = /^(?:stack|stack_?trace|trace|traceback|exception|debug)$/i;

/** Reads the words of an error answer, wherever its API puts them; nothing of a web page, and no stack of a program. */
export function readProviderWords(text: string): ProviderWords {
  const value = parseJson(text) ?? undefined;
  return value === undefined ? { message: readPlainText(text) } : readProblem(value);
}

/** The same of a value. */
export function readProblem(value: unknown): ProviderWords {
  const holders = [value, isRecord(value) ? value.error : undefined];
  const message = holders.map(findMessage).find((found) => found !== undefined);
  const listed = holders.flatMap((holder) => (isRecord(holder) ? listMembers(holder, 0) : listProblems(holder, 0)));
  const fields = isRecord(value) && message === undefined && listed.length === 0 ? listFields(value, 0) : [];
  const all = new Set([...listed, ...fields].filter((line) => line !== message));
  const details = [...all].slice(0, MOST_DETAILS);
  return { message: message ?? details[0], ...(details.length > 0 && { details }) };
}

/** The message alone. */
export function findProviderWords(text: string): string | undefined {
  return readProviderWords(text).message;
}

function readPlainText(text: string): string | undefined {
  if (/^\s*<|<html|<!doctype/i.test(text)) return /<message>([^<]+)<\/message>/i.exec(text)?.[1]?.slice(0, TEXT_MAX);
  return toLine(text);
}

/** A text without the stack behind it, as one line. */
function toLine(text: string): string | undefined {
  if (/<html|<!doctype/i.test(text)) return undefined;
  const [, last] = /^Traceback [\s\S]*\n(\S.*?)\s*$/.exec(text.slice(0, 100_000)) ?? [];
  const [plain = ""] = (last ?? text).split(/\n\s*(?:at |File ")/, 1);
  return plain.replaceAll(/\s+/g, " ").trim().slice(0, TEXT_MAX) || undefined;
}

function findMessage(holder: unknown): string | undefined {
  if (typeof holder === "string") return toLine(holder);
  if (!isRecord(holder)) return undefined;
  const said = [holder.message, holder.detail, holder.title, holder.error_description, holder.reason];
  return said.flatMap((one) => (typeof one === "string" ? (toLine(one) ?? []) : []))[0];
}

/** The problems of the members that list some. */
function listMembers(holder: Record<string, unknown>, depth: number): string[] {
  return Object.entries(holder).flatMap(([name, part]) => {
    if (!LISTS.test(name.toLowerCase().replaceAll(/[-_]/g, "")) || typeof part === "string") return [];
    return Array.isArray(part) || name.toLowerCase() === "error" ? listProblems(part, depth) : listFields(part, depth);
  });
}

function listProblems(items: unknown, depth: number): string[] {
  return Array.isArray(items) && depth < MAX_DEPTH
    ? items.slice(0, MOST_DETAILS).flatMap((item) => describeProblem(item, depth + 1))
    : [];
}

/** `{"name": ["is too long"]}`: problems by the fields that they are about. */
function listFields(value: unknown, depth: number): string[] {
  if (!isRecord(value) || depth > MAX_DEPTH) return [];
  return Object.entries(value).flatMap(([name, part]) => {
    const texts = [part].flat().flatMap((one) => (typeof one === "string" ? (toLine(one) ?? []) : []));
    if (STACK.test(name)) return [];
    return texts.length > 0 ? `${name}: ${texts.join(" ")}` : listMembers({ errors: part }, depth + 1);
  });
}

function describeProblem(item: unknown, depth: number): string[] {
  if (typeof item === "string") return [toLine(item) ?? []].flat();
  if (!isRecord(item)) return [];
  const inner = listMembers(item, depth);
  if (inner.length > 0) return inner;
  const places = [...FIELDS, ...MORE_FIELDS].map((name) => toPlace(item[name]));
  const place = places.find((one) => one !== undefined);
  const words = WORDS.map((name) => item[name]).find((one) => typeof one === "string" && one !== place);
  const line = typeof words === "string" ? toLine(words) : undefined;
  if (line !== undefined) return [place === undefined ? line : `${place}: ${line}`];
  return [JSON.stringify(item, (name, part: unknown) => (STACK.test(name) ? undefined : part)).slice(0, TEXT_MAX)];
}

/** `["body", "x"]`, `/data/x`, `{"pointer": "/data/x"}`. */
function toPlace(value: unknown): string | undefined {
  if (typeof value === "string" && value !== "") return value.slice(0, TEXT_MAX);
  if (Array.isArray(value) && value.length > 0) return value.join(".").slice(0, TEXT_MAX);
  return isRecord(value) ? (toPlace(value.pointer) ?? toPlace(value.parameter)) : undefined;
}
