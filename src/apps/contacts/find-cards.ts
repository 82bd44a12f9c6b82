import { toOneLine } from "../../shared/base/text.ts";
import type { StoredItem } from "../collections/collection-store.ts";
import {
  type ContentBlock,
  type ContentFile,
  listBlocks,
  markBlock,
  parseContent,
} from "../collections/content-tree.ts";
import { readText } from "../collections/content-values.ts";

/** One card in an item. */
export interface FoundCard {
  readonly item: StoredItem;
  readonly file: ContentFile;
  readonly card: ContentBlock;
  /** Names it in its file where that has several, and stays the same while the file does. */
  readonly mark: string | undefined;
}

/** The cards of an item; none for what is no vCard file. */
export function findCards(item: StoredItem): FoundCard[] {
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

/** The id of a card, as the arguments name it. */
export function toId({ item, mark }: FoundCard): string {
  return mark === undefined ? item.id : `${item.id}#${mark}`;
}

/** A name in the form in which two are compared. */
export function flatten(text: string): string {
  return toOneLine(text).slice(0, 500);
}
