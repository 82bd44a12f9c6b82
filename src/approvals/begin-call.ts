import type { CallJournal } from "./journal.ts";
import { type BeginTerms, isOvertaken, type JournalRecord, listFingerprints, toMapKey } from "./journal-record.ts";

/** Begins a call; see `CallJournal.begin`. With a journal that cannot do both at once it looks first and records then. */
export async function beginCall(
  journal: CallJournal,
  record: JournalRecord,
  terms: BeginTerms,
): Promise<JournalRecord | undefined> {
  if (journal.begin !== undefined) return journal.begin(record, terms);
  await journal.refresh?.();
  const found = await journal.find(record);
  if (isOvertaken(found, terms)) return found;
  const isKnown = (other: JournalRecord) => toMapKey(other) === toMapKey(record) || terms.isKnown(other);
  for (const fingerprint of listFingerprints(record)) {
    const other = await journal.findUnanswered(fingerprint, isKnown);
    if (other !== undefined && !isKnown(other)) return other;
  }
  await journal.record(record);
  return undefined;
}
