import { link, lstat, mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import fc from "fast-check";
import { describe, expect, test, vi } from "vitest";
import { openMediaFile } from "../../../src/plugin/media/open/open-media-file.ts";
import { createMediaRoots, type MediaRoots } from "../../../src/plugin/media/open/roots.ts";
import { FUZZ_FACTOR, fuzzOptions } from "../../fuzz/fuzz-options.ts";

vi.setConfig({ testTimeout: 60_000 * FUZZ_FACTOR });

const NAMES = ["a", "b", "c.txt"] as const;
const name = fc.constantFrom(...NAMES);
/** Where something is made: in the media folder or beside it, a few folders down. */
const place = fc.tuple(
  fc.constantFrom("media", "media", "media", "outside"),
  fc.array(name, { minLength: 1, maxLength: 3 }),
);
type Place = readonly [string, readonly string[]];

const entry = fc.oneof(
  fc.record({ kind: fc.constant("file" as const), at: place }),
  fc.record({ kind: fc.constant("folder" as const), at: place }),
  fc.record({ kind: fc.constant("symlink" as const), at: place, to: fc.nat(13), isRelative: fc.boolean() }),
  fc.record({ kind: fc.constant("hardlink" as const), at: place, to: fc.nat(13) }),
);
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;

const piece = fc.oneof(
  { weight: 8, arbitrary: name },
  fc.constantFrom(".", "..", "", "outside", "media", "%2e%2e", "..%2f"),
);
const reference = fc.tuple(
  fc.constantFrom("", "", "", "file://", "MEDIA:", "media://inbound/", "~/"),
  fc.constantFrom("media", "media", "media", "outside", "link-to-media", ""),
  fc.array(piece, { minLength: 1, maxLength: 5 }),
);

const locate = (base: string, [folder, names]: Place) => path.join(base, folder, ...names);

/** Makes what can be made: an entry in the place of another, or below a file, is left out. */
async function grow(base: string, entries: readonly Entry[]): Promise<void> {
  for (const [index, one] of entries.entries()) {
    const at = locate(base, one.at);
    const other = locate(base, entries["to" in one ? one.to % entries.length : index]?.at ?? one.at);
    try {
      await mkdir(path.dirname(at), { recursive: true });
      if (one.kind === "file") await writeFile(at, `file ${index}`, { flag: "wx" });
      else if (one.kind === "folder") await mkdir(at);
      else if (one.kind === "hardlink") await link(other, at);
      else await symlink(one.isRelative ? path.relative(path.dirname(at), other) : other, at);
    } catch {
      // Something else is there already.
    }
  }
}

/** Every file that lies in the folder by its only name, with no link on the way: its content and its path. */
async function listInside(folder: string): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const one of await readdir(folder)) {
    const at = path.join(folder, one);
    const stats = await lstat(at);
    if (stats.isDirectory()) for (const [content, inner] of await listInside(at)) found.set(content, inner);
    if (stats.isFile() && stats.nlink === 1) found.set(await readFile(at, "utf8"), at);
  }
  return found;
}

async function readOpened(roots: MediaRoots, given: string): Promise<string | undefined> {
  const opened = await openMediaFile(roots, given);
  if ("refused" in opened) return undefined;
  const bytes = Buffer.alloc(opened.file.size);
  await opened.file.read(bytes, 0);
  await opened.file.close();
  return bytes.toString();
}

describe("for any tree of folders, files and links, and any reference", () => {
  test("an opened file is one that lies in the media folder by its only name, and such a file can be opened", async () => {
    let opened = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 3, maxLength: 14 }),
        fc.array(reference, { minLength: 12, maxLength: 12 }),
        async (entries, references) => {
          const base = await realpath(await mkdtemp(path.join(tmpdir(), "svc-tree-")));
          await mkdir(path.join(base, "media", "inbound"), { recursive: true });
          await symlink(path.join(base, "media"), path.join(base, "link-to-media"));
          await grow(base, entries);
          const roots = await createMediaRoots([path.join(base, "media")], {
            home: path.join(base, "home"),
            sleep: async () => undefined,
          });
          try {
            const inside = await listInside(path.join(base, "media"));
            const written = references.map(([scheme, folder, pieces]) =>
              scheme === "media://inbound/" || scheme === "~/"
                ? scheme + pieces.join("/")
                : `${scheme}${base}/${folder}/${pieces.join("/")}`,
            );
            const own = entries.map((one) => locate(base, one.at));
            for (const mode of [roots, { ...roots, mode: "identity" as const }]) {
              for (const given of [...written, ...own]) {
                const content = await readOpened(mode, given);
                if (content === undefined) continue;
                opened += 1;
                expect([...inside.keys()], given).toContain(content);
              }
            }
            for (const at of own) {
              const isPlain = (await realpath(at).catch(() => undefined)) === at;
              if (!isPlain) expect(await readOpened(roots, at), at).toBeUndefined();
            }
            for (const [content, at] of inside) expect(await readOpened(roots, at)).toBe(content);
          } finally {
            await roots.close();
            await rm(base, { recursive: true, force: true });
          }
        },
      ),
      fuzzOptions({ runs: 120 }),
    );
    expect(opened).toBeGreaterThan(50);
  });
});
