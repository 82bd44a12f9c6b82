import { toDoubles } from "../../../shared/base/exact-number.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { isRecord, parseJson } from "../../../shared/base/json.ts";
import type { ConnectionMemory } from "../../calls/ask/standing-rules.ts";
import { beginCall, type CallJournal, toMapKey } from "../../calls/journal/journal.ts";
import {
  chooseRecord,
  type IsKnown,
  isOvertaken,
  type JournalKey,
  type JournalRecord,
  listFingerprints,
  needsWarning,
  readJournalRecord,
} from "../../calls/journal/journal-record.ts";
import { readText } from "./graph-config.ts";

/** The part of LangGraph's key-value store that is used here. */
export interface GraphStore {
  get(namespace: string[], key: string): Promise<unknown>;
  put(namespace: string[], key: string, value: Record<string, unknown>, index: false): Promise<void>;
  delete(namespace: string[], key: string): Promise<void>;
}

/** Whether a run's `store` is one, with which the caller compiled the graph. */
export function isGraphStore(value: unknown): value is GraphStore {
  return (["get", "put", "delete"] as const).every(
    (name) => typeof value === "object" && value !== null && typeof Reflect.get(value, name) === "function",
  );
}

/** Where the calls of a principal are kept. */
interface Places {
  readonly store: GraphStore;
  readonly local: CallJournal;
  /** Namespaces of the store. */
  readonly calls: string[];
  readonly unanswered: string[];
}

/** Records of a call and of its duplicates, from before it was begun. */
interface Earlier {
  readonly near: JournalRecord | undefined;
  readonly far: JournalRecord | undefined;
  /** By fingerprint. */
  readonly marks: readonly (readonly [string, JournalRecord | undefined])[];
}

/**
 * A journal kept in the caller's store and in the session's own. Both are written before anything is sent, and
 * a call counts as sent if either records it: a durable store makes the journal safe across machines, `stateDir` across
 * processes of one machine.
 */
export function createStoreJournal(store: GraphStore, local: CallJournal, principal: string): CallJournal {
  const calls = ["svc_calls", principal];
  const unanswered = ["svc_unanswered", principal];
  const findMark = (fingerprint: string) => readRecord(store, unanswered, fingerprint);
  /** The mark of an equal call under another id stays. */
  const settle = async ({ fingerprint, callId }: JournalKey) => {
    const mark = await findMark(fingerprint);
    if (mark?.callId !== callId) return;
    for (const one of listFingerprints(mark)) {
      if ((await findMark(one))?.callId === callId) await store.delete(unanswered, one);
    }
  };
  const putInStore = async (record: JournalRecord) => {
    await store.put(calls, hashKey(record), toValue(record), false);
    if (!needsWarning(record)) return settle(record);
    for (const one of listFingerprints(record)) await store.put(unanswered, one, toValue(record), false);
  };
  const findUnanswered = async (fingerprint: string, isKnown: IsKnown = () => false) => {
    const near = await local.findUnanswered(fingerprint, isKnown);
    if (near !== undefined && !isKnown(near)) return near;
    const far = await findMark(fingerprint);
    return far !== undefined && needsWarning(far) && !isKnown(far) ? far : undefined;
  };
  return {
    async find(key) {
      const [near, far] = [await local.find(key), await readRecord(store, calls, hashKey(key))];
      return near !== undefined && far !== undefined ? chooseRecord(far, near) : (near ?? far);
    },
    findUnanswered,
    /** One step for the processes of one machine; the store of several offers no more than looking first. */
    async begin(record, terms) {
      const far = await readRecord(store, calls, hashKey(record));
      if (isOvertaken(far, terms)) return far;
      const isKnown = (other: JournalRecord) => toMapKey(other) === toMapKey(record) || terms.isKnown(other);
      for (const fingerprint of listFingerprints(record)) {
        const other = await findUnanswered(fingerprint, isKnown);
        if (other !== undefined) return other;
      }
      const marks = listFingerprints(record).map(async (one) => [one, await findMark(one)] as const);
      const earlier = { near: await local.find(record), far, marks: await Promise.all(marks) };
      const obstacle = await beginCall(local, record, terms);
      if (obstacle !== undefined) return obstacle;
      try {
        await putInStore(record);
      } catch (error) {
        // Nothing is sent now. If this fails too, the call stays unknown, which is safe.
        await takeBack({ store, local, calls, unanswered }, record, earlier).catch(() => undefined);
        throw error;
      }
      return undefined;
    },
    async record(record) {
      await local.record(record);
      await putInStore(record);
    },
    async forget(record) {
      await local.forget(record);
      await store.delete(calls, hashKey(record));
      await settle(record);
    },
  };
}

/** Restores the earlier records. A record that another machine has put into the store meanwhile stays. */
async function takeBack(places: Places, record: JournalRecord, { near, far, marks }: Earlier): Promise<void> {
  const { store, local, calls, unanswered } = places;
  await local.forget(record);
  if (near !== undefined) await local.record(near);
  const isOwn = (one: JournalRecord | undefined) => one?.at === record.at && one.state === record.state;
  const restore = (namespace: string[], key: string, earlier: JournalRecord | undefined) =>
    earlier === undefined ? store.delete(namespace, key) : store.put(namespace, key, toValue(earlier), false);
  if (!isOwn(await readRecord(store, calls, hashKey(record)))) return;
  for (const [fingerprint, earlier] of marks) {
    const mark = await readRecord(store, unanswered, fingerprint);
    if (mark?.callId === record.callId && isOwn(mark)) await restore(unanswered, fingerprint, earlier);
  }
  await restore(calls, hashKey(record), far);
}

/** The accounts a human wants for good, kept in the caller's store. */
export function createStoreMemory(store: GraphStore, principal: string): ConnectionMemory {
  const namespace = ["svc_accounts", principal];
  return {
    async find(integration) {
      return readText(await readValue(store, namespace, integration), "connectionId");
    },
    remember: (integration, connectionId) => store.put(namespace, integration, { connectionId }, false),
    forget: (integration) => store.delete(namespace, integration),
  };
}

async function readRecord(store: GraphStore, namespace: string[], key: string): Promise<JournalRecord | undefined> {
  return readJournalRecord(await readValue(store, namespace, key));
}

async function readValue(store: GraphStore, namespace: string[], key: string): Promise<unknown> {
  const item = await store.get(namespace, key);
  const value = isRecord(item) ? item.value : undefined;
  return isRecord(value) && typeof value.json === "string" ? parseJson(value.json) : value;
}

function hashKey(key: JournalKey): string {
  return sha256Hex(toMapKey(key));
}

/** Stores keep JSON: members that are undefined would not come back the same, nor numbers with many digits: a text does. */
function toValue(record: JournalRecord): Record<string, unknown> {
  const json = JSON.stringify(record);
  const value = parseJson(json);
  return isRecord(value) && toDoubles(value) === value ? value : { json };
}
