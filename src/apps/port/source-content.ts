import { z } from "zod";
import { sha256Hex } from "../../shared/base/hash.ts";
import { isRecord } from "../../shared/base/json.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SIDE_EFFECT_LEVELS } from "../../shared/wire/catalog.ts";
import { jsonSchemaSchema } from "../../shared/wire/tool.ts";

/**
 * One line of an app's own words, as people are shown it: what would hide, move or break what stands around it is written
 * out, and a gap is one space.
 */
export function toLine(text: string): string {
  return toPlainText(text.replaceAll(/\s+/gu, " ").trim());
}

const line = z.string().transform(toLine);
/** The same for text that may have several lines. */
const lines = z.string().transform((text) => toPlainText(text, { keepLines: true }));

const storedActionSchema = z
  .object({
    id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/),
    title: line,
    description: lines,
    level: z.enum(SIDE_EFFECT_LEVELS),
    requiresConfirmation: z.boolean(),
    idempotent: z.boolean(),
    inputSchema: jsonSchemaSchema,
    scopes: z.array(z.string()),
    /** The app's own word, whether it counts or not; without a level where it says nothing. */
    own: z.object({ level: z.enum(SIDE_EFFECT_LEVELS).optional(), idempotent: z.boolean() }).optional(),
    /** How the kind carries the action out: its own JSON. */
    call: z.unknown(),
  })
  .transform((action) => (action.title === "" ? { ...action, title: action.id } : action));

const storedSettingSchema = z.object({
  name: z.string(),
  label: line,
  kind: z.enum(["text", "lines", "folder", "email", "secret", "choice", "scopes"]),
  options: z
    .array(z.object({ value: z.string(), label: line, preselected: z.boolean().optional() }))
    .readonly()
    .optional(),
  optional: z.boolean().optional(),
  help: lines.optional(),
  group: line.optional(),
});

const contentSchema = z.object({
  description: lines,
  category: line,
  scopes: z.array(z.string()),
  actions: z
    .array(storedActionSchema)
    .refine((actions) => new Set(actions.map(({ id }) => id)).size === actions.length),
  settingsForm: z.array(storedSettingSchema),
  /** See `Integration.settingsHelp`. */
  settingsHelp: lines.optional(),
});

/** One action of an added app, as it is stored. */
export type StoredAction = z.output<typeof storedActionSchema>;

/** The actions and settings of an added app: made once, when it is added, and again when its origin has changed. */
export type SourceContent = z.output<typeof contentSchema>;

/** Reads stored content, also of an earlier version; undefined when it is invalid. */
export function parseContent(stored: unknown): SourceContent | undefined {
  return contentSchema.safeParse(stored).data;
}

/** The description an app gives of itself now, in the form in which it is kept, compared and shown. Throws when it makes no sense. */
export function createContent(said: z.input<typeof contentSchema>): SourceContent {
  return contentSchema.parse(said);
}

/** SHA-256 (hex) of a content: changes with anything an agent or a human is told, or that decides what a call does. */
export function digestContent(content: SourceContent): string {
  // The app's own word about an action counts by the level that is made of it.
  return sha256Hex(toOrderedJson({ ...content, actions: content.actions.map(({ own: _, ...facts }) => facts) }));
}

/** JSON with sorted keys: the order in which an origin lists things means nothing. */
function toOrderedJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, part: unknown) => {
    if (typeof part !== "object" || part === null || Array.isArray(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The first setting of an added app that has to be given and is not; undefined when its connection is complete. */
export function findMissingSetting(
  { settingsForm }: Pick<SourceContent, "settingsForm">,
  settings: Readonly<Record<string, unknown>>,
): SourceContent["settingsForm"][number] | undefined {
  return settingsForm.find(
    ({ name, optional }) => optional !== true && (typeof settings[name] !== "string" || settings[name] === ""),
  );
}

const HASH_CHARS = 6;

/**
 * Makes the id of an action from the name its origin gives it: letters, digits, `_` and `-`, at most `max` characters.
 * A name that has to be cut ends in a hash of the whole, so that two names stay two.
 */
export function toActionId(name: string, max: number): string {
  const plain = toPlainName(name);
  return plain.length <= max ? plain : addHash(plain, name, max);
}

/** Like {@link toActionId}, for a name whose plain id is or may be taken: always with the hash. */
export function toDistinctId(name: string, max: number): string {
  return addHash(toPlainName(name), name, max);
}

/** `name`, or the first of `name_2`, `name_3` and so on that is free. */
export function toFreeName(name: string, isTaken: (name: string) => boolean): string {
  let free = name;
  for (let count = 2; isTaken(free); count += 1) free = `${name}_${count}`;
  return free;
}

function toPlainName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]+/g, "_").replaceAll(/^_+|_+$/g, "") || "action";
}

function addHash(plain: string, name: string, max: number): string {
  const hash = sha256Hex(name).slice(0, HASH_CHARS);
  return `${plain.slice(0, max - HASH_CHARS - 1)}_${hash}`;
}

type Json = Record<string, unknown>;

/** Takes members out of an object schema, so that they are refused also where it takes members that it does not name. */
export function dropMembers(schema: Json, names: readonly string[]): void {
  for (const name of names) forgetMember(schema, name);
  if (schema.additionalProperties === false) return;
  const no = { not: { enum: [...names] } };
  schema.propertyNames = schema.propertyNames === undefined ? no : { allOf: [schema.propertyNames, no] };
}

/** Takes one member out of an object schema; it may be named like any other one then. */
export function forgetMember(schema: Json, name: string): void {
  const { properties, required } = schema;
  if (typeof properties === "object" && properties !== null) {
    schema.properties = Object.fromEntries(Object.entries(properties).filter(([known]) => known !== name));
  }
  if (!Array.isArray(required)) return;
  const left = required.filter((one) => one !== name);
  if (left.length === 0) delete schema.required;
  else schema.required = left;
}

/** One place in which two states of an action are not the same; JSON texts, undefined where there is nothing. */
export interface Difference {
  /** Which fact, and where in it, e.g. `arguments.properties.to.type`. */
  readonly path: string;
  readonly was: string | undefined;
  readonly is: string | undefined;
}

/** Differences that an owner is asked to agree to. */
export interface ContentDifferences {
  readonly added: readonly StoredAction[];
  /** Ids. */
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly differences: readonly Difference[] }[];
}

const FACT_NAMES: Readonly<Record<string, string>> = {
  inputSchema: "arguments",
  requiresConfirmation: "asks a human first",
  idempotent: "may be repeated",
  call: "how it is carried out",
};

/** The differences between two states of an app, action by action. */
export function compareContents(old: SourceContent, next: SourceContent): ContentDifferences {
  const before = new Map(old.actions.map((action) => [action.id, action]));
  const after = new Set(next.actions.map(({ id }) => id));
  const changed = next.actions.flatMap((action) => {
    const known = before.get(action.id);
    if (known === undefined) return [];
    const { own: _, ...facts } = action;
    const differences = Object.entries(facts).flatMap(([fact, value]) =>
      compare(FACT_NAMES[fact] ?? fact, known[fact as keyof StoredAction], value),
    );
    return differences.length === 0 ? [] : [{ id: action.id, differences }];
  });
  return {
    added: next.actions.filter(({ id }) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    changed,
  };
}

/** The differences of two states of an app, in one sentence. */
export function summariseDifferences({ added, removed, changed }: ContentDifferences): string {
  if (removed.length + changed.length === 0) {
    if (added.length === 0) return "Its actions are the same as before.";
    return `${added.length} new ${added.length === 1 ? "action" : "actions"}; the ones you agreed to are the same as before.`;
  }
  return `Actions: ${changed.length} changed, ${removed.length} gone, ${added.length} new.`;
}

/** One difference for each place in the two values that is not the same. */
function compare(path: string, was: unknown, is: unknown): Difference[] {
  if (isRecord(was) && isRecord(is)) {
    const keys = new Set([...Object.keys(was), ...Object.keys(is)]);
    return [...keys].flatMap((key) => compare(`${path}.${key}`, was[key], is[key]));
  }
  if (toOrderedJson(was) === toOrderedJson(is)) return [];
  return [{ path, was: JSON.stringify(was), is: JSON.stringify(is) }];
}
