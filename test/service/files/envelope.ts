import { createHash } from "node:crypto";

/** One well-formed entry of `files`. */
export function attach(pointer: string, bytes: Uint8Array, extra: Record<string, unknown> = {}) {
  return {
    pointer,
    name: `${pointer}.bin`,
    mimetype: "application/octet-stream",
    md5: createHash("md5").update(bytes).digest("hex"),
    dataBase64: Buffer.from(bytes).toString("base64"),
    ...extra,
  };
}

/** A body in pieces of `size` bytes. */
export async function* inPieces(body: string | Uint8Array, size = 64 * 1024): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(body);
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** A file-uploadable property of an input schema. */
export const FILE_SCHEMA = {
  type: "object",
  file_uploadable: true,
  properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
};
