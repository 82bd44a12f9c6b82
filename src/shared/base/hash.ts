import { createHash, hash } from "node:crypto";
import SparkMD5 from "spark-md5";

/** SHA-256 in lower-case hex; text is hashed as UTF-8. */
export function sha256Hex(content: string | Uint8Array): string {
  return hash("sha256", content);
}

/** A running MD5 digest. MD5 is what the document's `files[].md5` asks for: a transport check, nothing more. */
export interface Md5 {
  update(bytes: Uint8Array): void;
  /** 32 lower-case hex digits. Call once, last. */
  digestHex(): string;
}

/** Starts a digest with `node:crypto`, or with spark-md5 where MD5 is missing, as in FIPS mode. */
export function createMd5(): Md5 {
  try {
    return createNativeMd5();
  } catch {
    // getHashes() lists md5 even when FIPS forbids it, so trying is the only test.
    return createScriptMd5();
  }
}

function createNativeMd5(): Md5 {
  const hash = createHash("md5");
  return {
    update: (bytes) => void hash.update(bytes),
    digestHex: () => hash.digest("hex"),
  };
}

/** The pure JavaScript engine; several times slower. */
export function createScriptMd5(): Md5 {
  const hash = new SparkMD5.ArrayBuffer();
  return {
    // A copy: a pooled Buffer's own ArrayBuffer holds other bytes too.
    update: (bytes) => void hash.append(new Uint8Array(bytes).buffer),
    digestHex: () => hash.end(),
  };
}
