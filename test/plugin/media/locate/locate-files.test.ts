import { describe, expect, test } from "vitest";
import { locateFiles } from "../../../../src/plugin/media/locate/locate-files.ts";
import { verifies } from "../../../contract/verifies.ts";
import { measureCpuTime } from "../../../cpu-time.ts";

const FILE = {
  type: "object",
  properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
  required: ["name", "mimetype", "s3key"],
};
const MARKED = { type: "object", file_uploadable: true };
const object = (properties: object) => ({ type: "object", properties });
const LOCAL = "/m/inbound/a.png";
const FULL = { name: "a.png", mimetype: "image/png", s3key: LOCAL };

const found = (schema: unknown, args: Record<string, unknown>) =>
  locateFiles(schema, args).files.map(({ field, kind, reference }) => [field, kind, reference]);

describe("where files are found", () => {
  test.each([
    ["the mark", object({ file: MARKED }), { file: LOCAL }, "file"],
    ["the three members", object({ file: FILE }), { file: { s3key: LOCAL } }, "file"],
    ["a list", object({ files: { type: "array", items: FILE } }), { files: [LOCAL] }, "files[0]"],
    ["a marked list", object({ files: { type: "array", file_uploadable: true } }), { files: [LOCAL] }, "files[0]"],
    ["a list without a type", object({ files: { items: MARKED } }), { files: [{ s3key: LOCAL }] }, "files[0]"],
    ["a tuple", object({ pair: { prefixItems: [{}, FILE] } }), { pair: ["x", LOCAL] }, "pair[1]"],
    [
      "nested objects",
      object({ mail: object({ body: object({ file: FILE }) }) }),
      { mail: { body: { file: LOCAL } } },
      "mail.body.file",
    ],
    [
      "lists of objects",
      object({ mails: { items: object({ files: { items: FILE } }) } }),
      { mails: [{}, { files: [{}, LOCAL] }] },
      "mails[1].files[1]",
    ],
    ["anyOf", object({ file: { anyOf: [{ type: "null" }, FILE] } }), { file: LOCAL }, "file"],
    ["oneOf", object({ file: { oneOf: [object({ url: {} }), MARKED] } }), { file: LOCAL }, "file"],
    [
      "members spread over allOf",
      object({ file: { allOf: [object({ name: {} }), object({ mimetype: {}, s3key: {} })] } }),
      { file: LOCAL },
      "file",
    ],
    ["else", { ...object({}), if: {}, else: object({ file: FILE }) }, { file: LOCAL }, "file"],
    ["a local $ref", { ...object({ file: { $ref: "#/$defs/F" } }), $defs: { F: FILE } }, { file: LOCAL }, "file"],
    [
      "an escaped $ref",
      { ...object({ file: { $ref: "#/$defs/a~1b%20c" } }), $defs: { "a/b c": FILE } },
      { file: LOCAL },
      "file",
    ],
    [
      "a $ref chain",
      { ...object({ file: { $ref: "#/$defs/A" } }), $defs: { A: { $ref: "#/$defs/B" }, B: MARKED } },
      { file: LOCAL },
      "file",
    ],
    ["additionalProperties", { type: "object", additionalProperties: FILE }, { any: LOCAL }, "any"],
    ["an open object with a local s3key", {}, { file: { s3key: LOCAL } }, "file"],
    ["an open object with name and path", { type: "object" }, { deep: [{ name: "x", path: LOCAL }] }, "deep[0]"],
    ["no schema at all", null, { file: { s3key: "media://inbound/a.png" } }, "file"],
  ])("%s", (_what, schema, args, field) => {
    verifies("uploadable.local-path");
    expect(found(schema, args)).toMatchObject([[field, "local", expect.any(String)]]);
  });

  test("schemas that refer to themselves come to an end", () => {
    const schema = { $ref: "#", properties: { next: { $ref: "#" }, file: FILE }, anyOf: [{ $ref: "#" }] };
    expect(found(schema, { next: { next: { file: LOCAL } } })).toEqual([["next.next.file", "local", LOCAL]]);
    expect(found({ $ref: "#/a/b/c" }, { file: LOCAL })).toEqual([]);
    expect(found({ $ref: "https://evil.example/schema" }, { file: LOCAL })).toEqual([]);
  });

  test("a union of very many members is no stack that overflows", () => {
    const union = { anyOf: [MARKED, ...Array.from({ length: 300_000 }, () => ({}))] };
    expect(found(object({ file: union }), { file: LOCAL })).toEqual([["file", "local", LOCAL]]);
  });

  test("unions that hold many things that are no schemas take no time", () => {
    const junk = Array.from({ length: 2_000 }, () => 0);
    const branches = Array.from({ length: 400 }, () => ({ allOf: junk, anyOf: junk, oneOf: junk }));
    const schema = object({ files: { items: { anyOf: [MARKED, ...branches] } } });
    const spent = measureCpuTime();
    expect(found(schema, { files: Array.from({ length: 200 }, () => LOCAL) })).toHaveLength(200);
    expect(spent()).toBeLessThan(2_000);
  });

  test("arguments nested without end are left alone", () => {
    let deep: Record<string, unknown> = { s3key: LOCAL };
    for (let depth = 0; depth < 200; depth += 1) deep = { deep };
    expect(found({}, deep)).toEqual([]);
  });
});

describe("what is no file", () => {
  test.each([
    ["the arguments themselves", object({ path: {}, name: {} }), { path: "/docs/a", name: "a" }],
    ["the arguments themselves, without schema", {}, { path: "/docs/a", name: "a" }],
    [
      "a described object with path and name",
      object({ target: object({ path: {}, name: {} }) }),
      { target: { path: "/docs/a", name: "a" } },
    ],
    ["a plain text", object({ folder: { type: "string" } }), { folder: "/docs" }],
    ["an open object with only a path", {}, { target: { path: "/docs/a" } }],
    ["an s3key that is a storage key, where nothing is marked", {}, { file: { s3key: "1/a/request/b" } }],
    ["a file field with null", object({ file: FILE }), { file: null }],
    ["a file field with a number", object({ file: FILE }), { file: 7 }],
    ["a reference that is no text", object({ file: FILE }), { file: { s3key: ["/etc/passwd"] } }],
  ])("%s", (_what, schema, args) => {
    expect(locateFiles(schema, args)).toEqual({ args, files: [] });
  });
});

describe("the normalised object", () => {
  const locate = (file: unknown, schema: unknown = FILE) => locateFiles(object({ file: schema }), { file });

  test.each([
    ["a bare text", LOCAL],
    ["s3key", { s3key: LOCAL }],
    ["url", { url: LOCAL }],
    ["path", { path: LOCAL }],
    ["filePath", { filePath: LOCAL }],
    ["fileUrl", { fileUrl: LOCAL }],
    ["mediaUrl", { mediaUrl: LOCAL }],
    ["an empty s3key beside a path", { s3key: "", path: LOCAL }],
  ])("from %s (row 45)", (_what, file) => {
    verifies("uploadable.local-path");
    expect(locate(file).args).toEqual({ file: FULL });
  });

  test("no alias keeps a second local path", () => {
    expect(locate({ s3key: LOCAL, path: "/m/inbound/other.png", inline: true }).args).toEqual({
      file: { ...FULL, inline: true },
    });
  });

  test("one file where a list is asked for", () => {
    const schema = object({ files: { type: "array", items: FILE } });
    expect(locateFiles(schema, { files: LOCAL })).toMatchObject({
      args: { files: [FULL] },
      files: [{ field: "files[0]", path: ["files", 0] }],
    });
    expect(locateFiles(schema, { files: { path: LOCAL } }).args).toEqual({ files: [FULL] });
  });

  test("the caller's name and type are kept, folders are cut from the name", () => {
    const { args, files } = locate({ s3key: LOCAL, name: "../x/Holiday.png", mimetype: "image/webp" });
    expect(args).toEqual({ file: { name: "Holiday.png", mimetype: "image/webp", s3key: LOCAL } });
    expect(files).toMatchObject([{ name: "Holiday.png", mimetype: "image/webp" }]);
  });

  test.each([253, 254, 255])("a name is cut to 255 characters, none of them in half: emoji after %i", (length) => {
    const name = `${"x".repeat(length)}😀 and more`;
    const cut = locate({ s3key: LOCAL, name }).files[0]?.name ?? "";
    expect([cut.length, cut.isWellFormed()]).toEqual([length === 254 ? 254 : 255, true]);
  });

  test("the caller's object is not changed", () => {
    const args = { file: { path: LOCAL } };
    locateFiles(object({ file: FILE }), args);
    expect(args).toEqual({ file: { path: LOCAL } });
  });
});

describe("kinds of references", () => {
  test.each([
    "/a",
    "~/a.png",
    "~root/a",
    "file:///a",
    "MEDIA:/a",
    "media://inbound/a",
    "media/inbound/a.png",
    "./a",
    "../a",
    "C:\\a",
    "\\\\host\\a",
    "//host/a",
    "a\\b",
    "photo.jpg",
    "data:text/plain,x",
    "ftp://host/a",
    "javascript:alert(1)",
    "",
    "  ",
  ])("%j is judged on this machine", (reference) => {
    const { files } = locateFiles(object({ file: FILE }), { file: { s3key: reference } });
    expect(files).toMatchObject([{ kind: "local", reference }]);
  });

  test("a public URL passes unchanged", () => {
    verifies("uploadable.url-passed-through");
    const url = "https://cdn.example/a/b%20c.PDF?sig=1#x";
    expect(locateFiles(object({ file: FILE }), { file: url })).toMatchObject({
      args: { file: { name: "b c.PDF", mimetype: "application/pdf", s3key: url } },
      files: [{ kind: "url", reference: url }],
    });
    expect(locateFiles(object({ file: FILE }), { file: `MEDIA:${url}` }).args).toMatchObject({ file: { s3key: url } });
  });

  test("a storage key passes unchanged", () => {
    verifies("uploadable.storage-key-passed-through");
    const key = { name: "a", mimetype: "b/c", s3key: "123/drive/drive_upload_file/request/0af3" };
    expect(locateFiles(object({ file: FILE }), { file: key })).toMatchObject({
      args: { file: key },
      files: [{ kind: "storage_key" }],
    });
    expect(locateFiles(object({ file: FILE }), { file: key.s3key }).args).toEqual({ file: { s3key: key.s3key } });
    expect(locateFiles(object({ file: FILE }), { file: "sk_abc123" }).files).toMatchObject([{ kind: "storage_key" }]);
  });

  test("a text field for URLs keeps a plain URL and takes a local file as the documented object", () => {
    const schema = object({ file: { type: "string", file_uploadable: true } });
    expect(locateFiles(schema, { file: "https://a.example/b" }).args).toEqual({ file: "https://a.example/b" });
    expect(locateFiles(schema, { file: LOCAL }).args).toEqual({ file: FULL });
  });
});

test("a long list of things with many members each is looked through in no time", () => {
  const properties = Object.fromEntries(Array.from({ length: 10_000 }, (_, index) => [`m${index}`, {}]));
  const schema = { type: "object", properties: { list: { type: "array", items: { properties } } } };
  const spent = measureCpuTime();
  expect(locateFiles(schema, { list: Array.from({ length: 2_000 }, () => 1) }).files).toEqual([]);
  expect(spent()).toBeLessThan(1_000);
});

test("references of ten thousand characters are not followed for each argument", () => {
  const ref = { $ref: `#/${"a/".repeat(5_000)}` };
  const schema = { type: "object", additionalProperties: { anyOf: Array.from({ length: 200 }, () => ({ ...ref })) } };
  const args = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, 1]));
  const spent = measureCpuTime();
  expect(locateFiles(schema, args).files).toEqual([]);
  expect(spent()).toBeLessThan(1_000);
});
