import { randomUUID } from "node:crypto";
import { setImmediate as takeBreath } from "node:timers/promises";
import { foldText, toOneLine, toSearchWords } from "../../../base/text.ts";
import { refuseMissing, refuseValue } from "../../service-error.ts";
import { chooseCollection, findCollection } from "../collections/choose-collection.ts";
import {
  type CollectionStore,
  refuseDamaged,
  refuseUnreadable,
  type StoredItem,
  splitItemId,
} from "../collections/collection-store.ts";
import {
  type ContentBlock,
  type ContentFile,
  listBlocks,
  markBlock,
  parseContent,
  replaceBlock,
  writeContent,
} from "../collections/content-tree.ts";
import { listGuesses, readText } from "../collections/content-values.ts";
import type { ActionContext } from "../integration.ts";
import { type NotShown, sayNotShown } from "../not-shown.ts";
import { ADDRESS_BOOKS, type AddressBooks, type ContactChange, type ContactTarget } from "./address-books.ts";
import { describeCard, readName, readSearchText, summariseCard } from "./card-text.ts";
import { changeCard, composeCard } from "./change-card.ts";

/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** One card in an item. */
interface Found {
  readonly item: StoredItem;
  readonly file: ContentFile;
  readonly card: ContentBlock;
  /** Names it in its file where that has several, and stays the same while the file does. */
  readonly mark: string | undefined;
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
    const notShown = [...left];
    const hits: { found: Found; name: string; points: number }[] = [];
    for (const [index, item] of items.entries()) {
      if (index % FILES_AT_ONCE === 0) await takeBreath();
      this.#context.signal.throwIfAborted();
      const cards = tryParse(item);
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

  async create(contact: ContactChange & { readonly name: string }, addressBook: string | undefined) {
    const book = chooseCollection(await this.#store.list(), addressBook, {
      what: "address book",
      field: "address_book",
    });
    const uid = randomUUID();
    const card = composeCard(contact, uid, this.#context.now());
    const item = await this.#store.create(book, {
      name: uid,
      bytes: writeContent({ entries: [card] }),
    });
    return this.#show(item, 0);
  }

  async change(target: ContactTarget, change: ContactChange) {
    const { item, file, card } = await this.#choose(target);
    const index = listBlocks(file, "VCARD").indexOf(card);
    const changed = changeCard(card, change, this.#context.now());
    if (changed === card) return this.#show(item, index);
    const bytes = writeContent(replaceBlock(file, card, [changed]));
    return this.#show(await this.#store.replace(item, bytes), index);
  }

  async remove(target: ContactTarget) {
    const found = await this.#choose(target);
    const { item, file, card } = found;
    const left = replaceBlock(file, card, []);
    const isEmpty = left.entries.every((entry) => "raw" in entry);
    const trashedTo = isEmpty ? await this.#store.remove(item) : undefined;
    if (!isEmpty) await this.#store.replace(item, writeContent(left));
    return { ...summarise(found), deleted: true, ...(trashedTo !== undefined && { trashed_to: trashedTo }) };
  }

  /** The contact with an id, and others that it may mean. `name` chooses among those of a file that is named alone. */
  async #find(contactId: string, name?: string): Promise<[Found, ...Found[]]> {
    const { itemId, mark } = splitItemId(contactId, ADDRESS_BOOKS);
    const item = await this.#store.find(itemId, "contact_id");
    const cards = tryParse(item);
    if (cards.length === 0) throw refuseUnreadable(item.id);
    const named = cards.filter((one) => mark === undefined || one.mark === mark);
    const all = named.length > 0 ? named : cards.filter(({ card }) => readText(card, "UID") === mark);
    const meant = all.filter(({ card }) => name === undefined || flatten(readName(card)) === flatten(name));
    const [first, ...others] = all.length > 1 && meant.length > 0 ? meant : all;
    if (first === undefined) throw refuseMissing(`There is no contact "${contactId}".`, "Look it up with search.");
    return [first, ...others];
  }

  async #choose({ contactId, name }: ContactTarget): Promise<Found> {
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
    const found = tryParse(item)[index];
    if (found === undefined) throw refuseUnreadable(item.id);
    return { ...summarise(found), ...describeCard(found.card) };
  }
}

function tryParse(item: StoredItem): Found[] {
  try {
    const file = parseContent(item.bytes);
    const cards = listBlocks(file, "VCARD");
    const uids = Map.groupBy(cards, (card) => readText(card, "UID") ?? "");
    const used = new Set<string>();
    return cards.map((card) => {
      const uid = readText(card, "UID") ?? "";
      let mark = uid !== "" && uids.get(uid)?.length === 1 ? uid : markBlock(card);
      while (used.has(mark)) mark += "-";
      used.add(mark);
      return { item, file, card, mark: cards.length > 1 ? mark : undefined };
    });
  } catch {
    return [];
  }
}

function toId({ item, mark }: Found): string {
  return mark === undefined ? item.id : `${item.id}#${mark}`;
}

/** What of cards is not shown, or guessed. */
function listOddities(cards: readonly Found[]): NotShown[] {
  const [first] = cards;
  const ofFile = (first?.file.oddities ?? []).map((why) => ({ where: first?.item.id ?? "", why }));
  return [...ofFile, ...cards.flatMap((one) => listGuesses(one.card).map((why) => ({ where: toId(one), why })))];
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
  return toOneLine(text).slice(0, 500);
}
