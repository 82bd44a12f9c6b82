import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { tagPiece } from "../../../../src/plugin/media/open/open-media-file.ts";
import { inspectFiles } from "../../../../src/plugin/media/send/inspect-files.ts";
import { verifies } from "../../../contract/verifies.ts";
import { createMediaFolder, type MediaFolder } from "../media-folder.ts";
import { PNG } from "../media-tree.ts";

let media: MediaFolder;

beforeEach(async () => {
  media = await createMediaFolder();
});

afterEach(() => media.remove());

async function writeSparse(name: string, size: number): Promise<string> {
  const path = await media.write(name, "x");
  const file = await open(path, "r+");
  await file.truncate(size);
  await file.close();
  return path;
}

test("tells name, type, size, digest and time", async () => {
  verifies("uploadable.local-path");
  const reference = await media.write("photo.png", PNG);
  const { files } = await media.inspect(reference);
  expect(files).toEqual([
    {
      field: "files[0]",
      path: ["files", 0],
      reference,
      pointer: "file-1",
      name: "photo.png",
      mimetype: "image/png",
      size: PNG.length,
      md5: createHash("md5").update(PNG).digest("hex"),
      sha256: createHash("sha256").update(PNG).digest("hex"),
      pieces: [tagPiece(PNG)],
      mtimeNs: expect.any(BigInt),
      ctimeNs: expect.any(BigInt),
    },
  ]);
});

test("equal references share a pointer, others get their own, and none is a key already in use", async () => {
  const [one, two] = [await media.write("1.png", PNG), await media.write("2.png", PNG)];
  const { files } = await media.inspect(one, two, { s3key: one, name: "again.png" }, "file-2", "https://a.example/b");
  expect(files.map(({ field, pointer, name }) => [field, pointer, name])).toEqual([
    ["files[0]", "file-1", "1.png"],
    ["files[1]", "file-3", "2.png"],
    ["files[2]", "file-1", "again.png"],
  ]);
});

test("a file above 25 MiB is refused before a byte is read", async () => {
  verifies("limits.client-file-size");
  const lying = media.located(await media.write("no.png", "no picture"), { field: "first" });
  const big = media.located(await writeSparse("big.txt", 25 * 1024 * 1024 + 1));
  expect(await inspectFiles(media.roots, [lying, big])).toMatchObject({
    refusal: { code: "too_large", field: "file" },
  });
});

test("files above 100 MiB together are refused before a byte is read", async () => {
  verifies("limits.client-request-files");
  // Reading the first one would show that it is no picture; the caps come first.
  const names = ["1.png", "2.txt", "3.txt", "4.txt"];
  const full = await Promise.all(names.map((name) => writeSparse(name, 25 * 1024 * 1024)));
  const files = full.map((reference, index) => media.located(reference, { field: `files[${index}]` }));
  const last = media.located(await media.write("5.txt", "x"), { field: "files[4]" });
  expect(await inspectFiles(media.roots, [...files, last])).toMatchObject({
    ok: false,
    refusal: { code: "total_too_large", field: "files[4]" },
  });
  expect(await inspectFiles(media.roots, files)).toMatchObject({ refusal: { code: "file_type_mismatch" } });
  // The same file five times is sent once, so it counts once.
  const same = files.slice(1, 2).flatMap((file) => Array.from({ length: 5 }, () => file));
  expect(await inspectFiles(media.roots, same)).toMatchObject({ ok: true });
});

test("the first refused file is named, and nothing is inspected", async () => {
  const good = media.located(await media.write("a.png", PNG), { field: "a" });
  const bad = media.located("/etc/passwd", { field: "b.c[2]" });
  expect(await inspectFiles(media.roots, [good, bad])).toEqual({
    ok: false,
    refusal: {
      code: "outside_roots",
      field: "b.c[2]",
      message: expect.stringContaining("b.c[2]"),
      hint: expect.stringMatching(/\w/),
    },
  });
});

test("stops at once when the call is aborted", async () => {
  const reference = await media.write("a.png", PNG);
  const result = inspectFiles(media.roots, [media.located(reference)], { signal: AbortSignal.abort() });
  await expect(result).rejects.toMatchObject({ code: "aborted" });
});

describe("the type that is sent", () => {
  const ZIP = Buffer.from("504b0506000000000000000000000000000000000000", "hex");
  const PDF = Buffer.from("%PDF-1.7\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\n");
  const ELF = Buffer.concat([Buffer.from("7f454c4602010100", "hex"), Buffer.alloc(120)]);
  const GZIP = Buffer.from("1f8b0800000000000003030000000000000000000000", "hex");
  const OLE = Buffer.concat([Buffer.from("d0cf11e0a1b11ae1", "hex"), Buffer.alloc(600)]);
  const BINARY = Buffer.from([1, 2, 3, 0, 0xff, 0xfe, 0x80, 0x81]);
  const SVG = '<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>';

  test.each([
    ["content and ending agree", "a.png", PNG, undefined, "image/png", undefined],
    ["content beats the ending", "a.jpg", PNG, undefined, "image/png", undefined],
    [
      "content beats what was declared",
      "a.png",
      PNG,
      "application/pdf",
      "image/png",
      "declared application/pdf, sent as image/png",
    ],
    [
      "an alias is kept as declared",
      "a.zip",
      ZIP,
      "application/x-zip-compressed",
      "application/x-zip-compressed",
      undefined,
    ],
    ["octet-stream declares nothing", "a.png", PNG, "application/octet-stream", "image/png", undefined],
    ["parameters are kept", "a.txt", "hello", "text/plain; charset=utf-8", "text/plain; charset=utf-8", undefined],
    ["a malformed declaration is ignored", "a.png", PNG, "png\r\nX: y", "image/png", undefined],
    ["an endless declaration is ignored", "a.txt", "hello", `text/${"x".repeat(128)}`, "text/plain", undefined],
    ["hostile parameters are dropped", "a.png", PNG, "image/png; a=\r\nX: y", "image/png", undefined],
    ["text by ending", "a.csv", "a,b\n1,2\n", undefined, "text/csv", undefined],
    ["a closer text type may be declared", "a.txt", "# Title", "text/markdown", "text/markdown", undefined],
    ["text without ending", "README", "hello", undefined, "text/plain", undefined],
    ["text without ending, declared", "notes", "# hello", "text/markdown", "text/markdown", undefined],
    ["json", "a.json", "{}", undefined, "application/json", undefined],
    ["a program text named like a video", "a.ts", "export const a = 1;\n", undefined, "text/plain", undefined],
    ["unknown bytes", "blob", BINARY, undefined, "application/octet-stream", undefined],
    [
      "unknown bytes declared as an image",
      "blob",
      BINARY,
      "image/png",
      "application/octet-stream",
      "declared image/png, sent as application/octet-stream",
    ],
    ["unknown bytes, unusual declared type", "blob", BINARY, "application/x-custom", "application/x-custom", undefined],
    [
      "a document in a zip",
      "a.docx",
      ZIP,
      undefined,
      "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
      undefined,
    ],
    ["a plain zip", "a.bin", ZIP, undefined, "application/zip", undefined],
    ["an old document", "a.doc", OLE, undefined, "application/msword", undefined],
    ["svg", "a.svg", SVG, undefined, "image/svg+xml", undefined],
    ["a packed archive", "a.gz", GZIP, undefined, "application/gzip", undefined],
    ["a program under its own ending", "a.bin", ELF, undefined, "application/x-elf", undefined],
    ["pdf", "a.pdf", PDF, undefined, "application/pdf", undefined],
    [
      "pdf behind stray bytes",
      "a.pdf",
      Buffer.concat([Buffer.from("junk\n"), PDF]),
      undefined,
      "application/pdf",
      undefined,
    ],
    [
      "mp3 behind a large tag",
      "a.mp3",
      Buffer.concat([Buffer.from("ID3\x03\x00\x00\x01\x00\x00\x00", "latin1"), Buffer.alloc(2000)]),
      undefined,
      "audio/mpeg",
      undefined,
    ],
  ])("%s", async (_what, name, bytes, declared, mimetype, note) => {
    const reference = await media.write(name, bytes);
    const file = media.located(reference, declared === undefined ? {} : { mimetype: declared });
    const result = await inspectFiles(media.roots, [file]);
    if (!result.ok) throw new Error(result.refusal.message);
    expect(result.files[0]?.mimetype).toBe(mimetype);
    expect(result.files[0]?.note).toBe(note);
  });

  test.each([
    ["a program named like a picture", "a.png", ELF],
    ["a program named like a document", "a.docx", ELF],
    ["a script named like a picture", "a.png", "#!/bin/sh\nrm -rf ~\n"],
    ["unknown bytes named like a pdf", "a.pdf", BINARY],
    ["text named like a video", "a.mp4", "not a video"],
  ])("%s is refused", async (_what, name, bytes) => {
    const reference = await media.write(name, bytes);
    expect(await inspectFiles(media.roots, [media.located(reference)])).toMatchObject({
      ok: false,
      refusal: { code: "file_type_mismatch", field: "file" },
    });
  });

  test("a program declared as a picture is refused", async () => {
    const file = media.located(await media.write("a.bin", ELF), { mimetype: "image/png" });
    expect(await inspectFiles(media.roots, [file])).toMatchObject({ refusal: { code: "file_type_mismatch" } });
  });

  test("a program that only the second of two fields calls a picture is refused", async () => {
    const reference = await media.write("prog", ELF);
    const plain = media.located(reference, { field: "a" });
    for (const lie of [{ name: "x.png" }, { mimetype: "image/png" }]) {
      const second = media.located(reference, { field: "b", ...lie });
      expect(await inspectFiles(media.roots, [plain, second])).toMatchObject({
        refusal: { code: "file_type_mismatch", field: "b" },
      });
    }
  });

  test("fields that name one file get one type, and each a note when it declared another", async () => {
    const reference = await media.write("a.txt", "# hello");
    const declared = ["text/markdown", "image/png", undefined, "text/plain"];
    const fields = declared.map((mimetype, index) =>
      media.located(reference, { field: `f${index}`, ...(mimetype !== undefined && { mimetype }) }),
    );
    const result = await inspectFiles(media.roots, fields);
    if (!result.ok) throw new Error(result.refusal.message);
    expect(result.files.map(({ mimetype, note }) => [mimetype, note])).toEqual([
      ["text/markdown", undefined],
      ["text/markdown", "declared image/png, sent as text/markdown"],
      ["text/markdown", undefined],
      ["text/markdown", "declared text/plain, sent as text/markdown"],
    ]);
  });
});
