import { describeDriveChanges } from "./drive-changes.ts";
import { hostBuckets, hostFolders, hostWebdav } from "./drive-hosts.ts";

const runs = 500;

describeDriveChanges("a folder", hostFolders, { runs });
describeDriveChanges("a bucket", hostBuckets, { runs });
describeDriveChanges("a WebDAV server", hostWebdav, { runs });
