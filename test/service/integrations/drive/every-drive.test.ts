import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeS3 } from "../../files/fake-s3.ts";
import { toBucketSettings } from "./bucket-settings.ts";
import { describeDrive } from "./describe-drive.ts";

describeDrive("a folder", async () => {
  const root = await mkdtemp(join(tmpdir(), "svc-drive-"));
  return {
    open: async () => ({ folder: await mkdtemp(join(root, "d-")) }),
    close: () => rm(root, { recursive: true, force: true }),
  };
});

describeDrive("a bucket", async () => {
  const s3 = await startFakeS3();
  let opened = 0;
  return { open: async () => toBucketSettings(s3.place, `drives/${++opened} ä`), close: () => s3.close() };
});
