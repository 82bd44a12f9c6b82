import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { RequestStopped } from "./describe-failure.ts";

/** Sent as `Accept-Encoding`; what {@link decodeContent} understands. */
export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

const DECODERS: ReadonlyMap<string, (bytes: Uint8Array, options: { maxOutputLength: number }) => Promise<Uint8Array>> =
  new Map([
    ["gzip", promisify(gunzip)],
    ["x-gzip", promisify(gunzip)],
    ["deflate", promisify(inflate)],
    ["br", promisify(brotliDecompress)],
  ]);

/**
 * Undoes one `Content-Encoding`. The decoded size is limited too, so that a small answer cannot unpack to a huge one.
 *
 * @throws RequestStopped `too_large` or `undecodable`
 */
export async function decodeContent(
  bytes: Uint8Array,
  encoding: string | undefined,
  maxBytes: number,
): Promise<Uint8Array> {
  const name = encoding?.trim().toLowerCase() ?? "";
  if (name === "" || name === "identity" || bytes.length === 0) return bytes;
  const decode = DECODERS.get(name);
  if (decode === undefined) throw new RequestStopped("undecodable", "an unknown content encoding");
  try {
    return await decode(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw isTooLarge
      ? new RequestStopped("too_large", `over ${maxBytes} bytes`)
      : new RequestStopped("undecodable", `damaged ${name} data`);
  }
}
