import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual, styleText } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type BundlePlan, bundle } from "./bundle.ts";
import { createLicenceText } from "./bundled-licences.ts";

const SOURCES = {
  "src/door.ts":
    'import { double } from "./shared.ts";\n\nexport const four: number = double(2);\nexport const later = () => import("./later.ts");\n',
  "src/shared.ts":
    '/** Twice. */\nexport function double(count: number): number {\n  if (count < 0) throw new Error("negative");\n  return count * 2;\n}\n',
  "src/later.ts":
    'import { third } from "third";\nimport { basename } from "node:path";\nimport { double } from "./shared.ts";\n\nexport const six = double(third());\nexport const name = basename("a/b");\n',
  "node_modules/third/package.json":
    '{ "name": "third", "version": "3.0.0", "type": "module", "exports": "./index.js" }',
  "node_modules/third/index.js": "/*! third, by T. */\nexport function third() {\n  return 3;\n}\n",
  "node_modules/third/LICENSE": "Third licence\n",
};

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-bundle-"));
});

afterEach(() => rm(folder, { recursive: true }));

async function writeSources(place: string, changed: Readonly<Record<string, string>> = {}): Promise<BundlePlan> {
  for (const [path, text] of Object.entries({ ...SOURCES, ...changed })) {
    await mkdir(dirname(join(place, path)), { recursive: true });
    await writeFile(join(place, path), text);
  }
  return {
    folder: place,
    out: join(place, "dist"),
    entries: { door: "src/door.ts" },
    entriesMayGrow: false,
    isExternal: () => false,
    parts: [
      { name: "eager", roots: ["src/door.ts"] },
      { name: "packages", holds: (path) => path.startsWith("node_modules/") },
      { name: "rest", holds: () => true },
    ],
  };
}

async function readAll(out: string): Promise<Record<string, string>> {
  const names = (await readdir(out)).sort();
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(out, name), "utf8")])),
  );
}

describe("a bundle", () => {
  test("has a door that exports what its source does, parts by their roots, and no map for what is not ours", async () => {
    const plan = await writeSources(join(folder, "one"));
    const packages = await bundle(plan);
    expect(packages).toEqual([{ name: "third", version: "3.0.0", licence: "Third licence", author: undefined }]);
    const files = await readAll(plan.out);
    expect(Object.keys(files)).toEqual(
      ["door.js", "eager.js", "eager.js.map", "packages.js", "rest.js", "rest.js.map"].sort(),
    );
    expect(files["packages.js"]).toContain("third, by T.");
    expect(files["packages.js"]).not.toContain("sourceMappingURL");
    const door = await import(pathToFileURL(join(plan.out, "door.js")).href);
    expect(Object.keys(door)).toEqual(["four", "later"]);
    expect(await door.later()).toMatchObject({ six: 6, name: "b" });
  });

  test("takes from Node what is costly to import without importing it", async () => {
    const plan = await writeSources(join(folder, "one"), {
      "src/door.ts":
        'import process from "node:process";\nimport { isDeepStrictEqual as isSame, styleText } from "node:util";\n\nexport const found = [process, isSame, styleText];\n',
    });
    await bundle(plan);
    expect(Object.values(await readAll(plan.out)).join("\n")).not.toContain('from "node:');
    const door = await import(pathToFileURL(join(plan.out, "door.js")).href);
    expect(door.found).toEqual([process, isDeepStrictEqual, styleText]);
  });

  test("has a map that leads to the line of the source", async () => {
    const plan = await writeSources(join(folder, "one"));
    await bundle(plan);
    const { "eager.js": code = "", "eager.js.map": map = "{}" } = await readAll(plan.out);
    const line = code.split("\n").findIndex((one) => one.includes('"negative"'));
    const { SourceMap } = await import("node:module");
    const parsed = JSON.parse(map);
    expect(parsed.sources).toEqual(["../src/shared.ts", "../src/door.ts"]);
    expect(new SourceMap(parsed).findEntry(line, 30)).toMatchObject({
      originalSource: "../src/shared.ts",
      originalLine: 2,
    });
  });

  test("has the same bytes from another folder, with packages behind a link", async () => {
    const one = await writeSources(join(folder, "one"));
    const two = await writeSources(join(folder, "elsewhere/two"));
    await rm(join(two.folder, "node_modules"), { recursive: true });
    await symlink(join(one.folder, "node_modules"), join(two.folder, "node_modules"));
    await bundle(one);
    await bundle(two);
    const files = await readAll(one.out);
    expect(await readAll(two.out)).toEqual(files);
    expect(JSON.stringify(files)).not.toContain(folder);
  });

  test("counts a package that was built into another one as a part of that", async () => {
    const plan = await writeSources(folder, {
      "node_modules/third/index.js": 'export { inner as third } from "./dist/node_modules/inner/index.js";\n',
      "node_modules/third/dist/node_modules/inner/index.js": "export function inner() {\n  return 3;\n}\n",
    });
    expect((await bundle(plan)).map(({ name }) => name)).toEqual(["third"]);
  });

  test("is not made when the bundler warns", async () => {
    const plan = await writeSources(folder, {
      "src/later.ts": 'import { gone } from "third";\nexport const name = gone;\n',
    });
    await expect(bundle(plan)).rejects.toThrow("gone");
  });
});

describe("the licence text of a bundle", () => {
  test("holds ours and that of each package", async () => {
    const text = await createLicenceText(await bundle(await writeSources(folder)));
    expect(text).toMatch(/^MIT License\n[\s\S]+\n## third 3\.0\.0\n\nThird licence\n$/);
  });

  test("writes the words of MIT for a package that only names it, and refuses any other", async () => {
    const named = { name: "@cfworker/json-schema", version: "4.1.6", licence: undefined, author: "A. Author" };
    const text = await createLicenceText([named]);
    expect(text).toContain("## @cfworker/json-schema 4.1.6\n\nMIT License\n\nCopyright (c) A. Author\n\nPermission");
    await expect(createLicenceText([{ ...named, author: undefined }])).rejects.toThrow("licence text is missing");
    await expect(createLicenceText([{ ...named, name: "typescript" }])).rejects.toThrow("licence text is missing");
  });
});
