import { readXmlRecords } from "./xml-records.ts";

/** An object of a bucket. */
export interface S3Object {
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Milliseconds since the epoch. */
  readonly writtenAt: number;
  /** With its quotes; undefined where the store gives none. */
  readonly etag: string | undefined;
}

/** One page of a listing. */
export interface S3Listing {
  readonly objects: readonly S3Object[];
  /** Beginnings of names up to the delimiter that was asked for. */
  readonly prefixes: readonly string[];
  /** Asks for the next page as `continuation-token`; undefined on the last one. */
  readonly next: string | undefined;
}

/** Reads an answer to ListObjectsV2; undefined for anything else. */
export async function readListing(body: AsyncIterable<Uint8Array>): Promise<S3Listing | undefined> {
  const found: { name: string; facts: ReadonlyMap<string, string> | undefined }[] = [];
  const outer = await readXmlRecords(body, ["Contents", "CommonPrefixes"], (record, fields) => {
    const isObject = record === "Contents";
    const name = fields.get(isObject ? "Key" : "Prefix");
    if (name) found.push({ name, facts: isObject ? fields : undefined });
  });
  if (!outer.has("ListBucketResult")) return undefined;
  const decode = outer.get("EncodingType") === "url" ? decodeName : (name: string) => name;
  const objects: S3Object[] = [];
  const prefixes: string[] = [];
  for (const { name, facts } of found) {
    if (facts === undefined) prefixes.push(decode(name));
    const writtenAt = Date.parse(facts?.get("LastModified") ?? "");
    if (facts === undefined || Number.isNaN(writtenAt)) continue;
    const size = Number(facts.get("Size") ?? 0);
    objects.push({ name: decode(name), size, writtenAt, etag: facts.get("ETag") || undefined });
  }
  return { objects, prefixes, next: outer.get("NextContinuationToken") || undefined };
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll("+", " "));
  } catch {
    return name;
  }
}
