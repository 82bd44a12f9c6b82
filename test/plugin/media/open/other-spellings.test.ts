import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, sep } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { parseReference } from "../../../../src/plugin/media/locate/parse-reference.ts";
import { foldName } from "../../../../src/plugin/media/open/denied-names.ts";
import { openByIdentity } from "../../../../src/plugin/media/open/open-below-root.ts";
import { openMediaFile } from "../../../../src/plugin/media/open/open-media-file.ts";
import { createMediaRoots, isOfWindows } from "../../../../src/plugin/media/open/roots.ts";

/** A name can be stored in another Unicode form or case than it is written in; on macOS and Windows both are the same file. */

const disk = vi.hoisted(() => ({ matches: undefined as undefined | ((path: string) => Promise<string>) }));
vi.mock("node:fs/promises", async (load) => {
  const real = await load<typeof import("node:fs/promises")>();
  // A disk of macOS: a name leads to the entry that is like it, and its real path is the entry's own.
  const like =
    <Args extends unknown[], Result>(work: (path: string, ...args: Args) => Promise<Result>) =>
    async (path: string, ...args: Args) =>
      work(disk.matches === undefined ? path : await disk.matches(path), ...args);
  return {
    ...real,
    lstat: like(real.lstat),
    open: like(real.open),
    stat: like(real.stat),
    realpath: like(real.realpath),
  };
});

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "svc-spellings-"));
  await mkdir(join(root, "inbound"));
});
afterEach(async () => {
  disk.matches = undefined;
  await rm(root, { recursive: true, force: true });
});

const COMPOSED = "R\u00e9sum\u00e9.txt";
const DECOMPOSED = COMPOSED.normalize("NFD");

function useMacDisk(): void {
  disk.matches = async (path) => {
    let at: string = sep;
    for (const part of path.split(sep).filter(Boolean)) {
      const names = await readdir(at).catch(() => []);
      at = join(at, names.find((name) => foldName(name) === foldName(part)) ?? part);
    }
    return at;
  };
}

async function openAs(name: string) {
  const opened = await openByIdentity(root, ["inbound", name], "nofollow-any");
  if (!("handle" in opened)) return opened.refused;
  await opened.handle.close();
  return "open";
}

describe("on a disk that knows a name in any form and case", () => {
  beforeEach(useMacDisk);

  test.each([COMPOSED, DECOMPOSED, COMPOSED.toUpperCase(), DECOMPOSED.toLowerCase()])("%s is opened", async (name) => {
    await writeFile(join(root, "inbound", DECOMPOSED), "x");
    expect(await openAs(name)).toBe("open");
  });

  test("a link is refused as before, in the file's place and on the way", async () => {
    await writeFile(join(root, "elsewhere.txt"), "x");
    await symlink(join(root, "elsewhere.txt"), join(root, "inbound", DECOMPOSED));
    expect(await openAs(COMPOSED)).toBe("symlink");
    await mkdir(join(root, "other"));
    await writeFile(join(root, "other", "a.txt"), "x");
    await symlink(join(root, "other"), join(root, "Linked"));
    expect(await openByIdentity(root, ["linked", "a.txt"], "nofollow-any")).toEqual({ refused: "symlink" });
  });
});

describe.runIf(process.platform === "linux")("on a disk that tells the forms apart", () => {
  async function read(name: string) {
    const roots = await createMediaRoots([root]);
    try {
      const opened = await openMediaFile(roots, `media://inbound/${encodeURIComponent(name)}`);
      if ("refused" in opened) return opened.refused;
      await opened.file.close();
      return opened.file.size;
    } finally {
      await roots.close();
    }
  }

  test.each([
    [DECOMPOSED, COMPOSED],
    [COMPOSED, DECOMPOSED],
  ])("a name stored in one form is found in the other", async (stored, asked) => {
    await writeFile(join(root, "inbound", stored), "x");
    expect(await read(asked)).toBe(1);
  });

  test("where both are there each is itself, and another case is another name", async () => {
    await writeFile(join(root, "inbound", COMPOSED), "12");
    await writeFile(join(root, "inbound", DECOMPOSED), "123");
    expect([await read(COMPOSED), await read(DECOMPOSED)]).toEqual([2, 3]);
    expect(await read(COMPOSED.toLowerCase())).toBe("not_found");
  });
});

describe("references as Windows has them", () => {
  const scope = (only?: string) => ({
    list: [
      { configured: "C:\\Users\\ada\\svc", canonical: "C:\\Users\\ada\\svc", anchor: undefined, ...(only && { only }) },
    ],
    home: "C:\\Users\\ada",
    platform: "win32" as const,
  });
  const STAGED = "openclaw-staged-1b4e28ba-2fa1-11d2-883f-0016d3cca427";
  const RECEIVED = "invoice---1b4e28ba-2fa1-11d2-883f-0016d3cca427.txt";

  test.each([
    `/workspace/media/inbound/${STAGED}/input-${RECEIVED}`,
    `file:///workspace/media/inbound/${STAGED}/input-${RECEIVED}`,
  ])("a container's path of an attachment stands for it: %s", (reference) => {
    expect(parseReference(reference, scope())).toMatchObject({
      ok: true,
      places: [{ components: ["inbound", RECEIVED], isOriginal: true }],
    });
  });

  test.each([
    "/workspace/a.txt",
    "/workspace/media/inbound/other/input-a.txt",
    "\\a.txt",
    "//server/a.txt",
    "\\\\server\\a",
  ])("%s stays refused", (reference) => {
    expect(parseReference(reference, scope())).toMatchObject({ ok: false });
  });

  test("home with a backslash, and a named file in another case", () => {
    expect(parseReference("~\\svc\\a.txt", scope())).toMatchObject({ ok: true, places: [{ components: ["a.txt"] }] });
    expect(parseReference("C:\\users\\ADA\\svc\\report.pdf", scope("Report.PDF"))).toMatchObject({ ok: true });
    expect(parseReference("C:\\users\\ADA\\svc\\other.pdf", scope("Report.PDF"))).toMatchObject({ ok: false });
  });

  test.each([
    ["C:\\Windows", true],
    ["c:/WINDOWS".replaceAll("/", "\\"), true],
    ["C:\\Windows\\System32", true],
    ["C:\\Program Files", true],
    ["C:\\Program Files (x86)\\App", true],
    ["D:\\ProgramData\\x", true],
    ["C:\\Users\\ada\\AppData\\Roaming", true],
    ["C:\\Users\\ada\\AppData\\Local\\Temp\\svc", false],
    ["C:\\Users\\ada\\Documents", false],
    ["C:\\WindowsOld", false],
  ])("%s as a media root: of the system %s", (folder, isOf) => {
    expect(isOfWindows(folder, "C:\\Users\\ada", "win32")).toBe(isOf);
    expect(isOfWindows(folder, "C:\\Users\\ada", "linux")).toBe(false);
  });
});
