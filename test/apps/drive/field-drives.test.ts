import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, NOW } from "../run-action.ts";
import { PASSWORD, startWebdav, type TestWebdav, USER } from "./start-webdav.ts";

const integration = createDriveIntegration();
const temp = useTempFolder();
let dav: TestWebdav;
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  dav = await startWebdav();
  run = createRunner(integration, { settings: { webdavUrl: dav.url, webdavUser: USER, webdavPassword: PASSWORD } });
});
afterEach(async () => {
  await integration.close?.();
  await dav.close();
});

/** The answer of a server to the question what is in its folder: these addresses, as they are. */
const listing = (...hrefs: string[]) => {
  const entries = ["/dav/files/", ...hrefs].map((href, index) => {
    const type = index === 0 ? "<d:resourcetype><d:collection/></d:resourcetype>" : "<d:resourcetype/>";
    return `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${type}</d:prop></d:propstat></d:response>`;
  });
  return `<?xml version="1.0"?><d:multistatus xmlns:d="DAV:">${entries.join("")}</d:multistatus>`;
};

describe("an answer that is packed though nobody asked", () => {
  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ] as const)("is read: %s", async (encoding, pack) => {
    let accepted: unknown;
    dav.fail(({ method, headers }) => {
      accepted = headers["accept-encoding"];
      const body = pack(Buffer.from(listing("/dav/files/a.txt")));
      return method === "PROPFIND" ? { status: 207, body, headers: { "content-encoding": encoding } } : undefined;
    });
    expect((await run("list_files", {})).entries).toMatchObject([{ path: "a.txt" }]);
    expect(accepted).toBe("identity");
  });

  it("is a file that is longer than what was sent", async () => {
    dav.items.set("/dav/files/a.txt", { bytes: Buffer.from("Hello, hello"), modified: new Date(NOW) });
    dav.fail(({ method }) => {
      const headers = { "content-encoding": "gzip" };
      return method === "GET" ? { status: 200, body: gzipSync("Hello, hello"), headers } : undefined;
    });
    expect(await run("read_file", { path: "a.txt" })).toMatchObject({ text: "Hello, hello" });
    expect(await run("read_file", { path: "a.txt", as_file: true })).toMatchObject({ size: 12 });
  });

  it("is left as it is where the file itself is packed", async () => {
    const packed = gzipSync("Hello, hello");
    dav.items.set("/dav/files/a.gz", { bytes: packed, modified: new Date(NOW) });
    dav.fail(({ method }) => {
      const headers = { "content-encoding": "x-gzip", "content-length": String(packed.length) };
      return method === "GET" ? { status: 200, body: packed, headers } : undefined;
    });
    const kept: Uint8Array[] = [];
    const keeping = createRunner(integration, {
      settings: { webdavUrl: dav.url, webdavUser: USER, webdavPassword: PASSWORD },
      async keepFile(_file, stream) {
        for await (const piece of stream) kept.push(Buffer.from(piece));
        return { s3key: "kept", size: 0 };
      },
    });
    await keeping("read_file", { path: "a.gz" });
    expect(Buffer.concat(kept)).toEqual(packed);
  });
});

describe("the addresses of a server", () => {
  it.each([
    ["/dav/files/t #:?3.txt", "t #:?3.txt"],
    ["/dav/files/100%.txt", "100%.txt"],
    ["/dav/files/100%25%20a.txt", "100% a.txt"],
    ["/dav/files/Grüße.txt", "Grüße.txt"],
    ["/dav/files/a+b&amp;c.txt", "a+b&c.txt"],
    ["/dav/files/a\\b.txt", "a\\b.txt"],
    ["//dav/files/a.txt", "a.txt"],
    ["\n  /dav/files/a.txt\n", "a.txt"],
    ["/dav/files/a\tb.txt", "a\tb.txt"],
    ["/dav/files/B%FCro.txt", "Büro.txt"],
    ["a.txt", "a.txt"],
  ])("name a file: %j", async (href, name) => {
    dav.fail(({ method }) => (method === "PROPFIND" ? { status: 207, body: listing(href) } : undefined));
    const { entries, not_shown } = await run("list_files", {});
    // A name that is not in UTF-8 may be told in place of being shown.
    if (entries.length === 0) expect(not_shown).toEqual([{ where: href, why: expect.stringContaining("name") }]);
    else expect(entries).toMatchObject([{ name, path: name }]);
  });

  it.each(["/dav/files/a%2Fb.txt", "/dav/files/%2E%2E/b.txt", "/other/b.txt", ""])(
    "that name no file in the folder are said: %s",
    async (href) => {
      dav.fail(({ method }) =>
        method === "PROPFIND" ? { status: 207, body: listing("/dav/files/a.txt", href) } : undefined,
      );
      const { entries, not_shown } = await run("list_files", {});
      expect(entries).toMatchObject([{ name: "a.txt" }]);
      expect(not_shown).toEqual([{ where: expect.any(String), why: expect.stringContaining("left out") }]);
    },
  );
});

const latin1 = (text: string) => Buffer.from(text, "latin1");

describe("a folder of this machine", () => {
  const here = () => createRunner(integration, { settings: { folder: temp() } });

  it.each([
    ["UTF-8", Buffer.from("Grüße\n"), "Grüße\n", undefined],
    ["UTF-8 with a mark", Buffer.from("\ufeffGrüße"), "\ufeffGrüße", undefined],
    ["UTF-16, little end first", Buffer.from("\ufeffGrüße 😀", "utf16le"), "Grüße 😀", undefined],
    ["UTF-16, big end first", Buffer.from("\ufeffGrüße 😀", "utf16le").swap16(), "Grüße 😀", undefined],
    ["Latin-1", latin1("Gr\xfc\xdfe;1\r\n"), "Grüße;1\r\n", /Windows-1252/],
  ])("has texts in %s", async (_name, bytes, text, why) => {
    await writeFile(join(temp(), "a.csv"), bytes);
    const answer = await here()("read_file", { path: "a.csv" });
    expect(answer.text).toBe(text);
    expect(answer.not_shown).toEqual(
      why === undefined ? undefined : [{ where: "a.csv", why: expect.stringMatching(why) }],
    );
  });

  it.each([
    ["utf16le", Buffer.from(`\ufeff${"aß😀".repeat(50)}`, "utf16le"), "aß😀".repeat(50)],
    ["latin1", latin1("aü\xdf".repeat(50)), "aüß".repeat(50)],
    ["utf8", Buffer.from("aß😀".repeat(50)), "aß😀".repeat(50)],
  ])("are read in pieces: %s", async (_name, bytes, text) => {
    await writeFile(join(temp(), "a.txt"), bytes);
    let read = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const piece: { text: string; next_offset?: number } = await here()("read_file", {
        path: "a.txt",
        offset,
        max_bytes: 17,
      });
      read += piece.text;
      offset = piece.next_offset;
    }
    expect(read).toBe(text);
  });

  it("does not take for text what is none", async () => {
    await writeFile(join(temp(), "a.bin"), Buffer.from(Array.from({ length: 256 }, (_, index) => index)));
    await writeFile(join(temp(), "b.bin"), Buffer.from([0xff, 0xfe, 0x81, 0x01, 0x02, 0x90, 0x05]));
    for (const path of ["a.bin", "b.bin"]) expect((await here()("read_file", { path })).text).toBeUndefined();
  });

  it("says what a list leaves out", async () => {
    await mkdir(join(temp(), "in"));
    await writeFile(join(temp(), "in/a.txt"), "x");
    await symlink(join(temp(), "in/a.txt"), join(temp(), "in/link.txt"));
    await writeFile(Buffer.concat([Buffer.from(`${temp()}/in/B`), Buffer.from([0xfc]), Buffer.from("ro")]), "x");
    const listed = await here()("list_files", { folder: "in" });
    expect(listed.entries).toMatchObject([{ name: "a.txt" }]);
    const where = listed.not_shown.map((one: { where: string }) => one.where).sort();
    expect(where).toEqual(["in/B\ufffdro", "in/link.txt"]);
    const found = await here()("search_files", { query: "in" });
    expect(found.not_shown).toEqual(listed.not_shown);
  });
});
