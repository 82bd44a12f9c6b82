import { readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { type BlobStore, createBlobStore, type StoredFile } from "../../../src/service/files/blob-store.ts";
import { refusal } from "../../apps/run-action.ts";
import { expectMode } from "../../suites/this-system.ts";
import { inPieces } from "./envelope.ts";
import { useTempFolder } from "./temp-folder.ts";

const HOUR = 3_600_000;
const folder = useTempFolder();
let now = 0;
let blobs: BlobStore;

beforeEach(() => {
  now = Date.now();
  blobs = createBlobStore({ dir: folder(), now: () => now, ttlMs: 24 * HOUR });
});

const label = { name: "a.txt", mimetype: "text/plain", tool: "drive_upload_file" };
const put = (content: string, account = "1") => blobs.receive(account, label, inPieces(content, 3), { maxBytes: 100 });

const bytesOf = (file: StoredFile) => join(folder(), "1", "bytes", file.s3key.split("/")[3] ?? "");

async function age(path: string): Promise<void> {
  const old = new Date(Date.now() - 2 * HOUR);
  await utimes(path, old, old);
}

describe("the blob store", () => {
  it("keeps bytes private, and gives every upload its own key", async () => {
    const [one, two] = [await put("hello"), await put("hello")];
    expect(one).toMatchObject({
      name: "a.txt",
      mimetype: "text/plain",
      size: 5,
      md5: "5d41402abc4b2a76b9719d911017c592",
      account: "1",
    });
    expect(one.s3key).toMatch(/^1\/drive_upload_file\/request\/[A-Za-z0-9_-]{32}$/);
    expect(two.s3key).not.toBe(one.s3key);
    const path = bytesOf(one);
    expectMode(path, 0o600);
    expectMode(join(folder(), "1"), 0o700);
    expectMode(join(folder(), "1", "keys", `${one.s3key.split("/")[3]}.json`), 0o600);
    expect(await text(blobs.open(one))).toBe("hello");
    expect(await readdir(join(folder(), ".tmp"))).toEqual([]);
  });

  it("lets no disk that fails afterwards turn what was done into a failure", async () => {
    const staged = await blobs.stage();
    await staged.write(Buffer.from("unused"));
    await rm(join(folder(), ".tmp"), { recursive: true });
    await writeFile(join(folder(), ".tmp"), "");
    await staged.discard();
  });

  it("survives being opened again", async () => {
    const file = await put("hello");
    const again = createBlobStore({ dir: folder(), now: () => now });
    expect(await again.get("1", file.s3key)).toEqual(file);
  });

  it("answers alike for unknown, foreign, altered and expired keys", async () => {
    const file = await put("hello");
    const foreign = await put("hello", "2");
    const wrong = [
      foreign.s3key,
      file.s3key.replace(/^1/, "2"),
      file.s3key.replace("drive", "mail"),
      `${file.s3key}x`,
      `${file.s3key}/..`,
      "1/x/request/../../keys/a",
      "1/t/request/..%2f",
      "",
      "/",
      "../1",
    ];
    for (const key of wrong) expect(await blobs.get("1", key), key).toBeUndefined();
    expect(await blobs.get("1", file.s3key)).toBeDefined();
    now += 24 * HOUR;
    expect(await blobs.get("1", file.s3key)).toBeUndefined();
  });

  it("turns odd account names into folders of their own", async () => {
    const names = ["../../etc", "a/b", "A b", ".tmp", "", "x".repeat(300)];
    const files = await Promise.all(names.map((name) => put("same", name)));
    for (const [index, name] of names.entries()) {
      expect(await blobs.get(name, files[index]?.s3key ?? "")).toBeDefined();
      expect(await blobs.get(names[(index + 1) % names.length] ?? "", files[index]?.s3key ?? "")).toBeUndefined();
    }
    expect((await readdir(folder())).every((name) => name === ".tmp" || name.startsWith("h-"))).toBe(true);
  });

  it("keeps nothing of a stream that is too long or breaks", async () => {
    const error = await refusal(blobs.receive("1", label, inPieces("x".repeat(101), 10), { maxBytes: 100 }));
    expect([error.status, error.code]).toEqual([400, "file_too_large"]);
    const broken = (async function* () {
      yield Buffer.from("x");
      throw new Error("lost");
    })();
    await expect(blobs.receive("1", label, broken, { maxBytes: 100 })).rejects.toThrow("lost");
    expect(await readdir(folder())).toEqual([".tmp"]);
    expect(await readdir(join(folder(), ".tmp"))).toEqual([]);
  });

  it("sweeps files that have expired, keeps the others, and clears leftovers of a crash", async () => {
    const old = await put("same");
    now += 20 * HOUR;
    const young = await put("same");
    const leftover = join(folder(), ".tmp", "left");
    const running = join(folder(), ".tmp", "running");
    await writeFile(leftover, "x");
    await writeFile(running, "x");
    await age(leftover);
    now += 5 * HOUR;
    await blobs.sweep();
    expect(await blobs.get("1", old.s3key)).toBeUndefined();
    expect(await blobs.get("1", young.s3key)).toBeDefined();
    expect(await text(blobs.open(young))).toBe("same");
    expect(await readdir(join(folder(), "1", "keys"))).toHaveLength(1);
    await expect(stat(bytesOf(old))).rejects.toThrow("ENOENT");
    expect(await readdir(join(folder(), ".tmp"))).toEqual(["running"]);
  });

  it("sweeps bytes that got no key, and no bytes of another key", async () => {
    const [lost, kept] = [await put("same"), await put("same")];
    await rm(join(folder(), "1", "keys", `${lost.s3key.split("/")[3]}.json`));
    expect(await blobs.get("1", lost.s3key)).toBeUndefined();
    expect(await text(blobs.open(kept))).toBe("same");
    now += 24 * HOUR;
    await blobs.sweep();
    for (const kind of ["keys", "bytes"]) expect(await readdir(join(folder(), "1", kind))).toEqual([]);
  });

  it("takes damaged metadata and cut bytes for a missing file", async () => {
    const file = await put("hello");
    await writeFile(bytesOf(file), "hel");
    expect(await blobs.get("1", file.s3key)).toBeUndefined();
    await writeFile(bytesOf(file), "hello");
    expect(await blobs.get("1", file.s3key)).toBeDefined();
    const key = join(folder(), "1", "keys", `${file.s3key.split("/")[3]}.json`);
    expect(JSON.parse(await readFile(key, "utf8"))).toMatchObject({ name: "a.txt" });
    await writeFile(key, "{");
    expect(await blobs.get("1", file.s3key)).toBeUndefined();
  });

  it("cleans file names", async () => {
    for (const [raw, name] of [
      ["../../etc/passwd", "passwd"],
      ["C:\\Users\\x\\photo.png", "photo.png"],
      ["a\u0000b\nc.txt", "abc.txt"],
      ["..", "file"],
      [" ", "file"],
      ["invoice\u202Egpj.exe", "invoicegpj.exe"],
      ["résumé 日本.pdf", "résumé 日本.pdf"],
    ] as const)
      expect((await blobs.receive("1", { name: raw, mimetype: "a/b" }, inPieces("x"), { maxBytes: 9 })).name).toBe(
        name,
      );
    const long = await blobs.receive("1", { name: `${"é".repeat(500)}.tar.gz`, mimetype: "a/b" }, inPieces("x"), {
      maxBytes: 9,
    });
    expect(long.name.endsWith(".gz")).toBe(true);
    expect(Buffer.byteLength(long.name)).toBeLessThanOrEqual(240);
    expect([...long.name].length).toBeLessThanOrEqual(200);
  });

  it("survives sweeping and storing the same bytes at the same time", async () => {
    const results = await Promise.all(
      Array.from({ length: 30 }, async (_, n) => (n % 3 === 0 ? blobs.sweep() : put("same"))),
    );
    for (const file of results) if (file !== undefined) expect(await text(blobs.open(file))).toBe("same");
  });
});
