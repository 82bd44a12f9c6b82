import { describeDrive } from "./describe-drive.ts";
import { describeDriveChanges } from "./drive-changes.ts";
import { hostBuckets, hostFolders, hostWebdav } from "./drive-hosts.ts";

const runs = 50;

describeDrive("a folder", hostFolders);
describeDrive("a bucket", hostBuckets, { secret: "s3SecretAccessKey" });
describeDrive("a WebDAV server", hostWebdav, { secret: "webdavPassword" });

describeDriveChanges("a folder", hostFolders, { runs });
describeDriveChanges("a bucket", hostBuckets, { runs });
describeDriveChanges("a WebDAV server", hostWebdav, { runs });
