import { ServiceError } from "../../../service/service-error.ts";
import { quoteName, refuseChanged } from "../../port/preview.ts";
import { type KeptWrite, refuseUndo, type UndoPlan } from "../../port/undo.ts";
import { previewUndoneChange, previewUndoneNew, previewUndoneRemoval } from "../preview-page.ts";
import type { NotionClient } from "./notion-client.ts";
import { type KeptChange, type KeptPage, type KeptRemoval, type NotionAfter, readNotionKept } from "./notion-kept.ts";
import { type NotionPage, pageSchema, readTitle } from "./notion-objects.ts";
import { summariseNotionPage } from "./notion-pages.ts";
import { openDataSource } from "./notion-places.ts";
import { findNotionPage, settleNotionWrite } from "./notion-settle.ts";
import { type PageMarkdown, parseMarkdown, readFront, readMarkdown } from "./page-markdown.ts";
import { hashNotionPage, seeNotionPage, viewNotionPage } from "./see-page.ts";
import { takeOutAdded } from "./text-edits.ts";
import { changeNotionPage, setInTrash, summariseChanged } from "./write-notion-page.ts";

/** Notion's times have no seconds: what is later by more was done by somebody else. */
const SAME_MS = 60_000;

/** What an undo needs. */
interface UndoParts {
  readonly client: NotionClient;
  /** Label of the connection. */
  readonly notes: string;
  now(): number;
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
}

/** Plans how a write in Notion is taken back. Throws as `Action.undo`. */
export async function planNotionUndo(parts: UndoParts, kept: KeptWrite): Promise<UndoPlan> {
  const write = readNotionKept(kept);
  if (write === undefined) throw refuseUndo("the account shows other notes now.");
  const { intent } = write;
  const isRead = write.after?.hash !== undefined || intent.write === "remove";
  const after = (isRead ? write.after : undefined) ?? (await findAfter(parts, kept));
  if (intent.write === "create") return undoCreate(parts, intent, after);
  return intent.write === "change" ? undoChange(parts, intent, after) : undoRemove(parts, intent, after);
}

/** How a write whose answer was lost left things. */
async function findAfter(parts: UndoParts, kept: KeptWrite): Promise<NotionAfter> {
  const found = await settleNotionWrite(parts, kept);
  const after = found.verdict === "happened" ? readNotionKept({ ...kept, after: found.after })?.after : undefined;
  if (after === undefined) throw refuseUndo("it cannot be told how it left things.");
  return after;
}

/** The page and its text, where both are as the write left them. Throws ServiceError 409. */
async function getLeft({ client }: UndoParts, { id, hash }: NotionAfter, title: string) {
  const name = quoteName(title);
  const page = await findNotionPage(client, id);
  if (page === undefined || page.in_trash) throw refuseUndo(`${name} was deleted since, or is no longer shared.`);
  const text = await readMarkdown(client, id);
  if (hashNotionPage(page, text) !== hash) throw refuseUndo(`${name} was changed since.`);
  return { page, text };
}

/** Notion knows no conditions: the page is looked at once more right before. Throws ServiceError 412. */
async function checkSame(client: NotionClient, page: NotionPage, text: PageMarkdown | undefined): Promise<void> {
  const now = await findNotionPage(client, page.id);
  const isThere = now !== undefined && now.in_trash === page.in_trash;
  const isTime = now?.last_edited_time === page.last_edited_time;
  if (!isThere || !isTime) throw refuseChanged();
  if (text === undefined) return;
  if (hashNotionPage(now, await readMarkdown(client, page.id)) !== hashNotionPage(page, text)) throw refuseChanged();
}

async function undoCreate(parts: UndoParts, intent: KeptPage, after: NotionAfter): Promise<UndoPlan> {
  const { client, notes, inTurn } = parts;
  const { page, text } = await getLeft(parts, after, intent.title);
  const effects = intent.missing.map((title) => ({
    code: "leaves_folder",
    text: `The page ${quoteName(title, 80)}, which was made for it, stays.`,
  }));
  const left = "It goes to the trash of Notion; a human restores it there.";
  const o = { notes, left, seen: seeNotionPage(page, text), effects };
  return {
    draft: previewUndoneNew(viewNotionPage(page, text), o),
    raised: { level: "delete", says: "takes away the page" },
    act: () =>
      inTurn(async () => {
        await checkSame(client, page, text);
        await setInTrash(client, page.id, true);
        const summary = summariseNotionPage(page, intent.tags);
        return { ...summary, deleted: true, trashed_to: summary.path };
      }),
  };
}

async function undoChange(parts: UndoParts, intent: KeptChange, after: NotionAfter): Promise<UndoPlan> {
  const { client, notes, inTurn } = parts;
  if (intent.final !== undefined) throw refuseUndo(intent.final);
  const { page, text } = await getLeft(parts, after, intent.title);
  const old = intent.text === undefined ? text : parseMarkdown(intent.text.raw, false);
  const commands = composeBack(intent, text, old);
  const view = viewNotionPage(page, text);
  const was = { ...view, ...intent.before, body: old.body };
  const left = "Notion keeps what the page is now in its page history.";
  const o = { notes, left, seen: seeNotionPage(page, text), effects: sayRewritten(intent) };
  return {
    draft: previewUndoneChange({ before: view, after: was }, o),
    raised: { level: "delete", says: "takes away or replaces what is on the page" },
    act: () =>
      inTurn(async () => {
        await checkSame(client, page, text);
        const changed = await changeNotionPage(client, page, { values: intent.oldValues, commands, old: text });
        return { ...summariseChanged(changed.page, readFront(old.yaml).tags) };
      }),
  };
}

function sayRewritten({ text }: KeptChange) {
  const said = "The text is written anew from Markdown: comments on the present one are not taken over.";
  return text?.isReplaced ? [{ code: "rewrites", text: said }] : [];
}

function composeBack({ text: kept, title }: KeptChange, now: PageMarkdown, old: PageMarkdown) {
  if (kept === undefined) return [];
  if (kept.isReplaced) return [{ type: "replace_content", newText: kept.raw } as const];
  const commands = takeOutAdded(now, old);
  if (commands === undefined) throw refuseUndo(`Notion wrote the text of ${quoteName(title)} in another way.`);
  return commands;
}

async function undoRemove(parts: UndoParts, intent: KeptRemoval, after: NotionAfter): Promise<UndoPlan> {
  const { client, notes, inTurn } = parts;
  const name = quoteName(intent.page.title);
  const page = await findNotionPage(client, intent.id);
  if (page === undefined) throw refuseUndo(`${name} is gone for good, or no longer shared.`);
  if (!page.in_trash) throw refuseUndo(`${name} is not in the trash any more.`);
  if (Date.parse(page.last_edited_time) - Date.parse(after.edited) > SAME_MS)
    throw refuseUndo(`${name} was changed since it was deleted.`);
  await checkAbove(client, page, name);
  // Notion may show no text of a page in its trash.
  const text = await readMarkdown(client, page.id).catch(() => undefined);
  const seen = [page.id, page.last_edited_time, page.in_trash];
  const view = viewNotionPage(page, text ?? parseMarkdown("", false));
  return {
    draft: previewUndoneRemoval(view, { notes, left: "The page can be deleted again by hand.", seen }),
    act: () =>
      inTurn(async () => {
        await checkSame(client, page, undefined);
        await checkAbove(client, page, name);
        await setInTrash(client, page.id, false);
        return intent.page;
      }),
  };
}

/** Throws ServiceError 409 where the page or data source that a page is in is not there. */
async function checkAbove(client: NotionClient, { parent }: NotionPage, name: string): Promise<void> {
  const above = typeof parent.page_id === "string" ? parent.page_id : undefined;
  const source = typeof parent.data_source_id === "string" ? parent.data_source_id : undefined;
  try {
    if (source !== undefined) await openDataSource(client, source);
    if (above === undefined) return;
    const page = await client.ask({ method: "GET", path: `pages/${above}`, schema: pageSchema });
    if (!page.in_trash) return;
    throw refuseUndo(`the page that ${name} was in, ${quoteName(readTitle(page))}, is in the trash, too.`);
  } catch (error) {
    const isGone = error instanceof ServiceError && error.status === 404;
    throw isGone ? refuseUndo(`what ${name} was in is not there any more.`) : error;
  }
}
