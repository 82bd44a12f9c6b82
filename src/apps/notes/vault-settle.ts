import { TRASH_FOLDER } from "../../service/files/write-file.ts";
import { ServiceError } from "../../service/service-error.ts";
import type { ActionContext } from "../port/integration.ts";
import type { NotShown } from "../port/not-shown.ts";
import { quoteName } from "../port/preview.ts";
import { cannotKnow, type KeptWrite, type Verdict } from "../port/undo.ts";
import { findPageAt, flushPlace, lookInFolder } from "./vault-files.ts";
import { type ChangedFile, type CreatedPage, type RemovedFile, readVaultKept, type VaultAfter } from "./vault-kept.ts";
import { type Page, readId, summarisePage, walkPages } from "./vault-pages.ts";

/** Finds out whether a write of a vault took effect. */
export async function settleVaultWrite(context: ActionContext, kept: KeptWrite): Promise<Verdict> {
  const write = readVaultKept(kept, context.connection);
  if (typeof write === "string") return cannotKnow(write);
  const { intent } = write;
  if (intent.write === "create") return settleCreate(context, intent);
  return intent.write === "change" ? settleChange(context, intent) : settleRemove(context, intent);
}

/** A new page has an id that no other one has: it is found wherever it is, unless it was erased and nothing is left of it. */
async function settleCreate(context: ActionContext, intent: CreatedPage): Promise<Verdict> {
  const { parents, fileName, id } = intent;
  const there = await findPageAt(context.connection, { parents, fileName });
  const notShown: NotShown[] = [];
  const isAt = there !== undefined && there !== "other" && readId(there) === id;
  const page = isAt ? there : await findById(context, id, notShown);
  if (page !== undefined) {
    await flushPlace(context.connection, page);
    const isThere = page.parents.join("/") === parents.join("/");
    return happened({ ...summarisePage(page), page_id: id }, isThere ? { fileName: page.fileName } : undefined);
  }
  if (there !== undefined)
    return cannotKnow(`Something else is at ${quoteName([...parents, fileName].join("/"), 80)} now.`);
  const { newFolders } = await lookInFolder(context.connection, { parents, field: "parent" }, async () => undefined);
  if (newFolders.length < intent.newFolders) {
    const made = parents.slice(0, parents.length - newFolders.length).join("/");
    return cannotKnow(`The folder ${quoteName(made, 80)} is there now, and the page is not in it.`);
  }
  const [first] = notShown;
  if (first === undefined) return { verdict: "did_not" };
  return cannotKnow(`It is not where it should be, and ${quoteName(first.where, 80)} could not be looked into.`);
}

async function findById(context: ActionContext, id: string, notShown: NotShown[]): Promise<Page | undefined> {
  for (const start of [[], [TRASH_FOLDER]]) {
    const pages = walkPages(context, { start, field: "page_id", notShown });
    try {
      for await (const page of pages) if (readId(page) === id) return page;
    } catch (error) {
      const isMissing = start.length > 0 && error instanceof ServiceError && error.status === 404;
      if (!isMissing) throw error;
    }
  }
  return undefined;
}

async function settleChange({ connection }: ActionContext, intent: ChangedFile): Promise<Verdict> {
  const page = await findPageAt(connection, intent);
  if (page !== undefined && page !== "other") {
    if (page.sha256() === intent.becomes) {
      await flushPlace(connection, page);
      return happened({ ...summarisePage(page), page_id: intent.pageId }, {});
    }
    if (page.sha256() === intent.was) return { verdict: "did_not" };
  }
  const name = quoteName([...intent.parents, intent.fileName].join("/"), 80);
  return cannotKnow(
    page === undefined
      ? `${name} was moved or deleted since.`
      : `${name} is neither as it was nor as it was to become: it was changed since.`,
  );
}

async function settleRemove({ connection }: ActionContext, intent: RemovedFile): Promise<Verdict> {
  const { parents, fileName, trash, sha256, page } = intent;
  const there = await findPageAt(connection, { parents, fileName });
  const trashed = await findPageAt(connection, { parents: trash, fileName });
  const isSame = (found: typeof there): found is Page =>
    found !== undefined && found !== "other" && found.sha256() === sha256;
  if (there === undefined && isSame(trashed)) {
    await flushPlace(connection, trashed);
    return happened({ ...page, deleted: true, trashed_to: trashed.path }, {});
  }
  if (isSame(there) && trashed === undefined) return { verdict: "did_not" };
  const name = quoteName([...parents, fileName].join("/"), 80);
  return cannotKnow(
    there === undefined
      ? `${name} is neither at its place nor in .trash.`
      : `What is at ${name} now is not the page as it was: it was changed since.`,
  );
}

function happened(output: Readonly<Record<string, unknown>>, after: VaultAfter | undefined): Verdict {
  return { verdict: "happened", output, ...(after !== undefined && { after }) };
}
