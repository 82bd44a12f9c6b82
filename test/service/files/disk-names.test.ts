import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import { refuseEntry } from "../../../src/apps/port/connection-folder.ts";
import { movePath } from "../../../src/service/backup/restore-backup.ts";
import { checkDiskName, UNFINISHED_PREFIX, withFolder } from "../../../src/service/files/folder.ts";
import { writeFileDurably } from "../../../src/service/files/write-file.ts";
import { readSecretKey } from "../../../src/service/secrets/secret-box.ts";
import { createRunner } from "../../apps/run-action.ts";

/** Disks that know no links, drop the ends of names or refuse names, as exFAT, SMB and NTFS do. */

const disk = vi.hoisted(() => ({ hasLinks: true, dropsDots: false, refused: "" }));
vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof import("node:fs/promises")>();
  const bare = (path: unknown) => (disk.dropsDots && typeof path === "string" ? path.replace(/[. ]+$/, "") : path);
  const take = <Work extends (...args: never[]) => unknown>(work: Work) =>
    ((path: unknown, ...more: unknown[]) => Reflect.apply(work, undefined, [bare(path), ...more])) as unknown as Work;
  return {
    ...real,
    open: take(real.open),
    mkdir: take(real.mkdir),
    rm: take(real.rm),
    rmdir: take(real.rmdir),
    lstat: take(real.lstat),
    rename: (from: string, to: string) =>
      disk.refused !== "" && to.includes(disk.refused)
        ? Promise.reject(Object.assign(new Error("EINVAL"), { code: "EINVAL" }))
        : take(real.rename)(from, to),
    link: (from: string, to: string) =>
      disk.hasLinks ? real.link(from, to) : Promise.reject(Object.assign(new Error("EPERM"), { code: "EPERM" })),
  };
});

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-names-"));
});
afterEach(async () => {
  Object.assign(disk, { hasLinks: true, dropsDots: false, refused: "" });
  await rm(root, { recursive: true, force: true });
});

const place = (...parts: string[]) => ({ root, setting: "folder", parts, create: true });
const write = (name: string, ifExists: "error" | "rename" | "replace", ...parts: string[]) =>
  withFolder(place(...parts), (folder) => writeFileDurably(folder, { name, bytes: [Buffer.from("new")], ifExists }));

test.each([
  "a:b.txt",
  "hello.txt:hidden",
  "a?b",
  "x*y",
  "CON",
  "nul.txt",
  "COM\u00b9",
  "trail.",
  "trail ",
  "a|b",
  'a"b',
  "a<b",
])("Windows alone refuses the name %j", (name) => {
  expect(() => checkDiskName(name, "win32")).toThrow(expect.objectContaining({ code: "EINVAL" }));
  expect(() => checkDiskName(name, "linux")).not.toThrow();
});

test.each(["report.pdf", "a b.txt", ".svc-unfinished-1", "1763631000.M1P1Q1.host;2,S", "CONTRACT.txt", "com10.txt"])(
  "Windows takes the name %j",
  (name) => {
    expect(() => checkDiskName(name, "win32")).not.toThrow();
  },
);

describe("a disk that drops dots and blanks at the end of a name", () => {
  test.each(["trail.", "trail ", "Inc. ."])("takes no file and no folder %j", async (name) => {
    disk.dropsDots = true;
    await expect(write(name, "error")).rejects.toMatchObject({ code: "EINVAL" });
    await expect(write("a.txt", "error", name)).rejects.toMatchObject({ code: "EINVAL" });
    await mkdir(join(root, "trail"), { recursive: true });
    await expect(write("a.txt", "error", "trail.")).rejects.toMatchObject({ code: "EINVAL" });
    disk.dropsDots = false;
    expect(await readdir(root, { recursive: true })).toEqual(["trail"]);
  });

  test("another disk takes them, and holds nothing else then", async () => {
    await write("trail.", "error", "Acme Inc.");
    await write("trail.", "rename", "Acme Inc.");
    expect((await readdir(root, { recursive: true })).sort()).toEqual([
      "Acme Inc.",
      "Acme Inc./trail (2).",
      "Acme Inc./trail.",
    ]);
  });
});

describe("a disk without hard links", () => {
  beforeEach(() => {
    disk.hasLinks = false;
  });

  test("takes a file under a free name only", async () => {
    await write("a.txt", "error");
    await expect(write("a.txt", "error")).rejects.toMatchObject({ code: "EEXIST" });
    expect((await write("a.txt", "rename")).name).toBe("a (2).txt");
    await write("a.txt", "replace");
    expect((await readdir(root)).sort()).toEqual(["a (2).txt", "a.txt"]);
    expect((await readdir(root)).some((name) => name.startsWith(UNFINISHED_PREFIX))).toBe(false);
  });

  test("takes the key of the service, one for all that start together", async () => {
    const read = () => readSecretKey({ dataDir: root, isInUse: async () => false });
    const keys = await Promise.all([read(), read(), read()]);
    expect(new Set(keys.map((key) => key.toString("hex"))).size).toBe(1);
    expect(await readdir(root)).toEqual(["connection-secrets.key"]);
  });
});

describe("a folder that is moved", () => {
  const move = (destination: string) =>
    createRunner(createDriveIntegration(), { settings: { folder: root } })("move_file", { path: "a", destination });
  beforeEach(() => mkdir(join(root, "a")));

  test("is refused a name that the disk refuses, and a place in itself", async () => {
    disk.refused = "?";
    await expect(move("b?")).rejects.toThrow("cannot be a name on this disk");
    disk.refused = "";
    await expect(move("a/b")).rejects.toThrow("inside the folder that is to be moved");
    expect(await readdir(root, { recursive: true })).toEqual(["a"]);
  });

  test("gets no other name where the disk drops dots", async () => {
    disk.dropsDots = true;
    await expect(move("b.")).rejects.toThrow("cannot be a name on this disk");
    disk.dropsDots = false;
    expect(await readdir(root, { recursive: true })).toEqual(["a"]);
  });
});

test("EINVAL is about a name, and only a folder that is moved can lie inside itself", () => {
  expect(refuseEntry("EINVAL", "name", "a?b.txt")?.message).toContain('cannot be a name on this disk: "a?b.txt"');
  expect(refuseEntry("INSIDE", "destination", "a")?.message).toContain("inside the folder that is to be moved");
});

test("folders made for a call that failed are gone, and those that hold something stay", async () => {
  const fail = () => Promise.reject(new Error("broken"));
  await expect(withFolder(place("a", "b"), fail)).rejects.toThrow("broken");
  expect(await readdir(root)).toEqual([]);
  disk.dropsDots = true;
  await expect(withFolder(place("a", "b."), fail)).rejects.toMatchObject({ code: "EINVAL" });
  disk.dropsDots = false;
  expect(await readdir(root)).toEqual([]);
  await mkdir(join(root, "kept"));
  await expect(withFolder(place("kept", "b"), fail)).rejects.toThrow("broken");
  const half = async () => {
    await writeFile(join(root, "kept/b/a.txt"), "");
    throw new Error("broken");
  };
  await expect(withFolder(place("kept", "b"), half)).rejects.toThrow("broken");
  expect((await readdir(root, { recursive: true })).sort()).toEqual(["kept", "kept/b", "kept/b/a.txt"]);
});

test.each([
  ["C:\\Users\\ada\\svc\\drive\\Letters", "C:\\Users\\ada\\svc", "/srv/svc", "/srv/svc/drive/Letters"],
  ["C:\\Users\\ada\\svc", "C:\\Users\\ada\\svc", "/srv/svc", "/srv/svc"],
  ["C:\\Users\\ada\\svc2", "C:\\Users\\ada\\svc", "/srv/svc", "C:\\Users\\ada\\svc2"],
  ["/home/ada/svc/drive", "/home/ada/svc", "/srv/new", "/srv/new/drive"],
  ["/home/ada/svc-old", "/home/ada/svc", "/srv/new", "/home/ada/svc-old"],
  ["/home/ada/svc/a\\b", "/home/ada/svc", "/srv/new", "/srv/new/a\\b"],
  [7, "/home/ada/svc", "/srv/new", 7],
])("a setting %j of a backup of %s is restored to %s as %j", (value, from, to, moved) => {
  expect(movePath(value, from, to)).toBe(moved);
});
