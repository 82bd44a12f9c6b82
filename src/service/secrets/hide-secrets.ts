const SHORTEST = 4;
/** Parts of a value that are no secret by themselves, such as "Bearer", are shorter. */
const SHORTEST_PART = 8;

/** The text with every setting of a connection made unreadable: what an app says of itself may repeat its keys. */
export function hideSecrets(text: string, settings: Readonly<Record<string, unknown>>): string {
  let clean = text;
  for (const value of Object.values(settings)) {
    if (typeof value !== "string") continue;
    const parts = value.split(/\s+/).filter((part) => part.length >= SHORTEST_PART);
    for (const secret of [...(value.length >= SHORTEST ? [value] : []), ...parts]) {
      clean = clean.replaceAll(secret, "[hidden]");
    }
  }
  return clean;
}
