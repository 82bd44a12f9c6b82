import { expect, it } from "vitest";
import { openJournal } from "../../../../src/plugin/calls/journal/journal.ts";
import type { JournalRecord } from "../../../../src/plugin/calls/journal/journal-record.ts";
import { createStoreJournal } from "../../../../src/plugin/runtimes/langchain/graph-store.ts";

/** Two machines that share a graph's store, and whose clocks differ. */

function createStore() {
  const items = new Map<string, unknown>();
  const name = (namespace: string[], key: string) => JSON.stringify([namespace, key]);
  return {
    get: async (namespace: string[], key: string) => ({ value: items.get(name(namespace, key)) }),
    put: async (namespace: string[], key: string, value: unknown) => void items.set(name(namespace, key), value),
    delete: async (namespace: string[], key: string) => void items.delete(name(namespace, key)),
  };
}

const record = (change: Partial<JournalRecord>): JournalRecord => ({
  callId: "c1",
  fingerprint: "f1",
  state: "pending",
  at: 1_000,
  tool: "probe_write",
  ...change,
});

async function openTwo() {
  const store = createStore();
  const open = async () => createStoreJournal(store, await openJournal(), "principal");
  return [await open(), await open()] as const;
}

it("a call that another machine has sent is not taken for one that is only asked about here", async () => {
  const [ahead, behind] = await openTwo();
  await ahead.record(record({ at: 60_000 }));
  await behind.record(record({ state: "sending" }));
  expect(await ahead.find(record({}))).toMatchObject({ state: "sending" });
});

it("an equal call that is asked about leaves the one that was never answered as it is", async () => {
  const [one, other] = await openTwo();
  await one.record(record({ state: "sending" }));
  await other.record(record({ callId: "c2" }));
  expect(await other.findUnanswered("f1")).toMatchObject({ callId: "c1" });
  await one.record(record({ state: "done" }));
  expect(await other.findUnanswered("f1")).toBeUndefined();
});

it("a human's word about a call that was never answered counts on every machine", async () => {
  const [one, other] = await openTwo();
  await one.record(record({ state: "sending" }));
  await one.record(record({ state: "sending", warnedAt: 60_000 }));
  expect(await other.findUnanswered("f1")).toBeUndefined();
  expect(await other.find(record({}))).toMatchObject({ state: "sending" });
});

it("a call is begun by one machine only, whatever the other was going to do with it", async () => {
  const [one, other] = await openTwo();
  await one.record(record({}));
  await other.record(record({}));
  const terms = { known: [record({})], isKnown: () => true };
  const sending = record({ state: "sending", at: 2_000 });
  expect(await one.begin?.(sending, terms)).toBeUndefined();
  expect(await other.begin?.({ ...sending, at: 3_000 }, terms)).toMatchObject({ state: "sending", at: 2_000 });
});

it("a request that would be equal to one without an answer is held back on every machine, until a human knows", async () => {
  const [one, other] = await openTwo();
  const isKnown = () => false;
  await one.begin?.(record({ state: "sending", request: "edited" }), { known: [], isKnown });
  const equal = record({ callId: "c2", fingerprint: "f2", request: "edited", state: "sending" });
  expect(await other.begin?.(equal, { known: [], isKnown })).toMatchObject({ callId: "c1" });
  expect(await other.find(equal)).toBeUndefined();
  expect(await other.begin?.(equal, { known: [], isKnown: ({ callId }) => callId === "c1" })).toBeUndefined();
  expect(await one.findUnanswered("edited", ({ callId }) => callId === "c1")).toMatchObject({ callId: "c2" });
});

it("an answer takes every mark of its call away", async () => {
  const [one, other] = await openTwo();
  await one.record(record({ state: "sending", request: "edited" }));
  expect(await other.findUnanswered("edited")).toMatchObject({ callId: "c1" });
  await one.record(record({ state: "done" }));
  expect(await other.findUnanswered("edited")).toBeUndefined();
  expect(await other.findUnanswered("f1")).toBeUndefined();
});

/** A store whose `nth` put of a call that is sent fails, counted while `isFailing`. */
function createFailingStore(nth: number) {
  const store = createStore();
  const state = { isFailing: true, puts: 0 };
  const put = async (namespace: string[], key: string, value: unknown) => {
    const isSent = typeof value === "object" && value !== null && Reflect.get(value, "state") === "sending";
    if (isSent && state.isFailing && ++state.puts === nth) throw new Error("the store is away");
    return store.put(namespace, key, value);
  };
  return { state, store: { ...store, put } };
}

it.each([1, 2, 3])("a call that the store cannot note, at put %d, is not sent and leaves no doubt", async (nth) => {
  const { state, store } = createFailingStore(nth);
  const local = await openJournal();
  const [one, other] = [local, await openJournal()].map((near) => createStoreJournal(store, near, "principal"));
  await one?.record(record({}));
  const sending = record({ state: "sending", at: 2_000, request: "edited" });
  const terms = { known: [record({})], isKnown: () => false };
  await expect(one?.begin?.(sending, terms)).rejects.toThrow("the store is away");
  expect(local.find(sending)).toEqual(record({}));
  expect(await one?.find(sending)).toEqual(record({}));
  for (const journal of [one, other]) {
    expect(await journal?.findUnanswered("f1")).toBeUndefined();
    expect(await journal?.findUnanswered("edited")).toBeUndefined();
  }
  state.isFailing = false;
  expect(await one?.begin?.({ ...sending, at: 3_000 }, terms)).toBeUndefined();
  expect(await other?.findUnanswered("edited")).toMatchObject({ callId: "c1", at: 3_000 });
});

it("a call that is new when the store cannot note it is forgotten", async () => {
  const { store } = createFailingStore(1);
  const local = await openJournal();
  const journal = createStoreJournal(store, local, "principal");
  const begun = journal.begin?.(record({ state: "sending" }), { known: [], isKnown: () => false });
  await expect(begun).rejects.toThrow("the store is away");
  expect(local.find(record({}))).toBeUndefined();
});

it("a call that the store cannot note takes the doubt of no other call away", async () => {
  const { state, store } = createFailingStore(3);
  const [one, other] = [
    createStoreJournal(store, await openJournal(), "principal"),
    createStoreJournal(store, await openJournal(), "principal"),
  ];
  state.isFailing = false;
  await one.record(record({ state: "sending", request: "edited" }));
  state.isFailing = true;
  const equal = record({ callId: "c2", state: "sending", at: 2_000, request: "edited" });
  const begun = other.begin?.(equal, { known: [], isKnown: ({ callId }) => callId === "c1" });
  await expect(begun).rejects.toThrow("the store is away");
  expect(await other.findUnanswered("edited")).toMatchObject({ callId: "c1" });
  expect(await other.findUnanswered("f1")).toMatchObject({ callId: "c1" });
  expect(await other.find(equal)).toBeUndefined();
});
