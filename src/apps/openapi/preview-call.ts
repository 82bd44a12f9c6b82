import { isRecord } from "../../shared/base/json.ts";
import type { PreviewChange, PreviewObject } from "../../shared/wire/preview.ts";
import { changeText, changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import type { StoredAction } from "../port/source-content.ts";
import type { OperationCall } from "./openapi-definition.ts";

type Values = Readonly<Record<string, unknown>>;

/** What a GET of the same path says before a write. */
export interface BeforeCall {
  /** Without secrets; undefined when nothing is there, or too much to be shown. */
  readonly value: unknown;
  readonly isMissing: boolean;
  /** A strong one, which the write can be bound to. */
  readonly etag: string | undefined;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** A write with what is there before it. */
interface SeenCall {
  readonly action: StoredAction;
  readonly call: OperationCall;
  /** Without secrets. */
  readonly args: Values;
  readonly before: BeforeCall;
  /** Name of the connection, and the host that the call goes to. */
  readonly label: string;
  readonly host: string;
}

/** Members that name a thing, the likeliest first. */
const NAMES = ["title", "name", "subject", "summary", "label", "display_name", "displayName", "full_name", "fullName"];
const MORE_NAMES = ["filename", "key", "login", "email"];
const MAX_DETAILS = 8;
const LONG = 100;

/** The preview of a `PUT`, `PATCH` or `DELETE`, compared field by field with the answer of the `GET`. */
export function previewCall(seen: SeenCall): PreviewDraft {
  const { call, before, host } = seen;
  const own = unwrap(before.value, readMembers(seen) ?? {});
  const changes = call.method === "DELETE" ? listLost(own) : compareMembers(own, seen);
  const reset = call.method === "PUT" ? listReset(own, readMembers(seen)) : [];
  return {
    summary: summarise(seen, { name: findName(own), changes }),
    objects: own === undefined ? [] : [describe(own, seen.action)],
    changes,
    effects: [
      ...(call.method === "DELETE" ? [{ code: "final", text: "The app may keep nothing of what is deleted." }] : []),
      ...(before.isMissing ? [{ code: "creates", text: "Nothing is there yet; the call may create it." }] : []),
      ...(reset.length > 0 ? [{ code: "replaces", text: sayReset(reset) }] : []),
      { code: "sends_outside", text: `The call goes to ${host}.` },
    ],
    undo: { possible: false, why: "This service cannot take it back; the app itself may." },
    seen: before.seen,
  };
}

function summarise(
  { action, call, before, label }: SeenCall,
  { name, changes }: { readonly name: string | undefined; readonly changes: readonly PreviewChange[] },
): string {
  const app = quoteName(label, 24);
  const title = quoteName(action.title, 50);
  const fields = `${changes.length} ${changes.length === 1 ? "field" : "fields"}`;
  if (before.isMissing) return `Create something new in ${app} by ${title}`;
  if (call.method === "DELETE")
    return name === undefined ? `${title} in ${app}` : `Delete ${quoteName(name)} in ${app}`;
  if (name === undefined) return `${title} in ${app} (${fields} change)`;
  return call.method === "PATCH"
    ? `Change ${fields} of ${quoteName(name)} in ${app}`
    : `Replace ${quoteName(name)} in ${app} (${fields} change)`;
}

/** Members of the body by name; undefined for a body that has none. */
function readMembers({ call, args }: SeenCall): Values | undefined {
  const { body, parameters } = call;
  if (body === null || body.type === "text" || body.type === "file") return undefined;
  if (body.argument !== null) {
    const whole = args[body.argument];
    return isRecord(whole) ? whole : undefined;
  }
  const others = new Set(parameters.map(({ argument }) => argument));
  return Object.fromEntries(Object.entries(args).filter(([name]) => !others.has(name)));
}

/** The thing itself, where the answer is an envelope with nothing else in it, such as `data`. */
function unwrap(value: unknown, members: Values): Values | undefined {
  if (!isRecord(value)) return undefined;
  const [only, more] = Object.values(value);
  const isEnvelope = more === undefined && isRecord(only) && !Object.keys(value).some((name) => name in members);
  return isEnvelope ? only : value;
}

function compareMembers(own: Values | undefined, seen: SeenCall): PreviewChange[] {
  const { body } = seen.call;
  const members = readMembers(seen);
  if (members === undefined) {
    const { text } = isRecord(seen.before.value) ? seen.before.value : {};
    const after = body?.argument == null ? undefined : seen.args[body.argument];
    return typeof text === "string" && typeof after === "string" ? changeText("Text", text, after) : [];
  }
  return Object.entries(members).flatMap(([name, after]) => {
    const old = own?.[name];
    const isText = typeof old === "string" && typeof after === "string" && /\n/.test(old + after);
    return isText ? changeText(name, old, after) : changeValue(name, old, sayFile(after));
  });
}

/** A file by its name. */
function sayFile(value: unknown): unknown {
  return isRecord(value) && typeof value.s3key === "string" ? (value.name ?? "a file") : value;
}

/** Long texts that go with what is deleted; the short ones are its details. */
function listLost(own: Values | undefined): PreviewChange[] {
  return Object.entries(own ?? {}).flatMap(([name, value]) =>
    typeof value === "string" && value.length > LONG ? changeValue(name, value, undefined) : [],
  );
}

function listReset(own: Values | undefined, members: Values | undefined): string[] {
  if (members === undefined) return [];
  const isSet = (value: unknown) => value !== null && value !== "" && !(Array.isArray(value) && value.length === 0);
  return Object.entries(own ?? {}).flatMap(([name, value]) => (isSet(value) && !(name in members) ? [name] : []));
}

function sayReset(names: readonly string[]): string {
  const more = names.length > 10 ? ` and ${names.length - 10} more` : "";
  return `It replaces the whole; what it does not name may be emptied: ${names.slice(0, 10).join(", ")}${more}.`;
}

function findName(own: Values | undefined): string | undefined {
  const found = [...NAMES, ...MORE_NAMES].map((name) => own?.[name]);
  return found.find((value): value is string => typeof value === "string" && value.trim() !== "");
}

function describe(own: Values, action: StoredAction): PreviewObject {
  const name = findName(own);
  const short = Object.entries(own).filter(
    ([, value]) => value !== name && ["string", "number", "boolean"].includes(typeof value) && value !== "",
  );
  const details = short
    .map(([label, value]) => ({ label, value: String(value) }))
    .filter(({ value }) => value.length <= LONG)
    .slice(0, MAX_DETAILS);
  return { kind: "entry", name: name ?? action.title, details };
}
