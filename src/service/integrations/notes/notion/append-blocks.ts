import { z } from "zod";
import { refuseValue } from "../../../files/folder-error.ts";
import { ServiceError } from "../../../service-error.ts";
import type { NewBlock } from "./new-block.ts";
import type { NotionClient } from "./notion-client.ts";
import { listSchema } from "./notion-objects.ts";

/** Limits of one request: blocks in an array, blocks in all, and bytes (500 KB in all; the rest is room for the rest). */
const MAX_ARRAY = 100;
const MAX_BLOCKS = 1000;
const MAX_BYTES = 400_000;

/** Requests that one call has time for. */
const MAX_REQUESTS = 100;

/** A block as Notion takes it. */
type BlockBody = Readonly<Record<string, unknown>>;

/** One block of a request, and what has to follow in requests of its own, below it. */
interface Portion {
  readonly body: BlockBody;
  readonly later: readonly NewBlock[];
  readonly count: number;
  readonly bytes: number;
}

const createdSchema = listSchema.extend({ results: z.array(z.looseObject({ id: z.string() })) });

/** True when a page can be created together with these blocks, in one request. */
export function fitsOneRequest(blocks: readonly NewBlock[]): boolean {
  const portions = blocks.map(toPortion);
  return portions.every(({ later }) => later.length === 0) && splitPortions(portions).length <= 1;
}

/** The blocks of such a request. */
export function toBodies(blocks: readonly NewBlock[]): BlockBody[] {
  return blocks.map((block) => toPortion(block).body);
}

/** Throws ServiceError 400 naming the argument when there is more than Notion takes in the time of a call. */
export function checkLength(blocks: readonly NewBlock[], field: string): void {
  if (countRequests(blocks) > MAX_REQUESTS)
    throw refuseValue(field, "is longer than Notion takes in one call.", "Write it in several parts, with append.");
}

function countRequests(blocks: readonly NewBlock[]): number {
  const portions = blocks.map(toPortion);
  const later = portions.map((portion) => (portion.later.length === 0 ? 0 : countRequests(portion.later)));
  return later.reduce((sum, count) => sum + count, splitPortions(portions).length);
}

/** Adds blocks at the end of a page or block, in as many requests as they need, one after another. */
export async function appendBlocks(
  client: NotionClient,
  id: string,
  blocks: readonly NewBlock[],
  position: "start" | "end" = "end",
): Promise<void> {
  for (const portions of splitPortions(blocks.map(toPortion))) {
    const { results } = await client.ask({
      method: "PATCH",
      path: `blocks/${encodeURIComponent(id)}/children`,
      body: {
        children: portions.map(({ body }) => body),
        ...(position === "start" ? { position: { type: "start" } } : {}),
      },
      schema: createdSchema,
      isEffect: true,
    });
    for (const [index, { later }] of portions.entries()) {
      if (later.length === 0) continue;
      const created = results[index]?.id;
      if (created === undefined) throw new ServiceError(500, "outcome_unknown", "Notion did not name what it added.");
      await appendBlocks(client, created, later);
    }
  }
}

/**
 * A block with its children when they can go with it. Notion takes two levels in one request; deeper ones follow. A table
 * cannot be made without rows.
 */
function toPortion({ type, data, children }: NewBlock): Portion {
  const isFlat = children.length <= MAX_ARRAY && children.every((child) => child.children.length === 0);
  const own = isFlat ? children : type === "table" ? children.slice(0, MAX_ARRAY) : [];
  const inner = own.map((child) => toPortion(child).body);
  const body = { object: "block", type, [type]: { ...data, ...(inner.length === 0 ? {} : { children: inner }) } };
  const bytes = Buffer.byteLength(JSON.stringify(body));
  if (bytes > MAX_BYTES && type !== "table" && inner.length > 0) {
    return toPortionAlone({ type, data, children });
  }
  return { body, later: children.slice(own.length), count: own.length + 1, bytes };
}

function toPortionAlone({ type, data, children }: NewBlock): Portion {
  return { ...toPortion({ type, data, children: [] }), later: children };
}

function splitPortions(portions: readonly Portion[]): Portion[][] {
  const requests: Portion[][] = [];
  let count = 0;
  let bytes = 0;
  for (const portion of portions) {
    const last = requests.at(-1);
    const isFull =
      last === undefined ||
      last.length === MAX_ARRAY ||
      count + portion.count > MAX_BLOCKS ||
      bytes + portion.bytes > MAX_BYTES;
    if (isFull) requests.push([portion]);
    else last.push(portion);
    count = isFull ? portion.count : count + portion.count;
    bytes = isFull ? portion.bytes : bytes + portion.bytes;
  }
  return requests;
}
