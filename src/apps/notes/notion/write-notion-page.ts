import { refuseValue, ServiceError } from "../../../service/service-error.ts";
import type { PageChange, PageDraft, PageSummary } from "../notebook.ts";
import type { NotionClient } from "./notion-client.ts";
import {
  findTagsName,
  findTitleName,
  type NotionPage,
  type PropertyMap,
  pageSchema,
  placeValues,
  readTags,
  toPageUrl,
  toPlainRuns,
} from "./notion-objects.ts";
import { summariseNotionPage } from "./notion-pages.ts";
import { openDataSource, type Place, toParent, writeTitle } from "./notion-places.ts";
import {
  checkLength,
  keepChildren,
  type MarkdownCommand,
  type PageMarkdown,
  readFront,
  readMarkdown,
  toEnhanced,
  writeFront,
  writeMarkdown,
} from "./page-markdown.ts";

/** The request that creates a page. Throws ServiceError 400 for one that cannot be. */
export function composeNotionPage(place: Place, draft: PageDraft) {
  const { values, front } = placeDraft(place, draft);
  const markdown = join(front, toEnhanced(draft.body));
  checkLength(markdown, "body");
  return {
    parent: toParent(place),
    properties: { ...writeTitle(place, draft.title), ...values },
    ...(markdown === "" ? {} : { markdown }),
  };
}

/** Creates a page with its text, in one request. */
export function createNotionPage(client: NotionClient, place: Place, draft: PageDraft): Promise<NotionPage> {
  const body = composeNotionPage(place, draft);
  return client.ask({ method: "POST", path: "pages", body, schema: pageSchema, isEffect: true });
}

/** Tags and properties as values of columns; those without a column in a front block. */
function placeDraft(place: Place, { tags, properties }: PageDraft) {
  const columns = place.kind === "data_source" ? place.columns : {};
  const tagsName = findTagsName(columns);
  const asColumns = { ...properties, ...(tagsName === undefined || tags.length === 0 ? {} : { [tagsName]: tags }) };
  const { values, others } = placeValues(asColumns, columns);
  const isPlaced = tags.length === 0 || (tagsName !== undefined && tagsName in values);
  const { [tagsName ?? ""]: _tags, ...rest } = others;
  const front = { ...(isPlaced ? {} : { tags }), ...rest };
  const known = Object.fromEntries(Object.entries(front).filter(([, value]) => value !== null));
  return { values, front: Object.keys(known).length === 0 ? "" : writeFront(undefined, known) };
}

/** A change worked out before the first request of it is sent. */
export interface NotionChange extends ReturnType<typeof planChange> {
  /** The text that it was made from. */
  readonly old: PageMarkdown;
  readonly columns: PropertyMap;
}

/** Works out a change by reads alone. Throws ServiceError 400 for one that cannot be made. */
export async function planNotionChange(
  client: NotionClient,
  page: NotionPage,
  change: PageChange,
): Promise<NotionChange> {
  const columns = await findColumns(client, page, change);
  const old = await readMarkdown(client, page.id);
  return { ...planChange(page, { change, old, columns }), old, columns };
}

/** Changes a page in at most three requests, and gives what it is then. A half-done change is 500 `outcome_unknown`. */
export async function changeNotionPage(
  client: NotionClient,
  page: NotionPage,
  { values, commands, old }: Pick<NotionChange, "values" | "commands" | "old">,
): Promise<{ readonly page: NotionPage; readonly text: PageMarkdown }> {
  const path = `pages/${page.id}`;
  let changed = page;
  let text = old;
  try {
    if (Object.keys(values).length > 0) {
      const body = { properties: values };
      changed = await client.ask({ method: "PATCH", path, body, schema: pageSchema, isEffect: true });
    }
    for (const command of commands) text = await writeMarkdown(client, page.id, command);
    if (commands.length > 0)
      changed = await client.ask({ method: "GET", path, schema: pageSchema }).catch(() => changed);
  } catch (error) {
    if (!client.hasWritten || !(error instanceof ServiceError)) throw error;
    const what = `The change of ${toPageUrl(page.id)} was begun and not finished: ${error.message}`;
    throw new ServiceError(500, "outcome_unknown", what, {
      type: "provider",
      hint: "Read the page to see what it holds now, then make the rest of the change.",
      cause: error,
    });
  }
  return { page: changed, text };
}

/** Moves a page to the trash, or back from there. */
export function setInTrash(client: NotionClient, id: string, inTrash: boolean): Promise<NotionPage> {
  const body = { in_trash: inTrash };
  return client.ask({ method: "PATCH", path: `pages/${id}`, body, schema: pageSchema, isEffect: true });
}

/** Describes a page with the tags in its front block. */
export function summariseChanged(page: NotionPage, tags: readonly string[]): PageSummary {
  return summariseNotionPage(page, [...new Set([...readTags(page), ...tags])]);
}

async function findColumns(client: NotionClient, { parent }: NotionPage, change: PageChange): Promise<PropertyMap> {
  const isNeeded = change.tags !== undefined || change.properties !== undefined;
  const id = parent.data_source_id;
  return isNeeded && typeof id === "string" ? (await openDataSource(client, id)).columns : {};
}

/** The requests of a change, worked out before the first is sent, and the tags in the front block after it. */
function planChange(
  page: NotionPage,
  { change, old, columns }: { readonly change: PageChange; readonly old: PageMarkdown; readonly columns: PropertyMap },
) {
  const tagsName = findTagsName(columns);
  const isColumn = tagsName !== undefined && change.tags !== undefined;
  const { values, others } = placeValues(
    { ...change.properties, ...(isColumn ? { [tagsName]: change.tags } : {}) },
    columns,
  );
  const isPlaced = tagsName !== undefined && tagsName in values;
  const { [tagsName ?? ""]: _tags, ...rest } = others;
  const known = readFront(old.yaml);
  const tags = change.tags === undefined || isPlaced ? {} : { tags: change.tags.length === 0 ? null : change.tags };
  // A value that has moved into a column does not stay here, too.
  const moved = Object.keys(change.properties ?? {}).filter((name) => !(name in rest) && name in known.properties);
  const changes = { ...tags, ...rest, ...Object.fromEntries(moved.map((name) => [name, null])) };
  const isFrontChanged = Object.keys(changes).length > 0;
  if (isFrontChanged && known.problem !== undefined)
    throw refuseValue(
      "properties",
      `cannot be changed: the block "Properties" of the page cannot be read (${known.problem}).`,
    );
  const front = isFrontChanged ? writeFront(old.yaml, changes) : old.frontText;
  const title =
    change.title === undefined ? {} : { [findTitleName(page.properties)]: { title: toPlainRuns(change.title) } };
  return {
    values: { ...values, ...title },
    commands: planText(old, { change, front }),
    tags: "tags" in changes ? (change.tags ?? []) : known.tags,
  };
}

function planText(
  old: PageMarkdown,
  { change, front }: { readonly change: PageChange; readonly front: string },
): MarkdownCommand[] {
  if (change.body !== undefined) {
    const body = toEnhanced(change.body);
    const children = keepChildren(old).flatMap(({ url, tag }) => (body.includes(`"${url}"`) ? [] : [tag]));
    const newText = join(front, children.join("\n"), body);
    checkLength(newText, "body");
    return [{ type: "replace_content", newText }];
  }
  const content = toEnhanced(change.append ?? "");
  checkLength(content, "append");
  const added: MarkdownCommand[] = content === "" ? [] : [{ type: "insert_content", content, position: "end" }];
  if (front === old.frontText) return added;
  return old.frontText === ""
    ? [...added, { type: "insert_content", content: front, position: "start" }]
    : [...added, { type: "update_content", oldText: old.frontText, newText: front }];
}

function join(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n\n");
}
