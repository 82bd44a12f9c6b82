import type { NotionClient } from "./notion-client.ts";
import { type Block, blockSchema } from "./notion-objects.ts";

/** Deeper nesting than this is named in the text, not read. */
const MAX_DEPTH = 12;
/** Kinds whose children are other pages, not text. */
const PAGES: ReadonlySet<string> = new Set(["child_page", "child_database"]);

/** A block with its children. */
export interface BlockNode {
  readonly block: Block;
  readonly children: readonly BlockNode[];
  /** True when it has children that were not read. */
  readonly isCut: boolean;
}

/** The blocks right below a page or block, without their children. Those in the trash are left out. */
export async function* listBlocks(client: NotionClient, id: string): AsyncGenerator<Block> {
  for await (const one of client.list({ method: "GET", path: `blocks/${encodeURIComponent(id)}/children` })) {
    const parsed = blockSchema.safeParse(one);
    if (parsed.success && !parsed.data.in_trash) yield parsed.data;
  }
}

/** The blocks right below a page or block, each with everything in it. */
export async function* readBlocks(client: NotionClient, id: string, depth = 0): AsyncGenerator<BlockNode> {
  for await (const block of listBlocks(client, id)) {
    const isParent = block.has_children && !PAGES.has(block.type);
    const isCut = isParent && depth >= MAX_DEPTH;
    const children: BlockNode[] = [];
    if (isParent && !isCut) for await (const child of readBlocks(client, block.id, depth + 1)) children.push(child);
    yield { block, children, isCut };
  }
}
