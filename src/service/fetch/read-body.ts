/** The bytes of a body; undefined when it has more than `max`: the rest is not read then. */
export async function readBody(body: AsyncIterable<Uint8Array>, max: number): Promise<Buffer | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    if (size > max) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}

/** The same as text. */
export async function readText(body: AsyncIterable<Uint8Array>, max: number): Promise<string | undefined> {
  return (await readBody(body, max))?.toString("utf8");
}
