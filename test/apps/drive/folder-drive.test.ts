import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { beforeEach, describe, expect, it } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createKeeper, createPreviewer, createRunner, holdFile, refusal } from "../run-action.ts";

const MAKE_FIFO = "mkfifo";
const driveIntegration = createDriveIntegration();
const temp = useTempFolder();
let root = "";
let run: ReturnType<typeof createRunner>;

const photo = holdFile("photo.png", "image/png", Buffer.from("89504e470d0a1a0a0000000d49484452", "hex"));
const upload = (extra: Record<string, unknown> = {}) => ({
  file: { name: "photo.png", mimetype: "image/png", s3key: "k" },
  ...extra,
});

beforeEach(async () => {
  root = join(temp(), "drive");
  await mkdir(root);
  await writeFile(join(temp(), "secret.txt"), "outside");
  run = createRunner(driveIntegration, { settings: { folder: root }, files: { k: photo } });
});

describe("drive_upload_file", () => {
  it("writes the bytes, creates missing folders and says what is there", async () => {
    const result = await run("upload_file", upload({ folder: "Fotos/2026" }));
    expect(result).toMatchObject({
      path: "Fotos/2026/photo.png",
      name: "photo.png",
      type: "file",
      size: photo.size,
      mimetype: "image/png",
      sha256: photo.sha256,
      modified: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await readdir(join(root, "Fotos/2026"))).toEqual(["photo.png"]);
  });

  it("keeps unicode and blanks in names", async () => {
    const result = await run("upload_file", upload({ folder: "Ordner ä", name: "日本 – résumé #1?.png" }));
    expect(result.path).toBe("Ordner ä/日本 – résumé #1?.png");
    expect((await stat(join(root, result.path))).size).toBe(photo.size);
  });

  it("does not overwrite unless told to", async () => {
    await writeFile(join(root, "photo.png"), "old");
    const error = await refusal(run("upload_file", upload()));
    expect(error).toMatchObject({ status: 400, code: "invalid_field_value" });
    expect(error.options.extra).toEqual({ invalidFields: ["arguments.file.name"] });
    expect(error.options.hint).toContain("if_exists");
    expect(await readFile(join(root, "photo.png"), "utf8")).toBe("old");
    expect((await run("upload_file", upload({ if_exists: "rename" }))).path).toBe("photo (2).png");
    expect((await run("upload_file", upload({ if_exists: "rename" }))).path).toBe("photo (3).png");
    expect((await run("upload_file", upload({ if_exists: "replace" }))).path).toBe("photo.png");
    expect((await readFile(join(root, "photo.png"))).length).toBe(photo.size);
    expect((await readdir(root)).sort()).toEqual([".trash", "photo (2).png", "photo (3).png", "photo.png"]);
    const [kept = ""] = await readdir(join(root, ".trash"));
    expect(await readFile(join(root, ".trash", kept, "photo.png"), "utf8")).toBe("old");
  });

  it("gives every one of many simultaneous uploads its own name", async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () => run("upload_file", upload({ if_exists: "rename" }))),
    );
    expect(new Set(results.map((one) => one.path)).size).toBe(20);
    const winners = await Promise.allSettled(
      Array.from({ length: 20 }, () => run("upload_file", upload({ name: "one.png" }))),
    );
    expect(winners.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    expect((await readdir(root)).filter((name) => name.startsWith("."))).toEqual([]);
  });

  it("leaves nothing behind when the bytes break off", async () => {
    const broken = {
      ...photo,
      open: () =>
        Readable.from(
          (async function* () {
            yield Buffer.from("half");
            throw new Error("connection lost");
          })(),
        ),
    };
    await expect(run("upload_file", upload({ folder: "a" }), { k: broken })).rejects.toThrow();
    expect(await readdir(root)).not.toContain("a");
  });
});

describe("paths of a drive", () => {
  const hostile: [string, string][] = [
    ["../secret.txt", "dot dot"],
    ["a/../../secret.txt", "dot dot inside"],
    ["a/..", "ends in dot dot"],
    ["./a", "dot"],
    ["/etc/passwd", "absolute"],
    ["~/x", "home"],
    ["~", "home itself"],
    ["a\\..\\x", "backslash"],
    ["a\u0000b", "NUL"],
    ["a\nb", "newline"],
    ["x".repeat(256), "long name"],
    [`${"x/".repeat(1100)}y`, "long path"],
  ];

  it.each(hostile)("refuses %j (%s) everywhere", async (path) => {
    for (const [id, args, field] of [
      ["read_file", { path }, "path"],
      ["list_files", { folder: path }, "folder"],
      ["search_files", { query: "x", folder: path }, "folder"],
      ["upload_file", upload({ folder: path }), "folder"],
      ["upload_file", upload({ name: path }), "name"],
      ["create_folder", { path }, "path"],
      ["delete_file", { path }, "path"],
      ["move_file", { path, destination: "x" }, "path"],
      ["move_file", { path: "x", destination: path }, "destination"],
    ] as const) {
      const error = await refusal(run(id, args));
      expect([error.status, error.code, error.options.extra], id).toEqual([
        400,
        "invalid_field_value",
        { invalidFields: [`arguments.${field}`] },
      ]);
    }
    expect(await readdir(root)).toEqual([]);
  });

  it.each(["~lock.txt", "~$report.docx", "~~", "a~"])("takes %j for a name like any other", async (name) => {
    const stored = await run("upload_file", { file: { name, mimetype: "image/png", s3key: "k" } });
    expect(stored.path).toBe(name);
    expect(await run("read_file", { path: name })).toMatchObject({ size: 16 });
    const moved = await run("move_file", { path: name, destination: `~folder/${name}` });
    expect(moved.path).toBe(`~folder/${name}`);
    await run("delete_file", { path: `~folder/${name}` });
    expect(await readdir(join(root, "~folder"))).toEqual([]);
  });

  it("stores no file that could not be named again", async () => {
    const error = await refusal(run("upload_file", { file: { name: "~", mimetype: "image/png", s3key: "k" } }));
    expect(error.options.extra).toEqual({ invalidFields: ["arguments.file.name"] });
    expect(await readdir(root)).toEqual([]);
  });

  it.each(["", "/", "//"])("refuses %j where something inside the drive must be named", async (path) => {
    for (const id of ["read_file", "delete_file", "create_folder"])
      expect((await refusal(run(id, { path }))).status).toBe(400);
  });

  it("follows no symbolic link, neither a file nor a folder, inside or outside", async () => {
    await symlink(join(temp(), "secret.txt"), join(root, "leaf.txt"));
    await symlink(temp(), join(root, "out"));
    await mkdir(join(root, "in"));
    await symlink(join(root, "in"), join(root, "inside"));
    for (const path of ["leaf.txt", "out/secret.txt", "inside/x"]) {
      const error = await refusal(run("read_file", { path }));
      expect(error.status, path).toBeGreaterThanOrEqual(400);
      expect(error.status, path).toBeLessThan(500);
      expect(error.message).not.toContain(temp());
    }
    for (const folder of ["out", "inside"]) {
      expect((await refusal(run("list_files", { folder }))).status).toBe(400);
      expect((await refusal(run("upload_file", upload({ folder })))).status).toBe(400);
    }
    expect((await refusal(run("upload_file", upload({ name: "leaf.txt" })))).status).toBe(400);
    expect(await readFile(join(temp(), "secret.txt"), "utf8")).toBe("outside");
    expect((await run("list_files", {})).entries.map((one: { name: string }) => one.name)).toEqual(["in"]);
    expect((await run("search_files", { query: "secret" })).total).toBe(0);
  });

  it("replaces a link itself, never what it points to", async () => {
    await symlink(join(temp(), "secret.txt"), join(root, "leaf.txt"));
    await run("upload_file", upload({ name: "leaf.txt", if_exists: "replace" }));
    expect(await readFile(join(temp(), "secret.txt"), "utf8")).toBe("outside");
  });

  it("is not stalled by a named pipe", async () => {
    execFileSync(MAKE_FIFO, [join(root, "pipe")]);
    expect((await refusal(run("read_file", { path: "pipe" }))).status).toBe(400);
  });

  it("keeps two connections apart", async () => {
    const other = join(temp(), "other");
    await mkdir(other);
    await run("upload_file", upload());
    const second = createRunner(driveIntegration, { settings: { folder: other } });
    expect((await second("list_files", {})).entries).toEqual([]);
    expect(await refusal(second("read_file", { path: "photo.png" }))).toMatchObject({ status: 404, code: "not_found" });
  });

  it("may itself be reached through a link", async () => {
    await symlink(root, join(temp(), "alias"));
    const aliased = createRunner(driveIntegration, {
      settings: { folder: join(temp(), "alias") },
      files: { k: photo },
    });
    expect((await aliased("upload_file", upload())).path).toBe("photo.png");
  });
});

describe("reading a drive", () => {
  it("lists folders first and hides dot names", async () => {
    await mkdir(join(root, "z"));
    await writeFile(join(root, "a.txt"), "a");
    await writeFile(join(root, ".hidden"), "h");
    const { entries, total } = await run("list_files", {});
    expect(entries.map((one: { path: string; type: string }) => [one.path, one.type])).toEqual([
      ["z", "folder"],
      ["a.txt", "file"],
    ]);
    expect(total).toBe(2);
    expect((await run("list_files", { include_hidden: true })).total).toBe(3);
    expect(await run("list_files", { limit: 1 })).toMatchObject({ total: 2, next_offset: 1 });
    expect((await run("list_files", { limit: 1, offset: 1 })).next_offset).toBeUndefined();
  });

  it("finds by every word, whatever the case and the normal form", async () => {
    await mkdir(join(root, "Café"), { recursive: true });
    await writeFile(join(root, "Café", "Invoice March.PDF"), "x");
    expect(
      (await run("search_files", { query: "invoice cafe\u0301" })).entries.map((one: { path: string }) => one.path),
    ).toEqual(["Café/Invoice March.PDF"]);
    expect((await run("search_files", { query: "invoice april" })).total).toBe(0);
    expect((await run("search_files", { query: "invoice", modified_after: "2999-01-01" })).total).toBe(0);
  });

  it("returns text in pieces that join without loss", async () => {
    const text = "Größe 🎉 ".repeat(40);
    await writeFile(join(root, "t.txt"), text);
    let joined = "";
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const part: { text: string; next_offset?: number } = await run("read_file", {
        path: "t.txt",
        offset,
        max_bytes: 17,
      });
      joined += part.text;
      offset = part.next_offset;
    }
    expect(joined).toBe(text);
  });

  it("describes other content and hands it on when it can", async () => {
    await run("upload_file", upload());
    const alone = await run("read_file", { path: "photo.png" });
    expect(alone).toMatchObject({ mimetype: "image/png", size: photo.size, sha256: photo.sha256 });
    expect(alone.text).toBeUndefined();
    const keeping = createRunner(driveIntegration, {
      settings: { folder: root },
      keepFile: async (_file, bytes) => {
        let size = 0;
        for await (const piece of bytes) size += piece.length;
        return { s3key: "kept", size };
      },
    });
    expect((await keeping("read_file", { path: "photo.png" })).file).toEqual({
      name: "photo.png",
      mimetype: "image/png",
      s3key: "kept",
    });
  });

  it("answers 404 not_found of the provider for what is not there", async () => {
    const error = await refusal(run("read_file", { path: "none/such.txt" }));
    expect([error.status, error.code, error.options.type]).toEqual([404, "not_found", "provider"]);
    expect((await refusal(run("read_file", { path: "" }))).status).toBe(400);
  });
});

describe("changing a drive", () => {
  beforeEach(async () => {
    await mkdir(join(root, "a"));
    await writeFile(join(root, "a/one.txt"), "1");
    await writeFile(join(root, "two.txt"), "2");
  });

  it("creates folders once", async () => {
    expect(await run("create_folder", { path: "b/c" })).toMatchObject({ path: "b/c", type: "folder", created: true });
    expect(await run("create_folder", { path: "b/c" })).toMatchObject({ created: false });
    expect((await refusal(run("create_folder", { path: "two.txt" }))).status).toBe(400);
  });

  it("moves files without overwriting, and folders", async () => {
    expect(await run("move_file", { path: "two.txt", destination: "b/2.txt" })).toMatchObject({
      path: "b/2.txt",
      moved_from: "two.txt",
    });
    expect((await refusal(run("move_file", { path: "b/2.txt", destination: "a/one.txt" }))).code).toBe(
      "invalid_field_value",
    );
    expect((await run("move_file", { path: "b/2.txt", destination: "a/one.txt", if_exists: "rename" })).path).toBe(
      "a/one (2).txt",
    );
    expect(
      (await run("move_file", { path: "a/one (2).txt", destination: "a/one.txt", if_exists: "replace" })).path,
    ).toBe("a/one.txt");
    expect(await readFile(join(root, "a/one.txt"), "utf8")).toBe("2");
    expect((await run("move_file", { path: "a", destination: "c/d" })).path).toBe("c/d");
    expect((await refusal(run("move_file", { path: "c", destination: "c/e/f" }))).status).toBe(400);
    expect((await refusal(run("move_file", { path: "nope", destination: "x/y" }))).status).toBe(404);
    expect((await readdir(root)).sort()).toEqual([".trash", "b", "c"]);
  });

  it("deletes into .trash, from where things come back", async () => {
    const gone = await run("delete_file", { path: "a/one.txt" });
    expect(gone).toMatchObject({
      path: "a/one.txt",
      deleted: true,
      trashed_to: expect.stringMatching(/^\.trash\/20261120T093000Z-[0-9a-f]{12}\/a\/one\.txt$/),
    });
    expect((await refusal(run("read_file", { path: "a/one.txt" }))).status).toBe(404);
    expect((await refusal(run("delete_file", { path: gone.trashed_to }))).status).toBe(400);
    expect((await run("search_files", { query: "one" })).total).toBe(0);
    expect((await run("move_file", { path: gone.trashed_to, destination: "a/one.txt" })).path).toBe("a/one.txt");
    expect((await run("read_file", { path: "a/one.txt" })).text).toBe("1");
  });

  it("keeps no link that it deletes or replaces, as it cannot be moved back, and says so", async () => {
    await symlink(join(temp(), "secret.txt"), join(root, "leaf.txt"));
    const parts = { settings: { folder: root }, files: { k: photo } };
    for (const [action, args] of [
      ["upload_file", upload({ name: "leaf.txt", if_exists: "replace" })],
      ["delete_file", { path: "leaf.txt" }],
    ] as const) {
      const { undo } = await createPreviewer(driveIntegration, parts)(action, args);
      expect(undo).toEqual({ possible: false, why: expect.stringContaining("link") });
      expect((await createKeeper(driveIntegration, parts).run(action, args)).kept).toBeUndefined();
      await rm(join(root, "leaf.txt"), { force: true });
      await symlink(join(temp(), "secret.txt"), join(root, "leaf.txt"));
    }
    expect(await readFile(join(temp(), "secret.txt"), "utf8")).toBe("outside");
  });

  it("leaves no trace when there is nothing to delete", async () => {
    expect((await refusal(run("delete_file", { path: "nope.txt" }))).status).toBe(404);
    expect((await readdir(root)).sort()).toEqual(["a", "two.txt"]);
  });

  it("saves nothing into .trash", async () => {
    expect((await refusal(run("upload_file", upload({ folder: ".trash" })))).status).toBe(400);
    expect((await refusal(run("move_file", { path: "two.txt", destination: ".trash/two.txt" }))).status).toBe(400);
  });
});

describe("settings of a drive", () => {
  it("names the setting when it is missing or not a folder", async () => {
    const check = (settings: Record<string, unknown>) => driveIntegration.checkSettings(settings);
    const attempt = (settings: Record<string, unknown>) =>
      driveIntegration.testSettings?.(settings, AbortSignal.timeout(5000)) as Promise<void>;
    const refused = [
      check({}),
      check({ folder: "" }),
      check({ folder: 7 }),
      attempt({ folder: join(temp(), "secret.txt") }),
    ];
    for (const error of await Promise.all(refused.map(refusal))) {
      expect([error.status, error.code]).toEqual([422, "integration_misconfigured"]);
      expect(error.message).toContain('"folder"');
    }
    await check({ folder: root });
    await attempt({ folder: root });
  });

  it("answers 503, retryable, while the folder is away", async () => {
    await rename(root, `${root}-away`);
    const error = await refusal(run("list_files", {}));
    expect([error.status, error.code, error.options.retryable]).toEqual([503, "provider_unavailable", true]);
    expect(error.message).not.toContain(root);
    await rename(`${root}-away`, root);
    expect((await run("list_files", {})).entries).toEqual([]);
  });

  it("answers 503 when the disk is full", async () => {
    const full = {
      ...photo,
      open: () => {
        throw Object.assign(new Error("full"), { code: "ENOSPC" });
      },
    };
    expect((await refusal(run("upload_file", upload(), { k: full }))).status).toBe(503);
  });
});

describe("the catalogue entry", () => {
  it("describes every argument and marks writes", () => {
    for (const action of driveIntegration.actions) {
      expect(action.requiresConfirmation, action.id).toBe(action.level !== "read");
      expect(action.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const [name, property] of Object.entries(
        action.inputSchema.properties as Record<string, { description?: string }>,
      ))
        expect(property.description, `${action.id}.${name}`).toBeTruthy();
      for (const scope of action.scopes) expect(driveIntegration.scopes).toContain(scope);
    }
    expect(driveIntegration.actions.find((one) => one.id === "upload_file")?.inputSchema.properties).toMatchObject({
      file: { file_uploadable: true, required: ["name", "mimetype", "s3key"] },
    });
  });
});
