import { toBucketSettings } from "../bucket-settings.ts";
import { type DriveHost, describeDrive } from "../describe-drive.ts";
import { describeDriveChanges } from "../drive-changes.ts";
import { describeDriveUndo } from "../drive-undo.ts";
import { startCeph } from "./start-ceph.ts";

/** `SVC_FILES=1000` takes an hour. */
const RUNS = Number(process.env.SVC_FILES ?? 100);

describeDrive("a bucket of Ceph", hostCeph, { secret: "s3SecretAccessKey" });
describeDriveChanges("a bucket of Ceph", hostCeph, { runs: RUNS });
describeDriveUndo("a bucket of Ceph", hostCeph, { runs: RUNS });

async function hostCeph(): Promise<DriveHost> {
  const { place, close } = await startCeph();
  let opened = 0;
  return { open: async () => toBucketSettings(place, `drives/${++opened} ä`), close };
}
