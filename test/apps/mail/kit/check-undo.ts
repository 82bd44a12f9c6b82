import fc from "fast-check";
import { expect } from "vitest";
import type { Verdict } from "../../../../src/apps/port/undo.ts";
import { ServiceError } from "../../../../src/service/service-error.ts";
import { type createKeeper, type createRunner, refusal } from "../../run-action.ts";
import type { SomebodyElse } from "./somebody-else.ts";

/** A look at a mailbox from outside. */
export interface Snapshots {
  /**
   * Every message by its subject: its folder, marks and bytes, its id in a Maildir, and its time on a server. Not whether a Maildir
   * has it in `new` or `cur`, and not the UID.
   */
  snapshot(): Promise<Map<string, string>>;
}

/** A mailbox whose writes are taken back and looked for. */
export interface UndoSubject {
  readonly other: SomebodyElse & Snapshots;
  readonly run: ReturnType<typeof createRunner>;
  readonly keeper: ReturnType<typeof createKeeper>;
}

const ACTIONS = ["mark", "move", "moveToNew", "delete", "draft"] as const;
type TestedAction = (typeof ACTIONS)[number];

const writes = fc.record({
  action: fc.constantFrom(...ACTIONS),
  as: fc.constantFrom("read", "unread", "flagged", "unflagged"),
  /** Marks of each message, and whether it lies in another folder than INBOX. */
  messages: fc.array(fc.tuple(fc.constantFrom("", "S", "F", "FS", "RS"), fc.boolean()), { minLength: 1, maxLength: 3 }),
  /** What somebody does afterwards, and to which message. */
  change: fc.constantFrom("none", "none", "toggle", "move", "erase"),
  at: fc.nat(),
});
type Write = typeof writes extends fc.Arbitrary<infer One> ? One : never;

const SEED = 20_261_120;
const DRAFT = "The draft";

/** Puts the messages of a write into an empty mailbox, and writes the call. */
async function prepare(
  { other, run }: UndoSubject,
  { action, as, messages }: Pick<Write, "action" | "as" | "messages">,
) {
  await other.empty();
  const subjects = messages.map((_, index) => `subject ${index}`);
  for (const [index, [marks, isAway]] of messages.entries()) {
    await other.arrive(`subject ${index}`, marks);
    if (isAway) await other.move(`subject ${index}`, "Sent");
  }
  await other.arrive("another", "F");
  const found = new Map<string, string>();
  for (const folder of ["INBOX", "Sent"])
    for (const one of (await run("search", { query: "is:any", folder, limit: 50 })).messages)
      found.set(one.subject, one.message_id);
  const message_ids = subjects.map((subject) => found.get(subject) ?? "");
  return { call: writeCall(action, { as, message_ids, subjects }) };
}

function writeCall(
  action: TestedAction,
  { as, ...meant }: { as: string; message_ids: string[]; subjects: string[] },
): [string, Record<string, unknown>] {
  if (action === "mark") return ["mark_message", { message_ids: meant.message_ids, as }];
  if (action === "delete") return ["delete_message", meant];
  if (action === "draft") return ["save_draft", { to: ["anna@example.com"], subject: DRAFT, body: "B" }];
  return ["move_message", { ...meant, folder: action === "move" ? "Junk" : "Fresh", create_folder: true }];
}

async function change({ other }: UndoSubject, how: Write["change"], subject: string): Promise<void> {
  if (how === "toggle") await other.toggle(subject, "R");
  if (how === "move") await other.move(subject, "Drafts2");
  if (how === "erase") await other.erase(subject);
}

/** The message that somebody changes, and whether the write changes it, too. */
function findTouched({ action, as, messages, at }: Write): { touched: string; isWritten: boolean } {
  if (action === "draft") return { touched: DRAFT, isWritten: true };
  const [marks = ""] = messages[at % messages.length] ?? [];
  const mark = as.endsWith("read") ? "S" : "F";
  const isWritten = action !== "mark" || marks.includes(mark) === as.startsWith("un");
  return { touched: `subject ${at % messages.length}`, isWritten };
}

/** Writes, lets somebody change the mailbox, and takes the write back: all is as before, or it is refused and nothing changes. */
async function checkPair(subject: UndoSubject, write: Write): Promise<"undone" | "refused" | "unchanged"> {
  const { other, keeper } = subject;
  const { call } = await prepare(subject, write);
  const before = await other.snapshot();
  const { kept, ...ran } = await keeper.run(...call);
  expect(ran).toHaveProperty("output");
  if (kept === undefined) {
    expect(await other.snapshot()).toEqual(before);
    return "unchanged";
  }
  const { touched, isWritten } = findTouched(write);
  await change(subject, write.change, touched);
  const changed = await other.snapshot();
  const plan = await keeper.plan(call[0], kept).catch((error: unknown) => error);
  if (plan instanceof ServiceError) {
    expect([plan.code, write.change]).toEqual(["undo_unavailable", expect.not.stringContaining("none")]);
    expect(plan.message).toContain(touched);
    expect(isWritten).toBe(true);
    expect(await other.snapshot()).toEqual(changed);
    return "refused";
  }
  expect(write.change === "none" || !isWritten).toBe(true);
  await (plan as { act(): Promise<unknown> }).act();
  const expected = new Map(before);
  if (write.change !== "none") expected.delete(touched);
  if (write.change !== "none" && changed.has(touched)) expected.set(touched, changed.get(touched) ?? "");
  const left = await other.snapshot();
  if (write.action === "draft") {
    expect(left.get(DRAFT)).toMatch(/^\.?Trash /);
    left.delete(DRAFT);
  }
  expect(left).toEqual(expected);
  return "undone";
}

/** Random pairs of a write and its undo. Counts how they ended. */
export async function checkUndo(subject: UndoSubject, numRuns: number) {
  const ends = { undone: 0, refused: 0, unchanged: 0 };
  const property = fc.asyncProperty(writes, async (write) => {
    ends[await checkPair(subject, write)] += 1;
  });
  await fc.assert(property, { numRuns, seed: SEED });
  return ends;
}

/** A change by somebody between the plan and the act: refused as changed, and nothing else happens. */
async function checkBetween(subject: UndoSubject, write: Write): Promise<void> {
  const { other, keeper } = subject;
  const { call } = await prepare(subject, write);
  const { kept } = await keeper.run(...call);
  const { touched, isWritten } = findTouched(write);
  if (kept === undefined || !isWritten) return;
  const { act } = await keeper.plan(call[0], kept);
  await change(subject, write.change === "none" ? "toggle" : write.change, touched);
  const changed = await other.snapshot();
  const refused = await refusal(act());
  expect([404, 412]).toContain(refused.status);
  expect(await other.snapshot()).toEqual(changed);
}

/** Random changes between plan and act. */
export async function checkUndoBetween(subject: UndoSubject, numRuns: number): Promise<void> {
  const property = fc.asyncProperty(writes, (write) => checkBetween(subject, write));
  await fc.assert(property, { numRuns, seed: SEED });
}

/** The answer is lost before or after the effect, and somebody may change the mailbox: no verdict is wrong. */
async function checkLost(subject: UndoSubject, write: Write, isDone: boolean): Promise<Verdict["verdict"] | "nothing"> {
  const { other, keeper } = subject;
  const { call } = await prepare(subject, write);
  const before = await other.snapshot();
  const lose = () => {
    throw new Error("lost");
  };
  const ran = await keeper.run(...call, isDone ? {} : { onKept: lose });
  if (ran.kept === undefined) return "nothing";
  if (!isDone) expect(await other.snapshot()).toEqual(before);
  const kept = { intent: ran.kept.intent, after: undefined };
  const { touched, isWritten } = findTouched(write);
  const isTouched = write.change !== "none" && isWritten && (isDone || write.action !== "draft");
  if (isTouched) await change(subject, write.change, touched);
  const verdict = await keeper.settle(call[0], kept);
  if (verdict === undefined) throw new Error("It cannot be settled.");
  if (isTouched) {
    expect(verdict.verdict).not.toBe(isDone ? "did_not" : "happened");
    return verdict.verdict;
  }
  expect(verdict.verdict).toBe(isDone ? "happened" : "did_not");
  if (verdict.verdict !== "happened") return verdict.verdict;
  expect(JSON.parse(JSON.stringify(verdict.output))).toEqual("output" in ran ? ran.output : undefined);
  const found = JSON.parse(JSON.stringify({ ...kept, after: verdict.after }));
  await (await keeper.plan(call[0], found)).act();
  const left = await other.snapshot();
  left.delete(DRAFT);
  expect(left).toEqual(before);
  return "happened";
}

/** Random writes whose answer is lost. Counts the verdicts. */
export async function checkSettle(subject: UndoSubject, numRuns: number) {
  const verdicts = { happened: 0, did_not: 0, cannot_know: 0, nothing: 0 };
  const property = fc.asyncProperty(writes, fc.boolean(), async (write, isDone) => {
    verdicts[await checkLost(subject, write, isDone)] += 1;
  });
  await fc.assert(property, { numRuns, seed: SEED });
  return verdicts;
}
