/** The text of an answer; undefined when it has more than `max` bytes: the rest is not read then. */
export async function readText(body: AsyncIterable<Uint8Array>, max: number): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > max) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}
