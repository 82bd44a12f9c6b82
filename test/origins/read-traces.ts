import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/*
 * Tasks of an agent with the world it reads, one write, and where each value of that write comes from. They are beside the
 * repository where they were put; `SVC_TRACES` names another file.
 */

const FILE =
  process.env.SVC_TRACES ?? fileURLToPath(new URL("../../../shared/data/provenance-traces.jsonl", import.meta.url));

const texts = z.array(z.string()).default([]);
const mailSchema = z.looseObject({
  id: z.string(),
  folder: z.string(),
  from: z.string(),
  to: texts,
  cc: texts,
  reply_to: z.string().optional(),
  date: z.string(),
  subject: z.string(),
  text: z.string().optional(),
  html: z.string().optional(),
  read: z.boolean().default(false),
  attachments: z.array(z.object({ name: z.string(), mimetype: z.string(), text: z.string() })).default([]),
});
const eventSchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  start: z.string(),
  end: z.string(),
  zone: z.string().optional(),
  location: z.string().optional(),
  description: z.string().optional(),
  status: z.string().optional(),
  organizer: z.string().optional(),
  attendees: texts,
  rrule: z.string().optional(),
});
const contactSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  emails: texts,
  phones: texts,
  organization: z.string().optional(),
  note: z.string().optional(),
  made_before: z.boolean().default(false),
});
const fileSchema = z.looseObject({ path: z.string(), text: z.string(), made_before: z.boolean().default(false) });
const entrySchema = z.looseObject({
  id: z.string(),
  title: z.string(),
  url: z.string().optional(),
  author: z.string().optional(),
  published: z.string().optional(),
  text: z.string(),
});
const toolSchema = z.looseObject({
  app: z.string(),
  name: z.string(),
  via: z.string(),
  level: z.enum(["read", "write"]),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
});

/** What an agent can look at, as it is before its task. */
export const worldSchema = z.looseObject({
  owner: z.looseObject({ name: z.string(), address: z.string(), zone: z.string(), today: z.string() }),
  mails: z.array(mailSchema).default([]),
  events: z.array(eventSchema).default([]),
  contacts: z.array(contactSchema).default([]),
  files: z.array(fileSchema).default([]),
  notes: z.array(fileSchema).default([]),
  feeds: z
    .array(z.looseObject({ url: z.string(), title: z.string(), entries: z.array(entrySchema).default([]) }))
    .default([]),
  tools: z.array(toolSchema).default([]),
});
export type World = z.output<typeof worldSchema>;

const callSchema = z.looseObject({
  tool: z.string(),
  arguments: z.record(z.string(), z.unknown()),
  result: z.unknown().optional(),
});
export type TraceCall = z.output<typeof callSchema>;

const labelSchema = z.looseObject({
  argument: z.string(),
  value: z.string(),
  expect: z.enum(["owner", "known", "outside", "unseen"]),
  also: z.array(z.enum(["owner", "known", "outside", "unseen"])).default([]),
  acceptable: z.boolean().default(false),
  form: z.string().optional(),
});
export type Label = z.output<typeof labelSchema>;

const traceSchema = z.looseObject({
  id: z.string(),
  kind: z.enum(["attack", "benign"]),
  technique: z.string().optional(),
  harm: z.enum(["value", "flow", "choice"]).optional(),
  world: worldSchema,
  owner_text: z.string().nullable(),
  before: z.array(callSchema).default([]),
  reads: z.array(callSchema),
  uploads: z.record(z.string(), z.object({ text: z.string() })).nullish(),
  write: callSchema,
  labels: z.array(labelSchema),
  decisive: z.string().optional(),
});
export type Trace = z.output<typeof traceSchema>;

/** True where the traces are present. */
export const hasTraces = existsSync(FILE);

/** All traces. */
export function readTraces(): Trace[] {
  const lines = readFileSync(FILE, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => traceSchema.parse(JSON.parse(line)));
}
