import { z } from "zod";
import { defineNotesAction } from "./notebook.ts";

const parent = z
  .string()
  .default("")
  .describe(
    'Only pages in this folder and below, for example "Projects"; in Notion only those directly in this page or database, by its titles, page_id or address. Empty for all.',
  );
const tag = z.string().min(1).optional().describe("Only pages with this tag, without #.");

/** `notes_search`. */
export const searchPages = defineNotesAction({
  id: "search",
  title: "Search notes",
  description:
    "Finds pages by words in title, tags, path and text. Every word must occur; case does not matter. Best match first. Notion finds titles only, unless parent is given: then the text of its newest pages is read, too.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["notes.read"],
  arguments: z.strictObject({
    query: z.string().min(1).max(200).describe('Words to look for, for example "budget 2026".'),
    parent,
    tag,
    limit: z.int().min(1).max(50).default(10).describe("Most pages in one answer."),
  }),
  examples: [{ query: "budget 2026" }, { query: "meeting", tag: "work", limit: 5 }],
  async run({ query, ...filter }, notebook) {
    return { query, ...(await notebook.search(query, { ...filter, tag: filter.tag })) };
  },
});

/** `notes_list_pages`. */
export const listPages = defineNotesAction({
  id: "list_pages",
  title: "List pages",
  description:
    "Lists pages, most recently changed first. In Notion the tags of a page are shown here only when it is an entry of a database; notes_read_page shows them all.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["notes.read"],
  arguments: z.strictObject({
    parent,
    tag,
    offset: z.int().min(0).max(100_000).default(0).describe("How many pages to skip; see next_offset of the answer."),
    limit: z.int().min(1).max(200).default(50).describe("Most pages in one answer."),
  }),
  examples: [{}, { parent: "Projects", tag: "work" }],
  async run(args, notebook) {
    const found = await notebook.list({ ...args, tag: args.tag });
    const end = args.offset + found.pages.length;
    return { ...found, ...(end < found.total ? { next_offset: end } : {}) };
  },
});

/** `notes_read_page`. */
export const readPage = defineNotesAction({
  id: "read_page",
  title: "Read a page",
  description:
    "Returns a page's Markdown text and all properties of its front matter, or of its database in Notion. In Notion, tags such as <video> or <unknown> stand for blocks that Markdown cannot hold.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["notes.read"],
  arguments: z.strictObject({
    page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
    offset: z.int().min(0).default(0).describe("Character to start from; see next_offset of the answer."),
    max_chars: z.int().min(1).max(200_000).default(40_000).describe("Most characters of text in one answer."),
  }),
  examples: [{ page_id: "Projects/Budget.md" }],
  async run({ page_id, offset, max_chars }, notebook) {
    const page = await notebook.read(page_id, { from: offset, to: offset + max_chars });
    return {
      ...page.summary,
      properties: page.properties,
      ...(page.problem === undefined ? {} : { front_matter_problem: page.problem }),
      body: page.text,
      ...(page.more ? { next_offset: offset + page.text.length } : {}),
    };
  },
});
