import { groupRuns, type NewText, toPlainRuns } from "./rich-text.ts";

/** A block that is to be written. */
export interface NewBlock {
  readonly type: string;
  /** Members of the block's own object, without its children. */
  readonly data: Readonly<Record<string, unknown>>;
  readonly children: readonly NewBlock[];
}

/** Blocks that were read from Markdown, and the line behind them. */
export interface ReadPart {
  readonly blocks: readonly NewBlock[];
  readonly next: number;
}

/** Creates a block of text. What does not fit into one block follows in further ones. */
export function createTextBlocks(
  type: string,
  runs: readonly NewText[],
  o: { readonly data?: Readonly<Record<string, unknown>>; readonly children?: readonly NewBlock[] } = {},
): NewBlock[] {
  const [first = [], ...others] = groupRuns(runs);
  const further = type === "code" ? { type, data: o.data } : { type: "paragraph", data: {} };
  return [
    { type, data: { rich_text: first, ...o.data }, children: o.children ?? [] },
    ...others.map((rich_text) => ({ type: further.type, data: { rich_text, ...further.data }, children: [] })),
  ];
}

/** A block of code with its caption. */
export function createCodeBlocks(code: string, language: string, caption = ""): NewBlock[] {
  return createTextBlocks("code", toPlainRuns(code), { data: { language, caption: toPlainRuns(caption) } });
}
