import { afterEach, expect, test } from "vitest";
import { UnansweredDuplicates } from "../../../../src/plugin/calls/journal/call-record.ts";
import type { JournalRecord } from "../../../../src/plugin/calls/journal/journal-record.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { openStoredJournal } from "./open-stored-journal.ts";

afterEach(closeAll);

test("a call that was told of, refused and begun again under its id by another process is told of again", async () => {
  const folder = await makeFolder();
  const [here, there] = [closeLater(await openStoredJournal(folder)), closeLater(await openStoredJournal(folder))];
  const equal: JournalRecord = { callId: "c1", fingerprint: "f1", state: "sending", at: 1, tool: "probe_write" };
  const own: JournalRecord = { ...equal, callId: "c2", at: 2 };
  const duplicates = new UnansweredDuplicates(here, own);
  const begin = () => here.begin(own, { known: [], isKnown: (other) => duplicates.has(other) });

  await there.record(equal);
  expect(await duplicates.find("f1")).toBe(true);
  expect(await duplicates.find("f1")).toBe(false);
  await there.forget(equal);
  await there.record({ ...equal, at: 3 });

  expect(await begin()).toMatchObject({ callId: "c1", at: 3 });
  expect(await duplicates.find("f1")).toBe(true);
  expect(await duplicates.find("f1")).toBe(false);
  expect(await begin()).toBeUndefined();
});
