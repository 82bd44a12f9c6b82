import type { Integration } from "../integration.ts";
import { createFolder, deleteFile, moveFile, uploadFile } from "./change-files.ts";
import { driveFolder } from "./drive-folder.ts";
import { listFiles, searchFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";

/** A folder of this machine as a drive. Setting: `folder`, an absolute path. */
export const driveIntegration: Integration = {
  slug: "drive",
  name: "Drive",
  description: "Files in a folder of the machine that runs the service.",
  category: "files",
  scopes: ["drive.read", "drive.write"],
  actions: [listFiles, searchFiles, readFile, uploadFile, createFolder, moveFile, deleteFile],
  settingsForm: [
    {
      name: "folder",
      label: "Folder",
      kind: "folder",
      help: "Tools see this folder and everything below it, nothing else.",
    },
  ],
  checkSettings: (settings) => driveFolder.check(settings),
};
