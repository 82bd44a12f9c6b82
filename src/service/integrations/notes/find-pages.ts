import { z } from "zod";
import { parseFolderPath } from "../../files/folder-path.ts";
import { defineAction } from "../define-action.ts";
import { findPage, type Page, type PageSummary, summarisePage, walkPages } from "./vault.ts";

const SNIPPET_LENGTH = 160;

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** How well a page answers the words: title before tags before text; 0 when a word is missing. */
function score(page: Page, summary: PageSummary, words: readonly string[]): number {
  const title = fold(summary.title);
  const tags = fold(`${summary.tags.join(" ")} ${summary.path}`);
  const body = fold(page.text.body);
  let total = 0;
  for (const word of words) {
    const points = (title.includes(word) ? 10 : 0) + (tags.includes(word) ? 4 : 0) + (body.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    total += points;
  }
  return total;
}

function cutSnippet(body: string, words: readonly string[]): string {
  const flat = body.replaceAll(/\s+/g, " ").trim();
  const at = Math.max(0, ...words.map((word) => fold(flat).indexOf(word)));
  const from = Math.max(0, at - SNIPPET_LENGTH / 2);
  const cut = flat.slice(from, from + SNIPPET_LENGTH).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_LENGTH < flat.length ? "…" : ""}`;
}

const parent = z
  .string()
  .default("")
  .describe('Only pages in this folder and below, for example "Projects"; empty for all.');
const tag = z.string().min(1).optional().describe("Only pages with this tag, without #.");

/** `notes_search`. */
export const searchPages = defineAction({
  id: "search",
  title: "Search notes",
  description:
    "Finds pages by words in title, tags, path and text. Every word must occur; case does not matter. Best match first.",
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
  async run(args, context) {
    const words = fold(args.query)
      .split(/\s+/)
      .filter((word) => word !== "");
    const hits: { summary: PageSummary; points: number; snippet: string }[] = [];
    for await (const page of walkPages(context, parseFolderPath(args.parent, "parent"), "parent")) {
      const summary = summarisePage(page);
      if (args.tag !== undefined && !summary.tags.includes(args.tag)) continue;
      const points = score(page, summary, words);
      if (points > 0) hits.push({ summary, points, snippet: cutSnippet(page.text.body, words) });
    }
    hits.sort((a, b) => b.points - a.points || b.summary.modified.localeCompare(a.summary.modified));
    return {
      query: args.query,
      pages: hits.slice(0, args.limit).map(({ summary, snippet }) => ({ ...summary, snippet })),
      total: hits.length,
    };
  },
});

/** `notes_list_pages`. */
export const listPages = defineAction({
  id: "list_pages",
  title: "List pages",
  description: "Lists pages of the vault, most recently changed first.",
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
  async run(args, context) {
    const all: PageSummary[] = [];
    for await (const page of walkPages(context, parseFolderPath(args.parent, "parent"), "parent")) {
      const summary = summarisePage(page);
      if (args.tag === undefined || summary.tags.includes(args.tag)) all.push(summary);
    }
    all.sort((a, b) => b.modified.localeCompare(a.modified) || a.path.localeCompare(b.path));
    const pages = all.slice(args.offset, args.offset + args.limit);
    const end = args.offset + pages.length;
    return { pages, total: all.length, ...(end < all.length ? { next_offset: end } : {}) };
  },
});

/** `notes_read_page`. */
export const readPage = defineAction({
  id: "read_page",
  title: "Read a page",
  description: "Returns a page's Markdown text and all properties of its front matter.",
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
  async run({ page_id, offset, max_chars }, context) {
    const page = await findPage(context, page_id);
    const { body } = page.text;
    const end = Math.min(offset + max_chars, body.length);
    return {
      ...summarisePage(page),
      properties: page.properties,
      ...(page.problem === undefined ? {} : { front_matter_problem: page.problem }),
      body: body.slice(offset, end),
      ...(end < body.length ? { next_offset: end } : {}),
    };
  },
});
