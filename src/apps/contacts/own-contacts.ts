import { setImmediate as takeBreath } from "node:timers/promises";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import type { CollectionStore } from "../collections/collection-store.ts";
import type { JudgeContext } from "../port/integration.ts";
import { tellContact } from "./authored-contact.ts";
import { describeCard, summariseCard } from "./card-text.ts";
import { findCards, toId } from "./find-cards.ts";

/** Contacts of one account that are told. */
const MAX_CONTACTS = 5000;
/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** Every contact, as `read_contact` shows it. */
export async function* walkContacts(
  store: CollectionStore,
  { signal }: Pick<JudgeContext, "signal">,
): AsyncGenerator<AuthoredPart, void, undefined> {
  const { items } = await store.read(await store.list(), {});
  let told = 0;
  for (const [index, item] of items.entries()) {
    if (index % FILES_AT_ONCE === 0) await takeBreath();
    for (const found of findCards(item)) {
      if (signal.aborted || told >= MAX_CONTACTS) return;
      told += 1;
      yield* tellContact({ contact_id: toId(found), ...summariseCard(found.card), ...describeCard(found.card) });
    }
  }
}
