import { join, resolve } from "node:path";
import { makeFolders } from "../../base/disk.ts";
import { SvcError } from "../../errors.ts";
import { type BlobStore, createBlobStore, createStoreAt } from "./blob-store.ts";

/** A bucket, or a part of one, in a store that speaks the S3 protocol. */
export interface S3Place {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Of temporary credentials. */
  readonly sessionToken?: string | undefined;
  readonly region: string;
  readonly bucket: string;
  /** Put before every name; letters, digits, `.`, `_`, `-` and `/`. Default none. */
  readonly prefix?: string | undefined;
  /** Origin of a store other than Amazon's, e.g. `http://127.0.0.1:9000`; the bucket becomes part of the path then. */
  readonly endpoint?: string | undefined;
}

/** Below the folder for files, or the data folder. */
const BLOBS = "blobs";
const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[A-Za-z0-9._/-]*$/;

/**
 * Where files are kept, checked: an absolute folder, or an S3 place whose prefix ends in a slash.
 *
 * @throws SvcError `invalid_config`, field `files`.
 */
export function readFilesPlace(files: string | S3Place): string | S3Place {
  if (typeof files === "string") {
    if (files.trim() === "" || files.includes("://")) throw refuse("must be a folder, or name a bucket as an object");
    return resolve(files);
  }
  const { bucket, prefix = "", endpoint, region } = files;
  if (!BUCKET.test(bucket)) throw refuse("need the name of a bucket");
  if (!PREFIX.test(prefix)) throw refuse("may have only letters, digits, '.', '_', '-' and '/' in their prefix");
  if (region === "") throw refuse("need the region of the bucket; for other stores than Amazon's often us-east-1");
  if (!files.accessKeyId || !files.secretAccessKey) throw refuse("need the key that opens the bucket");
  const origin = endpoint === undefined ? undefined : URL.parse(endpoint)?.origin;
  if (endpoint !== undefined && !/^https?:/.test(origin ?? "")) throw refuse("need an http or https endpoint");
  return { ...files, prefix: prefix === "" ? "" : `${prefix.replace(/^\/+|\/+$/g, "")}/`, endpoint: origin };
}

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
      throw refuse(`need a folder, and ${place} cannot be made`, cause);
    });
    return { blobs: createBlobStore({ dir: join(place, BLOBS), now: o.now }), close: async () => {} };
  }
  const { createS3Client } = await import("./s3-client.ts");
  const s3 = createS3Client(place, o.now);
  return { blobs: createStoreAt(s3, join(o.dataDir, BLOBS, ".tmp"), { now: o.now }), close: () => s3.close() };
}

function refuse(problem: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `The files of the service ${problem}.`, {
    field: "files",
    hint: "Give a folder that every process sees, or a bucket with its region and key.",
    cause,
  });
}
