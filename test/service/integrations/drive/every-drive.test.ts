import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startFakeS3 } from "../../files/fake-s3.ts";
import { toBucketSettings } from "./bucket-settings.ts";
import { describeDrive } from "./describe-drive.ts";
import { PASSWORD, startWebdav, USER } from "./start-webdav.ts";

describeDrive("a folder", async () => {
  const root = await mkdtemp(join(tmpdir(), "svc-drive-"));
  return {
    open: async () => ({ folder: await mkdtemp(join(root, "d-")) }),
    close: () => rm(root, { recursive: true, force: true }),
  };
});

describeDrive(
  "a bucket",
  async () => {
    const s3 = await startFakeS3();
    let opened = 0;
    return { open: async () => toBucketSettings(s3.place, `drives/${++opened} ä`), close: () => s3.close() };
  },
  { secret: "s3SecretAccessKey" },
);

describeDrive(
  "a WebDAV server",
  async () => {
    const dav = await startWebdav();
    let opened = 0;
    return {
      async open() {
        const name = `drive ${++opened} ä`;
        dav.items.set(`/dav/files/${name}`, { modified: new Date() });
        return { webdavUrl: `${dav.url}/${name}`, webdavUser: USER, webdavPassword: PASSWORD };
      },
      close: () => dav.close(),
    };
  },
  { secret: "webdavPassword" },
);
