import { type CollectionStore, refuseUnreadable, type StoredItem } from "../collections/collection-store.ts";
import { tellRemoved } from "../collections/tell-removed.ts";
import type { UndoneItem } from "../collections/undo-item.ts";
import { type PreviewDraft, quoteName, refuseChanged } from "../port/preview.ts";
import { type FoundCard, findCards } from "./find-cards.ts";
import { type ContactView, compare, describe, nameContact, tellLost, viewCard } from "./preview-contact.ts";

type Draft = Omit<PreviewDraft, "seen">;

/** A contact by its name, in a sentence. */
export function callContact(name: string): string {
  return name === "" ? "a contact without a name" : quoteName(name);
}

/** The preview of taking back a write. */
export async function previewUndo(
  { present, restored, write, part, isTrashed }: UndoneItem,
  { store }: { readonly store: CollectionStore },
): Promise<Draft> {
  const show = (item: StoredItem): Shown => {
    const found = findCards(item)[part.index];
    if (found === undefined) throw refuseUnreadable(item.id);
    return { found, view: viewCard(found.card) };
  };
  if (restored === undefined) {
    if (present === undefined) throw refuseChanged();
    return previewTaking(show(present), store);
  }
  const left = present === undefined ? "It can be deleted again." : store.sayLeft(present, restored.bytes).left;
  const undo = { possible: false, why: left };
  const old = show(restored);
  if (present === undefined || write === "remove") return { ...previewReturn(old, isTrashed), undo };
  const now = show(present);
  const changes = compare(now.view, old.view);
  return {
    summary: `Change ${nameContact(now.view)} back to how it was before`,
    objects: [describe(now.found, now.view)],
    changes,
    effects: tellLost(now.view, old.view, changes),
    undo,
  };
}

/** A contact, and what is shown of it. */
interface Shown {
  readonly found: FoundCard;
  readonly view: ContactView;
}

function previewTaking({ found, view }: Shown, store: CollectionStore): Draft {
  const left = store.sayLeft(found.item, undefined);
  return {
    summary: `Take ${nameContact(view)} out of the address book ${quoteName(found.item.collection.name, 18)}`,
    objects: [describe(found, view)],
    changes: compare(view, undefined),
    effects: tellRemoved(left, { rest: undefined, hasUndo: false }),
    undo: { possible: false, why: left.left },
  };
}

function previewReturn({ found, view }: Shown, isTrashed: boolean): Omit<Draft, "undo"> {
  const to = quoteName(found.item.collection.name, 18);
  return {
    summary: `Bring back ${nameContact(view)}${isTrashed ? " from the trash" : ""} to ${to}`,
    objects: [describe(found, view)],
    changes: compare(undefined, view),
    effects: [],
  };
}
