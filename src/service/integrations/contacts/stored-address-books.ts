import { randomUUID } from "node:crypto";
import { setImmediate as takeBreath } from "node:timers/promises";
import { foldText, toSearchWords } from "../../../base/text.ts";
import { refuseMissing, refuseValue } from "../../service-error.ts";
import { chooseCollection, findCollection } from "../collections/choose-collection.ts";
import { type CollectionStore, refuseUnreadable, type StoredItem } from "../collections/collection-store.ts";
import { type ContentBlock, parseContent, writeContent } from "../collections/content-tree.ts";
import { readText } from "../collections/content-values.ts";
import type { ActionContext } from "../integration.ts";
import type { AddressBooks, ContactChange, ContactTarget } from "./address-books.ts";
import { changeCard, composeCard, describeCard, readName, readSearchText, summariseCard } from "./card-text.ts";

/** Character between the id of an item and the mark of one of its cards, where it has several. */
const CARD_MARK = "#";

/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** One card in an item. */
interface Found {
  readonly item: StoredItem;
  readonly roots: readonly ContentBlock[];
  readonly card: ContentBlock;
}

/** Address books that are collections of files. */
export class StoredAddressBooks implements AddressBooks {
  readonly #store: CollectionStore;
  readonly #context: Pick<ActionContext, "now" | "signal">;

  constructor(store: CollectionStore, context: Pick<ActionContext, "now" | "signal">) {
    this.#store = store;
    this.#context = context;
  }

  async search({ query, addressBook, offset, limit }: Parameters<AddressBooks["search"]>[0]) {
    const all = await this.#store.list();
    const books = addressBook === undefined ? all : [findCollection(all, addressBook, "address book")];
    const words = toSearchWords(query);
    const { items, left } = await this.#store.read(books, {});
    let unread = left;
    const hits: { found: Found; name: string; points: number }[] = [];
    for (const [index, item] of items.entries()) {
      if (index % FILES_AT_ONCE === 0) await takeBreath();
      this.#context.signal.throwIfAborted();
      const cards = tryParse(item);
      if (cards.length === 0) unread += 1;
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
      ...(unread > 0 && { note: `${unread} file(s) could not be read, so that contacts may be missing.` }),
    };
  }

  async read(contactId: string) {
    const found = await this.#find(contactId);
    return { ...summarise(found), ...describeCard(found.card) };
  }

  async create(contact: ContactChange & { readonly name: string }, addressBook: string | undefined) {
    const book = chooseCollection(await this.#store.list(), addressBook, {
      what: "address book",
      field: "address_book",
    });
    const uid = randomUUID();
    const card = composeCard(contact, uid, this.#context.now());
    const item = await this.#store.create(book, { name: uid, text: writeContent([card]) });
    return this.#show(item, card);
  }

  async change(target: ContactTarget, change: ContactChange) {
    const { item, roots, card } = await this.#choose(target);
    const changed = changeCard(card, change, this.#context.now());
    const text = writeContent(roots.map((one) => (one === card ? changed : one)));
    return this.#show(await this.#store.replace(item, text), changed);
  }

  async remove(target: ContactTarget) {
    const found = await this.#choose(target);
    const { item, roots, card } = found;
    const left = roots.filter((one) => one !== card);
    const trashedTo = left.length === 0 ? await this.#store.remove(item) : undefined;
    if (left.length > 0) await this.#store.replace(item, writeContent(left));
    return { ...summarise(found), deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }

  async #find(contactId: string): Promise<Found> {
    const mark = contactId.indexOf(CARD_MARK);
    const item = await this.#store.find(mark < 0 ? contactId : contactId.slice(0, mark), "contact_id");
    const cards = tryParse(item);
    const wanted = cards.find((one) => toId(one) === contactId) ?? (mark < 0 ? cards[0] : undefined);
    if (wanted !== undefined) return wanted;
    if (cards.length === 0) throw refuseUnreadable(item.id);
    throw refuseMissing(`There is no contact "${contactId}".`, "Look it up with search.");
  }

  async #choose({ contactId, name }: ContactTarget): Promise<Found> {
    const found = await this.#find(contactId);
    const present = flatten(readName(found.card));
    if (present === flatten(name)) return found;
    throw refuseValue(
      "name",
      `is not the name of this contact, which is "${present}".`,
      "Check which contact is meant.",
    );
  }

  /** A contact as it is after a change: the one of its UID where the file has several. */
  #show(item: StoredItem, written: ContentBlock) {
    const cards = tryParse(item);
    const uid = readText(written, "UID");
    const found = cards.find(({ card }) => uid !== undefined && readText(card, "UID") === uid) ?? cards[0];
    if (found === undefined) throw refuseUnreadable(item.id);
    return { ...summarise(found), ...describeCard(found.card) };
  }
}

function tryParse(item: StoredItem): Found[] {
  try {
    const roots = parseContent(item.text);
    return roots.filter(({ name }) => name === "VCARD").map((card) => ({ item, roots, card }));
  } catch {
    return [];
  }
}

function toId({ item, roots, card }: Found): string {
  if (roots.length === 1) return item.id;
  return `${item.id}${CARD_MARK}${readText(card, "UID") ?? roots.indexOf(card) + 1}`;
}

function summarise(found: Found) {
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

function flatten(text: string): string {
  return text.replaceAll(/\s+/g, " ").trim().slice(0, 500);
}
