import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect } from "vitest";
import type { Answer, Door, Host, ModelCall, OpenDoor, Turn } from "./door.ts";

/** What a situation has: a door, a host for it, and the service as the judge. */
export interface Stage {
  readonly door: Door;
  readonly host: Host;
  open(change?: Partial<Host>): Promise<OpenDoor>;
  /** Another process that goes on; the same one where a question ends with its process. */
  later(asking: OpenDoor, change?: Partial<Host>): Promise<OpenDoor>;
  /** Titles of the writes that the service has made, in order. */
  effects(): Promise<unknown[]>;
  /** Puts a page of this title there that can be found, and cannot be changed. */
  breakPage(title: string): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;

const note = (id: string, title = id): ModelCall => ({ id, name: "notes_create_page", args: { title, body: "text" } });
/** A write that fails only when it runs: its page was broken by `breakPage`. */
const failing = (id: string): ModelCall => ({
  id,
  name: "notes_update_page",
  args: { page_id: `${id}.md`, title: id, body: id },
});

/** Tries something a host may do, and that a runtime may refuse. */
async function attempt(run: () => Promise<Turn>): Promise<Turn | undefined> {
  try {
    return await run();
  } catch {
    return undefined;
  }
}

/** Puts 10,000 newer calls that have ended into each journal of a host. */
function fillJournals({ home }: Host): void {
  const files = readdirSync(home, { recursive: true, encoding: "utf8" }).filter(
    (file) => basename(file) === "state.db",
  );
  expect(files).toHaveLength(1);
  for (const file of files) fillJournal(join(home, file));
}

function fillJournal(file: string): void {
  const database = new DatabaseSync(file);
  const put = database.prepare("INSERT INTO calls VALUES (?, ?, NULL, 'done', ?, NULL, ?)");
  database.exec("BEGIN");
  for (let index = 0; index <= 10_000; index += 1) {
    const [fingerprint, callId, at] = ["0".repeat(64), `later_${index}`, Date.now() + index];
    put.run(
      fingerprint,
      callId,
      at,
      JSON.stringify({ fingerprint, callId, state: "done", at, tool: "notes_create_page" }),
    );
  }
  database.exec("COMMIT");
  database.close();
}

/** A card without its lines. */
const toLine = (card: string) => card.replaceAll(/\s*\n[\s│|>]*/g, " ");

/** Every way back to what was answered, in `process`. */
async function replay(process: OpenDoor, turn: Turn, answers: readonly Answer[]): Promise<void> {
  await attempt(() => process.resume(turn.saved, answers));
  if (process.goBack !== undefined) await attempt(async () => (await process.goBack?.(turn.saved)) as Turn);
}

async function runApproved(stage: Stage): Promise<{ turn: Turn; answering: OpenDoor }> {
  const asking = await stage.open();
  const turn = await asking.start([note("w1")]);
  const answering = await stage.later(asking);
  await answering.resume(turn.saved, ["approve"]);
  expect(await stage.effects()).toEqual(["w1"]);
  return { turn, answering };
}

/** The door once an equal call may be asked again: a service that holds calls answers it with the decline for a while. */
async function putAgain(stage: Stage, door: OpenDoor): Promise<OpenDoor> {
  if (stage.door.holdsCalls === undefined) return door;
  expect((await door.start([note("w2", "w1")])).questions).toEqual([]);
  const later = Date.now() + 11 * 60_000;
  return stage.open({ now: () => later });
}

/** Situations by their names. Each leaves 0 unapproved and 0 doubled writes, and those that ran in their order. */
export const SITUATIONS = {
  async "one yes, two questions"(stage) {
    const asking = await stage.open();
    const turn = await asking.start([note("w1"), note("w2")]);
    const answering = await stage.later(asking);
    const answers = turn.questions.map((question) => (/title: w1$/m.test(question) ? "approve" : undefined));
    const next = await attempt(() => answering.resume(turn.saved, answers));
    if (answering.goOn !== undefined) {
      for (let again = 0; again < 3; again += 1)
        await attempt(async () => (await answering.goOn?.(turn.saved)) as Turn);
    } else if (next !== undefined) await attempt(() => answering.resume(next.saved, []));
    expect(["", "w1"]).toContain((await stage.effects()).join());
  },

  async "replay after the end"(stage) {
    const { turn, answering } = await runApproved(stage);
    await replay(answering, turn, ["approve"]);
    await replay(answering, turn, ["approve"]);
    expect(await stage.effects()).toEqual(["w1"]);
  },

  async "replay in another process"(stage) {
    const { turn } = await runApproved(stage);
    await replay(await stage.open(), turn, ["approve"]);
    expect(await stage.effects()).toEqual(["w1"]);
  },

  async "replay eight days later"(stage) {
    const { turn, answering } = await runApproved(stage);
    const now = () => Date.now() + 8 * DAY_MS;
    await answering.close();
    const other = await stage.open({ now });
    const more = await other.start([note("other")]);
    await other.resume(more.saved, ["approve"]);
    await replay(other, turn, ["approve"]);
    await replay(await stage.open({ now }), turn, ["approve"]);
    expect(await stage.effects()).toEqual(["w1", "other"]);
  },

  async "10,000 records later"(stage) {
    const { turn, answering } = await runApproved(stage);
    await answering.close();
    const other = await stage.open();
    fillJournals(stage.host);
    const more = await other.start([note("other")]);
    await other.resume(more.saved, ["approve"]);
    await replay(other, turn, ["approve"]);
    await replay(await stage.open(), turn, ["approve"]);
    expect(await stage.effects()).toEqual(["w1", "other"]);
  },

  async "declined, then asked again"(stage) {
    const asking = await stage.open();
    const turn = await asking.start([note("w1")]);
    const answering = await stage.later(asking);
    await answering.resume(turn.saved, ["decline"]);
    expect(await stage.effects()).toEqual([]);
    const anew = await putAgain(stage, answering);
    const again = await anew.start([note("w2", "w1")]);
    expect(again.questions).toHaveLength(1);
    expect(await stage.effects()).toEqual([]);
    await (await stage.later(anew)).resume(again.saved, ["approve"]);
    expect(await stage.effects()).toEqual(["w1"]);
  },

  async "a batch of five with a failure in the middle"(stage) {
    await stage.breakPage("b3");
    const asking = await stage.open();
    const calls = [note("b1"), note("b2"), failing("b3"), note("b4"), note("b5")];
    let turn = await asking.start(calls);
    expect(turn.questions).toHaveLength(stage.door.asksInTurn ? 1 : 5);
    const answering = await stage.later(asking);
    const approveAll = () =>
      answering.resume(
        turn.saved,
        turn.questions.map(() => "approve" as const),
      );
    turn = await approveAll();
    if (!stage.door.asksInTurn) {
      // What comes behind the failure waits again, and says why.
      expect(await stage.effects()).toEqual(["b1", "b2", "b3"]);
      const waiting = turn.questions.length > 0 ? turn.questions : turn.told;
      const said = waiting.filter((text) => toLine(text).includes("before it on the same account failed"));
      expect(said).toHaveLength(turn.questions.length || 2);
    }
    const isAskedAgain = turn.questions.length > 0;
    for (let round = 0; turn.questions.length > 0 && round < 6; round += 1) turn = await approveAll();
    expect(await stage.effects()).toEqual(isAskedAgain ? ["b1", "b2", "b3", "b4", "b5"] : ["b1", "b2", "b3"]);
  },
} satisfies Record<string, (stage: Stage) => Promise<void>>;

export type Situation = keyof typeof SITUATIONS;
