import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Journal, openJournal } from "../../src/approvals/journal.ts";
import type { JournalRecord } from "../../src/approvals/journal-record.ts";

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.parse("2026-11-20T10:00:00Z");
const now = () => NOW;
let folder: string;
const open: Journal[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-journal-"));
});
afterEach(async () => {
  for (const journal of open.splice(0)) await journal.close();
  await rm(folder, { recursive: true, force: true });
});

async function openHere(): Promise<Journal> {
  const journal = await openJournal(folder, { now });
  open.push(journal);
  return journal;
}

function createRecord(change: Partial<JournalRecord> = {}): JournalRecord {
  return { callId: "call_1", fingerprint: "f1", state: "pending", at: NOW, tool: "notes_create_page", ...change };
}

/** A file as an ended process leaves it: no process has this id. */
const endedName = () =>
  `journal-${hostname()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "")}-4194999-abc123.jsonl`;

describe("openJournal", () => {
  it("keeps the last state of each call over a restart", async () => {
    const first = await openJournal(folder, { now });
    await first.record(createRecord());
    await first.record(createRecord({ state: "sending" }));
    await first.record(createRecord({ callId: "call_2", state: "done", outcome: { status: "succeeded" } }));
    await first.close();
    const second = await openHere();
    expect(second.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
    expect(second.find({ callId: "call_2", fingerprint: "f1" })?.outcome).toEqual({ status: "succeeded" });
    expect(second.find({ callId: "call_1", fingerprint: "other" })).toBeUndefined();
  });

  it("writes one file only its owner can read, compacted at opening", async () => {
    const first = await openJournal(folder, { now });
    for (let round = 0; round < 20; round += 1) await first.record(createRecord({ at: NOW + round }));
    await first.close();
    await openHere();
    const names = await readdir(folder);
    expect(names).toHaveLength(1);
    const path = join(folder, names[0] ?? "");
    expect((await readFile(path, "utf8")).trim().split("\n")).toHaveLength(1);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it("survives a torn last line and damaged lines", async () => {
    const lines = [JSON.stringify(createRecord({ state: "sending" })), "{not json", '{"callId":1}'];
    await writeFile(join(folder, endedName()), `${lines.join("\n")}\n{"callId":"call_9","finge`);
    const journal = await openHere();
    expect(journal.damagedLines).toBe(3);
    expect(journal.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
  });

  it("leaves the file of a running process alone, and reads it", async () => {
    const running = await openHere();
    await running.record(createRecord({ state: "sending" }));
    const other = await openHere();
    expect(other.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
    await running.record(createRecord({ callId: "call_2", state: "sending" }));
    await running.close();
    open.shift();
    const later = await openHere();
    expect(later.find({ callId: "call_2", fingerprint: "f1" })?.state).toBe("sending");
  });

  it("forgets a call that did nothing, also over a restart", async () => {
    const first = await openJournal(folder, { now });
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
    await journal.record(createRecord({ callId: "call_2", state: "sending" }));
    expect(journal.findUnanswered("f1")?.callId).toBe("call_2");
  });

  it("drops what is old, unanswered calls last", async () => {
    const records = [
      createRecord({ callId: "done", state: "done", at: NOW - 8 * DAY }),
      createRecord({ callId: "sending", state: "sending", at: NOW - 8 * DAY }),
      createRecord({ callId: "ancient", state: "sending", at: NOW - 40 * DAY }),
    ];
    await writeFile(join(folder, endedName()), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const journal = await openHere();
    const found = records.map((record) => journal.find(record)?.callId);
    expect(found).toEqual([undefined, "sending", undefined]);
  });

  it("does not say a state is kept when the disk refused it", async () => {
    const journal = await openJournal(folder, { now });
    await journal.close();
    await expect(journal.record(createRecord({ state: "sending" }))).rejects.toThrow();
    expect(journal.find(createRecord())).toBeUndefined();
  });

  it("works in memory without a folder", async () => {
    const journal = await openJournal();
    await journal.record(createRecord());
    expect(journal.find(createRecord())?.state).toBe("pending");
    await journal.close();
  });

  it("ignores files that are not its own", async () => {
    await appendFile(join(folder, "notes.txt"), "hello");
    const journal = await openHere();
    expect(journal.damagedLines).toBe(0);
    expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("hello");
  });
});
