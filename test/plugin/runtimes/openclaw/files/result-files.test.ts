import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import type { Integration } from "../../../../../src/apps/port/integration.ts";
import { createResultSaver, findResultFiles } from "../../../../../src/plugin/runtimes/openclaw/files/result-files.ts";
import { startTestService } from "../../../../../src/testing.ts";
import { closeAll, closeLater, openTestSession } from "../../../calls/open-test-session.ts";

afterEach(closeAll);

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const BASE64 = PNG.toString("base64");
const LINK = "https://files.example/a.pdf?X-Signature=abc";

/** A file as the host was given it. */
interface KeptFile {
  readonly bytes: Buffer;
  readonly mimetype: string | undefined;
  readonly area: string;
  readonly maxBytes: number;
  readonly name: string | undefined;
}

/** The store of a host that keeps what it is given. */
function createStore(stops: { readonly after?: number } = {}) {
  const kept: KeptFile[] = [];
  const links: unknown[][] = [];
  const store = {
    async saveMediaStream(
      pieces: AsyncIterable<Uint8Array>,
      mimetype: string | undefined,
      area: string,
      maxBytes: number,
      name: string | undefined,
    ) {
      const parts: Uint8Array[] = [];
      let size = 0;
      for await (const piece of pieces) {
        size += piece.length;
        if (size > Math.min(maxBytes, stops.after ?? Number.POSITIVE_INFINITY))
          throw Object.assign(new Error(`Media exceeds ${maxBytes} at /home/user/secret`), { code: "too-large" });
        parts.push(piece);
      }
      kept.push({ bytes: Buffer.concat(parts), mimetype, area, maxBytes, name });
      return { id: `f${kept.length}---id.png`, size, contentType: mimetype ?? "image/png" };
    },
    async saveMediaSource(...asked: unknown[]) {
      links.push(asked);
      return { id: "fetched---id.pdf", size: 7, contentType: "application/pdf" };
    },
  };
  return { kept, links, receive: createResultSaver(async () => store) };
}

const options = { signal: undefined };

describe("what counts as a file of a result", () => {
  test.each<[string, object, object]>([
    ["the API document's own form", { name: "a.png", mimetype: "image/png", dataBase64: BASE64 }, { name: "a.png" }],
    ["a download by content", { file_content_bytes: BASE64, name: "b.png" }, { name: "b.png" }],
    ["a repository file", { path: "docs/c.png", encoding: "base64", content: BASE64 }, { name: "c.png" }],
    ["a mail attachment", { name: "d.png", contentType: "image/png", contentBytes: BASE64 }, { mimetype: "image/png" }],
    ["a picture of an MCP server", { type: "image", mimeType: "image/png", data: BASE64 }, { mimetype: "image/png" }],
    ["a resource of an MCP server", { uri: "file:///x/e.png", blob: BASE64 }, { name: "e.png" }],
    ["line breaks in it", { dataBase64: BASE64.replace(/(.{20})/g, "$1\n") }, {}],
    ["the alphabet for URLs", { dataBase64: PNG.toString("base64url") }, {}],
  ])("%s", (_what, holder, described) => {
    const [file, ...more] = findResultFiles({ list: [{ inner: holder }] });
    expect(more).toEqual([]);
    expect(file).toMatchObject({ source: { kind: "base64" }, ...described });
    expect(file?.path.slice(0, 3)).toEqual(["list", 0, "inner"]);
  });

  test.each<[string, unknown]>([
    ["content without an encoding", { path: "a", content: BASE64 }],
    ["content in another encoding", { content: BASE64, encoding: "utf-8" }],
    ["data that is no picture", { data: BASE64, type: "text", mimeType: "text/plain" }],
    ["a member of another name", { token: BASE64, id: BASE64 }],
    ["text that is no base64", { dataBase64: `${BASE64}!` }],
    ["a short word", { dataBase64: "abcd" }],
    ["no text", { dataBase64: 7, content: null, encoding: "base64" }],
    ["a plain link", { url: LINK, s3key: "k1" }],
    ["a link without TLS", { s3url: "http://files.example/a" }],
    ["a link to a local file", { s3url: "file:///etc/passwd" }],
    ["a path", { s3url: "/etc/passwd" }],
    ["a link with a password", { s3url: "https://a:b@files.example/a" }],
    ["an object of the language", { constructor: BASE64, __proto__: { dataBase64: BASE64 } }],
    ["a storage key of the service", { file: { name: "a.pdf", mimetype: "application/pdf", s3key: "acc/123" } }],
    ["nothing", null],
  ])("%s is none", (_what, result) => {
    expect(findResultFiles(result)).toEqual([]);
  });

  test("at most 20, and no depth without end", () => {
    expect(findResultFiles(Array.from({ length: 50 }, () => ({ dataBase64: BASE64 })))).toHaveLength(20);
    let deep: unknown = { dataBase64: BASE64 };
    for (let level = 0; level < 10_000; level += 1) deep = [deep];
    expect(findResultFiles(deep)).toEqual([]);
  });
});

describe("a result with files", () => {
  test("holds references to the host's store in their place, and everything else as it was", async () => {
    const { receive, kept } = createStore();
    const result = {
      subject: "Hi",
      parts: [{ id: 1, name: "a.png", mimetype: "image/png", dataBase64: BASE64 }, "text"],
      picture: `data:image/png;base64,${BASE64}`,
    };
    const received = await receive(result, options);
    expect(received).toEqual({
      notes: [],
      result: {
        subject: "Hi",
        parts: [
          {
            id: 1,
            name: "a.png",
            mimetype: "image/png",
            dataBase64: {
              media: "media://inbound/f1---id.png",
              name: "a.png",
              mimetype: "image/png",
              size: PNG.length,
            },
          },
          "text",
        ],
        picture: { media: "media://inbound/f2---id.png", mimetype: "image/png", size: PNG.length },
      },
    });
    expect(kept.map(({ bytes }) => bytes)).toEqual([PNG, PNG]);
    expect(kept[0]).toMatchObject({ name: "a.png", mimetype: "image/png", area: "inbound", maxBytes: 26_214_400 });
    expect(result.parts[0], "the result that came in is untouched").toHaveProperty("dataBase64", BASE64);
  });

  test("of every length arrives with equal bytes, also across line breaks and windows", async () => {
    for (const size of [48, 49, 50, 49_151, 49_152, 49_153, 200_001]) {
      const bytes = randomBytes(size);
      const broken = bytes.toString("base64").replace(/(.{76})/g, "$1\r\n");
      const { receive, kept } = createStore();
      await receive([{ dataBase64: bytes.toString("base64url") }, { dataBase64: broken }], options);
      expect(kept.map((file) => file.bytes.equals(bytes))).toEqual([true, true]);
    }
  });

  test("keeps a short text readable", async () => {
    const { receive } = createStore();
    const text = "# Read me\n".repeat(10);
    const content = Buffer.from(text).toString("base64");
    const { result } = await receive(
      { name: "README.md", mimetype: "text/markdown", encoding: "base64", content },
      options,
    );
    expect(result).toMatchObject({ content: { text, media: expect.any(String) } });
    const large = Buffer.from("x".repeat(30_000)).toString("base64");
    const more = await receive({ mimetype: "text/plain", encoding: "base64", content: large }, options);
    expect(more.result).not.toHaveProperty("content.text");
  });

  test("that the service only links to lets the host fetch it", async () => {
    const { receive, links } = createStore();
    const { result } = await receive({ data: { file: { s3url: LINK, name: "a.pdf" } } }, options);
    expect(links).toEqual([[LINK, undefined, "inbound", 26_214_400]]);
    expect(result).toMatchObject({ data: { file: { s3url: { media: "media://inbound/fetched---id.pdf" } } } });
    expect(JSON.stringify(result)).not.toContain("X-Signature");
  });

  test("that cannot be stored stays, with a note that names no place of this machine", async () => {
    const { receive } = createStore({ after: 10 });
    const result = { name: "a.png", dataBase64: BASE64 };
    const received = await receive(result, options);
    expect(received.result).toEqual(result);
    expect(received.notes).toEqual(["a file of the result (a.png) was not saved: it is larger than 25 MiB"]);
  });

  test("stays as it is where the host lends no store", async () => {
    const receive = createResultSaver(async () => undefined);
    const result = { dataBase64: BASE64 };
    expect(await receive(result, options)).toEqual({ result, notes: [] });
    expect(await createResultSaver()(result, options)).toEqual({ result, notes: [] });
  });

  test("is not stored after the call was stopped", async () => {
    const { receive, kept } = createStore();
    const signal = AbortSignal.abort();
    await expect(receive({ dataBase64: BASE64 }, { signal })).rejects.toThrow();
    expect(kept).toEqual([]);
  });
});

test("a file larger than any result a model is shown comes from the service as a reference", async () => {
  const bytes = randomBytes(3_000_000);
  const files: Integration = {
    slug: "files",
    name: "Files",
    description: "Gives files.",
    category: "test",
    scopes: [],
    checkSettings: async () => {},
    actions: [
      {
        id: "get",
        title: "Get",
        description: "Gets a file.",
        level: "read",
        requiresConfirmation: false,
        idempotent: true,
        inputSchema: { type: "object", properties: {} },
        scopes: [],
        run: async () => ({
          name: "big.bin",
          mimetype: "application/octet-stream",
          dataBase64: bytes.toString("base64"),
        }),
      },
    ],
  };
  const service = closeLater(await startTestService({ integrations: [files] }));
  await service.service.connections.add({ integration: "files", label: "Mine", settings: {}, scopes: [] });
  const { receive, kept } = createStore();
  const session = await openTestSession(service, { receiveResult: receive });
  const outcome = await session.call({ callId: "1", toolName: "files_get", arguments: {} });
  expect(outcome).toMatchObject({
    status: "succeeded",
    result: { name: "big.bin", dataBase64: { media: "media://inbound/f1---id.png", size: 3_000_000 } },
  });
  expect(kept[0]?.bytes.equals(bytes)).toBe(true);
});
