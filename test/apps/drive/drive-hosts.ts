import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FakeS3, startFakeS3 } from "../../service/files/fake-s3.ts";
import { toBucketSettings } from "./bucket-settings.ts";
import type { DriveHost } from "./describe-drive.ts";
import { PASSWORD, startWebdav, USER } from "./start-webdav.ts";

/** Drives in folders of this machine. */
export async function hostFolders(): Promise<DriveHost> {
  const root = await mkdtemp(join(tmpdir(), "svc-drive-"));
  return {
    open: async () => ({ folder: await mkdtemp(join(root, "d-")) }),
    close: () => rm(root, { recursive: true, force: true }),
  };
}

function listBelow<Item extends { readonly bytes?: Buffer }>(
  items: ReadonlyMap<string, Item>,
  root: string,
  isFolder: (item: Item) => boolean,
): Record<string, string> {
  const start = `${root}/`;
  const below = [...items].filter(([name]) => name.startsWith(start) && !name.startsWith(`${start}.trash`));
  return Object.fromEntries(
    below.map(([name, item]) => [name.slice(start.length) + (isFolder(item) ? "/" : ""), String(item.bytes ?? "")]),
  );
}

function createCut(server: Pick<FakeS3, "fail" | "lose">): NonNullable<DriveHost["cut"]> {
  return (cut) => {
    let count = 0;
    server.fail(() => (cut?.isDone === false && ++count === cut.at ? { drop: true } : undefined));
    server.lose(() => cut?.isDone === true && ++count === cut.at);
  };
}

/** Drives in one bucket. */
export async function hostBuckets(): Promise<DriveHost> {
  const s3 = await startFakeS3();
  let opened = 0;
  const prefix = () => `drives/${opened} ä`;
  return {
    async open() {
      opened += 1;
      return toBucketSettings(s3.place, prefix());
    },
    cut: createCut(s3),
    direct: {
      write: (path, text) => s3.objects.set(`${prefix()}/${path}`, { bytes: Buffer.from(text), writtenAt: Date.now() }),
      readAll: () => listBelow(s3.objects, prefix(), () => false),
    },
    close: () => s3.close(),
  };
}

/** Drives on a WebDAV server. */
export async function hostWebdav(): Promise<DriveHost> {
  const dav = await startWebdav();
  let opened = 0;
  const name = () => `drive ${opened} ä`;
  const root = () => `/dav/files/${name()}`;
  return {
    async open() {
      opened += 1;
      dav.items.set(root(), { modified: new Date() });
      return { webdavUrl: `${dav.url}/${name()}`, webdavUser: USER, webdavPassword: PASSWORD };
    },
    direct: {
      write(path, text) {
        const parts = path.split("/");
        for (let depth = 1; depth < parts.length; depth += 1) {
          const folder = `${root()}/${parts.slice(0, depth).join("/")}`;
          if (!dav.items.has(folder)) dav.items.set(folder, { modified: new Date() });
        }
        dav.items.set(`${root()}/${path}`, { bytes: Buffer.from(text), modified: new Date() });
      },
      readAll: () => listBelow(dav.items, root(), ({ bytes }) => bytes === undefined),
    },
    cut: createCut(dav),
    close: () => dav.close(),
  };
}
