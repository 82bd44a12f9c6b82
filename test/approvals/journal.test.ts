import { once } from "node:events";
import {
  appendFile,
  type FileHandle,
  open,
  readdir,
  readFile,
  stat,
  unlink,
  utimes,
  writeFile,
} from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Journal, openJournal } from "../../src/approvals/journal.ts";
import { JournalFile } from "../../src/approvals/journal-file.ts";
import type { JournalRecord } from "../../src/approvals/journal-record.ts";
import { closeAll, closeLater, makeFolder } from "../tools/open-test-session.ts";

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.parse("2026-11-20T10:00:00Z");
const now = () => NOW;
let folder: string;

beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(async () => {
  vi.restoreAllMocks();
  await closeAll();
});

const openHere = async (): Promise<Journal> => closeLater(await openJournal(folder, { now }));

function createRecord(change: Partial<JournalRecord> = {}): JournalRecord {
  return { callId: "call_1", fingerprint: "f1", state: "pending", at: NOW, tool: "notes_create_page", ...change };
}

/** Sees how often the disk is waited for. */
async function spyOnSync() {
  const handle = await open(join(folder, "probe"), "w");
  const prototype = Object.getPrototypeOf(handle) as FileHandle;
  await handle.close();
  await unlink(join(folder, "probe"));
  return vi.spyOn(prototype, "sync");
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

  it("keeps what another thread of the process writes while it is open there too", async () => {
    const own = await openHere();
    await own.record(createRecord({ callId: "before", state: "sending" }));
    const code = `
      const { parentPort, workerData } = require("node:worker_threads");
      const opened = import(workerData.module).then(({ openJournal }) => openJournal(workerData.folder));
      opened.then((journal) => {
        const find = (callId) => journal.find({ callId, fingerprint: "f1" })?.state;
        parentPort.on("message", () => journal.refresh()
          .then(() => parentPort.postMessage([find("before"), find("after")]))
          .then(() => journal.close()).then(() => parentPort.close()));
        parentPort.postMessage("open");
      });`;
    const module = new URL("../../src/approvals/journal.ts", import.meta.url).href;
    const thread = new Worker(code, { eval: true, execArgv: [], workerData: { folder, module } });
    await once(thread, "message");
    await own.record(createRecord({ callId: "after", state: "sending" }));
    thread.postMessage("look");
    const [found] = await once(thread, "message");
    await once(thread, "exit");
    expect(found).toEqual(["sending", "sending"]);
  });

  it("takes over what an earlier process of the same id has left", async () => {
    const path = join(folder, endedName().replace("4194999", String(process.pid)));
    await writeFile(path, `${JSON.stringify(createRecord({ state: "sending" }))}\n`);
    await utimes(path, 1, 1);
    const journal = await openHere();
    expect(journal.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
    expect(await readdir(folder)).toHaveLength(1);
  });

  it("stays within its bound while it runs, and forgets nothing that counts", async () => {
    const rewriteBytes = 4_000;
    const first = await openJournal(folder, { now, rewriteBytes });
    await first.record(createRecord({ callId: "sent", state: "sending" }));
    await first.record(createRecord({ callId: "gone" }));
    await first.forget({ callId: "gone", fingerprint: "f1" });
    for (let call = 0; call < 10; call += 1) {
      for (let round = 0; round < 20; round += 1) await first.record(createRecord({ callId: `call_${call}` }));
      await first.record(createRecord({ callId: `call_${call}`, state: "done" }));
    }
    const names = await readdir(folder);
    expect(names).toHaveLength(1);
    expect((await stat(join(folder, names[0] ?? ""))).size).toBeLessThan(2 * rewriteBytes);
    await first.close();
    const second = await openHere();
    const find = (callId: string) => second.find({ callId, fingerprint: "f1" })?.state;
    expect([find("sent"), find("gone"), find("call_0"), find("call_9")]).toEqual([
      "sending",
      undefined,
      "done",
      "done",
    ]);
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
    const running = await openJournal(folder, { now });
    await running.record(createRecord({ state: "sending" }));
    const other = await openHere();
    expect(other.find({ callId: "call_1", fingerprint: "f1" })?.state).toBe("sending");
    await running.record(createRecord({ callId: "call_2", state: "sending" }));
    await running.close();
    const later = await openHere();
    expect(later.find({ callId: "call_2", fingerprint: "f1" })?.state).toBe("sending");
  });

  it("sees what another process has sent since it was opened, and takes back what that one takes back", async () => {
    const [here, there] = [await openHere(), await openHere()];
    await there.record(createRecord({ state: "sending" }));
    await here.record(createRecord({ at: NOW + 1 }));
    await here.refresh();
    expect(here.find(createRecord())?.state).toBe("sending");
    expect(here.findUnanswered("f1")?.callId).toBe("call_1");
    await there.forget(createRecord());
    await here.refresh();
    expect(here.find(createRecord())?.state).toBe("pending");
    expect(here.findUnanswered("f1")).toBeUndefined();
  });

  it("does not use up the approval of a running process, and does not lose what an ended one has sent", async () => {
    const running = await openHere();
    await running.record(createRecord({ state: "approved", at: NOW + 1 }));
    const other = await openHere();
    expect(other.find(createRecord())).toBeUndefined();
    await writeFile(join(folder, endedName()), `${JSON.stringify(createRecord({ state: "sending" }))}\n`);
    expect((await openHere()).find(createRecord())?.state).toBe("sending");
    await other.refresh();
    expect(other.find(createRecord())?.state).toBe("sending");
  });

  it("of two processes that ended, one that sent a call counts, not one that asked about it later", async () => {
    const [one, two] = [endedName(), endedName().replace("abc123", "abc124")];
    await writeFile(join(folder, one), `${JSON.stringify(createRecord({ state: "sending" }))}\n`);
    await writeFile(join(folder, two), `${JSON.stringify(createRecord({ state: "approved", at: NOW + 1 }))}\n`);
    expect((await openHere()).find(createRecord())?.state).toBe("sending");
  });

  it("leaves a file alone that another copy of the module writes, as a host that loads the plugin again has", async () => {
    const first = await openHere();
    await first.record(createRecord());
    vi.resetModules();
    const copy = await import("../../src/approvals/journal.ts");
    closeLater(await copy.openJournal(folder, { now }));
    await first.record(createRecord({ state: "sending" }));
    expect((await openHere()).find(createRecord())?.state).toBe("sending");
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

  it("says no more of an unanswered call that a human was warned of, also after a restart", async () => {
    const first = await openJournal(folder, { now });
    await first.record(createRecord({ state: "sending", warnedAt: NOW }));
    expect(first.findUnanswered("f1")).toBeUndefined();
    await first.close();
    const second = await openHere();
    expect(second.findUnanswered("f1")).toBeUndefined();
    expect(second.find(createRecord())).toMatchObject({ state: "sending", warnedAt: NOW });
  });

  it("drops what is old, but no unanswered call", async () => {
    const records = [
      createRecord({ callId: "new", state: "done" }),
      createRecord({ callId: "done", state: "done", at: NOW - 8 * DAY }),
      createRecord({ callId: "sending", state: "sending", at: NOW - 8 * DAY }),
      createRecord({ callId: "ancient", state: "sending", at: NOW - 40 * DAY }),
    ];
    await writeFile(join(folder, endedName()), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const journal = await openHere();
    const found = records.map((record) => journal.find(record)?.callId);
    expect(found).toEqual(["new", undefined, "sending", "ancient"]);
  });

  it.each([365 * DAY, -365 * DAY])("forgets nothing because the clock jumps by %i ms", async (jump) => {
    const first = await openJournal(folder, { now });
    for (const state of ["sending", "probing", "done"] as const) {
      await first.record(createRecord({ callId: state, state }));
    }
    await first.close();
    const second = await openJournal(folder, { now: () => NOW + jump });
    await second.record(createRecord({ callId: "after", state: "done", at: NOW + jump }));
    await second.close();
    const third = await openHere();
    const find = (callId: string) => third.find(createRecord({ callId }))?.state;
    expect([find("sending"), find("probing"), find("done")]).toEqual(["sending", "probing", "done"]);
    expect(third.findUnanswered("f1")).toBeDefined();
  });

  it("is bounded by number, unanswered calls last", async () => {
    const lines = Array.from({ length: 12_000 }, (_, index) =>
      JSON.stringify(
        createRecord({ callId: `c${index}`, state: index < 11_000 ? "sending" : "done", at: NOW + index }),
      ),
    );
    await writeFile(join(folder, endedName()), `${lines.join("\n")}\n`);
    const journal = await openHere();
    const find = (index: number) => journal.find(createRecord({ callId: `c${index}` }))?.state;
    expect([find(0), find(999), find(1_000), find(10_999), find(11_999)]).toEqual([
      undefined,
      undefined,
      "sending",
      "sending",
      undefined,
    ]);
  });

  it("does not say a state is kept when the disk refused it", async () => {
    const journal = await openJournal(folder, { now });
    await journal.close();
    await expect(journal.record(createRecord({ state: "sending" }))).rejects.toThrow();
    expect(journal.find(createRecord())).toBeUndefined();
  });

  it("waits for the disk once for all who wait at the same time", async () => {
    const journal = await openHere();
    const sync = await spyOnSync();
    const ids = Array.from({ length: 20 }, (_, index) => `call_${index}`);
    await Promise.all(ids.map((callId) => journal.record(createRecord({ callId }))));
    expect(sync.mock.calls.length).toBeLessThan(5);
    expect(ids.map((callId) => journal.find({ callId, fingerprint: "f1" })?.state)).toEqual(ids.map(() => "pending"));
    const [name = ""] = await readdir(folder);
    const lines = (await readFile(join(folder, name), "utf8")).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as JournalRecord).callId)).toEqual(ids);
  });

  it("tells all who waited when the disk refuses them, and takes the next line", async () => {
    const journal = await openHere();
    const sync = await spyOnSync();
    sync.mockRejectedValueOnce(Object.assign(new Error("ENOSPC"), { code: "ENOSPC" }));
    const both = ["call_1", "call_2"].map((callId) => journal.record(createRecord({ callId })));
    expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(journal.find(createRecord())).toBeUndefined();
    await journal.record(createRecord({ state: "sending" }));
    await journal.close();
    expect((await openHere()).find(createRecord())?.state).toBe("sending");
  });

  it("looks at other files once for all who ask meanwhile, and again for who asks later", async () => {
    const other = await openHere();
    const file = closeLater(await JournalFile.open(folder, (records) => [...records]));
    const look = vi.spyOn(file.others, "refresh");
    const first = file.refresh();
    await other.record(createRecord({ state: "sending" }));
    await Promise.all([first, ...Array.from({ length: 20 }, () => file.refresh())]);
    expect(file.others.find(createRecord())?.state).toBe("sending");
    expect(look.mock.calls.length).toBeLessThan(4);
    look.mockRejectedValueOnce(new Error("EIO"));
    await expect(file.refresh()).rejects.toThrow("EIO");
    await file.refresh();
  });

  it("refuses a line that is no JSON to its own caller only", async () => {
    const journal = await openHere();
    const lines = [1n, "fine"].map((outcome, index) =>
      journal.record(createRecord({ callId: `call_${index}`, state: "done", outcome })),
    );
    expect((await Promise.allSettled(lines)).map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
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
