import { join } from "node:path";
import { makeFolders } from "../../shared/base/disk.ts";
import { type BlobStore, createBlobStore, createStoreAt } from "./blob-store.ts";
import { refuseFilesPlace, type S3Place } from "./files-place.ts";

/** Below the folder for files, or the data folder. */
const BLOBS = "blobs";

/**
 * Opens the place where files are kept. Uploads on their way to a bucket stay in `dataDir`.
 *
 * @throws SvcError `invalid_config`, field `files`, for a folder that cannot be made.
 */
export async function openBlobs(
  place: string | S3Place,
  o: { dataDir: string; now: () => number },
): Promise<{ blobs: BlobStore; close(): Promise<void> }> {
  if (typeof place === "string") {
    await makeFolders(place).catch((cause) => {
      throw refuseFilesPlace(`need a folder, and ${place} cannot be made`, cause);
    });
    return { blobs: createBlobStore({ dir: join(place, BLOBS), now: o.now }), close: async () => {} };
  }
  const { createS3Client } = await import("./s3-client.ts");
  const s3 = createS3Client(place, o.now);
  return { blobs: createStoreAt(s3, join(o.dataDir, BLOBS, ".tmp"), { now: o.now }), close: () => s3.close() };
}
