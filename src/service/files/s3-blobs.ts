import { createReadStream } from "node:fs";
import { join } from "node:path";
import { listOrNone, removeOlder, toFolderName } from "./blob-folders.ts";
import type { BlobStore } from "./blob-store.ts";
import { createGate } from "./gate.ts";
import type { S3Client } from "./s3-client.ts";
import { createStagedFile } from "./staged-file.ts";
import {
  DEFAULT_TTL_MS,
  describeFile,
  fillStaged,
  LEFTOVER_AGE_MS,
  MAX_LARGE_BODIES,
  parseStoredFile,
  readKeyId,
} from "./stored-file.ts";

/**
 * Files in an S3-compatible store: `<account>/bytes/<id>` holds the bytes, `<account>/keys/<id>.json` what the storage key
 * means, written last. Equal bytes are kept once for each key, so that no process can remove what another one is about
 * to name. Uploads on their way stay in `stagingDir` on this machine.
 */
export function createS3BlobStore(o: {
  readonly s3: S3Client;
  readonly stagingDir: string;
  readonly now: () => number;
  readonly ttlMs?: number;
}): BlobStore {
  const { s3, stagingDir, now, ttlMs = DEFAULT_TTL_MS } = o;
  const nameOf = (account: string, id: string) => `${toFolderName(account)}/bytes/${id}`;
  const keyOf = (account: string, id: string) => `${toFolderName(account)}/keys/${id}.json`;
  const stage = () => createStagedFile(stagingDir);

  const adopt: BlobStore["adopt"] = async (account, label, staged) => {
    try {
      const digests = await staged.seal();
      const { id, file } = describeFile(account, label, { ...digests, createdAt: now() });
      await s3.put(nameOf(account, id), { ...digests, open: () => createReadStream(staged.path) });
      await s3.putText(keyOf(account, id), JSON.stringify(file));
      return file;
    } finally {
      await staged.discard();
    }
  };

  return {
    largeBodies: createGate(MAX_LARGE_BODIES),
    stage,
    adopt,

    async receive(account, label, bytes, { maxBytes }) {
      const staged = await stage();
      try {
        await fillStaged(staged, bytes, { name: label.name, maxBytes });
        return await adopt(account, label, staged);
      } finally {
        await staged.discard();
      }
    },

    async get(account, s3key) {
      const id = readKeyId(account, s3key);
      const text = id === undefined ? undefined : await s3.getText(keyOf(account, id));
      const file = text === undefined ? undefined : parseStoredFile(text);
      if (id === undefined || file?.s3key !== s3key || file.account !== account) return undefined;
      if (file.createdAt + ttlMs <= now()) return undefined;
      return (await s3.findSize(nameOf(account, id))) === file.size ? file : undefined;
    },

    open: (file) => s3.open(nameOf(file.account, readKeyId(file.account, file.s3key) ?? "")),

    async sweep() {
      const oldest = Date.now() - LEFTOVER_AGE_MS;
      for (const name of await listOrNone(stagingDir)) await removeOlder(join(stagingDir, name), oldest);
      for await (const { name, writtenAt } of s3.list()) if (writtenAt + ttlMs <= now()) await s3.remove(name);
    },
  };
}
