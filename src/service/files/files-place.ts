import { resolve } from "node:path";
import { SvcError } from "../../shared/errors.ts";

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

const BUCKET = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const PREFIX = /^[A-Za-z0-9._/-]*$/;

/**
 * Where files are kept, checked: an absolute folder, or an S3 place whose prefix ends in a slash.
 *
 * @throws SvcError `invalid_config`, field `files`.
 */
export function readFilesPlace(files: string | S3Place): string | S3Place {
  if (typeof files === "string") {
    if (files.trim() === "" || files.includes("://"))
      throw refuseFilesPlace("must be a folder, or name a bucket as an object");
    return resolve(files);
  }
  const { bucket, prefix = "", endpoint, region } = files;
  if (!BUCKET.test(bucket)) throw refuseFilesPlace("need the name of a bucket");
  if (!PREFIX.test(prefix))
    throw refuseFilesPlace("may have only letters, digits, '.', '_', '-' and '/' in their prefix");
  if (region === "")
    throw refuseFilesPlace("need the region of the bucket; for other stores than Amazon's often us-east-1");
  if (!files.accessKeyId || !files.secretAccessKey) throw refuseFilesPlace("need the key that opens the bucket");
  const origin = endpoint === undefined ? undefined : URL.parse(endpoint)?.origin;
  if (endpoint !== undefined && !/^https?:/.test(origin ?? ""))
    throw refuseFilesPlace("need an http or https endpoint");
  return { ...files, prefix: prefix === "" ? "" : `${prefix.replace(/^\/+|\/+$/g, "")}/`, endpoint: origin };
}

/** `invalid_config`, field `files`; `problem` follows "The files of the service". */
export function refuseFilesPlace(problem: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `The files of the service ${problem}.`, {
    field: "files",
    hint: "Give a folder that every process sees, or a bucket with its region and key.",
    cause,
  });
}
