/** Where the parts of one HTTP/1.1 message lie in a buffer that begins with it. */
export interface MessageSpan {
  /** First line without its line break. */
  readonly firstLine: string;
  /** Offset after the first line. */
  readonly lineEnd: number;
  /** Offset of the body. */
  readonly headEnd: number;
  /** Offset after the message. */
  readonly end: number;
}

/**
 * The message at the beginning of `bytes`, or undefined while it is not complete. Its body has a length or comes in
 * chunks; a message with neither has none.
 */
export function findMessage(bytes: Buffer): MessageSpan | undefined {
  const blank = bytes.indexOf("\r\n\r\n");
  if (blank < 0) return undefined;
  const headEnd = blank + 4;
  const head = bytes.toString("latin1", 0, blank);
  const [firstLine = ""] = head.split("\r\n", 1);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const isChunked = /^transfer-encoding: *chunked/im.test(head);
  const end = isChunked ? findChunksEnd(bytes, headEnd) : headEnd + Number(length ?? 0);
  if (end === undefined || end > bytes.length) return undefined;
  return { firstLine, lineEnd: firstLine.length + 2, headEnd, end };
}

function findChunksEnd(bytes: Buffer, from: number): number | undefined {
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    at = lineEnd + 2 + size + 2;
    if (size === 0) return at;
    if (at > bytes.length) return undefined;
  }
}
