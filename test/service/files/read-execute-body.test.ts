import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type BlobStore, createBlobStore } from "../../../src/service/files/blob-store.ts";
import { readExecuteBody } from "../../../src/service/files/read-execute-body.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { expectMode } from "../../suites/this-system.ts";
import { attach, inPieces } from "./envelope.ts";
import { useTempFolder } from "./temp-folder.ts";

const MIB = 1024 * 1024;
const folder = useTempFolder();
let blobs: BlobStore;

beforeEach(() => {
  blobs = createBlobStore({ dir: folder(), now: () => 0 });
});

const toText = (body: unknown) => (typeof body === "string" ? body : JSON.stringify(body));
const read = (body: unknown) => readExecuteBody(inPieces(toText(body)), { blobs, account: "1" });

async function leftovers(): Promise<string[]> {
  return readdir(join(folder(), ".tmp")).catch(() => []);
}

describe.each([
  ["in pieces", inPieces],
  ["at once", (body: string) => Buffer.from(body)],
])("readExecuteBody of a body %s", (_name, give) => {
  const read = (body: unknown) => readExecuteBody(give(toText(body)), { blobs, account: "1" });

  it("gives the body without files and the decoded bytes on the disk, 0600", async () => {
    const big = Buffer.alloc(200_000, "svc");
    const small = Buffer.from("x");
    const body = {
      arguments: { a: 1 },
      connectionId: 7,
      confirmed: true,
      files: [attach("big", big), attach("small", small, { md5: attach("x", small).md5.toUpperCase() })],
    };
    const request = await read(body);
    expect(request.body).toEqual({ arguments: { a: 1 }, connectionId: 7, confirmed: true });
    expect(request.files?.map(({ pointer, size, index }) => [pointer, size, index])).toEqual([
      ["big", 200_000, 0],
      ["small", 1, 1],
    ]);
    const [first, second] = request.files ?? [];
    expect(await readFile(first?.staged.path ?? "")).toEqual(big);
    expect(await readFile(second?.staged.path ?? "")).toEqual(small);
    expectMode(first?.staged.path ?? "", 0o600);
    await request.dispose();
    expect(await leftovers()).toEqual([]);
  });

  it.each([[{}], [{ files: null }]])("takes %j as a request without files", async (body) => {
    expect((await read(body)).files).toBeUndefined();
  });

  const good = attach("p", Buffer.from("hello"));
  const long = attach("p", Buffer.alloc(9000, 1));
  const malformed: [string, unknown, string][] = [
    ["not JSON", '{"arguments":', "The request body is not valid JSON (UTF-8)."],
    ["empty", "", "The request body is not valid JSON (UTF-8)."],
    ["array", [], "The request body must be a JSON object."],
    ["null", "null", "The request body must be a JSON object."],
    ["files object", { files: {} }, "files must be an array of file attachments."],
    ["files string", { files: "x" }, "files must be an array of file attachments."],
    [
      "entry string",
      { files: ["x"] },
      "files[0] must be an object with the fields pointer, name, mimetype, md5, dataBase64.",
    ],
    ["md5 missing", { files: [{ ...good, md5: undefined }] }, "files[0] is missing required string field(s): md5."],
    [
      "two missing",
      { files: [good, { ...good, pointer: "q", name: 5, dataBase64: " " }] },
      "files[1] is missing required string field(s): name, dataBase64.",
    ],
    [
      "all missing",
      { files: [{}] },
      "files[0] is missing required string field(s): pointer, name, mimetype, md5, dataBase64.",
    ],
    [
      "empty data",
      { files: [{ ...good, dataBase64: "" }] },
      "files[0] is missing required string field(s): dataBase64.",
    ],
    ["md5 not hex", { files: [{ ...good, md5: "x" }] }, "files[0].md5 must be 32 hex digits."],
    [
      "md5 wrong",
      { files: [{ ...good, md5: "0".repeat(32) }] },
      "files[0].md5 does not match the decoded bytes (their MD5 is 5d41402abc4b2a76b9719d911017c592).",
    ],
    ["md5 wrong, long", { files: [{ ...long, md5: "0".repeat(32) }] }, "files[0].md5 does not match"],
    [
      "type without slash",
      { files: [{ ...good, mimetype: "png" }] },
      "files[0].mimetype must be a MIME type such as image/png.",
    ],
    [
      "type with a line",
      { files: [{ ...good, mimetype: "text/plain\nX: y" }] },
      "files[0].mimetype must be a MIME type such as image/png.",
    ],
    [
      "pointer twice",
      { files: [good, { ...good, name: "other" }] },
      "files[1].pointer repeats files[0].pointer; give every file its own pointer.",
    ],
    ["too many", { files: Array(1001).fill(good) }, "files has 1001 entries; at most 1000 are accepted."],
  ];
  it.each(malformed)("refuses %s with 400, bare", async (_name, body, message) => {
    verifies(
      "execute.status-400-files",
      "files.entry-needs-five-strings",
      "attachment.pointer",
      "attachment.name",
      "attachment.mimetype",
      "attachment.md5",
    );
    const error = await refusal(read(body));
    expect([error.status, error.options.bare]).toEqual([400, true]);
    expect(error.message).toContain(message);
    expect(await leftovers()).toEqual([]);
  });

  const bases: [string, string][] = [
    ["a space", "aGVs bG8="],
    ["a line break", "aGVs\nbG8="],
    ["URL-safe minus", "-_-_"],
    ["URL-safe underscore", "____"],
    ["no padding", "aGVsbG8"],
    ["too much padding", "aGVsbG8=="],
    ["only padding", "===="],
    ["text after padding", "aGVsbG8=aGVs"],
    ["padding in the middle", "aGVs=GVs"],
    ["bits after the end", "aGVsbG9="],
    ["a data URL", "data:text/plain;base64,aGVsbG8="],
    ["unicode", "aGVsbGö="],
  ];
  it.each(bases)("refuses base64 with %s, short and long, naming the field", async (_name, tail) => {
    verifies("attachment.data");
    const prefix = Buffer.alloc(90_000, 3).toString("base64");
    for (const dataBase64 of [tail, prefix + tail]) {
      const error = await refusal(read({ files: [good, { ...good, pointer: "q", dataBase64 }] }));
      expect([error.status, error.options.bare]).toEqual([400, true]);
      expect(error.message).toMatch(/^files\[1\]\.dataBase64 is not valid base64/);
    }
    expect(await leftovers()).toEqual([]);
  });

  it("refuses too many values and too many levels", async () => {
    for (const [body, code] of [
      [`{"a":[${"1,".repeat(50_000)}1]}`, "too_many_values"],
      [`${'{"a":'.repeat(300)}1${"}".repeat(300)}`, "malformed_request"],
    ] as const) {
      const error = await refusal(read(body));
      expect([error.status, error.code]).toEqual([400, code]);
    }
  });
});

describe("readExecuteBody", () => {
  it("un-escapes base64 that was written with JSON escapes, wherever it is cut", async () => {
    const bytes = Buffer.from(Array.from({ length: 5000 }, (_, n) => (n * 7919) & 255));
    const entry = attach("p", bytes);
    const body = JSON.stringify({ files: [entry] })
      .replaceAll("/", (at) => (at ? "\\/" : at))
      .replaceAll(/"dataBase64":"[^"]*"/g, (text) => text.replaceAll("+", "\\u002b").replaceAll("=", "\\u003D"));
    expect(body).toContain("\\u002b");
    for (const size of [1, 2, 3, 5, 7, 64]) {
      const request = await readExecuteBody(
        inPieces(body.replaceAll("application\\/octet", "application/octet"), size),
        { blobs, account: "1" },
      );
      expect(request.files?.[0]?.md5).toBe(entry.md5);
      await request.dispose();
    }
  });

  it("refuses an announced length no envelope can have before it reads", async () => {
    let touched = false;
    const body = (async function* () {
      touched = true;
      yield Buffer.from("{}");
    })();
    const error = await refusal(
      readExecuteBody(body, { blobs, account: "1", contentLength: Math.ceil((100 * MIB) / 3) * 4 + 8 * MIB + 1 }),
    );
    expect([error.status, error.options.bare, touched]).toEqual([413, true, false]);
  });

  /** A body of `files` of the given sizes, made piece by piece. */
  async function* largeBody(sizes: readonly number[], seen: { bytes: number }): AsyncGenerator<Uint8Array> {
    const piece = Buffer.alloc(48 * 1024 * 3, 0);
    yield Buffer.from('{"files":[');
    for (const [index, size] of sizes.entries()) {
      yield Buffer.from(
        `${index ? "," : ""}{"pointer":"${index}","name":"n","mimetype":"a/b","md5":"${"0".repeat(32)}","dataBase64":"`,
      );
      for (let left = size; left > 0; left -= piece.length) {
        const text = Buffer.from(piece.subarray(0, Math.min(left, piece.length)).toString("base64"));
        seen.bytes += text.length;
        yield text;
      }
      yield Buffer.from('"}');
    }
    yield Buffer.from("]}");
  }

  it("stops reading at more than 100 MB of decoded bytes and leaves nothing behind", async () => {
    verifies("limits.request-files");
    const seen = { bytes: 0 };
    const error = await refusal(readExecuteBody(largeBody(Array(8).fill(24 * MIB), seen), { blobs, account: "1" }));
    expect([error.status, error.options.bare]).toEqual([413, true]);
    expect((seen.bytes * 3) / 4).toBeLessThan(101 * MIB);
    expect(await leftovers()).toEqual([]);
  });

  it("keeps no file open whose bytes are complete, and stops at the thousand-and-first", async () => {
    let open = 0;
    let most = 0;
    const counting: BlobStore = Object.create(blobs, {
      stage: {
        value: async () => {
          const staged = await blobs.stage();
          most = Math.max(most, ++open);
          let isOpen = true;
          const close = () => {
            if (isOpen) open -= 1;
            isOpen = false;
          };
          return Object.create(staged, {
            seal: { value: () => staged.seal().finally(close) },
            discard: { value: () => staged.discard().finally(close) },
          });
        },
      },
    });
    const seen = { bytes: 0 };
    const body = largeBody(Array(1500).fill(3100), seen);
    const error = await refusal(readExecuteBody(body, { blobs: counting, account: "1" }));
    expect([error.status, error.options.bare]).toEqual([400, true]);
    expect(error.message).toBe("files holds more than 1000 files.");
    expect([most, open]).toEqual([1, 0]);
    expect(seen.bytes).toBeLessThan(1002 * 4200);
    expect(await leftovers()).toEqual([]);
  });

  it("refuses one file above 25 MB as file_too_large, as an envelope naming it, and takes exactly 25 MB", async () => {
    verifies("limits.file-size");
    const over = await refusal(readExecuteBody(largeBody([3, 25 * MIB + 1], { bytes: 0 }), { blobs, account: "1" }));
    expect(over.message).toContain("files[0].md5");
    const zeros = (size: number) => JSON.stringify({ files: [attach("a", Buffer.alloc(size))] });
    const error = await refusal(read(zeros(25 * MIB + 1)));
    expect([error.status, error.code, error.options.bare, error.options.extra]).toEqual([
      400,
      "file_too_large",
      undefined,
      { invalidFields: ["files[0].dataBase64"] },
    ]);
    expect(error.message).toContain("25 MB");
    expect(await leftovers()).toEqual([]);
    const exact = await read(zeros(25 * MIB));
    expect(exact.files?.[0]?.size).toBe(25 * MIB);
    await exact.dispose();
  });

  it("refuses more than 8 MB besides file bytes with 413, bare", async () => {
    const error = await refusal(read({ arguments: { text: "x".repeat(8 * MIB) } }));
    expect([error.status, error.options.bare]).toEqual([413, true]);
  });

  it("removes temporary files when the sender breaks off", async () => {
    const body = (async function* () {
      yield Buffer.from(`{"files":[{"dataBase64":"${Buffer.alloc(60_000).toString("base64")}`);
      throw new Error("socket closed");
    })();
    await expect(readExecuteBody(body, { blobs, account: "1" })).rejects.toThrow("socket closed");
    expect(await leftovers()).toEqual([]);
  });

  it("gives up on a sender below the minimum rate", async () => {
    const never = new Promise<never>(() => undefined);
    const silent = (async function* () {
      yield Buffer.from('{"files":[');
      await never;
    })();
    const rate = { minBytesPerSecond: 1024, windowMs: 40 };
    const error = await refusal(readExecuteBody(silent, { blobs, account: "1", rate }));
    expect([error.status, error.code, error.options.bare]).toEqual([400, "body_too_slow", true]);
    const dripping = (async function* () {
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        yield Buffer.from(" ");
      }
    })();
    expect((await refusal(readExecuteBody(dripping, { blobs, account: "1", rate }))).code).toBe("body_too_slow");
  });

  it("does not close the source, so that the caller can still answer", async () => {
    let closed = false;
    const body: AsyncIterable<Uint8Array> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false, value: Buffer.alloc(MIB, " ") }),
        return: async () => {
          closed = true;
          return { done: true, value: undefined };
        },
      }),
    };
    expect((await refusal(readExecuteBody(body, { blobs, account: "1" }))).status).toBe(413);
    expect(closed).toBe(false);
  });

  it("stops when the caller goes away", async () => {
    const gone = new AbortController();
    const body = (async function* () {
      yield Buffer.from("{");
      gone.abort(new Error("gone"));
      yield Buffer.from("}");
    })();
    await expect(readExecuteBody(body, { blobs, account: "1", signal: gone.signal })).rejects.toThrow("gone");
  });

  it("reads at most four large bodies at a time; the others wait", async () => {
    let open = 0;
    let most = 0;
    async function* body() {
      yield Buffer.from('{"a":"');
      yield Buffer.alloc(2 * MIB, "x");
      open += 1;
      most = Math.max(most, open);
      for (let n = 0; n < 5; n++) {
        await new Promise((resolve) => setTimeout(resolve, 2));
        yield Buffer.from("x");
      }
      open -= 1;
      yield Buffer.from('"}');
    }
    await Promise.all(Array.from({ length: 9 }, () => readExecuteBody(body(), { blobs, account: "1" })));
    expect(most).toBe(4);
  });

  it("keeps names like __proto__ as data", async () => {
    const { body } = await read('{"__proto__":{"x":1},"arguments":{"__proto__":2}}');
    expect(Object.hasOwn(body, "__proto__")).toBe(true);
    expect(({} as { x?: number }).x).toBeUndefined();
  });
});
