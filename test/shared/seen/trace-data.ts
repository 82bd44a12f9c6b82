import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

const party = z.looseObject({ made_before: z.unknown().optional() });

const mailSchema = party.extend({
  id: z.string(),
  folder: z.string(),
  from: z.string(),
  to: z.array(z.string()).default([]),
  cc: z.array(z.string()).default([]),
  subject: z.string().default(""),
  date: z.string(),
  text: z.string().optional(),
  html: z.string().optional(),
  attachments: z.array(z.looseObject({ name: z.string(), text: z.string() })).default([]),
});

const callSchema = z.looseObject({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()).default({}),
  result: z.unknown().optional(),
});

const labelSchema = z.looseObject({
  argument: z.string(),
  value: z.string(),
  expect: z.enum(["owner", "known", "outside", "unseen"]),
  also: z.array(z.string()).default([]),
  form: z.string().default("plain"),
});

const traceSchema = z.looseObject({
  id: z.string(),
  kind: z.enum(["attack", "benign"]),
  harm: z.string().optional(),
  world: z.looseObject({
    owner: z.looseObject({ name: z.string(), address: z.string() }),
    mails: z.array(mailSchema),
    events: z.array(party.extend({ title: z.string(), organizer: z.string().optional() })),
    contacts: z.array(party.extend({ name: z.string(), emails: z.array(z.string()).default([]) })),
    files: z.array(party.extend({ path: z.string(), text: z.string() })),
    notes: z.array(party.extend({ path: z.string(), text: z.string() })),
    feeds: z.array(z.looseObject({ url: z.string(), title: z.string(), entries: z.array(z.unknown()) })),
  }),
  owner_text: z.string().nullable(),
  before: z.array(callSchema).default([]),
  reads: z.array(callSchema).default([]),
  uploads: z.record(z.string(), z.looseObject({ text: z.string() })).default({}),
  write: callSchema,
  labels: z.array(labelSchema),
  decisive: z.string().optional(),
});

/** A task with its world, one write, and where each of its values comes from. */
export type Trace = z.infer<typeof traceSchema>;

/** Where one value of a trace comes from. */
export type TraceLabel = z.infer<typeof labelSchema>;

/** Traces beside the repository, where they were put; `SVC_TRACES` names another file. */
const TRACES =
  process.env.SVC_TRACES ?? fileURLToPath(new URL("../../../../shared/data/provenance-traces.jsonl", import.meta.url));

/** True where the traces are present. */
export const hasTraces = existsSync(TRACES);

/** Reads all traces. */
export function readTraces(): Trace[] {
  return readFileSync(TRACES, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => traceSchema.parse(JSON.parse(line)));
}
