import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beginCall, type CallJournal, type Journal } from "../../../../src/plugin/calls/journal/journal.ts";

import { chooseRecord, type JournalRecord } from "../../../../src/plugin/calls/journal/journal-record.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { countCommits } from "./count-commits.ts";
import { openStoredJournal } from "./open-stored-journal.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const ALONE = { known: [], isKnown: () => false };
let folder: string;

beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(closeAll);

const openHere = async (): Promise<Journal> => closeLater(await openStoredJournal(folder, { now: () => NOW }));

function createRecord(change: Partial<JournalRecord> = {}): JournalRecord {
  return { callId: "c1", fingerprint: "f1", state: "sending", at: NOW, tool: "notes_create_page", ...change };
}

describe("two processes that begin at once", () => {
  it.each([
    ["the same call", {}],
    ["an equal call", { callId: "c2" }],
    ["a call that sends the same after an edit", { callId: "c2", fingerprint: "f2", request: "f1" }],
  ])("%s: one of them begins, and the other is told why it may not", async (_name, change) => {
    const [here, there] = [await openHere(), await openHere()];
    for (let round = 0; round < 10; round += 1) {
      const suffix = (text: string) => `${text} of ${round}`;
      const renew = (record: JournalRecord): JournalRecord => ({
        ...record,
        fingerprint: suffix(record.fingerprint),
        ...(record.request === undefined ? {} : { request: suffix(record.request) }),
      });
      const [one, two] = [renew(createRecord()), renew(createRecord(change))];
      const obstacles = await Promise.all([here.begin(one, ALONE), there.begin(two, ALONE)]);
      expect(obstacles.filter((obstacle) => obstacle === undefined)).toHaveLength(1);
      expect(obstacles.find((obstacle) => obstacle !== undefined)).toEqual(obstacles[0] === undefined ? one : two);
    }
  });

  it("different calls do not hinder each other", async () => {
    const [here, there] = [await openHere(), await openHere()];
    const other = createRecord({ callId: "c2", fingerprint: "f2", request: "r2" });
    expect(await Promise.all([here.begin(createRecord(), ALONE), there.begin(other, ALONE)])).toEqual([
      undefined,
      undefined,
    ]);
  });
});

describe("one process that begins several calls at once", () => {
  it.each([
    ["an equal call", { callId: "c2" }],
    ["a call that sends the same after an edit", { callId: "c2", fingerprint: "f2", request: "f1" }],
  ])("%s: the first begins, and the other is told why it may not", async (_name, change) => {
    const here = await openHere();
    const [one, two] = [createRecord(), createRecord(change)];
    expect(await Promise.all([here.begin(one, ALONE), here.begin(two, ALONE)])).toEqual([undefined, one]);
  });

  it("an equal call begins when the first could not be written", async () => {
    const here = await openHere();
    const unwritable = createRecord({ outcome: 1n });
    const [first, second] = await Promise.allSettled([
      here.begin(unwritable, ALONE),
      here.begin(createRecord({ callId: "c2" }), ALONE),
    ]);
    expect([first?.status, second]).toEqual(["rejected", { status: "fulfilled", value: undefined }]);
  });

  it("different calls wait for the disk together", async () => {
    const here = await openHere();
    const records = Array.from({ length: 20 }, (_, index) =>
      createRecord({ callId: `c${index}`, fingerprint: `f${index}` }),
    );
    const commits = countCommits();
    const begun = await Promise.all(records.map((record) => here.begin(record, ALONE)));
    expect(begun).toEqual(records.map(() => undefined));
    expect(commits()).toBe(1);
    expect(records.map((record) => here.find(record)?.state)).toEqual(records.map(() => "sending"));
  });
});

it("begins again over its own request, and over a doubt that the human was told of", async () => {
  const [here, there] = [await openHere(), await openHere()];
  const doubt = createRecord({ callId: "c0" });
  await there.begin(doubt, ALONE);
  expect(await here.begin(createRecord(), ALONE)).toEqual(doubt);
  const terms = { known: [createRecord()], isKnown: ({ callId }: JournalRecord) => callId === "c0" };
  expect(await here.begin(createRecord(), terms)).toBeUndefined();
  expect(await here.begin(createRecord({ at: NOW + 1 }), terms)).toBeUndefined();
});

it("a journal that cannot begin looks first", async () => {
  const there = await openHere();
  const { begin: _, ...plain } = await openHere();
  const journal: CallJournal = plain;
  expect(await beginCall(journal, createRecord(), ALONE)).toBeUndefined();
  expect(await beginCall(journal, createRecord({ callId: "c2" }), ALONE)).toMatchObject({ callId: "c1" });
  await there.record(createRecord({ callId: "c3", fingerprint: "f3" }));
  expect(await beginCall(journal, createRecord({ callId: "c3", fingerprint: "f3" }), ALONE)).toMatchObject({
    callId: "c3",
  });
});

it.each([
  ["sent", "declined in another process later", "sending", "declined"],
  ["answered", "sent by a clock that was set back since", "succeeded", "sending"],
  ["declined", "asked about later", "declined", "pending"],
])("a call that was %s counts so, though it was %s", (_counts, _later, first, second) => {
  const describeState = (name: string, at: number) =>
    name === "sending" || name === "pending"
      ? createRecord({ state: name, at })
      : createRecord({ state: "done", at, outcome: { status: name, notes: [] } });
  const [one, two] = [describeState(first, NOW), describeState(second, NOW + 5)];
  expect(chooseRecord(one, two)).toBe(one);
  expect(chooseRecord(two, one)).toBe(one);
});
