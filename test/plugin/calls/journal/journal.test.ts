import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../../../src/plugin/calls/journal/journal.ts";
import type { JournalRecord } from "../../../../src/plugin/calls/journal/journal-record.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { countCommits } from "./count-commits.ts";
import { openStoredJournal, type StoredJournal } from "./open-stored-journal.ts";

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.parse("2026-11-20T10:00:00Z");
const now = () => NOW;
let folder: string;

beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(closeAll);

const openHere = async (): Promise<StoredJournal> => closeLater(await openStoredJournal(folder, { now }));

function createRecord(change: Partial<JournalRecord> = {}): JournalRecord {
  return { callId: "call_1", fingerprint: "f1", state: "pending", at: NOW, tool: "notes_create_page", ...change };
}

describe("openJournal", () => {
  it("keeps the last state of each call over a restart", async () => {
    const first = await openHere();
    await first.record(createRecord());
    await first.record(createRecord({ state: "sending" }));
    await first.record(createRecord({ callId: "call_2", state: "done", outcome: { status: "succeeded" } }));
    await first.close();
    const second = await openHere();
    expect(second.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
    expect(second.find({ callId: "call_2", fingerprint: "f1" })?.outcome).toEqual({ status: "succeeded" });
    expect(second.find({ callId: "call_1", fingerprint: "other" })).toBeUndefined();
  });

  it("keeps every member of a record", async () => {
    const record = createRecord({
      state: "sending",
      approval: { id: "a1", fingerprint: "f2", expiresAt: "2026-11-20T10:10:00Z" },
      request: "f2",
      repeatable: { key: "k1", arguments: { text: "a", __proto__: null }, until: NOW + 1 },
      warnedAt: NOW + 0.5,
    });
    await (await openHere()).record(record);
    expect((await openHere()).find(record)).toEqual(record);
  });

  it("shares what another thread of the process writes", async () => {
    const own = await openHere();
    await own.record(createRecord({ callId: "before", state: "sending" }));
    const code = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(workerData.module).then(({ openStoredJournal }) => openStoredJournal(workerData.folder)).then((journal) => {
        const find = (callId) => journal.find({ callId, fingerprint: "f1" })?.state;
        parentPort.on("message", () => {
          parentPort.postMessage([find("before"), find("after")]);
          journal.close().then(() => parentPort.close());
        });
        parentPort.postMessage("open");
      });`;
    const module = new URL("open-stored-journal.ts", import.meta.url).href;
    const thread = new Worker(code, { eval: true, execArgv: [], workerData: { folder, module } });
    await once(thread, "message");
    await own.record(createRecord({ callId: "after", state: "sending" }));
    // An exit comes in the same tick as the last message: a listener added after the message may miss it.
    const ended = once(thread, "exit");
    thread.postMessage("look");
    const [found] = await once(thread, "message");
    await ended;
    expect(found).toEqual(["sending", "sending"]);
  });

  it("sees at once what another process has sent, and what that one takes back", async () => {
    const [here, there] = [await openHere(), await openHere()];
    const sent = createRecord({ state: "sending" });
    await there.record(sent);
    expect(here.find(createRecord())?.state).toBe("sending");
    expect(here.findUnanswered("f1")?.callId).toBe("call_1");
    await there.forget(sent);
    expect(here.find(createRecord())).toBeUndefined();
    expect(here.findUnanswered("f1")).toBeUndefined();
  });

  it.each([
    ["sending", "pending"],
    ["sending", "approved"],
    ["done", "approved"],
    ["done", "sending"],
  ] as const)("does not write over %s of another process with %s", async (first, second) => {
    const [here, there] = [await openHere(), await openHere()];
    await there.record(createRecord({ state: first }));
    await here.record(createRecord({ state: second, at: NOW + 1 }));
    expect(here.find(createRecord())).toMatchObject({ state: first, at: NOW });
  });

  it("takes back only the record that was written, not what another process has made of the call since", async () => {
    const [here, there] = [await openHere(), await openHere()];
    const asked = createRecord();
    await here.record(asked);
    await there.record(createRecord({ state: "sending", at: NOW + 1 }));
    await here.forget(asked);
    expect(here.find(asked)?.state).toBe("sending");
  });

  it("does not mark a later request of a call as one that a human was warned of", async () => {
    const journal = await openHere();
    await journal.record(createRecord({ state: "sending", at: NOW + 1 }));
    await journal.record(createRecord({ state: "sending", warnedAt: NOW + 2 }));
    expect(journal.findUnanswered("f1")).toMatchObject({ at: NOW + 1 });
  });

  it("keeps the last word of one process, also when its clock was set back", async () => {
    const journal = await openHere();
    await journal.record(createRecord());
    await journal.record(createRecord({ state: "approved", at: NOW - DAY }));
    expect(journal.find(createRecord())?.state).toBe("approved");
    await journal.record(createRecord({ state: "done", outcome: 1 }));
    await journal.record(createRecord({ state: "done", at: NOW - DAY, outcome: 2 }));
    expect(journal.find(createRecord())?.outcome).toBe(2);
  });

  it("lets one of two processes use an approval", async () => {
    const [here, there] = [await openHere(), await openHere()];
    await here.record(createRecord({ state: "approved" }));
    const known = [createRecord({ state: "approved" })];
    const sent = createRecord({ state: "sending", at: NOW + 1 });
    expect(await there.begin(sent, { known, isKnown: () => true })).toBeUndefined();
    expect(await here.begin({ ...sent, at: NOW + 2 }, { known, isKnown: () => true })).toEqual(sent);
  });

  it("forgets a call that did nothing, also over a restart", async () => {
    const first = await openHere();
    await first.record(createRecord());
    await first.forget(createRecord());
    expect(first.find(createRecord())).toBeUndefined();
    await first.close();
    expect((await openHere()).find(createRecord())).toBeUndefined();
  });

  it("finds an unanswered call with equal content under another id", async () => {
    const journal = await openHere();
    await journal.record(createRecord({ state: "done" }));
    expect(journal.findUnanswered("f1")).toBeUndefined();
    await journal.record(createRecord({ callId: "call_2", fingerprint: "f2", request: "f1", state: "sending" }));
    expect(journal.findUnanswered("f1")?.callId).toBe("call_2");
    expect(journal.findUnanswered("f2")?.callId).toBe("call_2");
    expect(journal.findUnanswered("f3")).toBeUndefined();
  });

  it("says no more of an unanswered call that a human was warned of, also after a restart", async () => {
    const first = await openHere();
    await first.record(createRecord({ state: "sending", warnedAt: NOW }));
    expect(first.findUnanswered("f1")).toBeUndefined();
    await first.close();
    const second = await openHere();
    expect(second.findUnanswered("f1")).toBeUndefined();
    expect(second.find(createRecord())).toMatchObject({ state: "sending", warnedAt: NOW });
  });

  it("does not say a state is kept when the disk refused it", async () => {
    const journal = await openHere();
    await journal.close();
    await expect(journal.record(createRecord({ state: "sending" }))).rejects.toThrow();
    expect((await openHere()).find(createRecord())).toBeUndefined();
  });

  it("waits for the disk once for all who wait at the same time", async () => {
    const journal = await openHere();
    const ids = Array.from({ length: 20 }, (_, index) => `call_${index}`);
    const commits = countCommits();
    await Promise.all(ids.map((callId) => journal.record(createRecord({ callId }))));
    expect(commits()).toBe(1);
    expect(ids.map((callId) => journal.find({ callId, fingerprint: "f1" })?.state)).toEqual(ids.map(() => "pending"));
  });

  it("refuses what is no JSON to its own caller only", async () => {
    const journal = await openHere();
    const records = [1n, "fine"].map((outcome, index) =>
      journal.record(createRecord({ callId: `call_${index}`, state: "done", outcome })),
    );
    expect((await Promise.allSettled(records)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  });

  it("never leaves out a record that cannot be read", async () => {
    const journal = await openHere();
    await journal.record(createRecord({ state: "sending" }));
    for (const text of ["{", "{}"]) {
      await journal.state.change(() => void journal.state.prepare("UPDATE calls SET record = ?").run(text));
      expect(() => journal.find(createRecord())).toThrow("cannot be read");
      expect(() => journal.findUnanswered("f1")).toThrow("cannot be read");
      await expect(journal.begin(createRecord(), { known: [], isKnown: () => true })).rejects.toThrow("cannot be read");
    }
  });

  it("works in memory without a folder", async () => {
    const journal = await openJournal();
    await journal.record(createRecord());
    expect(journal.find(createRecord())?.state).toBe("pending");
  });
});

describe("what is dropped", () => {
  /** Opens a journal that holds these already. */
  async function openWith(records: readonly JournalRecord[]): Promise<StoredJournal> {
    const first = await openHere();
    await Promise.all(records.map((record) => first.record(record)));
    await first.close();
    return openHere();
  }

  it("is old, but no unanswered call", async () => {
    const records = [
      createRecord({ callId: "new", state: "done" }),
      createRecord({ callId: "done", state: "done", at: NOW - 8 * DAY }),
      createRecord({ callId: "sending", state: "sending", at: NOW - 8 * DAY }),
      createRecord({ callId: "ancient", state: "sending", at: NOW - 40 * DAY }),
    ];
    const journal = await openWith(records);
    const found = records.map((record) => journal.find(record)?.callId);
    expect(found).toEqual(["new", undefined, "sending", "ancient"]);
  });

  it.each([365 * DAY, -365 * DAY])("is nothing because the clock jumps by %i ms", async (jump) => {
    const states = (["sending", "probing", "done"] as const).map((state) => createRecord({ callId: state, state }));
    await (await openWith(states)).close();
    const second = await openStoredJournal(folder, { now: () => NOW + jump });
    await second.record(createRecord({ callId: "after", state: "done", at: NOW + jump }));
    await second.close();
    const third = await openHere();
    const find = (callId: string) => third.find(createRecord({ callId }))?.state;
    expect([find("sending"), find("probing"), find("done")]).toEqual(["sending", "probing", "done"]);
    expect(third.findUnanswered("f1")).toBeDefined();
  });

  it("is above the bound by number, unanswered calls last", async () => {
    const records = Array.from({ length: 12_000 }, (_, index) =>
      createRecord({ callId: `c${index}`, state: index < 11_000 ? "sending" : "done", at: NOW + index }),
    );
    const journal = await openWith(records);
    const find = (index: number) => journal.find(createRecord({ callId: `c${index}` }))?.state;
    expect([find(0), find(999), find(1_000), find(10_999), find(11_999)]).toEqual([
      undefined,
      undefined,
      "sending",
      "sending",
      undefined,
    ]);
  });

  it.each(["in memory", "on the disk"])("goes while the journal is open too, %s", async (place) => {
    const journal = place === "in memory" ? await openJournal() : await openHere();
    await journal.record(createRecord({ callId: "sent", state: "sending", at: NOW - 1 }));
    for (let from = 0; from < 12_000; from += 1_000) {
      const records = Array.from({ length: 1_000 }, (_, index) =>
        createRecord({ callId: `c${from + index}`, state: "done", at: NOW + from + index }),
      );
      await Promise.all(records.map((record) => journal.record(record)));
    }
    await journal.record(createRecord({ callId: "last", at: NOW + 12_000 }));
    const find = (callId: string) => journal.find(createRecord({ callId }))?.state;
    expect([find("sent"), find("c0"), find("c11999"), find("last")]).toEqual(["sending", undefined, "done", "pending"]);
  });
});
