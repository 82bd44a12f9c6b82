import type { ActionContext } from "../port/integration.ts";
import { actOnSeen } from "./act-on-seen.ts";
import type { CollectionStore, NewItem, StoredItem, WrittenItem } from "./collection-store.ts";
import { type ItemAfter, type ItemIntent, type PackedItemIntent, packBytes } from "./kept-item.ts";

/** What is said of a write beside what it does. */
interface WriteFacts extends Pick<ItemIntent, "called" | "part"> {
  /** See {@link actOnSeen}. */
  readonly seen: unknown;
}

type WriteContext = Pick<ActionContext, "expectedState" | "keep" | "leave">;

/** Creates an item, and keeps what its undo needs; like the others it throws as {@link actOnSeen} does. */
export async function createItem(
  store: CollectionStore,
  item: NewItem,
  o: WriteFacts & { readonly context: WriteContext },
): Promise<StoredItem> {
  const intent = { write: "create", ...place(item, o), written: packBytes(item.bytes) } as const;
  return act(o, intent, async () => tell(o.context, await store.create(item)));
}

/** Gives an item these bytes, and keeps what its undo needs. */
export async function replaceItem(
  store: CollectionStore,
  item: StoredItem,
  o: WriteFacts & {
    readonly context: WriteContext;
    readonly write: "change" | "remove" | "answer";
    readonly bytes: Buffer;
  },
): Promise<StoredItem> {
  const { write, bytes } = o;
  const intent = { write, ...place(item, o), before: packItem(item), written: packBytes(bytes) };
  return act(o, intent, async () => tell(o.context, await store.replace(item, bytes)));
}

/** Removes an item, and keeps what its undo needs. Where a human finds it; undefined where it is gone. */
export async function removeItem(
  store: CollectionStore,
  item: StoredItem,
  o: WriteFacts & { readonly context: WriteContext },
): Promise<string | undefined> {
  const trashedTo = store.chooseTrash(item);
  const intent = { write: "remove", ...place(item, o), before: packItem(item), trashedTo } as const;
  return act(o, intent, async () => {
    await store.remove(item, trashedTo);
    o.context.leave?.({} satisfies ItemAfter);
    return trashedTo;
  });
}

function act<T>(
  { context, seen }: WriteFacts & { readonly context: WriteContext },
  intent: PackedItemIntent,
  write: () => Promise<T>,
): Promise<T> {
  return actOnSeen(context, seen, async () => {
    await context.keep?.(intent);
    return write();
  });
}

function place({ id, collection }: NewItem, { called, part }: WriteFacts) {
  return { id, collection: { id: collection.id, name: collection.name }, called, part };
}

function packItem({ etag, bytes }: StoredItem) {
  return { etag, bytes: packBytes(bytes) };
}

function tell({ leave }: WriteContext, { isOurs, ...item }: WrittenItem): StoredItem {
  // Of what somebody else may have written by now only its content can say whether it is as we left it.
  leave?.((isOurs ? { etag: item.etag } : {}) satisfies ItemAfter);
  return item;
}
