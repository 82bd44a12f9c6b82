import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { resolveFiles } from "../../../src/service/executions/resolve-files.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { type BlobStore, createBlobStore } from "../../../src/service/files/blob-store.ts";
import { recoverFileReferences } from "../../../src/service/files/file-fields.ts";
import { createIngestTokens } from "../../../src/service/files/ingest-tokens.ts";
import { readExecuteBody } from "../../../src/service/files/read-execute-body.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { attach, FILE_SCHEMA, inPieces } from "../files/envelope.ts";
import { useTempFolder } from "../files/temp-folder.ts";

const folder = useTempFolder();
let blobs: BlobStore;
const tokens = createIngestTokens({
  secret: "s".repeat(32),
  baseUrl: "http://127.0.0.1:8790/",
  spend: async () => true,
  now: () => 0,
});

beforeEach(() => {
  blobs = createBlobStore({ dir: folder(), now: () => 0 });
});

const ONE = { type: "object", properties: { file: FILE_SCHEMA } };
const file = (s3key: string, extra: Record<string, unknown> = {}) => ({
  name: "n.bin",
  mimetype: "application/octet-stream",
  s3key,
  ...extra,
});

async function resolve(
  inputSchema: unknown,
  args: Record<string, unknown>,
  files?: unknown[],
  options: { ingest?: boolean; account?: string } = {},
) {
  const account = options.account ?? "1";
  const { files: received } = await readExecuteBody(inPieces(JSON.stringify({ files })), { blobs, account });
  return resolveFiles({
    inputSchema,
    args,
    received,
    account,
    tool: "drive_upload_file",
    blobs,
    urlFiles: createUrlFiles({ blobs, allowed: readAllowedHosts([]) }),
    ingestTokens: options.ingest === false ? undefined : tokens,
  });
}

describe("resolveFiles", () => {
  it("matches pointer and s3key exactly and rewrites the key", async () => {
    verifies("attachment.pointer-equals-s3key", "files.placeholder-is-free", "uploadable.pointer");
    const args = { file: file("my pointer"), other: 1 };
    const resolved = await resolve(ONE, args, [
      attach("unused", Buffer.from("u")),
      attach("my pointer", Buffer.from("bytes")),
    ]);
    const { s3key } = resolved.args.file as { s3key: string };
    expect(s3key).toMatch(/^1\/drive_upload_file\/request\//);
    expect(resolved.file(s3key)).toMatchObject({ name: "n.bin", mimetype: "application/octet-stream", size: 5 });
    expect(await text(resolved.file(s3key).open())).toBe("bytes");
    expect(args.file.s3key).toBe("my pointer");
    expect(() => resolved.file("other")).toThrow();
    expect((await blobs.get("1", s3key))?.name).toBe("my pointer.bin");
  });

  it("finds fields in nested objects, arrays, variants and references, marked or by their properties", async () => {
    const bare = { type: "object", properties: { name: {}, mimetype: {}, s3key: {} } };
    const schema = {
      $defs: { doc: bare, loop: { $ref: "#/$defs/loop" } },
      properties: {
        a: { type: "array", items: { properties: { inner: FILE_SCHEMA } } },
        b: { anyOf: [{ type: "null" }, { $ref: "#/$defs/doc" }] },
        c: { type: "object", additionalProperties: FILE_SCHEMA },
        d: { type: "array", file_uploadable: true },
        e: { type: "array", prefixItems: [FILE_SCHEMA], items: bare },
        f: { $ref: "#/$defs/loop" },
        g: { type: "object" },
      },
    };
    const args = {
      a: [{ inner: file("p") }, {}],
      b: file("p"),
      c: { any: file("p") },
      d: [file("p")],
      e: [file("p"), file("p")],
      f: file("p"),
      g: file("p"),
    };
    const resolved = await resolve(schema, args, [attach("p", Buffer.from("x"))]);
    const seen = JSON.stringify(resolved.args);
    expect(seen.match(/drive_upload_file\/request/g)).toHaveLength(6);
    expect(resolved.args).toMatchObject({ f: file("p"), g: file("p") });
  });

  it("recovers references under url and path, once", async () => {
    verifies("uploadable.url-or-path-recovered");
    for (const alias of ["url", "path"]) {
      const args = { file: { name: "n", mimetype: "a/b", [alias]: "p" } };
      expect(recoverFileReferences(ONE, args)).toEqual({ file: { name: "n", mimetype: "a/b", s3key: "p" } });
      const resolved = await resolve(ONE, args, [attach("p", Buffer.from("x"), { mimetype: "a/b" })]);
      expect(resolved.args.file).not.toHaveProperty(alias);
    }
    const both = { file: file("key", { url: "https://example.org/x" }) };
    expect(recoverFileReferences(ONE, both)).toEqual(both);
    expect(recoverFileReferences(ONE, { file: { s3key: " ", path: "p" } })).toEqual({ file: { s3key: "p" } });
  });

  it("passes storage keys of the account, and only of the account", async () => {
    verifies("uploadable.storage-key");
    const mine = await blobs.receive("1", { name: "a.txt", mimetype: "text/plain" }, inPieces("mine"), { maxBytes: 9 });
    const theirs = await blobs.receive("2", { name: "a.txt", mimetype: "text/plain" }, inPieces("theirs"), {
      maxBytes: 9,
    });
    const resolved = await resolve(ONE, { file: file(mine.s3key) });
    expect((resolved.args.file as { s3key: string }).s3key).toBe(mine.s3key);
    expect(await text(resolved.file(mine.s3key).open())).toBe("mine");
    expect(await refusal(resolve(ONE, { file: file(theirs.s3key) }))).toMatchObject({
      status: 400,
      code: "missing_file_bytes",
    });
  });

  it("wants the same MIME type in argument and envelope", async () => {
    const error = await refusal(
      resolve(ONE, { file: file("p", { mimetype: "image/png" }) }, [attach("p", Buffer.from("x"))]),
    );
    expect([error.status, error.code, error.options.extra]).toEqual([
      400,
      "file_mimetype_mismatch",
      { invalidFields: ["arguments.file.mimetype"] },
    ]);
    expect(error.message).toContain("image/png");
    expect(error.message).toContain("files[0].mimetype");
    await resolve(ONE, { file: file("p", { mimetype: "Application/Octet-Stream; x=1" }) }, [
      attach("p", Buffer.from("x")),
    ]);
  });

  it("names what an incomplete file object lacks", async () => {
    verifies("uploadable.fields");
    const error = await refusal(resolve(ONE, { file: { name: "n", mimetype: " " } }));
    expect([error.status, error.code, error.options.extra]).toEqual([
      400,
      "invalid_arguments",
      { missingFields: ["file.mimetype", "file.s3key"], invalidFields: [] },
    ]);
  });

  const notPublic = [
    ["http://example.org/a", "media_url_invalid"],
    ["https://127.0.0.1/a", "media_url_blocked"],
    ["https://10.0.0.1/", "media_url_blocked"],
    ["https://[::1]/", "media_url_blocked"],
    ["https://[::ffff:10.0.0.1]/", "media_url_blocked"],
    ["https://localhost/x", "media_url_blocked"],
    ["https://nas.local/x", "media_url_blocked"],
    ["https://nas/x", "media_url_blocked"],
  ];
  it.each(notPublic)("refuses the URL %s as %s, naming the field", async (reference, code) => {
    const error = await refusal(resolve(ONE, { file: file(reference) }));
    expect([error.status, error.code, error.options.extra]).toEqual([
      400,
      code,
      { invalidFields: ["arguments.file.s3key"] },
    ]);
    expect(error.message).toMatch(/^arguments\.file\.s3key: the URL /);
  });

  const missing = [
    "/home/me/photo.png",
    "media/inbound/a b.png",
    "file:///x",
    "ftp://example.org/x",
    "data:text/plain,x",
    "nothing",
  ];
  it.each(missing)("answers missing_file_bytes for %j, with a command and its twin", async (reference) => {
    verifies("files.missing-bytes", "files.missing-bytes-hint", "ingest.token-in-hint");
    const error = await refusal(resolve(ONE, { file: file(reference) }, []));
    expect([error.status, error.code, error.options.type]).toEqual([400, "missing_file_bytes", "validation"]);
    const upload = error.options.extra?.upload as Record<string, unknown>;
    expect(error.options.extra).toMatchObject({ invalidFields: ["arguments.file.s3key"] });
    expect(Object.keys(upload).sort()).toEqual(["expiresAt", "field", "headers", "maxBytes", "method", "url"]);
    expect(upload).toMatchObject({
      url: "http://127.0.0.1:8790/api/files/ingest",
      method: "POST",
      field: "file",
      maxBytes: 26_214_400,
      expiresAt: "1970-01-01T00:10:00.000Z",
    });
    const lines = (error.options.hint ?? "").split("\n");
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(
      /^curl -sS -X POST "http:\/\/127\.0\.0\.1:8790\/api\/files\/ingest" -H "Authorization: Bearer v1\.[^"]+" -H "Content-Type: application\/octet-stream" -H "x-file-name: [^"]*" --data-binary "@[^"]*"$/,
    );
    expect(lines[1]).toContain(`"@${reference}"`);
  });

  it("names every missing file, and points to the envelope where ingest is off", async () => {
    const schema = { properties: { list: { type: "array", items: FILE_SCHEMA } } };
    const error = await refusal(
      resolve(schema, { list: [file("a"), file("ok"), file("b")] }, [attach("ok", Buffer.from("x"))], {
        ingest: false,
      }),
    );
    expect(error.options.extra).toEqual({ invalidFields: ["arguments.list[0].s3key", "arguments.list[2].s3key"] });
    expect(error.options.details).toHaveLength(2);
    expect(error.options.hint).toContain("files envelope");
    expect(error.options.hint).not.toContain("curl");
  });

  it("stores nothing when one of several files has no source", async () => {
    const schema = { properties: { a: FILE_SCHEMA, b: FILE_SCHEMA } };
    await refusal(resolve(schema, { a: file("p"), b: file("/x") }, [attach("p", Buffer.from("x"))]));
    const stored = await blobs.receive("1", { name: "n", mimetype: "a/b" }, inPieces("other"), { maxBytes: 9 });
    expect(stored.sha256).toBeTruthy();
    const { readdir } = await import("node:fs/promises");
    expect(await readdir(`${folder()}/1/keys`)).toHaveLength(1);
  });
});
