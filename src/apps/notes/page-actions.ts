import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { sayNotShown } from "../port/not-shown.ts";
import { anyEmptied, deletesWhen, given, judgeReplacing } from "../port/raised-levels.ts";
import { defineNotesAction, keepsPages, type PageChange } from "./notebook.ts";
import { previewChange, previewNew, previewRemoval } from "./preview-page.ts";

/** Properties with arguments or a meaning of their own. */
const RESERVED = ["id", "title", "tags", "created", "updated"];

const title = z
  .string()
  .trim()
  .min(1)
  .max(200)
  .regex(/^[^\r\n]*$/, "must be one line");
const tags = z.array(z.string().trim().min(1).max(100)).max(50);
const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.union([z.string(), z.number(), z.boolean()])),
]);
const properties = z.record(z.string().min(1).max(100), value);
/** Which page a write means. */
const target = {
  page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
  title: z.string().describe("Title of the page, as an earlier answer has it. It tells a human which page."),
};
/** Most of them in one call, as JSON. */
const MAX_PROPERTIES_CHARS = 16 * 1024;

function checkProperties(given: Readonly<Record<string, unknown>>): void {
  const reserved = Object.keys(given).find((key) => RESERVED.includes(key));
  if (reserved !== undefined)
    throw refuseValue(
      `properties.${reserved}`,
      "cannot be set here.",
      "Use the arguments title and tags; id and times are kept by the service.",
    );
  if (JSON.stringify(given).length > MAX_PROPERTIES_CHARS)
    throw refuseValue("properties", "are more than 16 KB.", "Put long texts into the body of the page.");
}

/** A property without a value. */
const EMPTY = {
  anyOf: [{ type: "null" }, { type: "string", pattern: "^\\s*$" }, { type: "array", maxItems: 0 }],
};

/** `notes_create_page`. */
export const createPage = defineNotesAction({
  id: "create_page",
  title: "Create a page",
  description:
    "Writes a new note: creates a Markdown page with front matter. Missing folders are created. Two pages may have the same title: in a folder the second file gets a number. In Notion a folder is a page or a database, and tags and properties that it has no columns for stand in a block at the top of the page.",
  level: "write",
  scopes: ["notes.write"],
  arguments: z.strictObject({
    title: title.describe("Title; also the file's name as far as file names allow."),
    body: z.string().max(1_000_000).default("").describe("Text of the page in Markdown."),
    parent: z
      .string()
      .default("")
      .describe(
        'Folder of the new page, for example "Projects/2026"; empty for the top. In Notion titles as in a path, or the page_id or address of a page or database.',
      ),
    tags: tags.default([]).describe("Tags, without #."),
    properties: properties.default({}).describe('Further front matter, for example { "status": "open" }.'),
    if_exists: z
      .enum(["rename", "error"])
      .default("rename")
      .describe("When a page of that name exists: add a number to the file (Notion: another page), or refuse."),
  }),
  examples: [{ title: "Call the plumber", body: "- [ ] ask for a date", parent: "Tasks", tags: ["home"] }],
  askBefore: ["Which page is created, and in which folder?"],
  keeps: keepsPages,
  async preview({ if_exists: ifExists, ...draft }, notebook, { connection }) {
    checkProperties(draft.properties);
    const plan = await notebook.planCreate?.({ ...draft, ifExists });
    return plan && previewNew(plan, connection.label);
  },
  async run({ if_exists: ifExists, ...draft }, notebook) {
    checkProperties(draft.properties);
    return notebook.create({ ...draft, ifExists });
  },
});

/** `notes_update_page`. */
export const updatePage = defineNotesAction({
  id: "update_page",
  title: "Change a page",
  description:
    "Edits a note: replaces or appends to a page's text, or changes its title, tags and properties. What is not named stays, byte for byte; what cannot be changed alone is refused. The file keeps its name. In Notion, text is replaced only where Markdown holds all of it; pages inside the page stay.",
  level: "write",
  raises: [
    deletesWhen("replaces the whole text of the page", given("body")),
    deletesWhen("takes away all tags or a property", {
      anyOf: [anyEmptied("tags"), given("properties", { not: { additionalProperties: { not: EMPTY } } })],
    }),
  ],
  scopes: ["notes.write"],
  arguments: z.strictObject({
    ...target,
    body: z.string().max(1_000_000).optional().describe("New text; replaces the old text."),
    append: z.string().min(1).max(1_000_000).optional().describe("Text to add at the end. Not together with body."),
    new_title: title.optional().describe("New title."),
    tags: tags.optional().describe("New tags; replace the old ones."),
    properties: properties.optional().describe("Front matter to set; null removes a property."),
  }),
  examples: [
    { page_id: "Projects/Budget.md", title: "Budget", append: "- [ ] check the numbers" },
    { page_id: "Projects/Budget.md", title: "Budget", properties: { status: "done", due: null } },
  ],
  askBefore: ["Which page is changed, and is its text replaced or extended?"],
  keeps: keepsPages,
  async judge({ page_id, new_title: title, tags: wanted, properties: set }, notebook) {
    if (title === undefined && wanted === undefined && set === undefined) return undefined;
    const { summary, properties } = await notebook.read(page_id, { from: 0, to: 1 });
    return judgeReplacing({ ...properties, title: summary.title, tags: summary.tags }, { ...set, title, tags: wanted });
  },
  async preview({ page_id: pageId, title, ...args }, notebook, { connection }) {
    const plan = await notebook.planChange?.({ pageId, title }, readChange(args));
    return plan && previewChange(plan, connection.label);
  },
  async run({ page_id: pageId, title, ...args }, notebook) {
    return notebook.change({ pageId, title }, readChange(args));
  },
});

function readChange({ new_title, ...others }: Omit<PageChange, "title"> & { readonly new_title?: string | undefined }) {
  const change = { ...others, title: new_title };
  if (change.body !== undefined && change.append !== undefined)
    throw refuseValue("append", "cannot be combined with body.", "Send one of them.");
  if (Object.values(change).every((one) => one === undefined))
    throw refuseValue("body", "or another change is needed.", "Send body, append, new_title, tags or properties.");
  checkProperties(change.properties ?? {});
  return change;
}

/** `notes_delete_page`. */
export const deletePage = defineNotesAction({
  id: "delete_page",
  title: "Delete a page",
  description:
    "Deletes a page by moving it to .trash in the vault, or to the trash of Notion, from where a human can restore it. Nothing is erased.",
  level: "delete",
  scopes: ["notes.write"],
  arguments: z.strictObject(target),
  examples: [{ page_id: "Projects/Budget.md", title: "Budget" }],
  askBefore: ["Which page is deleted?"],
  keeps: keepsPages,
  async preview({ page_id: pageId, title }, notebook, { connection }) {
    const plan = await notebook.planRemove?.({ pageId, title });
    return plan && previewRemoval(plan, connection.label);
  },
  async run({ page_id, title }, notebook) {
    const { page, trashedTo } = await notebook.remove({ pageId: page_id, title });
    return { ...page, deleted: true, trashed_to: trashedTo };
  },
});

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
  scopes: ["notes.read"],
  arguments: z.strictObject({
    query: z.string().min(1).max(200).describe('Words to look for, for example "budget 2026".'),
    parent,
    tag,
    limit: z.int().min(1).max(50).default(10).describe("Most pages in one answer."),
  }),
  examples: [{ query: "budget 2026" }, { query: "meeting", tag: "work", limit: 5 }],
  async run({ query, ...filter }, notebook) {
    const { notShown = [], ...found } = await notebook.search(query, { ...filter, tag: filter.tag });
    return { query, ...found, ...sayNotShown(notShown) };
  },
});

/** `notes_list_pages`. */
export const listPages = defineNotesAction({
  id: "list_pages",
  title: "List pages",
  description:
    "Lists the pages of all notes, most recently changed first. In Notion the tags of a page are shown here only when it is an entry of a database; notes_read_page shows them all.",
  level: "read",
  scopes: ["notes.read"],
  arguments: z.strictObject({
    parent,
    tag,
    offset: z.int().min(0).max(100_000).default(0).describe("How many pages to skip; see next_offset of the answer."),
    limit: z.int().min(1).max(200).default(50).describe("Most pages in one answer."),
  }),
  examples: [{}, { parent: "Projects", tag: "work" }],
  async run(args, notebook) {
    const { notShown = [], ...found } = await notebook.list({ ...args, tag: args.tag });
    const end = args.offset + found.pages.length;
    return { ...found, ...(end < found.total ? { next_offset: end } : {}), ...sayNotShown(notShown) };
  },
});

/** `notes_read_page`. */
export const readPage = defineNotesAction({
  id: "read_page",
  title: "Read a page",
  description:
    "Opens a page: returns its Markdown text and all properties of its front matter, or of its database in Notion. In Notion, tags such as <video> or <unknown> stand for blocks that Markdown cannot hold.",
  level: "read",
  scopes: ["notes.read"],
  arguments: z.strictObject({
    page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
    offset: z.int().min(0).default(0).describe("Character to start from; see next_offset of the answer."),
    max_chars: z.int().min(1).max(200_000).default(40_000).describe("Most characters of text in one answer."),
  }),
  examples: [{ page_id: "Projects/Budget.md" }],
  async run({ page_id, offset, max_chars }, notebook) {
    const page = await notebook.read(page_id, { from: offset, to: offset + max_chars });
    const why = page.problem ?? page.guess;
    return {
      ...page.summary,
      properties: page.properties,
      ...(page.problem === undefined ? {} : { front_matter_problem: page.problem }),
      body: page.text,
      ...(page.more ? { next_offset: offset + page.text.length } : {}),
      ...sayNotShown(why === undefined ? [] : [{ where: page.summary.path, why }]),
    };
  },
});
