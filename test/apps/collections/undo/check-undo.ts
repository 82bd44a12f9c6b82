import { expect } from "vitest";
import type { Integration } from "../../../../src/apps/port/integration.ts";
import { STATE_CHANGED } from "../../../../src/apps/port/preview.ts";
import type { KeptWrite } from "../../../../src/apps/port/undo.ts";
import { ServiceError } from "../../../../src/service/service-error.ts";
import { createRoll, type Roll } from "../../../fixtures/content-files.ts";
import { createKeeper, refusal } from "../../run-action.ts";
import type { SharedAccount } from "../../untouched/check-seen-state.ts";
import { type Holdings, pick, sorted, type Write } from "../../untouched/check-write.ts";

/** Where writes are taken back, and what holds there. */
export interface UndoPlace {
  readonly integration: Integration;
  readonly account: SharedAccount;
  /** What is removed goes to a trash. */
  readonly hasTrash: boolean;
}

/** One write that took effect. */
interface Done extends UndoPlace {
  readonly id: string;
  readonly kept: KeptWrite;
  /** Without the trash. */
  readonly before: Holdings;
  readonly after: Holdings;
  readonly keeper: ReturnType<typeof createKeeper>;
}

/** What is done with a write: each expects what has to hold then. */
const COURSES = {
  "taken back": async (done: Done) => {
    const plan = await planByReads(done, done.kept);
    await plan.act();
    await expectBefore(done);
  },
  "taken back though its answer was lost": async (done: Done) => {
    const plan = await planByReads(done, { intent: done.kept.intent, after: undefined });
    await plan.act();
    await expectBefore(done);
  },
  "found, and taken back": async (done: Done) => {
    const verdict = await done.keeper.settle(done.id, { intent: done.kept.intent, after: undefined });
    expect(verdict).toMatchObject({ verdict: "happened", output: expect.anything() });
    const found = JSON.parse(JSON.stringify(verdict));
    expect(found.after).toEqual(done.kept.after);
    await (await planByReads(done, { intent: done.kept.intent, after: found.after })).act();
    await expectBefore(done);
  },
  "changed since": async (done: Done) => {
    await touch(done);
    const theirs = await look(done.account);
    const refused = await refusal(done.keeper.plan(done.id, done.kept));
    expect([refused.status, refused.code]).toEqual([409, "undo_unavailable"]);
    expect(refused.message).toMatch(/^This cannot be undone: .*"[^"]{1,40}".*\.$/);
    expect(sorted(await look(done.account))).toEqual(sorted(theirs));
  },
  "changed between plan and act": async (done: Done) => {
    const plan = await planByReads(done, done.kept);
    await touch(done);
    const theirs = await look(done.account);
    const refused = await refusal(plan.act());
    expect([refused.status, refused.code]).toEqual([412, STATE_CHANGED]);
    expect(sorted(await look(done.account))).toEqual(sorted(theirs));
  },
  "looked for after a change": async (done: Done) => {
    await touch(done);
    const verdict = await done.keeper.settle(done.id, { intent: done.kept.intent, after: undefined });
    // Only what was made by this call has its name.
    expect(verdict?.verdict).toBe(done.id.startsWith("create") && done.after.size > 0 ? "happened" : "cannot_know");
  },
} as const;

/** What is done with a write that did not take effect. */
const LOST = ["nothing", "a change by somebody else"] as const;

/** How the runs of {@link checkUndo} ended. */
export interface UndoTally {
  undone: number;
  refused: number;
  /** Writes that were refused themselves, or changed nothing. */
  idle: number;
  lost: number;
}

/**
 * Does so many random writes and takes each back: afterwards everything is as it was before, byte for byte as the account gives it
 * out, but for the trash; or the undo is refused, and nothing is changed. Or its answer is lost, and it is looked for.
 */
export async function checkUndo(
  writes: readonly [Write, ...Write[]],
  { runs, ...place }: UndoPlace & { readonly runs: number },
): Promise<UndoTally> {
  const tally: UndoTally = { undone: 0, refused: 0, idle: 0, lost: 0 };
  const courses = Object.entries(COURSES) as [keyof typeof COURSES, (done: Done) => Promise<void>][];
  for (let seed = 1; seed <= runs; seed += 1) {
    const roll = createRoll(seed);
    const write = pick(roll, writes);
    const isLost = roll(5) === 0;
    const [course, check] = pick(roll, courses as [(typeof courses)[number], ...typeof courses]);
    try {
      if (isLost) {
        await checkLost(write, { ...place, roll });
        tally.lost += 1;
        continue;
      }
      const done = await doWrite(write, { ...place, roll });
      if (done === undefined) tally.idle += 1;
      else {
        await check(done);
        tally[course.startsWith("changed") ? "refused" : "undone"] += 1;
      }
    } catch (error) {
      const what = `${write.title}, seed ${seed}, ${isLost ? "lost" : course}`;
      throw new Error(`${what}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  }
  return tally;
}

type Rolled = UndoPlace & { readonly roll: Roll };

/** Undefined for a call that is refused, or changes nothing. */
async function doWrite(write: Write, { roll, ...place }: Rolled): Promise<Done | undefined> {
  const { account } = place;
  const { things, call } = write.roll(roll);
  await account.fill(things);
  const before = await look(account);
  const keeper = createKeeper(place.integration, { settings: account.settings });
  let ran: { readonly id: string; readonly kept: KeptWrite | undefined } | undefined;
  const answer = await call(async (id, args) => {
    const done = await keeper.run(id, args);
    ran = { id, kept: done.kept };
    if ("error" in done) throw done.error;
    return done.output;
  }).catch(readRefusal);
  const after = await look(account);
  if (answer instanceof ServiceError || ran?.kept === undefined) {
    expect(sorted(after)).toEqual(sorted(before));
    return undefined;
  }
  expect(ran.kept.after).toBeDefined();
  return { ...place, id: ran.id, kept: ran.kept, before, after, keeper };
}

/** The write is kept, and the service ends before it acts. */
async function checkLost(write: Write, { roll, integration, account }: Rolled): Promise<void> {
  const { things, call } = write.roll(roll);
  const then = pick(roll, LOST);
  await account.fill(things);
  const before = await look(account);
  const keeper = createKeeper(integration, { settings: account.settings });
  const crash = new Error("the service ended");
  let lost: { readonly id: string; readonly path: unknown; readonly kept: KeptWrite | undefined } | undefined;
  await call(async (id, args) => {
    const done = await keeper.run(id, args, { onKept: () => Promise.reject(crash) });
    lost = { id, path: args.event_id ?? args.contact_id, kept: done.kept };
    if ("error" in done && done.error !== crash) throw done.error;
    return {};
  }).catch(readRefusal);
  expect(sorted(await look(account))).toEqual(sorted(before));
  if (lost?.kept === undefined) return;
  const isNew = lost.id.startsWith("create");
  const { path } = lost;
  const [named = "", text = ""] = [...things].find(([one]) => one === path) ?? [...things][0] ?? [];
  if (then !== "nothing") await account.put(named, edit(text));
  const verdict = await keeper.settle(lost.id, lost.kept);
  expect(verdict?.verdict).toBe(then === "nothing" || isNew ? "did_not" : "cannot_know");
}

async function planByReads(done: Done, kept: KeptWrite) {
  const plan = await done.keeper.plan(done.id, kept);
  const { summary, undo } = plan.preview;
  expect(summary.length).toBeLessThanOrEqual(120);
  expect(summary).toMatch(/^(?:Take |Bring back |Change |Move )/);
  expect([undo.possible, undo.why]).toEqual([false, expect.stringMatching(/\.$/)]);
  if (done.id.startsWith("create")) expect(plan.raised?.level).toBe("delete");
  expect(sorted(await look(done.account)), "after the plan").toEqual(sorted(done.after));
  return plan;
}

async function expectBefore({ id, account, before, after, hasTrash }: Done): Promise<void> {
  expect(sorted(await look(account)), "after the undo").toEqual(sorted(before));
  const kept = [...(await account.look())].flatMap(([path, text]) => (path.startsWith(".trash/") ? [text] : []));
  const created = [...after].flatMap(([path, text]) => (before.has(path) ? [] : [text]));
  if (hasTrash && id.startsWith("create")) expect(kept).toEqual(created);
  if (hasTrash && after.size < before.size) expect(kept).toEqual([]);
}

/** Somebody else changes what the call left, or takes the place of what it removed. */
async function touch({ account, before, after }: Done): Promise<void> {
  const paths = [...new Set([...before.keys(), ...after.keys()])].filter(
    (path) => before.get(path) !== after.get(path),
  );
  expect(paths).toHaveLength(1);
  const [path = ""] = paths;
  await account.put(path, edit(after.get(path) ?? before.get(path) ?? ""));
}

function edit(text: string): string {
  const edited = text.replace(/^(UID:.*?)(\r\n|\r|\n)/m, "$1$2X-THEIRS:1$2");
  expect(edited).not.toBe(text);
  return edited;
}

async function look(account: SharedAccount): Promise<Holdings> {
  return new Map([...(await account.look())].filter(([path]) => !path.startsWith(".trash/")));
}

function readRefusal(error: unknown): ServiceError {
  if (error instanceof ServiceError && error.status < 500) return error;
  throw error;
}
