import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it } from "vitest";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { isWebUrl } from "../../../src/service/fetch/fetched-files.ts";
import type { FetchLimits } from "../../../src/service/fetch/open-url.ts";
import { createUrlFiles } from "../../../src/service/fetch/url-files.ts";
import { createBlobStore } from "../../../src/service/files/blob-store.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { useTempFolder } from "../files/temp-folder.ts";
import {
  answerBy,
  createFakeInternet,
  type FakeInternet,
  redirectTo,
  useWebServers,
  type WebServer,
} from "./fake-internet.ts";

const MIB = 1024 * 1024;
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const LIMITS: FetchLimits = { headersMs: 10_000, idleMs: 15_000, totalMs: 30_000 };
const folder = useTempFolder();
const serve = useWebServers();
let internet: FakeInternet;
let web: WebServer;

beforeEach(async () => {
  internet = createFakeInternet();
  web = await serve();
  internet.places.set("93.184.215.14", web.port);
  for (const name of ["files.example.org", "github.com", "raw.githubusercontent.com", "1drv.ms", "api.onedrive.com"])
    internet.names.set(name, [["93.184.215.14"]]);
});

function fetchFile(url: string, o: { limits?: Partial<FetchLimits>; signal?: AbortSignal } = {}) {
  const blobs = createBlobStore({ dir: folder(), now: () => 0 });
  const limits = { ...LIMITS, ...o.limits };
  const files = createUrlFiles({ blobs, allowed: readAllowedHosts([]), network: internet.network, limits });
  return files.fetch(url, o.signal);
}

const URL_A = "https://files.example.org/a";
const send =
  (body: string | Uint8Array, headers: Record<string, string> = {}) =>
  (response: ServerResponse) =>
    response.writeHead(200, headers).end(body);

async function expectRefusal(code: string, status = 400, o: Parameters<typeof fetchFile>[1] = {}, url = URL_A) {
  const error = await refusal(fetchFile(url, o));
  expect([error.code, error.status, error.options.retryable], error.message).toEqual([code, status, status === 503]);
  expect(error.message).toMatch(/^The URL /);
  expect(error.options.hint).toMatch(/./);
  expect(JSON.stringify([error.message, error.options.hint])).not.toMatch(/10\.11\.12\.13|127\.0\.0\.1|93\.184/);
  // The store's folder for unfinished files; it does not exist when nothing was begun.
  expect(await readdir(`${folder()}/.tmp`).catch(() => [])).toEqual([]);
  return error;
}

describe("a URL that gives a file", () => {
  it.each([
    ["/report.pdf", { "content-type": "application/pdf" }, "%PDF-1.7\n", "report.pdf", "application/pdf"],
    [
      "/download?id=3&sig=a%2Fb",
      { "content-disposition": 'attachment; filename="b.csv"' },
      "a,b\n",
      "b.csv",
      "text/csv",
    ],
    ["/files/17", { "content-type": "image/gif" }, PNG, "17.png", "image/png"],
    ["/files/17", { "content-type": "text/calendar; charset=utf-8" }, "x", "17.ics", "text/calendar"],
    ["/files/17", {}, "x", "17", "application/octet-stream"],
    ["/readme.md", { "content-type": "text/plain" }, "<h1>Hi</h1>", "readme.md", "text/markdown"],
  ])("%s keeps its bytes and gets name and type", async (path, headers, body, name, mimetype) => {
    verifies("files.url-query-kept");
    web.handler = answerBy({ [path]: send(body, headers as Record<string, string>) });
    const file = await fetchFile(`  https://files.example.org${path}#part\n`);
    expect(file).toMatchObject({ name, mimetype, isPreview: false });
    await file.staged.seal();
    expect(await readFile(file.staged.path)).toEqual(Buffer.from(body));
    await file.staged.discard();
  });

  it("of exactly 25 MB arrives whole, in pieces of any size", async () => {
    const bytes = Buffer.alloc(25 * MIB, "abc");
    web.handler = (_request, response) => {
      response.write(bytes.subarray(0, 1));
      response.write(bytes.subarray(1, 600));
      response.end(bytes.subarray(600));
    };
    const { staged } = await fetchFile(URL_A);
    expect((await staged.seal()).sha256).toBe(createHash("sha256").update(bytes).digest("hex"));
    await staged.discard();
  });

  it("behind a share link is asked for directly", async () => {
    verifies("files.url-share-links");
    web.handler = answerBy({ "/o/r/main/a.pdf": send("%PDF-1.7\n") });
    const { staged } = await fetchFile("https://github.com/o/r/blob/main/a.pdf");
    await staged.discard();
    expect(web.asked).toEqual(["raw.githubusercontent.com /o/r/main/a.pdf"]);
  });
});

describe("sizes", () => {
  it("are cut off while a body without a length arrives", async () => {
    verifies("limits.file-size");
    let sent = 0;
    web.handler = (_request, response) => {
      const piece = Buffer.alloc(MIB);
      const more = () => {
        while (sent < 200 * MIB && !response.destroyed) {
          sent += piece.length;
          if (!response.write(piece)) {
            response.once("drain", more);
            return;
          }
        }
      };
      more();
    };
    await expectRefusal("file_too_large");
    expect(sent).toBeLessThan(40 * MIB);
  });

  it("are refused by an announced length before the body is read", async () => {
    web.handler = (_request, response) => {
      response.writeHead(200, { "content-length": 25 * MIB + 1 }).write("x");
    };
    await expectRefusal("file_too_large");
  });

  it("that are announced and not delivered make no file", async () => {
    web.handler = (_request, response) => {
      response.writeHead(200, { "content-length": 1000 }).write("only this");
      response.flushHeaders();
      setImmediate(() => response.destroy());
    };
    await expectRefusal("media_url_unavailable", 503);
  });

  it("of nothing are refused", async () => {
    web.handler = answerBy({ "/a": send("") });
    await expectRefusal("media_url_failed");
  });
});

describe("hosts that misbehave", () => {
  it.each(["gzip", "br", "deflate", "zstd", "identity, gzip"])(
    "compressing with %s are refused unread",
    async (encoding) => {
      const bomb = gzipSync(Buffer.alloc(30 * MIB));
      web.handler = answerBy({ "/a": send(bomb, { "content-encoding": encoding }) });
      const error = await expectRefusal("media_url_failed");
      expect(error.message).toContain("compressed");
    },
  );

  it.each([
    [400, "media_url_failed", 400],
    [401, "media_url_failed", 400],
    [403, "media_url_failed", 400],
    [404, "media_url_failed", 400],
    [410, "media_url_failed", 400],
    [204, "media_url_failed", 400],
    [206, "media_url_failed", 400],
    [304, "media_url_failed", 400],
    [429, "media_url_unavailable", 503],
    [500, "media_url_unavailable", 503],
    [503, "media_url_unavailable", 503],
  ])("answering %d are reported as %s", async (status, code, ours) => {
    verifies("files.url-raw-bytes");
    web.handler = answerBy({ "/a": (response) => response.writeHead(status).end() });
    const error = await expectRefusal(code, ours);
    expect(error.message).toContain(`HTTP ${status}`);
  });

  it("sending a huge header are refused", async () => {
    web.handler = answerBy({ "/a": send("x", { "x-large": "a".repeat(100_000) }) });
    await expectRefusal("media_url_failed");
  });

  it("speaking no HTTP are refused", async () => {
    web.handler = (request) => request.socket.end("SSH-2.0-OpenSSH_9.9\r\n");
    await expectRefusal("media_url_failed");
  });

  it("hanging up are reported as unavailable", async () => {
    web.handler = (request) => request.socket.destroy();
    await expectRefusal("media_url_unavailable", 503);
  });

  it("that do not exist are named as such", async () => {
    await expectRefusal("media_url_failed", 400, {}, "https://nowhere.example.org/a");
  });

  it("that refuse connections are reported as unavailable", async () => {
    internet.names.set("closed.example.org", [["93.184.215.99"]]);
    await expectRefusal("media_url_unavailable", 503, {}, "https://closed.example.org/a");
  });

  it("never answering, pausing or dripping run into a limit", async () => {
    web.handler = () => {};
    await expectRefusal("media_url_unavailable", 503, { limits: { headersMs: 50 } });
    web.handler = (_request, response) => void response.write("a".repeat(600));
    await expectRefusal("media_url_unavailable", 503, { limits: { idleMs: 50 } });
    web.handler = (_request, response) => {
      const drip = setInterval(() => response.write("a".repeat(600)), 5);
      response.on("close", () => clearInterval(drip));
    };
    const { signal } = new AbortController();
    await expectRefusal("media_url_unavailable", 503, { limits: { totalMs: 100 }, signal });
    web.handler = answerBy({ "/a": redirectTo("/b"), "/b": () => {} });
    await expectRefusal("media_url_unavailable", 503, { limits: { totalMs: 100 } });
  });
});

describe("a caller who goes away", () => {
  it("ends the fetch", async () => {
    const gone = new AbortController();
    web.handler = (_request, response) => {
      response.write("a".repeat(600));
      gone.abort();
    };
    const error = await refusal(fetchFile(URL_A, { signal: gone.signal }));
    expect([error.status, error.code]).toEqual([503, "client_gone"]);
    expect(await readdir(`${folder()}/.tmp`).catch(() => [])).toEqual([]);
    expect((await refusal(fetchFile(URL_A, { signal: gone.signal }))).code).toBe("client_gone");
    expect(web.asked).toHaveLength(1);
  });
});

describe("a page", () => {
  const page = (image: string) =>
    send(`<html><head><meta property="og:image" content="${image}"></head>`, { "content-type": "text/html" });

  it("gives its preview image, once", async () => {
    verifies("files.url-preview-image");
    web.handler = answerBy({
      "/a": redirectTo("/posts/1"),
      "/posts/1": page("cover.png"),
      "/posts/cover.png": send(PNG),
    });
    const file = await fetchFile(URL_A);
    expect(file).toMatchObject({ name: "cover.png", mimetype: "image/png", isPreview: true });
    await file.staged.seal();
    expect(await readFile(file.staged.path)).toEqual(PNG);
    await file.staged.discard();
    expect(web.asked).toHaveLength(3);
  });

  it.each([
    ["no image", send("<!doctype html><title>Sign in</title>")],
    ["an image that is a page", page("/a2")],
    ["an image that is a page under the name of a picture", page("/page.svg")],
    ["an image that is missing", page("/missing.png")],
    ["an image that is no image", page("/text")],
    ["an image inside this network", page("https://169.254.169.254/latest/meta-data/")],
    ["an image on this machine", page("https://localhost/x.png")],
    ["an image under a name that leads inside", page("https://inside.example.org/x.png")],
    ["an image over plain http", page("http://files.example.org/x.png")],
    ["an image that redirects inside", page("/inside")],
  ])("with %s is not a file", async (_what, answer) => {
    verifies("files.url-not-a-file", "files.url-raw-bytes", "codes.media-url-not-a-file");
    internet.names.set("inside.example.org", [["10.0.0.7"]]);
    web.handler = answerBy({
      "/a": answer,
      "/a2": page("/x.png"),
      "/page.svg": page("/x.png"),
      "/x.png": send(PNG),
      "/text": send("no image"),
      "/inside": redirectTo("https://127.0.0.1/x.png"),
    });
    const error = await expectRefusal("media_url_not_a_file");
    expect(error.options.hint).toContain("direct link");
    expect(web.asked).not.toContain("files.example.org /x.png");
    expect(internet.dials.filter((address) => address !== "93.184.215.14")).toEqual([]);
  });

  it("behind a share link is a sign-in, whose picture is not the file", async () => {
    web.handler = (_request, response) => void page("/x.png")(response);
    const error = await expectRefusal("media_url_not_a_file", 400, {}, "https://1drv.ms/b/s!AbC");
    expect(error.options.hint).toContain("OneDrive");
    expect(web.asked).toHaveLength(1);
  });

  it("does not open the owner's allow-list to what it names", async () => {
    const own = await serve();
    web.handler = answerBy({ "/a": page(`http://127.0.0.1:${own.port}/x.png`) });
    const blobs = createBlobStore({ dir: folder(), now: () => 0 });
    const allowed = readAllowedHosts([`127.0.0.1:${own.port}`]);
    const files = createUrlFiles({ blobs, allowed, network: internet.network });
    expect((await refusal(files.fetch(URL_A))).code).toBe("media_url_not_a_file");
    expect(own.asked).toEqual([]);
  });
});

describe("many fetches", () => {
  it("run eight at a time", async () => {
    const waiting: ServerResponse[] = [];
    const eight = Promise.withResolvers<void>();
    web.handler = (_request, response) => {
      waiting.push(response);
      if (waiting.length === 8) eight.resolve();
    };
    const blobs = createBlobStore({ dir: folder(), now: () => 0 });
    const files = createUrlFiles({ blobs, allowed: readAllowedHosts([]), network: internet.network });
    const all = Array.from({ length: 12 }, () => files.fetch(URL_A));
    await eight.promise;
    expect(web.asked).toHaveLength(8);
    web.handler = (_request, response) => response.end("x");
    for (const response of waiting) response.end("x");
    for (const { staged } of await Promise.all(all)) await staged.discard();
    expect(web.asked).toHaveLength(12);
  });
});

describe("isWebUrl", () => {
  it.each(["https://a.example/x", "HTTP://a.example", " https:/a"])("sees an address in %j", (text) => {
    expect(isWebUrl(text)).toBe(true);
  });
  it.each(["ftp://a.example", "/https://x", "httpsx://a", "a https://x", "", "//a.example/x"])(
    "sees none in %j",
    (text) => {
      expect(isWebUrl(text)).toBe(false);
    },
  );
});
