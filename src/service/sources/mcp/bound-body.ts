const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * The same bytes, which break off where one event of a stream, or a body that is none, has more than `max` of them: whoever
 * reads them collects them first.
 */
export function boundBody(
  body: AsyncIterable<Uint8Array>,
  { isEvents, max }: { readonly isEvents: boolean; readonly max: number },
): ReadableStream<Uint8Array> {
  return ReadableStream.from(readBounded(body, isEvents ? countEvent() : countAll(), max));
}

async function* readBounded(body: AsyncIterable<Uint8Array>, count: (part: Uint8Array) => number, max: number) {
  for await (const part of body) {
    if (count(part) > max) throw new Error(`The answer has more than ${max} bytes.`);
    yield part;
  }
}

function countAll(): (part: Uint8Array) => number {
  let size = 0;
  return (part) => {
    size += part.length;
    return size;
  };
}

/** Bytes since the last empty line, which ends an event. */
function countEvent(): (part: Uint8Array) => number {
  let size = 0;
  let line = 0;
  return (part) => {
    for (const byte of part) {
      size += 1;
      if (byte === LINE_FEED) {
        if (line === 0) size = 0;
        line = 0;
      } else if (byte !== CARRIAGE_RETURN) line += 1;
    }
    return size;
  };
}
