import type { Readable } from "node:stream";

/** Longest line, bytes: an answer of ten million characters, escaped. */
const MAX_LINE = 64 * 1024 * 1024;
const LINE_FEED = 10;

/**
 * Gives each line of a stream as the JSON value it holds; undefined, once, for one that is too long or is no JSON, after
 * which nothing more is read.
 */
export function readJsonLines(stream: Readable, take: (value: unknown) => void): void {
  let parts: Buffer[] = [];
  let size = 0;
  const stop = () => {
    stream.removeListener("data", read);
    stream.destroy();
    take(undefined);
  };
  const read = (bytes: Buffer) => {
    let rest = bytes;
    for (let end = rest.indexOf(LINE_FEED); end !== -1; end = rest.indexOf(LINE_FEED)) {
      const line = parse(Buffer.concat([...parts, rest.subarray(0, end)]));
      if (line === undefined) return stop();
      parts = [];
      size = 0;
      rest = rest.subarray(end + 1);
      take(line);
    }
    parts.push(rest);
    size += rest.length;
    if (size > MAX_LINE) stop();
  };
  stream.on("error", () => {}).on("data", read);
}

function parse(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString("utf8"));
  } catch {
    return undefined;
  }
}
