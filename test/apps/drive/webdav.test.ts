import { Readable } from "node:stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { createKeeper, createPreviewer, createRunner, holdFile, NOW, refusal } from "../run-action.ts";
import { PASSWORD, startWebdav, type TestWebdav, USER } from "./start-webdav.ts";

const integration = createDriveIntegration();
const held = holdFile("a.txt", "text/plain", "new");
let dav: TestWebdav;
let settings: Record<string, unknown>;
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  dav = await startWebdav();
  settings = { webdavUrl: dav.url, webdavUser: USER, webdavPassword: PASSWORD };
  run = createRunner(integration, { settings, files: { k: held } });
});
afterEach(async () => {
  await integration.close?.();
  await dav.close();
});

const put = (name: string, text: string) =>
  dav.items.set(`/dav/files/${name}`, { bytes: Buffer.from(text), modified: new Date(NOW) });
const textOf = (name: string) => dav.items.get(`/dav/files/${name}`)?.bytes?.toString();
const upload = (extra = {}, files?: Parameters<typeof run>[2]) =>
  run("upload_file", { file: { name: "a.txt", mimetype: "text/plain", s3key: "k" }, ...extra }, files);
const names = () =>
  [...dav.items.keys()]
    .map((name) => name.slice("/dav/files/".length))
    .filter(Boolean)
    .sort();
/** Opens the file that is saved, after somebody else wrote one of its name. */
const openAfter = (text: string) => {
  put("a.txt", text);
  return held.open();
};
const listWrites = () => dav.seen.map((line) => line.split(" ")[0]).filter((method) => method !== "PROPFIND");

describe("a WebDAV server as a drive", () => {
  it("shows a file only when it is whole, and leaves nothing of one that broke off", async () => {
    async function* half() {
      yield Buffer.from("ne");
      expect(names().filter((name) => !name.startsWith(".svc-unfinished-"))).toEqual([]);
      throw new Error("The bytes broke off.");
    }
    const error = await refusal(upload({}, { k: { ...held, open: () => Readable.from(half()) } }));
    expect(error.code).not.toBe("outcome_unknown");
    expect(names()).toEqual([]);
  });

  it("takes a file that a server lost before it had its name for not saved", async () => {
    dav.fail(({ method }) => (method === "PUT" ? { status: 500 } : undefined));
    const error = await refusal(upload());
    expect([error.code, error.options.retryable]).toEqual(["provider_unavailable", true]);
    expect(listWrites()).toEqual(["PUT", "DELETE"]);
  });

  it("says that a write is unknown when its answer is lost, and does it once", async () => {
    dav.lose(({ method }) => method === "MOVE");
    expect(await refusal(upload())).toMatchObject({ status: 500, code: "outcome_unknown" });
    expect([names(), listWrites()]).toEqual([["a.txt"], ["PUT", "MOVE", "DELETE"]]);
    put("b.txt", "b");
    expect(await refusal(run("move_file", { path: "b.txt", destination: "c.txt" }))).toMatchObject({
      code: "outcome_unknown",
    });
    expect(names()).toEqual(["a.txt", "c.txt"]);
  });

  it("replaces only the version that it found", async () => {
    put("a.txt", "theirs");
    const changing = { ...held, open: () => openAfter("changed") };
    expect(await refusal(upload({ if_exists: "replace" }, { k: changing }))).toMatchObject({ code: "conflict" });
    expect(textOf("a.txt")).toBe("changed");
    put("b.txt", "b");
    dav.fail(({ method }) => {
      if (method === "MOVE") put("a.txt", "changed again");
      return undefined;
    });
    const args = { path: "b.txt", destination: "a.txt", if_exists: "replace" };
    expect(await refusal(run("move_file", args))).toMatchObject({ code: "conflict" });
    expect([textOf("a.txt"), textOf("b.txt")]).toEqual(["changed again", "b"]);
  });

  it("moves nothing that becomes another after it was looked at for the last time", async () => {
    put("a.txt", "seen");
    put("b.txt", "seen");
    const calls = {
      delete_file: { path: "a.txt" },
      move_file: { path: "b.txt", destination: "a.txt", if_exists: "replace" },
    };
    for (const [action, args] of Object.entries(calls)) {
      const { state } = await createPreviewer(integration, { settings })(action, args);
      dav.fail(({ method, url }) => {
        if (method === "MOVE") put(String(url).slice("/dav/files/".length), "changed");
        return undefined;
      });
      const error = await refusal(createRunner(integration, { settings, expectedState: state })(action, args));
      expect([error.status, error.code]).toEqual([412, "state_changed"]);
      dav.fail(() => undefined);
    }
    expect([textOf("a.txt"), textOf("b.txt")]).toEqual(["changed", "changed"]);
  });

  it("moves what was shown where a server does not compare the versions of what is moved", async () => {
    put("a.txt", "seen");
    dav.fail(({ method, headers }) => (method === "MOVE" && headers["if-match"] ? { status: 412 } : undefined));
    const { state } = await createPreviewer(integration, { settings })("delete_file", { path: "a.txt" });
    const gone = await createRunner(integration, { settings, expectedState: state })("delete_file", { path: "a.txt" });
    expect(textOf(gone.trashed_to)).toBe("seen");
  });

  it("looks at a thing once more for a preview, and no more for a call that was shown", async () => {
    put("a.txt", "seen");
    const args = { file: { name: "a.txt", mimetype: "text/plain", s3key: "k" }, if_exists: "replace" };
    const { state } = await createPreviewer(integration, { settings, files: { k: held } })("upload_file", args);
    expect(dav.seen.map((line) => line.split(" ")[0])).toEqual(["PROPFIND", "OPTIONS", "GET"]);
    dav.seen.length = 0;
    await createRunner(integration, { settings, files: { k: held }, expectedState: state })("upload_file", args);
    expect(dav.seen.filter((line) => line === "PROPFIND 207 /dav/files/a.txt")).toHaveLength(1);
  });

  it("also replaces where a server tells no versions, or cannot compare them in a move", async () => {
    put("a.txt", "theirs");
    dav.fail(({ method, headers }) => (method === "MOVE" && headers.if ? { status: 412 } : undefined));
    put("b.txt", "b");
    await run("move_file", { path: "b.txt", destination: "a.txt", if_exists: "replace" });
    expect([names().filter((name) => !name.startsWith(".trash")), textOf("a.txt")]).toEqual([["a.txt"], "b"]);
    expect(textOf(names().find((name) => /^\.trash\/.*\/a\.txt$/.test(name)) ?? "")).toBe("theirs");
  });

  const over = [
    "upload_file",
    { file: { name: "a.txt", mimetype: "text/plain", s3key: "k" }, if_exists: "replace" },
  ] as const;
  const keeper = () => createKeeper(integration, { settings, files: { k: held } });

  it("replaces without a copy where a server says that it makes none, and says so before and after", async () => {
    put("a.txt", "theirs");
    dav.fail(({ method }) =>
      method === "OPTIONS" ? { status: 200, headers: { allow: "GET, PUT, MOVE, PROPFIND" } } : undefined,
    );
    const shown = await createPreviewer(integration, { settings, files: { k: held } })(...over);
    expect([shown.undo, shown.effects.map(({ text }) => text)]).toEqual([
      { possible: false, why: expect.stringContaining("cannot copy") },
      [expect.stringContaining("the old version is lost")],
    ]);
    const { kept, ...ran } = await keeper().run(...over);
    expect([kept, ran, names(), textOf("a.txt")]).toEqual([
      ...[undefined, { output: expect.objectContaining({ note: expect.stringContaining("is lost") }) }],
      ...[["a.txt"], "new"],
    ]);
    const args = { path: "a.txt", destination: "b.txt", if_exists: "replace" };
    put("b.txt", "b");
    expect((await keeper().run("move_file", args)).kept).toBeUndefined();
    expect([names(), textOf("b.txt")]).toEqual([["b.txt"], "new"]);
  });

  it("replaces nothing whose copy a server refuses", async () => {
    put("a.txt", "theirs");
    dav.fail(({ method }) => (method === "COPY" ? { status: 507 } : undefined));
    const ran = await keeper().run(...over);
    expect([ran, textOf("a.txt")]).toMatchObject([{ error: { code: "provider_unavailable" } }, "theirs"]);
  });

  it("takes no folder away into which somebody puts a file at that moment", async () => {
    const { kept } = await keeper().run("create_folder", { path: "n" });
    const plan = await keeper().plan("create_folder", kept ?? expect.fail("not kept"));
    dav.fail(({ method }) => {
      if (method === "MOVE" && !names().includes("n/x")) put("n/x", "theirs");
      return undefined;
    });
    expect(await refusal(plan.act())).toMatchObject({ status: 412 });
    expect(textOf("n/x")).toBe("theirs");
  });

  it("takes a name that somebody else took while it wrote for taken", async () => {
    const error = await refusal(upload({}, { k: { ...held, open: () => openAfter("theirs") } }));
    expect(error.options.extra).toEqual({ invalidFields: ["arguments.file.name"] });
    expect([names(), textOf("a.txt")]).toEqual([["a.txt"], "theirs"]);
  });

  it("says so when only a part of a folder was moved", async () => {
    put("f/x", "x");
    dav.items.set("/dav/files/f", { modified: new Date() });
    dav.fail(({ method }) => (method === "MOVE" ? { status: 207, body: "<multistatus/>" } : undefined));
    expect((await refusal(run("move_file", { path: "f", destination: "g" }))).code).toBe("outcome_unknown");
  });

  it("reads what it asks for from a server that knows no ranges", async () => {
    put("long.txt", "0123456789".repeat(20_000));
    dav.fail(({ method }) => (method === "GET" ? { status: 200, body: "0123456789".repeat(20_000) } : undefined));
    const part = await run("read_file", { path: "long.txt", offset: 150_003, max_bytes: 16 });
    expect(part).toMatchObject({ text: "3456789012345678", next_offset: 150_019 });
  });

  it("follows no redirect, and sends its password to nobody else", async () => {
    const other = await startWebdav();
    dav.fail(() => ({ status: 302, headers: { location: other.url } }));
    expect((await refusal(run("list_files", {}))).status).toBe(500);
    expect(other.seen).toEqual([]);
    await other.close();
  });

  it("shows nothing of what a server says of places outside of the folder", async () => {
    const other = "<d:response><d:href>/dav/other/secret.txt</d:href></d:response>";
    const own = "<d:response><d:href>/dav/files/</d:href><d:prop><d:collection/></d:prop></d:response>";
    const entity = "<d:response><d:href>/dav/files/&x;</d:href></d:response>";
    const body = `<!DOCTYPE d [<!ENTITY x "expanded">]><d:multistatus>${own}${other}${entity}</d:multistatus>`;
    dav.fail(() => ({ status: 207, body }));
    const { entries } = await run("list_files", {});
    expect(entries.map((one: { name: string }) => one.name)).toEqual(["&x;"]);
  });

  it("says that it is full, locked or not allowed", async () => {
    const move = async (status: number) => {
      put("a.txt", "a");
      dav.fail(({ method }) =>
        method === "MOVE" ? { status, body: "<d:error><s:message>Because.</s:message></d:error>" } : undefined,
      );
      return refusal(run("move_file", { path: "a.txt", destination: "b.txt" }));
    };
    expect(await move(507)).toMatchObject({
      code: "provider_unavailable",
      message: expect.stringContaining("no space"),
    });
    expect(await move(423)).toMatchObject({ code: "conflict", message: expect.stringContaining("Because.") });
    expect(await move(403)).toMatchObject({ code: "forbidden" });
  });
});

describe("settings of a WebDAV server", () => {
  it("are tried, and the one that is wrong is named", async () => {
    for (const [change, setting] of [
      [{ webdavUrl: "files" }, "webdavUrl"],
      [{ webdavUrl: "https://ana:x@dav.example.org/" }, "webdavUrl"],
      [{ webdavUrl: "https://dav.example.org/?x=1" }, "webdavUrl"],
      [{ webdavUrl: "http://dav.example.org/" }, "webdavUrl"],
      [{ webdavUrl: "https://127.0.0.1.nip.example/" }, "webdavUrl"],
      [{ webdavUrl: `${dav.url}/nothing` }, "webdavUrl"],
      [{ webdavPassword: "wrong password" }, "webdavPassword"],
      [{ webdavUser: undefined }, "webdavUser"],
      [{ folder: "/srv" }, "folder"],
      [{ s3Bucket: "files" }, "s3Bucket"],
    ] as const) {
      const changed = { ...settings, ...change };
      const attempt = async () => {
        await integration.checkSettings(changed);
        await integration.testSettings?.(changed, AbortSignal.timeout(9000));
      };
      const error = await refusal(attempt());
      expect([error.status, error.options.extra], JSON.stringify(change)).toEqual([422, { setting }]);
      expect(error.message).not.toMatch(/wrong password|pass wörd/);
    }
  });

  it("reach no address that is not public", async () => {
    const blocked = createRunner(integration, { settings: { ...settings, webdavUrl: "https://192.168.1.5/dav" } });
    expect((await refusal(blocked("list_files", {}))).message).toContain("--allow-host");
    const plain = integration.checkSettings({ ...settings, webdavUrl: "http://dav.example.org/" });
    expect((await refusal(plain)).message).toContain("--allow-host dav.example.org:80");
  });
});
