import { toBucketSettings } from "../bucket-settings.ts";
import { describeDrive } from "../describe-drive.ts";
import { startCeph } from "./start-ceph.ts";

describeDrive(
  "a bucket of Ceph",
  async () => {
    const { place, close } = await startCeph();
    let opened = 0;
    return { open: async () => toBucketSettings(place, `drives/${++opened} ä`), close };
  },
  { secret: "s3SecretAccessKey" },
);
