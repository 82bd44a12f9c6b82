/**
 * Passes pieces of a file or body on, each valid until the next one is asked for: its memory is given back then. Else pieces that
 * nobody needs any more pile up to 64 MB before they are collected.
 */
export async function* lendPieces(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of bytes) {
    const { buffer, byteLength } = piece;
    yield piece;
    // A shared memory may hold somebody else's bytes.
    if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
  }
}
