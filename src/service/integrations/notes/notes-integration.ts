import type { Integration } from "../integration.ts";
import { createPage, deletePage, updatePage } from "./change-pages.ts";
import { listPages, readPage, searchPages } from "./find-pages.ts";
import { vaultFolder } from "./vault.ts";

/** A folder of Markdown files with YAML front matter. Setting: `folder`, an absolute path. */
export const notesIntegration: Integration = {
  slug: "notes",
  name: "Notes",
  description: "Markdown pages in a folder of the machine that runs the service; works with Obsidian-like vaults.",
  category: "notes",
  scopes: ["notes.read", "notes.write"],
  actions: [searchPages, listPages, readPage, createPage, updatePage, deletePage],
  settingsForm: [
    {
      name: "folder",
      label: "Folder of the notes",
      kind: "folder",
      help: "A folder of Markdown files, for example an Obsidian vault.",
    },
  ],
  checkSettings: (settings) => vaultFolder.check(settings),
};
