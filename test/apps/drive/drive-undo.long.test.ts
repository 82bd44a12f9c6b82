import { hostBuckets, hostFolders, hostWebdav } from "./drive-hosts.ts";
import { describeDriveUndo } from "./drive-undo.ts";

const runs = 1000;
const seed = 11;

describeDriveUndo("a folder", hostFolders, { runs, seed });
describeDriveUndo("a bucket", hostBuckets, { runs, seed });
describeDriveUndo("a WebDAV server", hostWebdav, { runs, seed });
