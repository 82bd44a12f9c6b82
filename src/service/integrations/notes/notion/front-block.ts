import { z } from "zod";
import { changeProperties, readProperties } from "../page-text.ts";
import type { NewBlock } from "./new-block.ts";
import { createCodeBlocks } from "./new-block.ts";
import { type Block, toPlainText } from "./notion-objects.ts";

/** Caption of the block at the top of a page that holds tags and properties which Notion has no column for. */
const CAPTION = "Properties";

const codeSchema = z.looseObject({ language: z.literal("yaml"), rich_text: z.unknown(), caption: z.unknown() });

/** The YAML of such a block; undefined for any other block. */
export function readFrontBlock(block: Block): string | undefined {
  const code = block.type === "code" ? codeSchema.safeParse(block.code).data : undefined;
  return code !== undefined && toPlainText(code.caption) === CAPTION ? toPlainText(code.rich_text) : undefined;
}

/** Tags and properties of a front block, and why it cannot be read. */
export function readFront(yaml: string | undefined): {
  tags: string[];
  properties: Record<string, unknown>;
  problem: string | undefined;
} {
  const { properties, problem } = readProperties(yaml);
  const { tags, ...others } = properties;
  const list = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  return { tags: list, properties: others, problem };
}

/** The YAML with these changes (null removes one); undefined when nothing is left. */
export function changeFront(yaml: string | undefined, changes: Readonly<Record<string, unknown>>): string | undefined {
  const changed = changeProperties(
    { yaml: yaml === undefined ? undefined : `${yaml}\n`, body: "", lineBreak: "\n" },
    changes,
  );
  return changed.yaml?.trimEnd();
}

/** A front block to be written; none for no YAML. */
export function createFrontBlock(yaml: string | undefined): NewBlock[] {
  return yaml === undefined ? [] : createCodeBlocks(yaml, "yaml", CAPTION);
}
