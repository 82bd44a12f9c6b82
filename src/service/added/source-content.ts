import { z } from "zod";
import { sha256Hex } from "../../base/hash.ts";
import { SIDE_EFFECT_LEVELS } from "../../wire/catalog.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import { jsonSchemaSchema } from "../../wire/tool.ts";

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
    /** How the kind carries the action out: its own JSON. */
    call: z.unknown(),
  })
  .transform((action) => (action.title === "" ? { ...action, title: action.id } : action));

const storedSettingSchema = z.object({
  name: z.string(),
  label: line,
  kind: z.enum(["text", "folder", "email", "secret", "choice"]),
  options: z
    .array(z.object({ value: z.string(), label: line }))
    .readonly()
    .optional(),
  optional: z.boolean().optional(),
  help: lines.optional(),
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

/** What an added app offers: made once, when it is added, and again when its origin has changed. */
export type SourceContent = z.output<typeof contentSchema>;

/** What is different between two states of one app; ids of actions, and which facts of them. */
interface ContentChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly facts: readonly string[] }[];
}

/** Reads what was stored, also by an earlier version; undefined when it makes no sense. */
export function parseContent(stored: unknown): SourceContent | undefined {
  return contentSchema.safeParse(stored).data;
}

/** What an app says of itself now, in the form in which it is kept, compared and shown. Throws when it makes no sense. */
export function createContent(said: z.input<typeof contentSchema>): SourceContent {
  return contentSchema.parse(said);
}

/** SHA-256 (hex) of a content: changes with anything an agent or a human is told, or that decides what a call does. */
export function digestContent(content: SourceContent): string {
  return sha256Hex(toOrderedJson(content));
}

/** Compares by action id. */
export function compareContents(old: SourceContent, next: SourceContent): ContentChanges {
  const before = new Map(old.actions.map((action) => [action.id, action]));
  const after = new Map(next.actions.map((action) => [action.id, action]));
  const changed = [...after].flatMap(([id, action]) => {
    const known = before.get(id);
    const facts = known === undefined ? [] : listChangedFacts(known, action);
    return facts.length === 0 ? [] : [{ id, facts }];
  });
  return {
    added: [...after.keys()].filter((id) => !before.has(id)),
    removed: [...before.keys()].filter((id) => !after.has(id)),
    changed,
  };
}

function listChangedFacts(known: StoredAction, action: StoredAction): string[] {
  const facts = Object.entries(action).filter(
    ([fact, value]) => toOrderedJson(value) !== toOrderedJson(known[fact as keyof StoredAction]),
  );
  return facts.map(([fact]) => fact);
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
