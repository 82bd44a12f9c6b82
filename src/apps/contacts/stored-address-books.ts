import { randomUUID } from "node:crypto";
import { setImmediate as takeBreath } from "node:timers/promises";
import { afterChange, refuseMissing, refuseValue } from "../../service/service-error.ts";
import { foldText, toSearchWords } from "../../shared/base/text.ts";
import { seeCollection, seeItem } from "../collections/act-on-seen.ts";
import { chooseCollection, findCollection } from "../collections/choose-collection.ts";
import {
  type CollectionStore,
  refuseDamaged,
  refuseUnreadable,
  type StoredItem,
  splitItemId,
} from "../collections/collection-store.ts";
import { type ContentBlock, listBlocks, replaceBlock, writeContent } from "../collections/content-tree.ts";
import { listGuesses, readText } from "../collections/content-values.ts";
import type { ItemPart, KeptItem } from "../collections/kept-item.ts";
import { settleItem } from "../collections/settle-item.ts";
import { type ItemLook, planItemUndo } from "../collections/undo-item.ts";
import { createItem, removeItem, replaceItem } from "../collections/write-item.ts";
import type { ActionContext } from "../port/integration.ts";
import { type NotShown, sayNotShown } from "../port/not-shown.ts";
import { checkState } from "../port/preview.ts";
import { ADDRESS_BOOKS, type AddressBooks, type ContactChange, type ContactTarget } from "./address-books.ts";
import { describeCard, readName, readSearchText, summariseCard } from "./card-text.ts";
import { changeCard, composeCard } from "./change-card.ts";
import { type FoundCard, findCards, flatten, toId } from "./find-cards.ts";
import { previewChange, previewNew, previewRemoval } from "./preview-contact.ts";
import { callContact, previewUndo } from "./undo-contact.ts";

type NewContact = ContactChange & { readonly name: string };

/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** Address books that are collections of files. */
export class StoredAddressBooks implements AddressBooks {
  readonly #store: CollectionStore;
  readonly #context: ActionContext;

  constructor(store: CollectionStore, context: ActionContext) {
    this.#store = store;
    this.#context = context;
  }

  async search({ query, addressBook, offset, limit }: Parameters<AddressBooks["search"]>[0]) {
    const all = await this.#store.list();
    const books = addressBook === undefined ? all : [findCollection(all, addressBook, "address book")];
    const words = toSearchWords(query);
    const { items, left } = await this.#store.read(books, {});
    const notShown = [...left];
    const hits: { found: FoundCard; name: string; points: number }[] = [];
    for (const [index, item] of items.entries()) {
      if (index % FILES_AT_ONCE === 0) await takeBreath();
      this.#context.signal.throwIfAborted();
      const cards = findCards(item);
      notShown.push(...listOddities(cards));
      if (cards.length === 0) notShown.push({ where: item.id, why: "It is no vCard file that can be read." });
      for (const found of cards) {
        const name = readName(found.card);
        const points = scoreCard(found.card, name, words);
        if (points > 0) hits.push({ found, name, points });
      }
    }
    hits.sort((a, b) => b.points - a.points || a.name.localeCompare(b.name, "en"));
    const shown = hits.slice(offset, offset + limit);
    const end = offset + shown.length;
    return {
      query,
      address_books: books.map(({ name }) => name),
      contacts: shown.map(({ found }) => summarise(found)),
      total: hits.length,
      ...(end < hits.length && { next_offset: end }),
      ...sayNotShown(notShown),
    };
  }

  async read(contactId: string) {
    const [found, ...others] = await this.#find(contactId);
    const more = others.map((one) => ({ where: toId(one), why: "It is in the same file." }));
    return { ...summarise(found), ...describeCard(found.card), ...sayNotShown([...listOddities([found]), ...more]) };
  }

  async create(contact: NewContact, addressBook: string | undefined) {
    const { book, uid, bytes } = await this.#composeNew(contact, addressBook);
    const item = { id: this.#store.nameNew(book, uid), collection: book, bytes };
    const facts = this.#say(contact.name, 0, seeCollection(book));
    const written = await createItem(this.#store, item, facts);
    return afterChange(facts.called, async () => this.#show(written, 0));
  }

  async change(target: ContactTarget, change: ContactChange) {
    const { found, item, index, bytes } = await this.#composeChange(target, change);
    const facts = this.#say(readName(found.card), index, seeItem(item));
    if (bytes === undefined) {
      checkState(this.#context, facts.seen);
      return this.#show(item, index);
    }
    const written = await replaceItem(this.#store, item, { ...facts, write: "change", bytes });
    return afterChange(facts.called, async () => this.#show(written, index));
  }

  async remove(target: ContactTarget) {
    const { found, bytes } = await this.#composeRemoval(target);
    const { item, file, card } = found;
    const facts = this.#say(readName(card), listBlocks(file, "VCARD").indexOf(card), seeItem(item));
    if (bytes !== undefined) await replaceItem(this.#store, item, { ...facts, write: "remove", bytes });
    const trashedTo = bytes === undefined ? await removeItem(this.#store, item, facts) : undefined;
    return { ...summarise(found), deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }

  async planUndo(kept: KeptItem) {
    return planItemUndo(kept, this.#store, this.#lookAtItems());
  }

  async settle(kept: KeptItem) {
    return settleItem(kept, this.#store, this.#lookAtItems());
  }

  async previewCreate(contact: NewContact, addressBook: string | undefined) {
    const { book, bytes } = await this.#composeNew(contact, addressBook);
    const [after] = findCards({ id: "", collection: book, etag: "", bytes });
    if (after === undefined) throw refuseUnreadable(contact.name);
    return previewNew(after, { ...this.#look(), seen: seeCollection(book) });
  }

  async previewChange(target: ContactTarget, change: ContactChange) {
    const { found, item, index, bytes = item.bytes } = await this.#composeChange(target, change);
    const after = findCards({ ...item, bytes })[index];
    if (after === undefined) throw refuseUnreadable(item.id);
    return previewChange(found, after, { ...this.#look(), seen: seeItem(item) });
  }

  async previewRemoval(target: ContactTarget) {
    const { found, bytes } = await this.#composeRemoval(target);
    return previewRemoval(found, bytes, { ...this.#look(), seen: seeItem(found.item) });
  }

  #lookAtItems(): ItemLook {
    return {
      kind: "contact",
      preview: async (undone) => previewUndo(undone, this.#look()),
      show: async (item, { index }) => this.#show(item, index),
    };
  }

  /** What is kept of a write. */
  #say(name: string, index: number, seen: unknown) {
    const part: ItemPart = { index };
    return { called: callContact(name), part, seen, context: this.#context };
  }

  #look() {
    return { store: this.#store, signal: this.#context.signal };
  }

  async #composeNew(contact: NewContact, addressBook: string | undefined) {
    const all = await this.#store.list();
    const book = chooseCollection(all, addressBook, { what: "address book", field: "address_book" });
    const uid = randomUUID();
    const card = composeCard(contact, uid, this.#context.now());
    return { book, uid, bytes: writeContent({ entries: [card] }) };
  }

  /** `bytes` of the file afterwards; undefined where it stays as it is. */
  async #composeChange(target: ContactTarget, change: ContactChange) {
    const found = await this.#choose(target);
    const { item, file, card } = found;
    const index = listBlocks(file, "VCARD").indexOf(card);
    const changed = changeCard(card, change, this.#context.now());
    const bytes = changed === card ? undefined : writeContent(replaceBlock(file, card, [changed]));
    return { found, item, index, bytes };
  }

  /** `bytes` of the file afterwards; undefined where nothing is left in it. */
  async #composeRemoval(target: ContactTarget) {
    const found = await this.#choose(target);
    const left = replaceBlock(found.file, found.card, []);
    const isEmpty = left.entries.every((entry) => "raw" in entry);
    return { found, bytes: isEmpty ? undefined : writeContent(left) };
  }

  /** The contact with an id, and others that it may mean. `name` chooses among those of a file that is named alone. */
  async #find(contactId: string, name?: string): Promise<[FoundCard, ...FoundCard[]]> {
    const { itemId, mark } = splitItemId(contactId, ADDRESS_BOOKS);
    const item = await this.#store.find(itemId, "contact_id");
    const cards = findCards(item);
    if (cards.length === 0) throw refuseUnreadable(item.id);
    const named = cards.filter((one) => mark === undefined || one.mark === mark);
    const all = named.length > 0 ? named : cards.filter(({ card }) => readText(card, "UID") === mark);
    const meant = all.filter(({ card }) => name === undefined || flatten(readName(card)) === flatten(name));
    const [first, ...others] = all.length > 1 && meant.length > 0 ? meant : all;
    if (first === undefined) throw refuseMissing(`There is no contact "${contactId}".`, "Look it up with search.");
    return [first, ...others];
  }

  async #choose({ contactId, name }: ContactTarget): Promise<FoundCard> {
    const [found, ...others] = await this.#find(contactId, name);
    if (others.length > 0)
      throw refuseValue(
        "contact_id",
        `names ${others.length + 1} contacts.`,
        `Take contact_id as search shows it: ${[found, ...others].slice(0, 5).map(toId).join(", ")}.`,
      );
    if (found.card.end === "") throw refuseDamaged("contact_id");
    const present = flatten(readName(found.card));
    if (present === flatten(name)) return found;
    throw refuseValue(
      "name",
      `is not the name of this contact, which is "${present}".`,
      "Check which contact is meant.",
    );
  }

  /** A contact as it is after a change, by its place in the file. */
  #show(item: StoredItem, index: number) {
    const found = findCards(item)[index];
    if (found === undefined) throw refuseUnreadable(item.id);
    return { ...summarise(found), ...describeCard(found.card) };
  }
}

/** What of cards is not shown, or guessed. */
function listOddities(cards: readonly FoundCard[]): NotShown[] {
  const [first] = cards;
  const ofFile = (first?.file.oddities ?? []).map((why) => ({ where: first?.item.id ?? "", why }));
  return [...ofFile, ...cards.flatMap((one) => listGuesses(one.card).map((why) => ({ where: toId(one), why })))];
}

function summarise(found: FoundCard) {
  return { contact_id: toId(found), address_book: found.item.collection.name, ...summariseCard(found.card) };
}

/** How well a card answers the words: name before all else; 0 when a word is missing. */
function scoreCard(card: ContentBlock, name: string, words: readonly string[]): number {
  if (words.length === 0) return 1;
  const [title, text] = [foldText(name), foldText(readSearchText(card))];
  let total = 0;
  for (const word of words) {
    if (!title.includes(word) && !text.includes(word)) return 0;
    total += title.includes(word) ? 10 : 1;
  }
  return total;
}
