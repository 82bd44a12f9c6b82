import { keepNewest } from "../../shared/base/newest.ts";
import { explain, openSqlite } from "./open-sqlite.ts";
import { isShared, type Store } from "./open-store.ts";

/**
 * One state of the watched tables (see `watchTables`): as long as none of them changes, a look at the store finds the same
 * object. What was read from them may be kept by it, see {@link createKeep}.
 */
export interface StoreState {
  readonly mark: string;
}

/** Tells the state of the store. */
export interface StoreStates {
  /** The state now, with everything in it that was committed before the call. Costs one read of one row. */
  read(): Promise<StoreState>;
}

/** Opens the states of a store; `place` as of `openStore`. */
export function openStoreStates(store: Store, place: string): StoreStates & { close(): void } {
  const marks = isShared(store) ? { read: inTurn(() => queryMark(store)), close() {} } : openMarks(place);
  let current: StoreState | undefined;
  return {
    async read() {
      const mark = await marks.read();
      if (current?.mark !== mark) current = { mark };
      return current;
    },
    close: marks.close,
  };
}

async function queryMark(store: Store): Promise<string> {
  return (await store.selectFrom("store_mark").select("mark").executeTakeFirstOrThrow()).mark;
}

/** By a connection of its own: the one of the store may be in a transaction, which may still be undone. */
function openMarks(file: string) {
  const database = openSqlite(file, { readOnly: true });
  const statement = database.prepare("select mark from store_mark");
  return {
    read: () => String(explain(() => statement.get())?.mark),
    close: () => database.close(),
  };
}

/**
 * Lets callers share a read, one after another: who asks while one is under way waits for the next, which begins after
 * the question and so misses nothing that was committed before it.
 */
export function inTurn<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = () => {
    next = undefined;
    const mine = read();
    const end = () => {
      if (running === mine) running = undefined;
    };
    running = mine;
    mine.then(end, end);
    return mine;
  };
  return () => {
    if (running === undefined && next === undefined) return begin();
    next ??= Promise.resolve(running).then(begin, begin);
    return next;
  };
}

/**
 * Keeps what was loaded from the watched tables, by the state it was loaded in: another state finds none of it. A failure
 * and `undefined` are not kept.
 *
 * @param most values of one state; the one that was used longest ago is dropped for another
 */
export function createKeep<Value>(most: number) {
  const kept = new WeakMap<StoreState, Map<string, Promise<Value>>>();
  return (state: StoreState, key: string, load: () => Promise<Value>): Promise<Value> => {
    const known = kept.get(state);
    const own = known ?? new Map<string, Promise<Value>>();
    if (known === undefined) kept.set(state, own);
    return keepNewest(own, key, most, () => {
      const value = load();
      const drop = () => void own.delete(key);
      value.then((loaded) => loaded === undefined && drop(), drop);
      return value;
    });
  };
}
