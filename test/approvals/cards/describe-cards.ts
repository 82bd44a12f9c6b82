import { expect } from "vitest";
import { CARD_TEXTS, type CardText, placeText } from "../texts/card-texts.ts";
import { type CardPlace, findUnseen, NOBODY_ASKED } from "./card-place.ts";

/** Each text in one of its places among the arguments, the next text in the next. */
export const EACH_ONCE = spread(CARD_TEXTS);
/** Each text in all of its places. */
export const EACH_EVERYWHERE = CARD_TEXTS.flatMap((text) => placeText(text.text).map((args) => ({ text, args })));

/** These texts, each in one place. */
export function spread(texts: readonly CardText[]) {
  return texts.map((text, index) => {
    const places = placeText(text.text);
    return { text, args: places[index % places.length] ?? {} };
  });
}

/** Holds a place against the texts. */
export async function expectAllSeen(place: CardPlace, cards: typeof EACH_ONCE): Promise<void> {
  const unseen: string[] = [];
  for (const { text, args } of cards) unseen.push(...[(await findUnseen(place, text, { ...args })) ?? []].flat());
  expect(unseen.filter((one) => one !== NOBODY_ASKED)).toEqual([]);
  // Placeholders such as <script> are refused before.
  expect(unseen.length).toBeLessThan(cards.length / 10);
}
