import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openJournal } from "../../../../src/plugin/calls/journal/journal.ts";
import { type JournalRecord, STEP } from "../../../../src/plugin/calls/journal/journal-record.ts";
import { createToolSession, type SessionSettings, type ToolSession } from "../../../../src/plugin/calls/session.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { openStoredJournal } from "./open-stored-journal.ts";

/** No permission outlives the record of its use, and two who use it at once hear the same. */

const DAY = 24 * 60 * 60 * 1_000;
const NOW = Date.parse("2026-11-20T10:00:00Z");
afterEach(closeAll);

describe.each(["in memory", "on the disk"])("a record whose approval is open, %s", (place) => {
  const open = async (now: () => number) => {
    if (place === "in memory") return openJournal(undefined, { now });
    return closeLater(await openStoredJournal(await makeFolder(), { now }));
  };
  const approval = { id: "a", fingerprint: "f", expiresAt: new Date(NOW + 20 * DAY).toISOString() };
  const done: JournalRecord = { callId: "c", fingerprint: "f", state: "done", at: NOW, tool: "t", approval };

  async function fill(journal: Awaited<ReturnType<typeof open>>, kind: string, at: number): Promise<void> {
    for (let from = 0; from < 12_000; from += 1_000) {
      const records = Array.from({ length: 1_000 }, (_, index): JournalRecord => {
        return {
          callId: `${kind} ${from + index}`,
          fingerprint: kind,
          state: "done",
          at: at + from + index,
          tool: "t",
        };
      });
      await Promise.all(records.map((record) => journal.record(record)));
    }
  }

  it("stays until it has expired, however many and however new the others are", async () => {
    let time = NOW;
    const journal = await open(() => time);
    await journal.record(done);
    time = NOW + 9 * DAY;
    await fill(journal, "other", time);
    expect(journal.find(done)?.state).toBe("done");
    time = NOW + 21 * DAY;
    await fill(journal, "later", time);
    expect(journal.find(done)).toBeUndefined();
  });

  it("and calls are not dropped for steps of graphs", async () => {
    const journal = await open(() => NOW);
    const plain = { ...done, callId: "plain", approval: undefined };
    await journal.record(plain);
    await fill(journal, STEP, NOW + 1);
    expect(journal.find(plain)?.state).toBe("done");
    expect(journal.find({ callId: `${STEP} 0`, fingerprint: STEP })).toBeUndefined();
  });
});

let service: TestService;
let media: string;
beforeEach(async () => {
  service = closeLater(await startTestService());
  media = await makeFolder();
  await mkdir(join(media, "inbound"));
  await writeFile(join(media, "inbound", "a.txt"), "file\n");
});

const args = { file: { s3key: "media://inbound/a.txt" }, name: "1", if_exists: "rename" };
const UPLOAD = { callId: "1", toolName: "drive_upload_file", arguments: args };
const YES = { type: "approve" } as const;

async function openSession(stateDir: string, settings: SessionSettings = {}): Promise<ToolSession> {
  const { url: baseUrl, apiKey } = service;
  return closeLater(await createToolSession({ baseUrl, apiKey, stateDir, mediaRoots: [media], ...settings }));
}

it("a state that counts for 20 days makes its call once in them", async () => {
  const stateDir = await makeFolder();
  let shift = 0;
  const settings = { approvalTtlMs: 20 * DAY, now: () => Date.now() + shift };
  const first = await openSession(stateDir, settings);
  const { state } = await first.prepare(UPLOAD);
  expect((await first.continue(state, YES)).outcome.status).toBe("succeeded");
  shift = 9 * DAY;
  const other = await first.prepare({ ...UPLOAD, callId: "2", arguments: { ...args, name: "2" } });
  await first.continue(other.state, YES);
  await first.close();
  const { outcome } = await (await openSession(stateDir, settings)).continue(state, YES);
  expect(outcome).toMatchObject({ status: "succeeded", notes: [expect.stringContaining("answered from the journal")] });
  expect(await service.effects()).toHaveLength(2);
});

describe("two sessions that continue one call at once", () => {
  it("hear the same, and make it once", async () => {
    const stateDir = await makeFolder();
    const [one, two] = [await openSession(stateDir), await openSession(stateDir)];
    const { state } = await one.prepare(UPLOAD);
    const ends = await Promise.all([one, two].map((session) => session.continue(state, YES)));
    expect(ends.map(({ outcome }) => outcome.status)).toEqual(["succeeded", "succeeded"]);
    expect(await service.effects()).toHaveLength(1);
  });
});

it("an abort before anything has left lets the call be made again", async () => {
  const stateDir = await makeFolder();
  const abort = new AbortController();
  const session = await openSession(stateDir, {
    onEvent: ({ type }) => {
      if (type === "sending") abort.abort();
    },
  });
  const { state } = await session.prepare(UPLOAD);
  await expect(session.continue(state, YES, { signal: abort.signal })).rejects.toMatchObject({ name: "AbortError" });
  await session.close();
  expect(await service.effects()).toEqual([]);
  const { outcome } = await (await openSession(stateDir)).continue(state, YES);
  expect(outcome.status).toBe("succeeded");
  expect(await service.effects()).toHaveLength(1);
});
