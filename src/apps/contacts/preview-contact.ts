import { setImmediate as takeBreath } from "node:timers/promises";
import { shortenText } from "../../shared/base/text.ts";
import type { PreviewChange, PreviewEffect, PreviewObject } from "../../shared/wire/preview.ts";
import type { CollectionStore } from "../collections/collection-store.ts";
import type { ContentBlock } from "../collections/content-tree.ts";
import { lookAside } from "../collections/look-aside.ts";
import { tellRemoved } from "../collections/tell-removed.ts";
import { changeText, changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import { describeCard, summariseCard } from "./card-text.ts";
import { type FoundCard, findCards, flatten, toId } from "./find-cards.ts";

/** What a preview is looked at with. */
interface PreviewLook {
  readonly store: CollectionStore;
  readonly signal: AbortSignal;
  /** See `PreviewDraft.seen`. */
  readonly seen: unknown;
}

/** A contact as a preview shows it: each field that may change, by its name for people. */
export interface ContactView {
  readonly name: string;
  /** How a person tells two of a name apart; empty for none. */
  readonly way: string;
  readonly fields: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly note: string;
}

const LISTS = ["Mail addresses", "Phone numbers", "Addresses"];
/** Fields that say which contact it is. */
const TELLING = ["Mail addresses", "Phone numbers", "Organization", "Group"];
const SHOWN_CONTACTS = 3;
/** Files that are read before others get their turn. */
const FILES_AT_ONCE = 50;

/** The preview of a new contact. */
export async function previewNew(after: FoundCard, look: PreviewLook): Promise<PreviewDraft> {
  const view = viewCard(after.card);
  const { collection } = after.item;
  const similar = await findSimilar(after, look);
  return {
    summary: `Add ${nameContact(view)} to the address book ${quoteName(collection.name, 18)}`,
    objects: [describe(after, view)],
    changes: compare(undefined, view),
    effects: tellSimilar(similar, (names) => `There is already ${names}.`),
    undo: { possible: true },
    seen: look.seen,
  };
}

/** The preview of a changed contact. */
export function previewChange(before: FoundCard, after: FoundCard, look: PreviewLook): PreviewDraft {
  const [old, fresh] = [viewCard(before.card), viewCard(after.card)];
  const changes = compare(old, fresh);
  return {
    summary: summariseChange(old, fresh, changes),
    objects: [describe(before, old)],
    changes,
    effects: tellLost(old, fresh, changes),
    undo: changes.length === 0 ? { possible: false, why: "Nothing changes." } : { possible: true },
    seen: look.seen,
  };
}

/** The preview of a deleted contact; `bytes` of its file afterwards, undefined where nothing is left in it. */
export async function previewRemoval(
  before: FoundCard,
  bytes: Buffer | undefined,
  look: PreviewLook,
): Promise<PreviewDraft> {
  const view = viewCard(before.card);
  const { item } = before;
  const left = look.store.sayLeft(item, bytes);
  const similar = await findSimilar(before, look);
  const named = similar?.filter(({ card }) => flatten(viewCard(card).name) === flatten(view.name));
  return {
    summary: `Delete ${nameContact(view)} from the address book ${quoteName(item.collection.name, 18)}`,
    objects: [describe(before, view)],
    changes: compare(view, undefined),
    effects: [
      ...tellRemoved(left, { rest: bytes && "The other contacts of its file stay.", hasUndo: true }),
      ...tellSimilar(named, (names) => `Another one stays: ${names}.`),
    ],
    undo: { possible: true },
    seen: look.seen,
  };
}

/** A card as a preview shows it. */
export function viewCard(card: ContentBlock): ContactView {
  const view: ReturnType<typeof summariseCard> & Partial<ReturnType<typeof describeCard>> & Texts = {
    ...summariseCard(card),
    ...describeCard(card),
  };
  const { emails = [], phones = [], addresses = [] } = view;
  const typed = (text: string, type: string | undefined) => (type === undefined ? text : `${text} (${type})`);
  const fields = {
    "Mail addresses": emails.map(({ address, type }) => typed(address, type)),
    "Phone numbers": phones.map(({ number, type }) => typed(number, type)),
    Organization: view.organization,
    "Job title": view.title,
    "Given name": view.given_name,
    "Family name": view.family_name,
    Nickname: view.nickname,
    Birthday: view.birthday,
    Addresses: addresses.map(({ type, ...parts }) => typed(Object.values(parts).join(", "), type)),
    Website: view.website,
    Categories: view.categories?.flat(2),
    Photo: view.has_photo ? "yes" : undefined,
    Group: view.members === undefined ? undefined : `${view.members} members`,
  };
  return { name: view.name, way: emails[0]?.address ?? phones[0]?.number ?? "", fields, note: view.note ?? "" };
}

/** Texts of a card, by the names of the arguments. */
type Texts = Partial<Readonly<Record<"title" | "nickname" | "website" | "note", string>>>;

/** A contact in a sentence. */
export function nameContact({ name, way, fields }: ContactView): string {
  const what = fields.Group === undefined ? "" : "the group ";
  return `${what}${quoteName(name, 34)}${way === "" || way === name ? "" : ` (${shortenText(way, 26)})`}`;
}

/** The fields that change; of a new card, or of one that goes, all that it has. */
export function compare(before: ContactView | undefined, after: ContactView | undefined): PreviewChange[] {
  const names = Object.keys((before ?? after)?.fields ?? {});
  const [old, fresh] = [before?.note ?? "", after?.note ?? ""];
  return [
    ...(before && after ? changeValue("Name", before.name, after.name) : []),
    ...names.flatMap((name) => changeValue(name, before?.fields[name], after?.fields[name])),
    ...(old === "" || fresh === "" ? changeValue("Note", old, fresh) : changeText("Note", old, fresh)),
  ];
}

function summariseChange(before: ContactView, after: ContactView, changes: readonly PreviewChange[]): string {
  const who = nameContact(before);
  const [first, ...others] = changes;
  if (first === undefined) return `Leave ${who} as it is`;
  if (others.length === 0 && first.field === "Name") return `Rename ${who} to ${quoteName(after.name, 34)}`;
  const verb = changes.every((one) => one.after === undefined && one.diff === undefined) ? "Remove" : "Change";
  return `${verb} ${others.length === 0 ? first.field.toLowerCase() : `${changes.length} fields`} of ${who}`;
}

/** Fields that are empty afterwards, and what goes from lists that are not. */
export function tellLost(before: ContactView, after: ContactView, changes: readonly PreviewChange[]): PreviewEffect[] {
  const fields = changes.filter((one) => one.after === undefined && one.diff === undefined).map(({ field }) => field);
  const lost = LISTS.filter((name) => !fields.includes(name)).flatMap((name) => {
    const kept = new Set(listValues(after, name));
    return listValues(before, name).filter((value) => !kept.has(value));
  });
  return [
    ...(fields.length > 0 ? [{ code: "removes", text: `Removed: ${fields.join(", ").toLowerCase()}.` }] : []),
    ...(lost.length > 0 ? [{ code: "replaces", text: `Gone afterwards: ${lost.join(", ")}.` }] : []),
  ];
}

/** Values without what they are for. */
function listValues({ fields }: ContactView, name: string): string[] {
  return [fields[name] ?? []].flat().map((value) => value.replace(/ \([^()]*\)$/, ""));
}

/** Others of the same address book with this name, a mail address or a number of it; undefined where it could not be read. */
async function findSimilar(own: FoundCard, { store, signal }: PreviewLook): Promise<FoundCard[] | undefined> {
  const marks = listMarks(own.card);
  const isSimilar = (one: FoundCard) =>
    toId(one) !== toId(own) && listMarks(one.card).some((mark) => marks.includes(mark));
  return lookAside(async (end) => {
    const { items } = await store.read([own.item.collection], {});
    const similar: FoundCard[] = [];
    for (const [index, item] of items.entries()) {
      if (index % FILES_AT_ONCE === 0) await takeBreath();
      end.throwIfAborted();
      similar.push(...findCards(item).filter(isSimilar));
    }
    return similar;
  }, signal);
}

function listMarks(card: ContentBlock): string[] {
  const { name, emails = [], phones = [] } = summariseCard(card);
  const numbers = phones.map(({ number }) => number.replaceAll(/[^\d+]/g, ""));
  return [flatten(name), ...emails.map(({ address }) => address), ...numbers].map((text) => text.toLowerCase());
}

function tellSimilar(similar: readonly FoundCard[] | undefined, write: (names: string) => string): PreviewEffect[] {
  if (similar === undefined)
    return [{ code: "not_looked", text: "Whether there is another one like it could not be read." }];
  if (similar.length === 0) return [];
  const names = similar.slice(0, SHOWN_CONTACTS).map(({ card }) => nameContact(viewCard(card)));
  const rest = similar.length - names.length;
  return [{ code: "looks_like", text: write(`${names.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}`) }];
}

/** The contact as the object of a preview. */
export function describe({ item }: FoundCard, { name, fields }: ContactView): PreviewObject {
  const told = TELLING.map((label) => ({ label, value: [fields[label] ?? []].flat().join(", ") }));
  const details = [{ label: "Address book", value: item.collection.name }, ...told];
  return { kind: "contact", name, details: details.filter(({ value }) => value !== "") };
}
