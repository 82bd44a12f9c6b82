import { hash } from "node:crypto";

/** The digest of a form under a key: 64 bits, signed as databases store them. */
export function digestForm(key: string, form: string): bigint {
  return hash("sha256", `${key}\n${form}`, "buffer").readBigInt64BE(0);
}
