import { readdir } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { resolveFiles } from "../../../src/service/executions/resolve-files.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { type BlobStore, createBlobStore } from "../../../src/service/files/blob-store.ts";
import { readExecuteBody } from "../../../src/service/files/read-execute-body.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { answerBy, createFakeInternet, useWebServers, type WebServer } from "../fetch/fake-internet.ts";
import { attach, FILE_SCHEMA, inPieces } from "./envelope.ts";
import { useTempFolder } from "./temp-folder.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const PDF = "%PDF-1.7\n";
const SITE = "https://files.example.org";
const URL_SCHEMA = { type: "string", format: "uri", file_uploadable: true };
const SCHEMA = {
  type: "object",
  $defs: { link: URL_SCHEMA },
  properties: {
    file: FILE_SCHEMA,
    many: { type: "array", items: FILE_SCHEMA },
    link: URL_SCHEMA,
    maybe: { anyOf: [{ type: "null" }, { $ref: "#/$defs/link" }] },
    links: { type: "array", items: URL_SCHEMA },
    marked: { type: "array", file_uploadable: true, items: { type: "string", format: "uri" } },
    site: { type: "string", format: "uri" },
  },
};
const KEY = /^1\/drive_upload_file\/request\/[\w-]{32}$/;

const folder = useTempFolder();
const serve = useWebServers();
let blobs: BlobStore;
let web: WebServer;
let lookups: readonly string[];
let resolve: (args: Record<string, unknown>, files?: unknown[]) => ReturnType<typeof resolveFiles>;

beforeEach(async () => {
  blobs = createBlobStore({ dir: folder(), now: () => 0 });
  web = await serve();
  const internet = createFakeInternet();
  lookups = internet.lookups;
  internet.names.set("files.example.org", [["93.184.215.14"]]);
  internet.places.set("93.184.215.14", web.port);
  const urlFiles = createUrlFiles({ blobs, allowed: readAllowedHosts([]), network: internet.network });
  web.handler = answerBy({
    "/a.pdf": (response) => response.end(PDF),
    "/b.png": (response) => response.end(PNG),
    "/text": (response) => response.end("words"),
    "/post": (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end('<head><meta property="og:image" content="/b.png">'),
  });
  resolve = async (args, files) => {
    const { files: received } = await readExecuteBody(inPieces(JSON.stringify({ files })), { blobs, account: "1" });
    return resolveFiles({
      inputSchema: SCHEMA,
      args,
      received,
      account: "1",
      tool: "drive_upload_file",
      blobs,
      urlFiles,
      ingestTokens: undefined,
    });
  };
});

const file = (s3key: string, extra: Record<string, unknown> = {}) => ({
  name: "n.pdf",
  mimetype: "application/pdf",
  s3key,
  ...extra,
});

/** Names of everything the store holds, unfinished files too. */
async function listStore(): Promise<string[]> {
  const found = await readdir(folder(), { recursive: true, withFileTypes: true });
  return found.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

describe("a URL in a file-uploadable object", () => {
  it.each(["s3key", "url", "path"])("under %s is fetched and re-hosted", async (member) => {
    verifies("uploadable.public-url", "uploadable.url-or-path-recovered", "files.url-accepted", "files.url-rehosted");
    const args = { file: { name: "report.pdf", mimetype: "application/pdf", [member]: `${SITE}/a.pdf` } };
    const resolved = await resolve(args);
    expect(resolved.args.file).toEqual({
      name: "report.pdf",
      mimetype: "application/pdf",
      s3key: expect.stringMatching(KEY),
    });
    const { s3key } = resolved.args.file as { s3key: string };
    expect(resolved.file(s3key)).toMatchObject({ name: "report.pdf", mimetype: "application/pdf", size: PDF.length });
    expect(await text(resolved.file(s3key).open())).toBe(PDF);
    expect(await blobs.get("1", s3key)).toMatchObject({ name: "a.pdf", mimetype: "application/pdf" });
    expect(args.file[member]).toBe(`${SITE}/a.pdf`);
  });

  it("is a pointer when the envelope has it", async () => {
    const resolved = await resolve({ file: file(`${SITE}/a.pdf`) }, [
      attach(`${SITE}/a.pdf`, Buffer.from("sent"), { mimetype: "application/pdf" }),
    ]);
    const { s3key } = resolved.args.file as { s3key: string };
    expect(await text(resolved.file(s3key).open())).toBe("sent");
    expect(lookups).toEqual([]);
  });

  it("has its MIME type corrected by the bytes, and only when they differ", async () => {
    const seen = async (value: Record<string, unknown>) => {
      const { args } = await resolve({ file: value });
      const { name, mimetype } = args.file as { name: string; mimetype: string };
      return [name, mimetype];
    };
    expect(await seen(file(`${SITE}/b.png`))).toEqual(["n.pdf", "image/png"]);
    expect(await seen(file(`${SITE}/a.pdf`, { mimetype: "Application/PDF; v=1" }))).toEqual([
      "n.pdf",
      "Application/PDF; v=1",
    ]);
    expect(await seen(file(`${SITE}/text`, { name: "n.csv", mimetype: "text/csv" }))).toEqual(["n.csv", "text/csv"]);
    expect(await seen(file(`${SITE}/text`, { name: "notes", mimetype: "text/x-notes" }))).toEqual([
      "notes",
      "text/x-notes",
    ]);
  });

  it("that gives a preview image is renamed, unless it was called an image", async () => {
    verifies("files.url-preview-image");
    const page = await resolve({ file: file(`${SITE}/post`, { name: "post.html", mimetype: "text/html" }) });
    expect(page.args.file).toMatchObject({ name: "b.png", mimetype: "image/png" });
    const image = await resolve({ file: file(`${SITE}/post`, { name: "cover.jpg", mimetype: "image/jpeg" }) });
    expect(image.args.file).toMatchObject({ name: "cover.jpg", mimetype: "image/png" });
  });

  it("still needs a name and a type", async () => {
    const error = await refusal(resolve({ file: { s3key: `${SITE}/a.pdf` } }));
    expect(error.code).toBe("invalid_arguments");
    expect(web.asked).toEqual([]);
  });
});

describe("a URL field", () => {
  it("holds a storage key afterwards, wherever it stands", async () => {
    verifies("files.url-accepted", "files.url-rehosted");
    const resolved = await resolve({
      link: `${SITE}/a.pdf`,
      maybe: `${SITE}/text`,
      links: [`${SITE}/b.png`],
      marked: [`${SITE}/text`],
      site: `${SITE}/not-a-file`,
    });
    const { link, maybe, links, marked, site } = resolved.args as Record<string, string & string[]>;
    for (const key of [link, maybe, links?.[0], marked?.[0]]) expect(key).toMatch(KEY);
    expect(site).toBe(`${SITE}/not-a-file`);
    expect(resolved.file(String(links?.[0]))).toMatchObject({ name: "b.png", mimetype: "image/png" });
    expect(await text(resolved.file(String(link)).open())).toBe(PDF);
    expect(web.asked.sort()).toEqual(["/a.pdf", "/b.png", "/text"].map((path) => `files.example.org ${path}`));
  });

  it("takes a storage key of the account", async () => {
    const mine = await blobs.receive("1", { name: "a.txt", mimetype: "text/plain" }, inPieces("mine"), { maxBytes: 9 });
    const resolved = await resolve({ link: mine.s3key });
    expect(resolved.args.link).toBe(mine.s3key);
    expect(resolved.file(mine.s3key)).toMatchObject({ name: "a.txt", mimetype: "text/plain" });
  });

  it.each([
    ["https://10.0.0.7/a", "media_url_blocked"],
    ["http://files.example.org/a.pdf", "media_url_invalid"],
    ["/home/me/a.pdf", "media_url_invalid"],
    ["", "media_url_invalid"],
  ])("refuses %j as %s, naming the field", async (link, code) => {
    verifies("files.url-private-refused");
    const error = await refusal(resolve({ links: [`${SITE}/a.pdf`, link] }));
    expect([error.status, error.code, error.options.extra]).toEqual([
      400,
      code,
      { invalidFields: ["arguments.links[1]"] },
    ]);
    expect(error.message).toMatch(/^arguments\.links\[1\]: the URL /);
    expect(await listStore()).toEqual([]);
  });
});

describe("several URLs in one call", () => {
  it("are fetched once each and stored once each", async () => {
    const { args } = await resolve({
      many: [file(`${SITE}/a.pdf`), file(`${SITE}/a.pdf`), file(`${SITE}/b.png`)],
      link: `${SITE}/a.pdf`,
    });
    const keys = (args.many as { s3key: string }[]).map(({ s3key }) => s3key);
    expect([keys[0] === keys[1], keys[0] === keys[2], args.link === keys[0]]).toEqual([true, false, true]);
    expect(web.asked).toHaveLength(2);
    expect(await readdir(`${folder()}/1/keys`)).toHaveLength(2);
  });

  it("are fetched only when nothing else is missing, and kept only when all arrive", async () => {
    const unread = await refusal(resolve({ many: [file(`${SITE}/a.pdf`), file("/home/me/b.pdf")] }));
    expect([unread.code, web.asked]).toEqual(["missing_file_bytes", []]);
    const broken = await refusal(resolve({ many: [file(`${SITE}/a.pdf`), file(`${SITE}/missing`)] }));
    expect([broken.code, broken.options.extra]).toEqual([
      "media_url_failed",
      { invalidFields: ["arguments.many[1].s3key"] },
    ]);
    expect(web.asked).toHaveLength(2);
    expect(await listStore()).toEqual([]);
  });

  it("are at most twenty", async () => {
    web.handler = (_request, response) => response.end("x");
    const many = (count: number) => ({ many: Array.from({ length: count }, (_, index) => file(`${SITE}/${index}`)) });
    expect((await refusal(resolve(many(21)))).code).toBe("media_url_failed");
    expect(web.asked).toHaveLength(20);
    expect(await listStore()).toEqual([]);
    expect((await resolve(many(20))).args.many).toHaveLength(20);
  });

  it("hold at most 100 MB together", async () => {
    const bytes = Buffer.alloc(25 * 1024 * 1024);
    web.handler = (_request, response) => response.end(bytes);
    const error = await refusal(resolve({ many: [0, 1, 2, 3, 4].map((index) => file(`${SITE}/${index}`)) }));
    expect([error.code, error.options.extra]).toEqual([
      "file_too_large",
      { invalidFields: ["arguments.many[4].s3key"] },
    ]);
    expect(error.message).toContain("100 MB");
    expect(await listStore()).toEqual([]);
  });
});
