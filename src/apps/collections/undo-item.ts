import { afterChange, ServiceError } from "../../service/service-error.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import type { PreviewChange } from "../../shared/wire/preview.ts";
import { type PreviewDraft, refuseChanged } from "../port/preview.ts";
import { refuseUndo, type UndoPlan } from "../port/undo.ts";
import { type CollectionStore, type StoredItem, TOP } from "./collection-store.ts";
import type { ItemIntent, ItemPart, KeptItem } from "./kept-item.ts";

/** What taking back a write does to its item. */
export interface UndoneItem extends Pick<ItemIntent, "write" | "part"> {
  /** As it is now; undefined for one that was removed. */
  readonly present: StoredItem | undefined;
  /** As it will be; undefined for one that was created. */
  readonly restored: StoredItem | undefined;
  /** True where the item is moved back from the trash. */
  readonly isTrashed: boolean;
}

/** How an app shows its items. */
export interface ItemLook {
  /** The kind of things in items: "event" or "contact". */
  readonly kind: string;
  preview(undone: UndoneItem): Promise<Omit<PreviewDraft, "seen">>;
  /** What the answer of an action says of a thing in an item. Throws for one that is not there. */
  show(item: StoredItem, part: ItemPart): Promise<Readonly<Record<string, unknown>>>;
}

/** The item with an id; undefined where there is none. */
export async function findPresent(store: CollectionStore, id: string): Promise<StoredItem | undefined> {
  return store.find(id, "execution_id").catch((error: unknown) => {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  });
}

/** Plans how the write of an item is taken back; see `Action.undo`. */
export async function planItemUndo(
  { intent, after }: KeptItem,
  store: CollectionStore,
  look: ItemLook,
): Promise<UndoPlan> {
  const { id, write, part, called, written, before } = intent;
  const present = await findPresent(store, id);
  if (written === undefined) await checkFree(intent, present, store);
  else if (present === undefined) throw refuseUndo(`${called} is not in "${intent.collection.name}" any more.`);
  else if (present.etag !== after?.etag && !store.isSame(present.bytes, written))
    throw refuseUndo(`${called} was changed since.`);
  const restored = before && { id, collection: present?.collection ?? intent.collection, ...before };
  const { trashedTo } = intent;
  const isTrashed =
    present === undefined && restored !== undefined && trashedTo !== undefined
      ? await store.isTrashed(restored, trashedTo)
      : false;
  const undone = { write, part, present, restored, isTrashed };
  const draft = await look.preview(undone);
  return {
    draft: { ...draft, seen: [id, present?.etag, isTrashed] },
    act: () => act(undone, { store, look, intent }),
    raised: judge(undone, draft.changes, look.kind),
  };
}

async function checkFree(
  { called, collection }: ItemIntent,
  present: StoredItem | undefined,
  store: CollectionStore,
): Promise<void> {
  if (present !== undefined) throw refuseUndo(`the place of ${called} in "${collection.name}" is taken.`);
  const isThere = collection.id === TOP || (await store.list()).some(({ id }) => id === collection.id);
  if (!isThere) throw refuseUndo(`"${collection.name}", where ${called} was, is gone.`);
}

/** Taking back counts as deleting where something is not there afterwards that is there now. */
function judge(
  { present, restored }: UndoneItem,
  changes: readonly PreviewChange[] = [],
  kind: string,
): RaisedLevel | undefined {
  if (present === undefined) return undefined;
  if (restored === undefined) return { level: "delete", says: `takes away the ${kind}` };
  const isLost = changes.some(({ before, diff }) => before !== undefined || /^-/m.test(diff ?? ""));
  return isLost ? { level: "delete", says: "replaces what is there now" } : undefined;
}

async function act(
  { present, restored, isTrashed, part }: UndoneItem,
  { store, look, intent }: { readonly store: CollectionStore; readonly look: ItemLook; readonly intent: ItemIntent },
): Promise<Readonly<Record<string, unknown>>> {
  if (restored === undefined) {
    if (present === undefined) throw refuseChanged();
    const shown = await look.show(present, part);
    const trashedTo = store.chooseTrash(present);
    await late(() => store.remove(present, trashedTo));
    return { ...shown, deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }
  const written = await late(() =>
    present === undefined
      ? store.create(restored, isTrashed ? intent.trashedTo : undefined)
      : store.replace(present, restored.bytes),
  );
  return afterChange(intent.called, () => look.show(written, part));
}

/** Nothing was done where somebody else was faster. */
async function late<T>(write: () => Promise<T>): Promise<T> {
  return write().catch((error: unknown) => {
    const isLate = error instanceof ServiceError && ["conflict", "not_found"].includes(error.code);
    throw isLate ? refuseChanged() : error;
  });
}
