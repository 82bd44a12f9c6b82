import type { JournalFile } from "./journal-file.ts";
import {
  type BeginTerms,
  type IsKnown,
  isOvertaken,
  type JournalKey,
  type JournalRecord,
  listFingerprints,
  toMapKey,
} from "./journal-record.ts";
import { takeTurns } from "./take-turns.ts";

/** What beginning works with. */
interface BeginParts {
  /** Undefined for a journal in memory. */
  readonly file: JournalFile | undefined;
  findUnanswered(fingerprint: string, isKnown: IsKnown): JournalRecord | undefined;
  write(record: JournalRecord): Promise<void>;
  forget(key: JournalKey): Promise<void>;
}

type Begin = (record: JournalRecord, terms: BeginTerms) => Promise<JournalRecord | undefined>;

/**
 * Makes `CallJournal.begin` of the journal in `folder`: looking and writing are one step for all processes that use it,
 * by a lock file beside the folder. A process that is alone there needs none.
 */
export function createBegin(folder: string | undefined, parts: BeginParts): Begin {
  const { file } = parts;
  const inOrder = takeTurnsOfEqual();
  const alone = takeTurns(folder);
  const writeUnhindered = async (record: JournalRecord, terms: BeginTerms) => {
    const obstacle = findObstacle(parts, record, terms);
    if (obstacle === undefined) await parts.write(record);
    return obstacle;
  };
  const takeBackIfHindered = async (record: JournalRecord, terms: BeginTerms) => {
    const obstacle = findObstacle(parts, record, terms);
    if (obstacle !== undefined) await parts.forget(record);
    return obstacle;
  };
  const begin: Begin = async (record, terms) => {
    await file?.refresh();
    if (file !== undefined && !file.others.haveEnded) {
      return alone(async () => {
        await file.refresh();
        return writeUnhindered(record, terms);
      });
    }
    const obstacle = await writeUnhindered(record, terms);
    if (obstacle !== undefined || file === undefined) return obstacle;
    await file.refresh();
    if (file.others.haveEnded) return undefined;
    // A process that was opened meanwhile may have looked before the line was there.
    return alone(async () => {
      await file.refresh();
      return takeBackIfHindered(record, terms);
    });
  };
  return (record, terms) => inOrder(listFingerprints(record), () => begin(record, terms));
}

/** Keeps the order of those that have a fingerprint in common; only such are in each other's way. Others go on at once. */
function takeTurnsOfEqual(): <T>(fingerprints: readonly string[], work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return async (fingerprints, work) => {
    const earlier = fingerprints.map((fingerprint) => last.get(fingerprint));
    const done = Promise.allSettled(earlier).then(work);
    for (const fingerprint of fingerprints) last.set(fingerprint, done);
    try {
      return await done;
    } finally {
      for (const fingerprint of fingerprints) if (last.get(fingerprint) === done) last.delete(fingerprint);
    }
  };
}

function findObstacle(parts: BeginParts, record: JournalRecord, terms: BeginTerms): JournalRecord | undefined {
  const elsewhere = parts.file?.others.find(record);
  if (isOvertaken(elsewhere, terms)) return elsewhere;
  const isKnown = (other: JournalRecord) => toMapKey(other) === toMapKey(record) || terms.isKnown(other);
  return listFingerprints(record)
    .map((fingerprint) => parts.findUnanswered(fingerprint, isKnown))
    .find((other) => other !== undefined);
}
