import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { ServiceError } from "../service-error.ts";
import type { StoredFile } from "./staged-file.ts";

/** Code of a stored file whose bytes are not those that were stored. */
export const FILE_CHANGED = "file_changed";

/**
 * The bytes of a stored file as long as they are those that were stored. The stream fails with ServiceError 409 `file_changed`
 * before its last piece otherwise, so that whoever reads it never gets a whole file of other bytes. Opened when it is first read.
 */
export function checkBytes(stored: Pick<StoredFile, "name" | "size" | "sha256">, open: () => Readable): Readable {
  async function* read(): AsyncGenerator<Uint8Array, void, undefined> {
    const hash = createHash("sha256");
    let size = 0;
    let last: Uint8Array | undefined;
    for await (const piece of open()) {
      hash.update(piece);
      size += piece.length;
      if (size > stored.size) break;
      if (last !== undefined) yield last;
      last = piece;
    }
    if (size !== stored.size || hash.digest("hex") !== stored.sha256) throw refuseChanged(stored.name);
    if (last !== undefined) yield last;
  }
  return Readable.from(read(), { objectMode: false });
}

function refuseChanged(name: string): ServiceError {
  const message = `The bytes of "${name}" in the file store are not those that were stored: the file was not sent.`;
  return new ServiceError(409, FILE_CHANGED, message, {
    type: "validation",
    hint: "Send the file itself again. Its owner should look who else writes to the file store.",
  });
}
