import { makeOnce } from "../../../base/concurrency.ts";
import type { AllowedHosts } from "../../fetch/address-rules.ts";
import { refuseSetting } from "../../service-error.ts";
import { localFolder } from "../connection-folder.ts";
import type { Integration } from "../integration.ts";
import { BUCKET_FIELDS, isInBucket } from "./bucket/bucket-settings.ts";
import { createFolder, deleteFile, moveFile, uploadFile } from "./change-files.ts";
import type { OpenDrive } from "./drive.ts";
import { createDriveWatch } from "./drive-watch.ts";
import { FolderDrive } from "./folder-drive.ts";
import { listFiles, searchFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";

const actions = [listFiles, searchFiles, readFile, uploadFile, createFolder, moveFile, deleteFile];

/**
 * A drive: a folder of this machine (setting `folder`, an absolute path), or a bucket (settings of `readBucketSettings`).
 * The code of what is on other machines is loaded by the first call that needs it.
 *
 * @param o.allowed hosts of the owner that may be reached although they are not public
 */
export function createDriveIntegration(o: { readonly allowed?: AllowedHosts } = {}): Integration {
  const getRemote = makeOnce(async () => (await import("./remote-drives.ts")).createRemoteDrives(o));
  const open: OpenDrive = async (context, action) =>
    isInBucket(context.connection.settings) ? (await getRemote()).open(context, action) : new FolderDrive(context);
  return {
    slug: "drive",
    name: "Drive",
    description: "Files in a folder of the machine that runs the service, or in a bucket of an S3 store.",
    category: "files",
    scopes: ["drive.read", "drive.write"],
    actions: actions.map((action) => action(open)),
    watch: createDriveWatch(open),
    settingsForm: [
      {
        name: "folder",
        label: "Folder",
        kind: "folder",
        optional: true,
        help: "Tools see this folder and everything below it, nothing else.",
      },
      ...BUCKET_FIELDS,
    ],
    settingsHelp: "A folder of the machine that runs the service is needed, or else a bucket, further down.",
    async checkSettings(settings) {
      if (!isInBucket(settings)) return void localFolder.read(settings);
      if (settings.folder !== undefined)
        throw refuseSetting("folder", "must be empty when there is a bucket: a drive is one or the other.");
      (await getRemote()).check(settings);
    },
    async testSettings(settings, signal) {
      if (isInBucket(settings)) await (await getRemote()).test(settings, signal);
      else await localFolder.check(settings);
    },
    close: async () => (await getRemote.peek())?.close(),
  };
}
