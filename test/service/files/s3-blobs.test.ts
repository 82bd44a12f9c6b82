import { readdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type BlobStore, createStoreAt } from "../../../src/service/files/blob-store.ts";
import type { S3Place } from "../../../src/service/files/files-place.ts";
import { createS3Client, type S3Client } from "../../../src/service/files/s3-client.ts";
import { refusal } from "../../apps/run-action.ts";
import { inPieces } from "./envelope.ts";
import { type FakeS3, startFakeS3 } from "./fake-s3.ts";
import { useTempFolder } from "./temp-folder.ts";

const HOUR = 3_600_000;
const folder = useTempFolder();
let now: number;
let s3: FakeS3;
let clients: S3Client[];

beforeEach(async () => {
  now = Date.now();
  clients = [];
  s3 = await startFakeS3(() => now);
});
afterEach(async () => {
  for (const client of clients) await client.close();
  await s3.close();
});

/** What one machine has of the store. */
function openStore(change: Partial<S3Place> = {}): BlobStore {
  const client = createS3Client({ ...s3.place, prefix: "svc/", ...change }, () => now);
  clients.push(client);
  return createStoreAt(client, folder(), { now: () => now, ttlMs: 24 * HOUR });
}

const label = { name: "a.txt", mimetype: "text/plain", tool: "drive_upload_file" };
const put = (blobs: BlobStore, content: string, account = "1") =>
  blobs.receive(account, label, inPieces(content, 3), { maxBytes: 100 });

describe("files in a bucket", () => {
  it("written by one machine are read by another, and nothing stays behind on the first", async () => {
    const file = await put(openStore(), "hello");
    expect(file).toMatchObject({ name: "a.txt", size: 5, md5: "5d41402abc4b2a76b9719d911017c592", account: "1" });
    const other = openStore();
    expect(await other.get("1", file.s3key)).toEqual(file);
    expect(await text(other.open(file))).toBe("hello");
    expect(await readdir(folder())).toEqual([]);
    const id = file.s3key.split("/").at(-1);
    expect([...s3.objects.keys()].sort()).toEqual([`svc/1/bytes/${id}`, `svc/1/keys/${id}.json`]);
  });

  it("answer alike for unknown, foreign and expired keys", async () => {
    const blobs = openStore();
    const file = await put(blobs, "hello");
    const foreign = await put(blobs, "hello", "2");
    for (const key of [foreign.s3key, file.s3key.replace("drive", "mail"), "", "../1", `${file.s3key}x`]) {
      expect(await blobs.get("1", key), key).toBeUndefined();
    }
    s3.objects.delete(`svc/2/bytes/${foreign.s3key.split("/").at(-1)}`);
    expect(await blobs.get("2", foreign.s3key)).toBeUndefined();
    now += 24 * HOUR;
    expect(await blobs.get("1", file.s3key)).toBeUndefined();
  });

  it("are removed when they have expired, page by page, and only those below the prefix", async () => {
    const blobs = openStore();
    for (const content of ["one", "two", "three"]) await put(blobs, content);
    s3.objects.set("other/file", { bytes: Buffer.from("not ours"), writtenAt: now });
    now += 20 * HOUR;
    const young = await put(blobs, "young");
    now += 5 * HOUR;
    await blobs.sweep();
    expect(s3.objects.size).toBe(3);
    expect(await text(blobs.open((await blobs.get("1", young.s3key))!))).toBe("young");
  });

  it("are sent again after a fault of the store, whole", async () => {
    const blobs = openStore();
    s3.faults.push(503, 500);
    const file = await put(blobs, "hello");
    expect(await text(blobs.open(file))).toBe("hello");
    expect(s3.seen.slice(0, 3).map((line) => line.split(" ")[1])).toEqual(["503", "500", "200"]);
  });
});

describe("a bucket that cannot be used", () => {
  it("answers 503, says why only in the cause, and keeps nothing", async () => {
    const wrongKey = await refusal(put(openStore({ secretAccessKey: "wrong" }), "hello"));
    expect([wrongKey.status, wrongKey.code]).toEqual([503, "file_store_unavailable"]);
    expect(String(wrongKey.options.cause)).toContain("403 SignatureDoesNotMatch");
    s3.faults.push(503, 503, 503);
    expect((await refusal(put(openStore(), "hello"))).status).toBe(503);
    await s3.close();
    expect((await refusal(put(openStore(), "hello"))).options.retryable).toBe(true);
    expect([s3.objects.size, await readdir(folder())]).toEqual([0, []]);
  });
});
