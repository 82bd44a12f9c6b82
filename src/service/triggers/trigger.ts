import { z } from "zod";
import { jsonText } from "../store/open-store.ts";
import type { TriggerRow } from "../store/schema.ts";

/** What a trigger waits for. */
export const TRIGGER_KINDS = ["schedule", "mail", "file", "webhook"] as const;
export type TriggerKind = (typeof TRIGGER_KINDS)[number];

/** What a trigger does about an event: starts a flow, wakes an OpenClaw agent, sends a webhook. */
const TRIGGER_DEEDS = ["flow", "wake", "post"] as const;
export type TriggerDeed = (typeof TRIGGER_DEEDS)[number];

/** Facts of an event by name; data from outside. */
export type EventValues = Readonly<Record<string, string>>;

/** The names that events of a kind have; those of a webhook are up to its sender. */
export const EVENT_VALUES: Readonly<Record<TriggerKind, readonly string[]>> = {
  schedule: ["at"],
  mail: ["message_id", "from", "subject", "received", "snippet", "folder", "message_id_header"],
  file: ["path", "name", "modified", "size"],
  webhook: [],
};

const MAX_NAME = 80;
const MAX_TEXT = 2000;
const MAX_URL = 2000;

const text = (longest: number) => z.string().trim().max(longest, `has at most ${longest} characters`);
const account = z.string().min(1).max(64).optional();
const url = text(MAX_URL).refine(
  isWebAddress,
  "must be an address such as https://host.example/path, without a password",
);

const waitsFor = {
  /** Checked by `checkSchedule` when it is made. */
  schedule: z.strictObject({ kind: z.literal("schedule"), cron: text(200), zone: text(64) }),
  mail: z.strictObject({ kind: z.literal("mail"), query: text(500), account }),
  file: z.strictObject({ kind: z.literal("file"), folder: text(500), pattern: text(200), account }),
  webhook: z.strictObject({ kind: z.literal("webhook") }),
};

const does = z.discriminatedUnion("does", [
  z.strictObject({
    does: z.literal("flow"),
    template: z.string().min(1, "must be chosen").max(100),
    input: z.record(z.string(), z.unknown(), "must be a JSON object"),
    /** Names of event values, by the field of the input that takes them. */
    take: z.record(z.string(), z.string().max(64)),
  }),
  z.strictObject({
    does: z.literal("wake"),
    url: url.refine(
      (one) => /\/(wake|agent)\/?$/.test(one.split("?")[0] ?? ""),
      "must end with /hooks/wake or /hooks/agent",
    ),
    text: text(MAX_TEXT).min(1, "is needed: it tells the agent what to do"),
  }),
  z.strictObject({ does: z.literal("post"), url }),
]);

/** A trigger as its owner writes it. */
export const triggerContentSchema = z.strictObject({
  name: text(MAX_NAME).min(1, "is needed: it stands in the list, and with the flows that it starts"),
  on: z.discriminatedUnion("kind", [waitsFor.schedule, waitsFor.mail, waitsFor.file, waitsFor.webhook]),
  act: does,
});
export type TriggerContent = z.output<typeof triggerContentSchema>;

const cursorSchema = z.object({
  /** What the app calls its numbering, see `AppEvent`. */
  epoch: z.string().optional(),
  /** When the app was last seen whole, in milliseconds since the epoch: what came long before is not new. */
  seenAt: z.number().optional(),
});
/** How far a trigger has looked. */
export type Cursor = z.output<typeof cursorSchema>;

/** A trigger with its state. */
export interface Trigger extends TriggerContent {
  readonly row: TriggerRow;
  readonly cursor: Cursor;
}

/** A stored trigger. */
export function toTrigger(row: TriggerRow): Trigger {
  const content = triggerContentSchema.parse({
    name: row.name,
    ...jsonText.pipe(z.looseObject({})).parse(row.content),
  });
  return { ...content, row, cursor: jsonText.pipe(cursorSchema).parse(row.cursor) };
}

function isWebAddress(address: string): boolean {
  const url = URL.parse(address);
  const isWeb = url?.protocol === "https:" || url?.protocol === "http:";
  return isWeb && url.username === "" && url.password === "";
}
