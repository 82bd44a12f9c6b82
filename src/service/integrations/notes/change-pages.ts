import { z } from "zod";
import { refuseValue } from "../../service-error.ts";
import { defineNotesAction } from "./notebook.ts";

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

/** `notes_create_page`. */
export const createPage = defineNotesAction({
  id: "create_page",
  title: "Create a page",
  description:
    "Creates a Markdown page with front matter. Missing folders are created. Two pages may have the same title: in a folder the second file gets a number. In Notion a folder is a page or a database, and tags and properties that it has no columns for stand in a block at the top of the page.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
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
    "Replaces or extends a page's text, or changes its title, tags and properties. What is not named stays, including unknown front matter and its order. The file keeps its name. In Notion, text is replaced only where Markdown holds all of it; pages inside the page stay.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["notes.write"],
  arguments: z.strictObject({
    page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
    body: z.string().max(1_000_000).optional().describe("New text; replaces the old text."),
    append: z.string().min(1).max(1_000_000).optional().describe("Text to add at the end. Not together with body."),
    title: title.optional().describe("New title."),
    tags: tags.optional().describe("New tags; replace the old ones."),
    properties: properties.optional().describe("Front matter to set; null removes a property."),
  }),
  examples: [
    { page_id: "Projects/Budget.md", append: "- [ ] check the numbers" },
    { page_id: "Projects/Budget.md", properties: { status: "done", due: null } },
  ],
  askBefore: ["Which page is changed, and is its text replaced or extended?"],
  async run({ page_id, ...change }, notebook) {
    if (change.body !== undefined && change.append !== undefined)
      throw refuseValue("append", "cannot be combined with body.", "Send one of them.");
    if (Object.values(change).every((one) => one === undefined))
      throw refuseValue("body", "or another change is needed.", "Send body, append, title, tags or properties.");
    checkProperties(change.properties ?? {});
    return notebook.change(page_id, change);
  },
});

/** `notes_delete_page`. */
export const deletePage = defineNotesAction({
  id: "delete_page",
  title: "Delete a page",
  description:
    "Deletes a page by moving it to .trash in the vault, or to the trash of Notion, from where a human can restore it. Nothing is erased.",
  level: "delete",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["notes.write"],
  arguments: z.strictObject({
    page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
  }),
  examples: [{ page_id: "Projects/Budget.md" }],
  askBefore: ["Which page is deleted?"],
  async run({ page_id }, notebook) {
    const { page, trashedTo } = await notebook.remove(page_id);
    return { ...page, deleted: true, trashed_to: trashedTo };
  },
});
