import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import type { HeldFile } from "../../../src/apps/port/integration.ts";
import { createRunner, holdFile, refusal } from "../run-action.ts";

/** A place for drives that is there for one test file. */
export interface DriveHost {
  /** Settings of a drive in which nothing is yet. */
  open(): Promise<Readonly<Record<string, unknown>>>;
  /** Ends the connection at one of the next requests, the first being 1, when it was done, or before; undefined: at none. */
  cut?(cut: { readonly at: number; readonly isDone: boolean } | undefined): void;
  /** The drive that was opened last, without the actions: quicker. */
  readonly direct?: {
    write(path: string, text: string): void;
    /** Texts by paths; of folders, as far as they are things of their own, that is empty and the path ends in a slash. */
    readAll(): Readonly<Record<string, string>>;
  };
  close(): Promise<void>;
}

const ODD_NAME = "日本 – résumé #1? 100%25 +&=;'(!)*.txt";
const data = holdFile("data.bin", "application/octet-stream", randomBytes(300_000));

/**
 * What every drive does alike, wherever its files are.
 *
 * @param o.isConditional false for a server that knows no conditions, and so cannot keep two writes at one moment apart
 * @param o.secret the setting that opens the drive, of one that not everybody may use
 */
export function describeDrive(
  name: string,
  start: () => Promise<DriveHost>,
  { isConditional = true, secret }: { readonly isConditional?: boolean; readonly secret?: string } = {},
): void {
  describe(`a drive: ${name}`, () => {
    const integration = createDriveIntegration();
    let host: DriveHost;
    let settings: Record<string, unknown>;
    let run: ReturnType<typeof createRunner>;
    beforeAll(async () => {
      host = await start();
    });
    afterAll(async () => {
      await integration.close?.();
      await host?.close();
    });
    beforeEach(async () => {
      settings = { ...(await host.open()) };
      run = createRunner(integration, { settings, now: Date.now });
    });
    const save = (path: string, content: string | HeldFile, ifExists = "error") => {
      const file = typeof content === "string" ? holdFile("x.txt", "text/plain", content) : content;
      const parts = path.split("/");
      const saved = parts.pop();
      const args = { file: { name: file.name, mimetype: file.mimetype, s3key: "k" }, folder: parts.join("/") };
      return run("upload_file", { ...args, name: saved, if_exists: ifExists }, { k: file });
    };
    /** A file whose first bytes come when somebody else has saved one. */
    const saveFirst = (path: string, text: string): HeldFile => {
      const held = holdFile("x.txt", "text/plain", "ours, which is longer");
      async function* open() {
        await save(path, text, "replace");
        yield* held.open();
      }
      return { ...held, open: () => Readable.from(open()) };
    };
    const list = async (folder = "", more = {}): Promise<string[]> =>
      (await run("list_files", { folder, ...more })).entries.map((one: { path: string; type: string }) =>
        one.type === "folder" ? `${one.path}/` : one.path,
      );
    const read = async (path: string): Promise<string> => (await run("read_file", { path })).text;

    it("accepts its settings", async () => {
      await integration.checkSettings(settings);
      await integration.testSettings?.(settings, AbortSignal.timeout(9000));
      expect(await list()).toEqual([]);
    });

    it("saves whole files in folders that it makes, and gives them back", async () => {
      const saved = await save(`Fotos/2026/${ODD_NAME}`, "Größe 🎉");
      expect(saved).toMatchObject({ path: `Fotos/2026/${ODD_NAME}`, name: ODD_NAME, type: "file", size: 12 });
      expect(saved.modified).toMatch(/^\d{4}-.*Z$/);
      expect(await run("read_file", { path: saved.path })).toMatchObject({
        ...{ text: "Größe 🎉", size: 12, mimetype: "text/plain", sha256: saved.sha256 },
      });
      expect(await list("Fotos/2026")).toEqual([saved.path]);
      expect(await list("Fotos")).toEqual(["Fotos/2026/"]);
      await save("empty.txt", "");
      expect(await run("read_file", { path: "empty.txt" })).toMatchObject({ size: 0, text: "" });
    });

    it("hands on what is not text, byte for byte", async () => {
      await save("data.bin", data);
      let got: Buffer | undefined;
      const keepFile = async (_: unknown, all: AsyncIterable<Uint8Array>) => {
        got = await buffer(all);
        return { s3key: "kept", size: got.length };
      };
      const keeping = createRunner(integration, { settings, keepFile, now: Date.now });
      const answer = await keeping("read_file", { path: "data.bin" });
      expect(answer).toMatchObject({
        mimetype: "application/octet-stream",
        sha256: data.sha256,
        file: { s3key: "kept" },
      });
      expect(
        createHash("sha256")
          .update(got ?? "")
          .digest("hex"),
      ).toBe(data.sha256);
    });

    it("gives long texts in pieces that join without loss", async () => {
      const text = "Größe 🎉 ".repeat(9000);
      await save("t.txt", text);
      let joined = "";
      for (let offset: number | undefined = 0; offset !== undefined; ) {
        const part = await run("read_file", { path: "t.txt", offset, max_bytes: 50_001 });
        joined += part.text;
        offset = part.next_offset;
      }
      expect(joined).toBe(text);
    });

    /** Without the trash, where what was replaced lies. */
    const listKept = async () =>
      (await list("", { include_hidden: true })).filter((name: string) => name !== ".trash/");

    it("overwrites nothing unless it is told to", async () => {
      await save("a.txt", "old");
      const refused = await refusal(save("a.txt", "new"));
      expect([refused.status, refused.code]).toEqual([400, "invalid_field_value"]);
      expect(refused.options.extra).toEqual({ invalidFields: ["arguments.name"] });
      expect(await read("a.txt")).toBe("old");
      expect((await save("a.txt", "new", "rename")).path).toBe("a (2).txt");
      expect((await save("a.txt", "newer", "rename")).path).toBe("a (3).txt");
      expect((await save("a.txt", "newest", "replace")).path).toBe("a.txt");
      expect([await read("a.txt"), await read("a (2).txt")]).toEqual(["newest", "new"]);
      expect((await save("b.txt", "b", "replace")).path).toBe("b.txt");
      expect(await listKept()).toEqual(["a (2).txt", "a (3).txt", "a.txt", "b.txt"]);
    });

    it.runIf(isConditional)("lets one of several that save under the same name win", async () => {
      const saved = await Promise.allSettled(["1", "2", "3", "4"].map((text) => save("one.txt", text)));
      const won = saved.filter(({ status }) => status === "fulfilled").length;
      expect(won).toBeLessThanOrEqual(1);
      expect(await list("", { include_hidden: true })).toEqual(["one.txt"]);
    });

    it("keeps a file that somebody else saves under the name meanwhile", async () => {
      expect((await refusal(save("a.txt", saveFirst("a.txt", "theirs")))).code).toBe("invalid_field_value");
      expect([await read("a.txt"), await list("", { include_hidden: true })]).toEqual(["theirs", ["a.txt"]]);
    });

    it.runIf(isConditional)("replaces no file that somebody else changes meanwhile", async () => {
      await save("a.txt", "old");
      const refused = await refusal(save("a.txt", saveFirst("a.txt", "changed"), "replace"));
      expect([refused.status, refused.code]).toEqual([409, "conflict"]);
      expect([await read("a.txt"), await listKept()]).toEqual(["changed", ["a.txt"]]);
    });

    it.runIf(secret)("opens with its own secret only, and says so", async () => {
      await save("a.txt", "old");
      const wrong = { ...settings, [secret ?? ""]: "another secret" };
      const files = { k: holdFile("a.txt", "text/plain", "new") };
      const other = createRunner(integration, { settings: wrong, files, now: Date.now });
      const file = { name: "a.txt", mimetype: "text/plain", s3key: "k" };
      for (const error of await Promise.all(
        [
          other("list_files", {}),
          other("read_file", { path: "a.txt" }),
          other("upload_file", { file, if_exists: "replace" }),
          other("move_file", { path: "a.txt", destination: "b.txt" }),
        ].map(refusal),
      )) {
        expect([error.status, error.code], error.message).toEqual([401, "needs_reauth"]);
        expect([error.message, error.options.hint]).toEqual([
          expect.not.stringContaining("another secret"),
          "Connect the app again, then repeat the call.",
        ]);
      }
      const tried = await refusal(integration.testSettings?.(wrong, AbortSignal.timeout(9000)) ?? Promise.resolve());
      expect([tried.status, tried.options.extra]).toEqual([422, { setting: secret }]);
      expect([await read("a.txt"), await list("", { include_hidden: true })]).toEqual(["old", ["a.txt"]]);
    });

    it("lists in pages, folders first, without hidden names", async () => {
      for (const path of ["b.txt", "a.txt", "z/x.txt", "y/x.txt", ".hidden", "c.txt"]) await save(path, path);
      expect(await list()).toEqual(["y/", "z/", "a.txt", "b.txt", "c.txt"]);
      expect(await list("", { include_hidden: true })).toContain(".hidden");
      expect(await run("list_files", { limit: 2, offset: 1 })).toMatchObject({ total: 5, next_offset: 3 });
      expect(await list("", { limit: 2, offset: 3 })).toEqual(["b.txt", "c.txt"]);
      expect((await refusal(list("none/such"))).status).toBe(404);
      expect((await refusal(list("a.txt"))).status).toBe(400);
    });

    it("finds by every word of a path", async () => {
      for (const path of ["Café/Invoice March.PDF", "Café/other.txt", ".trashed/invoice.txt", "invoice.txt"])
        await save(path, path);
      const find = async (args: object) =>
        (await run("search_files", { query: "invoice", ...args })).entries.map((one: { path: string }) => one.path);
      expect((await find({})).sort()).toEqual(["Café/Invoice March.PDF", "invoice.txt"]);
      expect(await find({ query: "invoice cafe\u0301" })).toEqual(["Café/Invoice March.PDF"]);
      expect(await find({ query: "café", type: "folder" })).toEqual(["Café"]);
      expect(await find({ folder: "Café" })).toEqual(["Café/Invoice March.PDF"]);
      expect(await find({ modified_after: "2999-01-01" })).toEqual([]);
      expect((await refusal(find({ folder: "none" }))).status).toBe(404);
    });

    it("creates folders once", async () => {
      expect(await run("create_folder", { path: "b/c" })).toMatchObject({ path: "b/c", type: "folder", created: true });
      expect(await run("create_folder", { path: "b/c" })).toMatchObject({ created: false });
      expect(await run("create_folder", { path: "b" })).toMatchObject({ created: false });
      expect([await list(), await list("b"), await list("b/c")]).toEqual([["b/"], ["b/c/"], []]);
      await save("file", "x");
      expect((await refusal(run("create_folder", { path: "file" }))).status).toBe(400);
    });

    it("takes no file for a folder, and no folder for a file", async () => {
      await save("file.txt", "x");
      await save("folder/x.txt", "x");
      const refused = [
        save("file.txt/x.txt", "x"),
        save("folder", "x"),
        save("folder", "x", "replace"),
        run("create_folder", { path: "file.txt/x" }),
        run("move_file", { path: "file.txt", destination: "folder", if_exists: "replace" }),
        run("move_file", { path: "folder/x.txt", destination: "file.txt/x.txt" }),
        run("read_file", { path: "folder" }),
      ];
      for (const error of await Promise.all(refused.map(refusal))) expect(error.status, error.message).toBe(400);
      expect([await list(), await list("folder")]).toEqual([["folder/", "file.txt"], ["folder/x.txt"]]);
    });

    it("moves files without overwriting, and folders whole", async () => {
      await save("a/one.txt", "1");
      await save("two.txt", "2");
      const move = (path: string, destination: string, if_exists = "error") =>
        run("move_file", { path, destination, if_exists });
      expect(await move("two.txt", "b/2 ä.txt")).toMatchObject({ path: "b/2 ä.txt", moved_from: "two.txt" });
      expect((await refusal(move("b/2 ä.txt", "a/one.txt"))).code).toBe("invalid_field_value");
      expect((await refusal(move("b/2 ä.txt", "b/2 ä.txt"))).code).toBe("invalid_field_value");
      expect((await move("b/2 ä.txt", "b/2 ä.txt", "replace")).path).toBe("b/2 ä.txt");
      expect((await move("b/2 ä.txt", "a/one.txt", "rename")).path).toBe("a/one (2).txt");
      expect((await move("a/one (2).txt", "a/one.txt", "replace")).path).toBe("a/one.txt");
      expect(await read("a/one.txt")).toBe("2");
      await save("a/deep/x.txt", "x");
      expect(await move("a", "c/d")).toMatchObject({ path: "c/d", type: "folder" });
      expect([await list("c/d"), await read("c/d/deep/x.txt")]).toEqual([["c/d/deep/", "c/d/one.txt"], "x"]);
      expect((await refusal(move("c", "c/e/f"))).status).toBe(400);
      expect((await refusal(move("c/d/deep", "c"))).status).toBe(400);
      expect((await refusal(move("nope", "x/y"))).status).toBe(404);
      expect(await list("c/d/deep")).toEqual(["c/d/deep/x.txt"]);
    });

    it("deletes into .trash, from where things come back", async () => {
      await save("a/one.txt", "1");
      const gone = await run("delete_file", { path: "a/one.txt" });
      expect(gone.trashed_to).toMatch(/^\.trash\/\d{8}T\d{6}Z-[0-9a-f]{12}\/a\/one\.txt$/);
      expect((await refusal(run("read_file", { path: "a/one.txt" }))).status).toBe(404);
      expect((await run("move_file", { path: gone.trashed_to, destination: "a/one.txt" })).path).toBe("a/one.txt");
      const folder = await run("delete_file", { path: "a" });
      expect(await list()).toEqual([]);
      expect(await read(`${folder.trashed_to}/one.txt`)).toBe("1");
      expect((await refusal(run("delete_file", { path: "nope.txt" }))).status).toBe(404);
    });
  });
}
