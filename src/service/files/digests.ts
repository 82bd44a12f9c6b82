import { createHash } from "node:crypto";
import SparkMD5 from "spark-md5";

/** MD5 that is fed in pieces. */
interface Md5 {
  update(bytes: Uint8Array): void;
  digestHex(): string;
}

/** `node:crypto`, or spark-md5 where the platform forbids MD5 (FIPS). */
function createMd5(): Md5 {
  try {
    const hash = createHash("md5");
    return { update: (bytes) => void hash.update(bytes), digestHex: () => hash.digest("hex") };
  } catch {
    const spark = new SparkMD5.ArrayBuffer();
    // A copy: spark-md5 reads the whole underlying buffer of a view.
    return { update: (bytes) => void spark.append(new Uint8Array(bytes).buffer), digestHex: () => spark.end() };
  }
}

/** Size, MD5 (lower-case hex) and SHA-256 (lower-case hex) of a run of bytes. */
export interface FileDigests {
  readonly size: number;
  readonly md5: string;
  readonly sha256: string;
}

/** Counts and hashes bytes as they pass. `finish` may be called once. */
export interface DigestMeter {
  update(bytes: Uint8Array): void;
  finish(): FileDigests;
}

/** Starts a {@link DigestMeter} at zero bytes. */
export function createDigestMeter(): DigestMeter {
  const md5 = createMd5();
  const sha256 = createHash("sha256");
  let size = 0;
  return {
    update(bytes) {
      size += bytes.length;
      md5.update(bytes);
      sha256.update(bytes);
    },
    finish: () => ({ size, md5: md5.digestHex(), sha256: sha256.digest("hex") }),
  };
}
