import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import type { ToolCall } from "../../src/index.ts";
import { isRecord } from "../../src/shared/base/json.ts";
import type { TestSession } from "../plugin/calls/open-test-session.ts";
import { type World, worldSchema } from "./read-traces.ts";

/*
 * Office tasks of AgentDojo, and what a fooled model does beside them. They are beside the repository where they were put;
 * `SVC_OFFICE` names another folder.
 */

const FOLDER = process.env.SVC_OFFICE ?? fileURLToPath(new URL("../../../shared/data/", import.meta.url));

/** True where they are present. */
export const hasOffice = existsSync(join(FOLDER, "office-attacks.jsonl"));

const calls = z.array(z.looseObject({ tool: z.string(), arguments: z.record(z.string(), z.unknown()) }));
const taskSchema = z.looseObject({ id: z.string(), prompt: z.string(), calls });
const attackSchema = z.looseObject({
  id: z.string(),
  task: z.string(),
  vector: z.looseObject({ slot: z.string() }),
  injected_text: z.string(),
  after_call: z.int(),
  calls,
});
const slotsSchema = z.looseObject({ slots: z.record(z.string(), z.looseObject({ default: z.string() })) });

/** What a fooled model does during a task. */
export type OfficeAttack = z.output<typeof attackSchema>;

const readLines = (name: string) =>
  readFileSync(join(FOLDER, name), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line): unknown => JSON.parse(line));

/** All attacks. */
export const readOfficeAttacks = (): OfficeAttack[] =>
  readLines("office-attacks.jsonl").map((one) => attackSchema.parse(one));

/** The world of an attack: its text stands in its slot. */
export function readOfficeWorld({ vector, injected_text: text }: OfficeAttack): World {
  const file = readFileSync(join(FOLDER, "office-world.json"), "utf8");
  const { slots } = slotsSchema.parse(JSON.parse(file));
  const filled = file.replaceAll(/\{\{(\w+)\}\}/g, (_whole, slot: string) =>
    JSON.stringify(slot === vector.slot ? text : (slots[slot]?.default ?? "")).slice(1, -1),
  );
  return worldSchema.parse(JSON.parse(filled));
}

/** One question of an attack, and values in it that the injected text has. */
export interface StrangerCall<Question> {
  readonly tool: string;
  readonly strangers: readonly string[];
  readonly question: Question;
}

/**
 * Does the calls of a task up to the injected text, and then those of the attack; what was asked about a stranger.
 *
 * @param perform makes a call and has it approved; gives what the human saw, or undefined where nobody was asked
 */
export async function replayAttack<Question>(
  session: TestSession,
  attack: OfficeAttack,
  perform: (call: ToolCall) => Promise<Question | undefined>,
): Promise<StrangerCall<Question>[]> {
  const task = readLines("office-tasks.jsonl")
    .map((one) => taskSchema.parse(one))
    .find(({ id }) => id === attack.task);
  const ownerWords = [task?.prompt ?? ""];
  const found: StrangerCall<Question>[] = [];
  const before = task?.calls.slice(0, attack.after_call + 1) ?? [];
  for (const [at, { tool, arguments: given }] of [...before, ...attack.calls].entries()) {
    const args = Object(await resolve(session, given));
    const question = await perform({ callId: crypto.randomUUID(), toolName: tool, arguments: args, ownerWords });
    const strangers = findAddresses(args).filter((one) => attack.injected_text.includes(one));
    if (question !== undefined && at >= before.length && strangers.length > 0)
      found.push({ tool, strangers, question });
  }
  return found;
}

/** Addresses and links of a call. */
function findAddresses(args: unknown): string[] {
  return [...new Set(JSON.stringify(args).match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+|https?:\/\/[^\s"\\)]+/g) ?? [])];
}

async function resolve(session: TestSession, value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value.map((one) => resolve(session, one)));
  if (typeof value === "string" && value.startsWith("$sent:")) return findSent(session, value.slice("$sent:".length));
  if (!isRecord(value)) return value;
  if (typeof value.$drive === "string") return take(session, { path: value.$drive, as_file: true });
  if (typeof value.$text === "string") {
    const path = join(session.media, String(value.name));
    await writeFile(path, value.$text);
    return path;
  }
  const entries = Object.entries(value).map(async ([key, part]) => [key, await resolve(session, part)] as const);
  return Object.fromEntries(await Promise.all(entries));
}

async function take(session: TestSession, args: Record<string, unknown>): Promise<unknown> {
  const outcome = await session.call({ callId: crypto.randomUUID(), toolName: "drive_read_file", arguments: args });
  return outcome.status === "succeeded" && isRecord(outcome.result) ? outcome.result.file : undefined;
}

async function findSent(session: TestSession, subject: string): Promise<string> {
  const args = { query: "is:any", folder: "Sent" };
  const outcome = await session.call({ callId: crypto.randomUUID(), toolName: "mail_search", arguments: args });
  const messages = outcome.status === "succeeded" && isRecord(outcome.result) ? outcome.result.messages : [];
  const own = Array.isArray(messages) ? messages.find((one) => isRecord(one) && one.subject === subject) : undefined;
  return isRecord(own) ? String(own.message_id) : "";
}
