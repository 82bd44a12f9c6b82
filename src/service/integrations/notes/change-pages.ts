import { randomUUID } from "node:crypto";
import { z } from "zod";
import { explainFolderError, refuseValue } from "../../files/folder-error.ts";
import { parseFolderPath } from "../../files/folder-path.ts";
import { createGate } from "../../files/gate.ts";
import { moveToTrash, TRASH_FOLDER } from "../../files/trash.ts";
import { writeFileDurably } from "../../files/write-file.ts";
import { ServiceError } from "../../service-error.ts";
import { defineAction } from "../define-action.ts";
import { changeProperties, joinPage, type PageText } from "./page-text.ts";
import { findPage, type Page, readPageAt, summarisePage, vaultFolder } from "./vault.ts";

/** Properties with arguments or a meaning of their own. */
const RESERVED = ["id", "title", "tags", "created", "updated"];
const MAX_STEM_BYTES = 200;

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

/** A title as a file name that every operating system accepts. */
function toFileName(text: string): string {
  const stem = text
    .normalize("NFC")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it removes
    .replaceAll(/[\u0000-\u001f\u007f/\\:*?"<>|#^[\]]/g, " ")
    .replaceAll(/\s+/g, " ")
    .replace(/^[. ]+|[. ]+$/g, "");
  const kept = [...stem.toWellFormed()];
  while (Buffer.byteLength(kept.join("")) > MAX_STEM_BYTES) kept.pop();
  return `${kept.join("").trim() || "Untitled"}.md`;
}

function checkProperties(given: Readonly<Record<string, unknown>>): void {
  const reserved = Object.keys(given).find((key) => RESERVED.includes(key));
  if (reserved !== undefined)
    throw refuseValue(
      `properties.${reserved}`,
      "cannot be set here.",
      "Use the arguments title and tags; id and times are kept by the service.",
    );
}

/** `notes_create_page`. */
export const createPage = defineAction({
  id: "create_page",
  title: "Create a page",
  description:
    "Creates a Markdown page with front matter. Missing folders are created. Two pages may have the same title: the second file gets a number.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["notes.write"],
  arguments: z.strictObject({
    title: title.describe("Title; also the file's name as far as file names allow."),
    body: z.string().max(1_000_000).default("").describe("Text of the page in Markdown."),
    parent: z.string().default("").describe('Folder of the new page, for example "Projects/2026"; empty for the top.'),
    tags: tags.default([]).describe("Tags, without #."),
    properties: properties.default({}).describe('Further front matter, for example { "status": "open" }.'),
    if_exists: z
      .enum(["rename", "error"])
      .default("rename")
      .describe("When a page file of that name exists: add a number, or refuse."),
  }),
  examples: [{ title: "Call the plumber", body: "- [ ] ask for a date", parent: "Tasks", tags: ["home"] }],
  askBefore: ["Which page is created, and in which folder?"],
  async run(args, context) {
    checkProperties(args.properties);
    const parents = parseFolderPath(args.parent, "parent");
    if (parents[0] === TRASH_FOLDER)
      throw refuseValue("parent", "is a place the vault keeps for itself.", "Choose another folder.");
    const now = new Date(context.now()).toISOString();
    const front = {
      id: randomUUID(),
      title: args.title,
      tags: args.tags,
      created: now,
      updated: now,
      ...args.properties,
    };
    const body = args.body === "" || args.body.endsWith("\n") ? args.body : `${args.body}\n`;
    const text = joinPage(changeProperties({ yaml: "", body, lineBreak: "\n" }, front));
    const wanted = toFileName(args.title);
    const place = { parts: parents, field: "parent", create: true };
    const { name: fileName } = await vaultFolder.open(context.connection, place, (folder) =>
      writeFileDurably(folder, { name: wanted, bytes: [Buffer.from(text)], ifExists: args.if_exists }).catch(
        (error: NodeJS.ErrnoException) => {
          if (error.code !== "EEXIST") throw error;
          throw refuseValue(
            "title",
            `is taken: "${[...parents, wanted].join("/")}" exists.`,
            'Set if_exists to "rename" or choose another title.',
          );
        },
      ),
    );
    return summarisePage(await readPageAt(context.connection, { parents, fileName, field: "parent" }));
  },
});

/** Two updates of one page must not overwrite each other. */
const updates = createGate(1);

function appendText(body: string, addition: string): string {
  const start = body === "" || body.endsWith("\n") ? body : `${body}\n`;
  return `${start}${addition}${addition.endsWith("\n") ? "" : "\n"}`;
}

interface Change {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
  readonly append?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly properties?: Readonly<Record<string, unknown>> | undefined;
}

function applyChange(page: Page, change: Change, now: string): PageText {
  const front: Record<string, unknown> = {
    ...(change.title === undefined ? {} : { title: change.title }),
    ...(change.tags === undefined ? {} : { tags: change.tags }),
    ...change.properties,
    ...("updated" in page.properties ? { updated: now } : {}),
  };
  const body =
    change.body ?? (change.append === undefined ? page.text.body : appendText(page.text.body, change.append));
  const text = Object.keys(front).length === 0 ? page.text : changeProperties(page.text, front);
  return { ...text, body };
}

/** What cannot be read cannot be written back without loss. */
function checkReadable({ path, problem }: Page): void {
  if (problem === undefined) return;
  throw new ServiceError(500, "provider_error", `"${path}" cannot be read well enough to be changed: ${problem}`, {
    type: "provider",
    hint: `Open "${path}" and repair it; the front matter is the YAML between its first two "---" lines.`,
  });
}

/** `notes_update_page`. */
export const updatePage = defineAction({
  id: "update_page",
  title: "Change a page",
  description:
    "Replaces or extends a page's text, or changes its title, tags and properties. What is not named stays, including unknown front matter and its order. The file keeps its name.",
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
  async run({ page_id, ...change }, context) {
    if (change.body !== undefined && change.append !== undefined)
      throw refuseValue("append", "cannot be combined with body.", "Send one of them.");
    if (Object.values(change).every((one) => one === undefined))
      throw refuseValue("body", "or another change is needed.", "Send body, append, title, tags or properties.");
    checkProperties(change.properties ?? {});
    const leave = await updates.enter(context.signal);
    try {
      const page = await findPage(context, page_id);
      checkReadable(page);
      const text = joinPage(applyChange(page, change, new Date(context.now()).toISOString()));
      const { parents, fileName, mode } = page;
      await vaultFolder.open(context.connection, { parts: parents, field: "page_id", name: fileName }, (folder) =>
        writeFileDurably(folder, { name: fileName, bytes: [Buffer.from(text)], ifExists: "replace", mode }),
      );
      return summarisePage(await readPageAt(context.connection, { parents, fileName, field: "page_id" }));
    } finally {
      leave();
    }
  },
});

/** `notes_delete_page`. */
export const deletePage = defineAction({
  id: "delete_page",
  title: "Delete a page",
  description:
    "Deletes a page by moving its file to .trash in the vault, from where a human can restore it. Nothing is erased.",
  level: "delete",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["notes.write"],
  arguments: z.strictObject({
    page_id: z.string().min(1).describe("page_id or path of an earlier answer."),
  }),
  examples: [{ page_id: "Projects/Budget.md" }],
  askBefore: ["Which page is deleted?"],
  async run({ page_id }, context) {
    const page = await findPage(context, page_id);
    const { parents, fileName: name, path } = page;
    if (parents[0] === TRASH_FOLDER) throw refuseValue("page_id", "is in .trash already.", "A human empties .trash.");
    const root = vaultFolder.read(context.connection.settings);
    try {
      const trashed = await moveToTrash({ root, setting: vaultFolder.setting, parents, name }, context.now());
      return { ...summarisePage(page), deleted: true, trashed_to: trashed };
    } catch (error) {
      throw explainFolderError(error, { field: "page_id", path });
    }
  },
});
