import { ServiceError } from "../../../service/service-error.ts";
import { sha256Hex } from "../../../shared/base/hash.ts";
import { quoteName } from "../../port/preview.ts";
import { cannotKnow, type KeptWrite, type Verdict } from "../../port/undo.ts";
import { listNewPages } from "./keep-new-page.ts";
import type { NotionClient } from "./notion-client.ts";
import { type KeptChange, type KeptPage, type KeptPlace, type KeptRemoval, readNotionKept } from "./notion-kept.ts";
import { type NotionPage, pageSchema } from "./notion-objects.ts";
import { summariseNotionPage } from "./notion-pages.ts";
import { isTitle } from "./notion-places.ts";
import { readMarkdown } from "./page-markdown.ts";
import { hasValue } from "./property-values.ts";
import { hashNotionPage, hashOtherValues, noteLeft } from "./see-page.ts";
import { listWords } from "./text-edits.ts";
import { summariseChanged } from "./write-notion-page.ts";

/** How long a page that is not there shows that it was never made: later, somebody may have moved it. */
const SURE_MS = 10 * 60 * 1000;

/** Finds out whether a write in Notion took effect. */
export async function settleNotionWrite(
  { client, now }: { readonly client: NotionClient; now(): number },
  kept: KeptWrite,
): Promise<Verdict> {
  const write = readNotionKept(kept);
  if (write === undefined) return cannotKnow("The account shows other notes now.");
  const { intent } = write;
  if (intent.write === "create") return settleCreate(client, intent, now());
  return intent.write === "change" ? settleChange(client, intent) : settleRemove(client, intent);
}

/** The page, also one in the trash; undefined where Notion does not show it. */
export async function findNotionPage(client: NotionClient, id: string): Promise<NotionPage | undefined> {
  try {
    return await client.ask({ method: "GET", path: `pages/${id}`, schema: pageSchema });
  } catch (error) {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  }
}

async function settleCreate(client: NotionClient, intent: KeptPage, now: number): Promise<Verdict> {
  let { place }: { place: KeptPlace } = intent;
  let before: Pick<KeptPage, "known" | "since"> = intent;
  for (const [index, title] of [...intent.missing, intent.title].entries()) {
    const there = await listNewPages(client, place, before);
    if (there === undefined) return cannotKnow("There are too many pages at its place to look through them.");
    const [found, second] = there.filter((one) => isTitle(one.title, title));
    if (second !== undefined) return cannotKnow(`Several new pages there are called ${quoteName(title)}.`);
    if (found === undefined && index > 0) return sayHalf(intent, intent.missing[index - 1]);
    if (found === undefined) return there.length === 0 ? sayAbsent(intent, now) : sayOthers(intent);
    place = { kind: "page", id: found.id };
    before = { known: [] };
  }
  return checkNew(client, intent, place.id);
}

/** Whether a new page of the right title is the one that was to be made. */
async function checkNew(client: NotionClient, intent: KeptPage, id: string): Promise<Verdict> {
  const page = await findNotionPage(client, id);
  const text = await readMarkdown(client, id);
  if (page === undefined || listWords(text.raw) !== listWords(intent.markdown))
    return cannotKnow(`A new page ${quoteName(intent.title)} is there, with another text.`);
  const isUntouched = page.last_edited_time === page.created_time;
  const output = { ...summariseNotionPage(page, intent.tags) };
  return { verdict: "happened", output, ...(isUntouched && { after: noteLeft(page, text) }) };
}

function sayOthers({ title }: KeptPage): Verdict {
  return cannotKnow(`No page ${quoteName(title)} is at its place, but another new one: it may have been renamed.`);
}

function sayAbsent({ at, title }: KeptPage, now: number): Verdict {
  if (now - at <= SURE_MS) return { verdict: "did_not" };
  return cannotKnow(`No page ${quoteName(title)} is at its place; by now somebody may have moved it.`);
}

function sayHalf({ title }: KeptPage, made = ""): Verdict {
  return cannotKnow(`The page ${quoteName(made)} was made for it, and ${quoteName(title)} is not in it.`);
}

async function settleChange(client: NotionClient, intent: KeptChange): Promise<Verdict> {
  const name = quoteName(intent.title);
  const page = await findNotionPage(client, intent.id);
  if (page === undefined || page.in_trash) return cannotKnow(`${name} was deleted since, or is no longer shared.`);
  const text = await readMarkdown(client, intent.id);
  if (hashNotionPage(page, text) === intent.was) return { verdict: "did_not" };
  const isText = sha256Hex(listWords(text.raw)) === intent.words;
  const wanted = Object.entries(intent.values);
  const isValues = wanted.every(([property, value]) => hasValue(page.properties[property], value));
  if (isText && isValues && intent.isTold) {
    const isUntouched = hashOtherValues(page, Object.keys(intent.values)) === intent.others;
    const output = { ...summariseChanged(page, intent.tags) };
    return { verdict: "happened", output, ...(isUntouched && { after: noteLeft(page, text) }) };
  }
  const isHalf = wanted.length > 0 && isText !== isValues;
  return cannotKnow(
    isHalf
      ? `The ${isText ? "text" : "fields"} of ${name} are as wanted, and the rest is not.`
      : `${name} is neither as it was nor as it was to become: a part was done, or somebody changed it since.`,
  );
}

async function settleRemove(client: NotionClient, { id, edited, page: was }: KeptRemoval): Promise<Verdict> {
  const name = quoteName(was.title);
  const page = await findNotionPage(client, id);
  if (page === undefined) return cannotKnow(`${name} is gone, or no longer shared.`);
  // Also where a human was faster: it is where the call was to move it.
  if (page.in_trash) {
    const output = { ...was, deleted: true, trashed_to: summariseNotionPage(page).path };
    return { verdict: "happened", output, after: { id, edited: page.last_edited_time } };
  }
  if (page.last_edited_time === edited) return { verdict: "did_not" };
  return cannotKnow(`${name} is not in the trash, and was changed since.`);
}
