import { refuseValue, ServiceError } from "../../../service-error.ts";
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

/** Creates a page with its text, in one request. */
export async function createNotionPage(client: NotionClient, place: Place, draft: PageDraft): Promise<PageSummary> {
  const { values, front } = placeDraft(place, draft);
  const markdown = join(front, toEnhanced(draft.body));
  checkLength(markdown, "body");
  const body = {
    parent: toParent(place),
    properties: { ...writeTitle(place, draft.title), ...values },
    ...(markdown === "" ? {} : { markdown }),
  };
  const page = await client.ask({ method: "POST", path: "pages", body, schema: pageSchema, isEffect: true });
  return summariseNotionPage(page, draft.tags);
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

/** Changes a page in at most three requests. A half-done change is 500 `outcome_unknown`. */
export async function changeNotionPage(
  client: NotionClient,
  page: NotionPage,
  change: PageChange,
): Promise<PageSummary> {
  const old = await readMarkdown(client, page.id);
  const columns = await findColumns(client, page, change);
  const { values, commands, tags } = planChange(page, { change, old, columns });
  const path = `pages/${page.id}`;
  let changed = page;
  try {
    if (Object.keys(values).length > 0) {
      const body = { properties: values };
      changed = await client.ask({ method: "PATCH", path, body, schema: pageSchema, isEffect: true });
    }
    for (const command of commands) await writeMarkdown(client, page.id, command);
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
  return summariseNotionPage(changed, [...new Set([...readTags(changed), ...tags])]);
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
