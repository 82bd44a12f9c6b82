import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { CallQueue, type CallTurn, nameAccount } from "../../../src/plugin/calls/call-queue.ts";

const NOTES = nameAccount("notes", "one");

function enter(queue: CallQueue, account?: string, place?: number): CallTurn {
  const turn = queue.enter(place);
  if (account !== undefined) turn.account = account;
  return turn;
}

/** Begins calls and notes the order in which they hold their account; each leaves at once. */
async function run(order: string[], name: string, turn: CallTurn): Promise<void> {
  await turn.begin(undefined);
  order.push(name);
  await setImmediate();
  order.push(`${name} ended`);
  turn.leave();
}

it("sends calls of an account one after another, in the order in which they were made", async () => {
  const queue = new CallQueue();
  const order: string[] = [];
  const [first, second, third] = [enter(queue, NOTES), enter(queue, NOTES), enter(queue, NOTES)];
  await Promise.all([run(order, "third", third), run(order, "second", second), run(order, "first", first)]);
  expect(order).toEqual(["first", "first ended", "second", "second ended", "third", "third ended"]);
});

it("waits for an earlier call that is still prepared, whose account may be any", async () => {
  const queue = new CallQueue();
  const order: string[] = [];
  const [first, second] = [enter(queue), enter(queue, NOTES)];
  const running = run(order, "second", second);
  await setImmediate();
  expect(order).toEqual([]);
  first.account = nameAccount("drive", undefined);
  await running;
  expect(order).toEqual(["second", "second ended"]);
});

it("sends calls of different accounts side by side, and takes an app without an account for all of it", async () => {
  const queue = new CallQueue();
  const [one, other, any] = [
    enter(queue, NOTES),
    enter(queue, nameAccount("notes", "two")),
    enter(queue, nameAccount("notes", undefined)),
  ];
  await Promise.all([one.begin(undefined), other.begin(undefined)]);
  const beginning = any.begin(undefined).then(() => "begun");
  one.leave();
  expect(await Promise.race([beginning, setImmediate("waits")])).toBe("waits");
  other.leave();
  expect(await beginning).toBe("begun");
});

it("lets others pass a call whose human is asked, and not one whose answer is there at once", async () => {
  const queue = new CallQueue();
  const order: string[] = [];
  const [first, second] = [enter(queue, NOTES), enter(queue, NOTES)];
  const answer = Promise.withResolvers<void>();
  const asked = first.stepAside(() => answer.promise).then(() => run(order, "first", first));
  await run(order, "second", second);
  answer.resolve();
  await asked;
  expect(order).toEqual(["second", "second ended", "first", "first ended"]);

  const [early, late] = [enter(queue, NOTES), enter(queue, NOTES)];
  const said = Promise.withResolvers<void>();
  const waiting = early.stepAside(() => said.promise).then(() => early.begin(undefined));
  await late.begin(undefined);
  said.resolve();
  expect(await Promise.race([waiting.then(() => "begun"), setImmediate("waits")])).toBe("waits");
  late.leave();
  await waiting;
  early.leave();

  const [third, fourth] = [enter(queue, NOTES), enter(queue, NOTES)];
  const quick = third.stepAside(async () => undefined).then(() => run(order, "third", third));
  await Promise.all([run(order, "fourth", fourth), quick]);
  expect(order.slice(4)).toEqual(["third", "third ended", "fourth", "fourth ended"]);
});

it("gives a call the place that it had when it was asked about", async () => {
  const queue = new CallQueue();
  const order: string[] = [];
  const early = queue.enter();
  early.leave();
  const blocking = enter(queue, NOTES);
  await blocking.begin(undefined);
  const [later, again] = [enter(queue, NOTES), enter(queue, NOTES, early.number)];
  const both = Promise.all([run(order, "later", later), run(order, "again", again)]);
  blocking.leave();
  await both;
  expect(order).toEqual(["again", "again ended", "later", "later ended"]);
});

it("frees the place of a call that is aborted while it waits", async () => {
  const queue = new CallQueue();
  const stop = new AbortController();
  const [first, second, third] = [enter(queue, NOTES), enter(queue, NOTES), enter(queue, NOTES)];
  await first.begin(undefined);
  const waiting = second.begin(stop.signal);
  stop.abort();
  await expect(waiting).rejects.toThrow("aborted");
  second.leave();
  first.leave();
  await third.begin(undefined);
  expect(third.stage).toBe("sending");
});

it("tells calls that were made before of a failure on their account, until they were asked about again", () => {
  const queue = new CallQueue();
  const [first, second, other] = [enter(queue, NOTES), enter(queue, NOTES), enter(queue, nameAccount("notes", "two"))];
  first.fail({ stamp: "1", tool: "notes_update_page", status: "failed" });
  expect(second.failure).toMatchObject({ tool: "notes_update_page" });
  expect(other.failure).toBeUndefined();
  expect(enter(queue, NOTES).failure).toBeUndefined();
  second.acceptFailures();
  expect(second.failure).toBeUndefined();
});
