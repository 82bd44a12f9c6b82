import { cannotKnow, type Verdict } from "../port/undo.ts";
import type { CollectionStore, StoredItem } from "./collection-store.ts";
import type { ItemAfter, ItemIntent, KeptItem } from "./kept-item.ts";
import { findPresent, type ItemLook } from "./undo-item.ts";

/** Finds out by reads alone whether the write of an item took effect; see `Action.settle`. */
export async function settleItem({ intent }: KeptItem, store: CollectionStore, look: ItemLook): Promise<Verdict> {
  const present = await findPresent(store, intent.id);
  if (intent.written === undefined) return settleRemoval(intent, present, { store, look });
  if (intent.before === undefined) return settleCreation(intent, present, { store, look });
  if (present === undefined) return cannotKnow(`${intent.called} is not in "${intent.collection.name}" any more.`);
  const isExact = present.bytes.equals(intent.written);
  if (!isExact && present.etag === intent.before.etag) return { verdict: "did_not" };
  if (!isExact && !store.isSame(present.bytes, intent.written)) return sayChanged(intent);
  const after = { etag: present.etag };
  if (intent.write !== "remove") return happened(await showWritten(intent, present, look), after);
  const shown = await showWritten(intent, { ...present, ...intent.before }, look);
  return happened({ ...shown, deleted: true }, after);
}

interface Tools {
  readonly store: CollectionStore;
  readonly look: ItemLook;
}

/** The name was chosen for this call alone, at random: what has it was made by this call. */
async function settleCreation(
  intent: ItemIntent,
  present: StoredItem | undefined,
  { store, look }: Tools,
): Promise<Verdict> {
  const { id, written = Buffer.alloc(0), called } = intent;
  if (present !== undefined) {
    const isAsLeft = store.isSame(present.bytes, written);
    return happened(await showWritten(intent, present, look), isAsLeft ? { etag: present.etag } : {});
  }
  // A server may give it another name, and people move things.
  const stem = id.slice(id.lastIndexOf("/") + 1).replace(/\.[^.]*$/, "");
  const { items, left } = await store.read(await store.list(), {});
  const moved = items.find(({ bytes }) => bytes.includes(stem));
  if (moved !== undefined) return cannotKnow(`${called} is in "${moved.collection.name}" under another name.`);
  return left.length === 0 ? { verdict: "did_not" } : cannotKnow("not everything that is there could be read.");
}

/** An item that was there when the call acted, under the condition that it was unchanged, and is gone, was removed. */
async function settleRemoval(
  intent: ItemIntent,
  present: StoredItem | undefined,
  { store, look }: Tools,
): Promise<Verdict> {
  const { id, collection, before, trashedTo, called } = intent;
  if (before === undefined) return cannotKnow(`what ${called} was before is not known.`);
  const item = { id, collection, ...before };
  const isTrashed = trashedTo !== undefined && (await store.isTrashed(item, trashedTo));
  if (present !== undefined) {
    if (present.etag === before.etag && !isTrashed) return { verdict: "did_not" };
    return isTrashed ? cannotKnow(`${called} is in its place and in the trash.`) : sayChanged(intent);
  }
  if (trashedTo !== undefined && !isTrashed)
    return cannotKnow(`${called} is neither in "${collection.name}" nor in the trash.`);
  const shown = await showWritten(intent, item, look);
  return happened({ ...shown, deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) }, {});
}

/** What can be shown of it. */
async function showWritten({ part }: ItemIntent, item: StoredItem, look: ItemLook) {
  return look.show(item, part).catch(() => ({ id: item.id }));
}

function happened(output: Readonly<Record<string, unknown>>, after: ItemAfter): Verdict {
  return { verdict: "happened", output, after };
}

function sayChanged({ called }: ItemIntent): Verdict {
  return cannotKnow(`${called} was changed by somebody else.`);
}
