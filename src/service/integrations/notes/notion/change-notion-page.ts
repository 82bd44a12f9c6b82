import { refuseValue } from "../../../files/folder-error.ts";
import { ServiceError } from "../../../service-error.ts";
import type { PageChange, PageSummary } from "../notebook.ts";
import { appendBlocks, checkLength } from "./append-blocks.ts";
import { listUnwritable } from "./blocks-to-markdown.ts";
import { changeFront, createFrontBlock, readFront, readFrontBlock } from "./front-block.ts";
import { markdownToBlocks } from "./markdown-to-blocks.ts";
import type { NewBlock } from "./new-block.ts";
import type { NotionClient } from "./notion-client.ts";
import { toPageUrl } from "./notion-id.ts";
import { type NotionPage, objectSchema, pageSchema } from "./notion-objects.ts";
import { readFrontOf, summariseNotionPage, titleNameOf } from "./notion-pages.ts";
import { openDataSource } from "./notion-places.ts";
import { findTagsName, type PropertyMap, placeValues, readTags } from "./property-values.ts";
import { type BlockNode, readBlocks } from "./read-blocks.ts";
import { toPlainRuns } from "./rich-text.ts";

/** Blocks that can be removed in the time of a call; each takes a request. */
const MAX_REPLACED = 100;
const PAGES: ReadonlySet<string> = new Set(["child_page", "child_database"]);

/** What is written, worked out before anything is. */
interface Plan {
  /** Values of the page. */
  readonly values: Readonly<Record<string, unknown>>;
  /** The new YAML of the front block; undefined: it stays. */
  readonly front: { readonly yaml: string | undefined } | undefined;
  /** To be added at the end. */
  readonly added: readonly NewBlock[];
  /** Ids of blocks that go. */
  readonly removed: readonly string[];
}

/**
 * Changes a page in several requests: what it is to hold is written before what it held is removed, so that no text is lost
 * when one of them fails. Such a half-done change is 500 `outcome_unknown`.
 */
export async function changeNotionPage(
  client: NotionClient,
  page: NotionPage,
  change: PageChange,
): Promise<PageSummary> {
  const front = await readFrontOf(client, page.id);
  const plan = await planChange(client, page, { change, yaml: front?.yaml });
  try {
    const changed = await carryOut(client, page, { ...plan, frontId: front?.blockId });
    const { tags } = readFront(plan.front === undefined ? front?.yaml : plan.front.yaml);
    return summariseNotionPage(changed, [...new Set([...readTags(changed), ...tags])]);
  } catch (error) {
    if (!client.hasWritten || !(error instanceof ServiceError)) throw error;
    const what = `The change of ${toPageUrl(page.id)} was begun and not finished: ${error.message}`;
    throw new ServiceError(500, "outcome_unknown", what, {
      type: "provider",
      hint: "Read the page to see what it holds now, then make the rest of the change.",
      cause: error,
    });
  }
}

async function planChange(
  client: NotionClient,
  page: NotionPage,
  { change, yaml }: { readonly change: PageChange; readonly yaml: string | undefined },
): Promise<Plan> {
  const columns = await findColumns(client, page, change);
  const tagsName = findTagsName(columns);
  const isColumn = tagsName !== undefined && change.tags !== undefined;
  const { values, others } = placeValues(
    { ...change.properties, ...(isColumn ? { [tagsName]: change.tags } : {}) },
    columns,
  );
  const isPlaced = tagsName !== undefined && tagsName in values;
  const { [tagsName ?? ""]: _tags, ...rest } = others;
  const known = readFront(yaml);
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
  const added = markdownToBlocks(change.body ?? change.append ?? "");
  checkLength(added, change.body === undefined ? "append" : "body");
  const title = change.title === undefined ? {} : { [titleNameOf(page)]: { title: toPlainRuns(change.title) } };
  return {
    values: { ...values, ...title },
    front: isFrontChanged ? { yaml: changeFront(yaml, changes) } : undefined,
    added,
    removed: change.body === undefined ? [] : await findReplaceable(client, page.id),
  };
}

async function findColumns(client: NotionClient, { parent }: NotionPage, change: PageChange): Promise<PropertyMap> {
  const isNeeded = change.tags !== undefined || change.properties !== undefined;
  const id = parent.data_source_id;
  return isNeeded && typeof id === "string" ? (await openDataSource(client, id)).columns : {};
}

/** Blocks of the old text. Refuses where Markdown does not hold all of it; pages in the page stay. */
async function findReplaceable(client: NotionClient, id: string): Promise<string[]> {
  const nodes: BlockNode[] = [];
  let isFirst = true;
  for await (const node of readBlocks(client, id)) {
    const isFront = isFirst && readFrontBlock(node.block) !== undefined;
    isFirst = false;
    if (!isFront && !PAGES.has(node.block.type)) nodes.push(node);
  }
  const lost = [...new Set(listUnwritable(nodes))];
  const hint = "Add text with append, or have a human change the page in Notion.";
  if (lost.length > 0)
    throw refuseValue("body", `would lose what Markdown cannot hold: ${lost.join(", ").replaceAll("_", " ")}.`, hint);
  if (nodes.length > MAX_REPLACED)
    throw refuseValue("body", `would replace more than ${MAX_REPLACED} blocks, which takes Notion too long.`, hint);
  return nodes.map(({ block }) => block.id);
}

/** Returns the page as it is now; as far as it is known when Notion does not tell any more. */
async function carryOut(
  client: NotionClient,
  page: NotionPage,
  { values, front, frontId, added, removed }: Plan & { readonly frontId: string | undefined },
): Promise<NotionPage> {
  const path = `pages/${page.id}`;
  let changed = page;
  if (Object.keys(values).length > 0) {
    const body = { properties: values };
    changed = await client.ask({ method: "PATCH", path, body, schema: pageSchema, isEffect: true });
  }
  await appendBlocks(client, page.id, added);
  if (front !== undefined) {
    await appendBlocks(client, page.id, createFrontBlock(front.yaml), "start");
    if (frontId !== undefined) await removeBlock(client, frontId);
  }
  for (const one of removed) await removeBlock(client, one);
  return client.ask({ method: "GET", path, schema: pageSchema }).catch(() => changed);
}

function removeBlock(client: NotionClient, id: string): Promise<unknown> {
  const path = `blocks/${encodeURIComponent(id)}`;
  return client.ask({ method: "DELETE", path, schema: objectSchema, isEffect: true });
}
