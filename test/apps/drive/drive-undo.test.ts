import { hostBuckets, hostFolders, hostWebdav } from "./drive-hosts.ts";
import { describeDriveUndo } from "./drive-undo.ts";

const runs = 50;

describeDriveUndo("a folder", hostFolders, { runs });
describeDriveUndo("a bucket", hostBuckets, { runs });
describeDriveUndo("a WebDAV server", hostWebdav, { runs });
