import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { refuseSetting } from "../../service/service-error.ts";
import { makeOnce } from "../../shared/base/concurrency.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { Integration } from "../port/integration.ts";
import { BUCKET_FIELDS, isInBucket } from "./bucket/bucket-settings.ts";
import { createFolder, deleteFile, moveFile, uploadFile } from "./change-files.ts";
import type { OpenDrive } from "./drive.ts";
import { createDriveWatch } from "./drive-watch.ts";
import { FolderDrive } from "./folder-drive.ts";
import { listFiles, searchFiles } from "./list-files.ts";
import { readFile } from "./read-file.ts";
import { isOnWebdav, WEBDAV_FIELDS } from "./webdav/webdav-settings.ts";

const actions = [listFiles, searchFiles, readFile, uploadFile, createFolder, moveFile, deleteFile];

/**
 * A drive: a folder of this machine (setting `folder`, an absolute path), a WebDAV server (settings of
 * `readWebdavSettings`), or a bucket (`readBucketSettings`). The code of what is on other machines is loaded by the first
 * call that needs it.
 *
 * @param o.allowed hosts of the owner that may be reached although they are not public
 */
export function createDriveIntegration(o: { readonly allowed?: AllowedHosts } = {}): Integration {
  const getRemote = makeOnce(async () => (await import("./remote-drives.ts")).createRemoteDrives(o));
  const open: OpenDrive = async (context, action) =>
    isElsewhere(context.connection.settings) ? (await getRemote()).open(context, action) : new FolderDrive(context);
  return {
    slug: "drive",
    name: "Drive",
    description:
      "Files in a folder of the machine that runs the service, on a WebDAV server such as Nextcloud, or in a bucket of an S3 store.",
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
      ...WEBDAV_FIELDS,
      ...BUCKET_FIELDS,
    ],
    settingsHelp:
      "A folder of the machine that runs the service is needed, or else a WebDAV server or a bucket, further down.",
    async checkSettings(settings) {
      const places = [settings.folder !== undefined, isOnWebdav(settings), isInBucket(settings)].filter(Boolean);
      if (places.length > 1)
        throw refuseSetting(
          settings.folder === undefined ? "s3Bucket" : "folder",
          "must be empty when there is another place: a drive is a folder, a WebDAV server or a bucket.",
        );
      if (places.length === 0) throw refuseSetting("folder", "is needed, or else a WebDAV server or a bucket.");
      if (isElsewhere(settings)) (await getRemote()).check(settings);
      else localFolder.read(settings);
    },
    async testSettings(settings, signal) {
      if (isElsewhere(settings)) await (await getRemote()).test(settings, signal);
      else await localFolder.check(settings);
    },
    close: async () => (await getRemote.peek())?.close(),
  };
}

function isElsewhere(settings: Readonly<Record<string, unknown>>): boolean {
  return isOnWebdav(settings) || isInBucket(settings);
}
