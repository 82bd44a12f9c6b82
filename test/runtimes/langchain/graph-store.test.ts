import { expect, it } from "vitest";
import { openJournal } from "../../../src/approvals/journal.ts";
import type { JournalRecord } from "../../../src/approvals/journal-record.ts";
import { createStoreJournal } from "../../../src/runtimes/langchain/graph-store.ts";

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
