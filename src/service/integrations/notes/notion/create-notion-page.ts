import { ServiceError } from "../../../service-error.ts";
import type { PageDraft, PageSummary } from "../notebook.ts";
import { appendBlocks, checkLength, fitsOneRequest, toBodies } from "./append-blocks.ts";
import { changeFront, createFrontBlock } from "./front-block.ts";
import { markdownToBlocks } from "./markdown-to-blocks.ts";
import type { NotionClient } from "./notion-client.ts";
import { toPageUrl } from "./notion-id.ts";
import { pageSchema } from "./notion-objects.ts";
import { summariseNotionPage } from "./notion-pages.ts";
import { type Place, toParent, writeTitle } from "./notion-places.ts";
import { findTagsName, placeValues } from "./property-values.ts";

const TIDY_MS = 5000;

/**
 * Creates a page. Text that fits into one request (100 blocks, nested once) goes with it, so that the page is there as a
 * whole or not at all. Longer text follows in further requests: when one of them fails, the page is moved to the trash,
 * and nothing was created.
 */
export async function createNotionPage(client: NotionClient, place: Place, draft: PageDraft): Promise<PageSummary> {
  const { values, yaml } = placeDraft(place, draft);
  const blocks = [...createFrontBlock(yaml), ...markdownToBlocks(draft.body)];
  checkLength(blocks, "body");
  const isWhole = fitsOneRequest(blocks);
  const body = {
    parent: toParent(place),
    properties: { ...writeTitle(place, draft.title), ...values },
    ...(isWhole && blocks.length > 0 ? { children: toBodies(blocks) } : {}),
  };
  const page = await client.ask({ method: "POST", path: "pages", body, schema: pageSchema, isEffect: true });
  if (!isWhole) await finish(client, page.id, () => appendBlocks(client, page.id, blocks));
  return summariseNotionPage(page, draft.tags);
}

/** Tags and properties as values of columns; those without a column as YAML. */
function placeDraft(place: Place, { tags, properties }: PageDraft) {
  const columns = place.kind === "data_source" ? place.columns : {};
  const tagsName = findTagsName(columns);
  const asColumns = { ...properties, ...(tagsName === undefined || tags.length === 0 ? {} : { [tagsName]: tags }) };
  const { values, others } = placeValues(asColumns, columns);
  const isPlaced = tags.length === 0 || (tagsName !== undefined && tagsName in values);
  const { [tagsName ?? ""]: _tags, ...rest } = others;
  const front = { ...(isPlaced ? {} : { tags }), ...rest };
  const known = Object.fromEntries(Object.entries(front).filter(([, value]) => value !== null));
  return { values, yaml: Object.keys(known).length === 0 ? undefined : changeFront(undefined, known) };
}

async function finish(client: NotionClient, id: string, write: () => Promise<void>): Promise<void> {
  try {
    await write();
  } catch (error) {
    const isGone = await moveToTrash(client, id);
    if (isGone && error instanceof ServiceError && error.code !== "outcome_unknown") throw error;
    if (isGone) {
      throw new ServiceError(503, "provider_unavailable", "Notion did not take the whole text; no page was created.", {
        type: "network",
        retryable: true,
        hint: "Try again later.",
        cause: error,
      });
    }
    throw new ServiceError(500, "outcome_unknown", `The page ${toPageUrl(id)} was created, but not its whole text.`, {
      type: "provider",
      hint: "Delete that page, or write the missing text into it, before the page is created again.",
      cause: error,
    });
  }
}

/** Also when the call was given up in the meantime. */
async function moveToTrash(client: NotionClient, id: string): Promise<boolean> {
  const own = client.withSignal(AbortSignal.timeout(TIDY_MS));
  try {
    await own.ask({
      method: "PATCH",
      path: `pages/${id}`,
      body: { in_trash: true },
      schema: pageSchema,
      isEffect: true,
    });
    return true;
  } catch {
    return false;
  }
}
