import { refuseSetting } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { Integration } from "../port/integration.ts";
import type { OpenNotebook } from "./notebook.ts";
import type { NotionOptions } from "./notion/notion-accounts.ts";
import { isOnNotion, NOTION_FIELDS } from "./notion/notion-settings.ts";
import { createPage, deletePage, listPages, readPage, searchPages, updatePage } from "./page-actions.ts";

const actions = [searchPages, listPages, readPage, createPage, updatePage, deletePage];

/**
 * Notes: a folder of Markdown files with YAML front matter (setting `folder`, an absolute path), or pages of Notion
 * (`notionToken`, with the settings of `readNotionSettings`). The code of either is loaded by the first call that needs it.
 */
export function createNotesIntegration(o: NotionOptions = {}): Integration {
  const getAccounts = makeOnce(async () => (await import("./notion/notion-accounts.ts")).createNotionAccounts(o));
  const open: OpenNotebook = async (context, action) => {
    if (isOnNotion(context.connection.settings)) return (await getAccounts()).open(context, action);
    const { VaultNotebook } = await import("./vault-notebook.ts");
    return new VaultNotebook(context);
  };
  return {
    slug: "notes",
    name: "Notes",
    description:
      "Markdown pages in a folder of the machine that runs the service, which may be an Obsidian-like vault, or pages of Notion.",
    category: "notes",
    scopes: ["notes.read", "notes.write"],
    actions: actions.map((action) => action(open)),
    settingsForm: [
      {
        name: "folder",
        label: "Folder of the notes",
        kind: "folder",
        optional: true,
        help: "A folder of Markdown files, for example an Obsidian vault. Leave it empty for Notion.",
      },
      ...NOTION_FIELDS,
    ],
    async checkSettings(settings) {
      if (!isOnNotion(settings)) {
        if (settings.folder === undefined) throw refuseSetting("folder", "is needed, or else a token of Notion.");
        return void localFolder.read(settings);
      }
      if (settings.folder !== undefined)
        throw refuseSetting("folder", "must be empty when there is a token: notes are in a folder or in Notion.");
      (await getAccounts()).check(settings);
    },
    async testSettings(settings, signal) {
      if (isOnNotion(settings)) await (await getAccounts()).test(settings, signal);
    },
    close: async () => (await getAccounts.peek())?.close(),
  };
}
