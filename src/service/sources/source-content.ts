import { createHash } from "node:crypto";
import { z } from "zod";
import { SIDE_EFFECT_LEVELS } from "../../wire/catalog.ts";
import { jsonSchemaSchema } from "../../wire/tool.ts";
import { ServiceError } from "../service-error.ts";

const storedActionSchema = z.object({
  id: z.string().min(1),
  title: z.string(),
  description: z.string(),
  level: z.enum(SIDE_EFFECT_LEVELS),
  requiresConfirmation: z.boolean(),
  idempotent: z.boolean(),
  inputSchema: jsonSchemaSchema,
  scopes: z.array(z.string()),
  /** How the kind carries the action out: its own JSON. */
  call: z.unknown(),
});

const storedSettingSchema = z.object({
  name: z.string(),
  label: z.string(),
  kind: z.enum(["text", "folder", "email", "secret", "choice"]),
  options: z
    .array(z.object({ value: z.string(), label: z.string() }))
    .readonly()
    .optional(),
  optional: z.boolean().optional(),
  help: z.string().optional(),
});

const contentSchema = z.object({
  description: z.string(),
  category: z.string(),
  scopes: z.array(z.string()),
  actions: z.array(storedActionSchema),
  settingsForm: z.array(storedSettingSchema),
  /** See `Integration.settingsHelp`. */
  settingsHelp: z.string().optional(),
});

/** One action of an added app, as it is stored. */
export type StoredAction = z.output<typeof storedActionSchema>;

/** What an added app offers: made once, when it is added, and again when its origin has changed. */
export type SourceContent = z.output<typeof contentSchema>;

/** What is different between two states of one app; ids of actions, and which facts of them. */
export interface ContentChanges {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly { readonly id: string; readonly facts: readonly string[] }[];
}

/** Reads what was stored. Throws ServiceError 422 `integration_misconfigured`. */
export function readSourceContent(slug: string, stored: unknown): SourceContent {
  const parsed = contentSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new ServiceError(422, "integration_misconfigured", `What is stored for the app "${slug}" cannot be read.`, {
    hint: `Add it again with "svc add".`,
    cause: parsed.error,
  });
}

/** SHA-256 (hex) of a content: changes with anything an agent or a human is told, or that decides what a call does. */
export function digestContent(content: SourceContent): string {
  return createHash("sha256").update(toOrderedJson(content)).digest("hex");
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
