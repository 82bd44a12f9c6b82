import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { createToolSession } from "../../../../src/plugin/calls/session.ts";
import { execute } from "../../../service/http-calls.ts";
import { type AskedWrite, type AskerJob, PLUGIN, readNotes } from "./asker-notes.ts";
import { type Answer, CANONICAL, WAYS } from "./ways.ts";

/*
 * An agent without scruples: asks for writes that it calls confirmed, and follows them to their ends. It may be killed at
 * any time: what it needs to go on is in its notes. A write whose outcome is unknown, and which the app does not have,
 * it asks for again under a new key.
 */

const job = JSON.parse(process.argv[2] ?? "{}") as AskerJob;
const AT_ONCE = 12;
const RETRY_MS = 50;

function note(line: string, known: AskedWrite): void {
  appendFileSync(job.notes, `${JSON.stringify({ line, ...known })}\n`);
}

const known = readNotes(readFileSync(job.notes, { encoding: "utf8", flag: "a+" }));
const open = job.writes.filter(({ line }) => known.get(line)?.end === undefined);
const session = await createToolSession({
  baseUrl: job.url,
  apiKey: job.apiKey,
  stateDir: job.stateDir,
  approve: "owner",
  onEvent: (event) => {
    if (event.type === "awaiting_owner") keep(event.callId, { tries: 1, id: event.approvalId });
  },
});

const byPlugin = open.filter(({ way }) => way === PLUGIN).map(({ line }) => runByPlugin(line));
const byHttp = open.filter(({ way }) => way !== PLUGIN);
await inTurns(byHttp, async ({ line, way }) => {
  if (known.get(line)?.id === undefined) await ask(line, way, known.get(line)?.tries ?? 1);
});
await inTurns(byHttp, ({ line, way }) => follow(line, way));
await Promise.all(byPlugin);
await session.close();

async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values();
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (const item of left) await work(item);
  });
  await Promise.all(workers);
}

/** The first answer that is none of a service which is away. */
async function untilAnswered(request: () => Promise<Answer>): Promise<Exclude<Answer, { type: "lost" }>> {
  for (;;) {
    const answer = await request();
    if (answer.type !== "lost") return answer;
    await delay(RETRY_MS);
  }
}

/** Without a key, a request is one of its kind only while it is open; so the later ones have one. */
function pick(way: number, tries: number) {
  return tries > 1 ? CANONICAL : (WAYS[way] ?? CANONICAL);
}

function toKey(line: string, tries: number): string {
  return `${line}-try-${tries}`;
}

async function ask(line: string, way: number, tries: number): Promise<void> {
  const answer = await untilAnswered(() => pick(way, tries).ask(job, line, toKey(line, tries)));
  const id = answer.type === "held" ? answer.id : `unexpected ${JSON.stringify(answer)}`;
  keep(line, { tries, id });
}

function keep(line: string, write: AskedWrite): void {
  known.set(line, write);
  note(line, write);
}

async function follow(line: string, way: number): Promise<void> {
  for (;;) {
    const { tries = 1, id = "" } = known.get(line) ?? {};
    const used = pick(way, tries);
    let answer: Answer;
    do answer = await untilAnswered(() => used.read(job, id));
    while (answer.type === "held");
    const again = used.isKeyed && (await untilAnswered(() => used.ask(job, line, toKey(line, tries))));
    if (again && again.type === "held" && again.id !== id) answer = { type: "surprise", text: `again as ${again.id}` };
    const end = answer.type === "ended" ? answer.end : answer.text;
    if (end !== "unknown" || (await isWritten(line))) return keep(line, { tries, id, end });
    await ask(line, way, tries + 1);
  }
}

async function isWritten(line: string): Promise<boolean> {
  for (;;) {
    const { status, json } = await execute(job, "tally_count", { arguments: { line } }).catch(() => ({
      status: 0,
      json: {},
    }));
    if (status === 200) return json.result.count > 0;
    await delay(RETRY_MS);
  }
}

async function runByPlugin(line: string): Promise<void> {
  if ((known.get(line)?.tries ?? 1) > 1) return follow(line, PLUGIN);
  for (;;) {
    const write = { callId: line, toolName: "tally_write", arguments: { line } };
    const { status, code, message, retryable } = await session.call(write);
    if (status === "unknown" && !(await isWritten(line))) {
      await ask(line, PLUGIN, 2);
      return follow(line, PLUGIN);
    }
    const isPlain = status === "succeeded" || status === "unknown" || status === "declined";
    if (!retryable) return keep(line, { tries: 1, end: isPlain ? status : `${status} ${code} ${message}` });
    await delay(RETRY_MS);
  }
}
