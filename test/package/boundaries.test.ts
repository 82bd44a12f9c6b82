import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { PACKAGE_ROOT } from "./read-package.ts";

const OF_RUNTIME = [
  "tools",
  "flows",
  "pairing",
  "approvals",
  "media/roots.ts",
  "client/redact.ts",
  "wire/plain-text.ts",
  "errors.ts",
];

/** What each room may import, by hand from the design; a path with an ending stands for that file alone. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  wire: [],
  client: ["wire", "errors.ts"],
  schema: ["wire/safe-pattern.ts", "errors.ts"],
  media: ["wire", "client", "errors.ts"],
  approvals: ["wire", "errors.ts"],
  tools: ["wire", "client", "schema", "media", "approvals", "errors.ts"],
  flows: ["wire", "client", "schema", "approvals", "errors.ts"],
  pairing: ["wire", "client", "approvals", "errors.ts"],
  "runtimes/langchain": OF_RUNTIME,
  "runtimes/library": OF_RUNTIME,
  "runtimes/terminal": OF_RUNTIME,
  "runtimes/openclaw": OF_RUNTIME,
  service: ["wire", "errors.ts"],
};
const ROOMS = [...Object.keys(MAY_IMPORT), "cli"];
const TARGETS = [
  ...ROOMS,
  "errors.ts",
  "media/roots.ts",
  "client/redact.ts",
  "wire/plain-text.ts",
  "wire/safe-pattern.ts",
  "index.ts",
  "testing.ts",
];

const reportSchema = z.looseObject({
  diagnostics: z.array(
    z.looseObject({
      category: z.string(),
      location: z.looseObject({ path: z.string(), start: z.object({ line: z.int() }) }),
    }),
  ),
});
type Diagnostic = z.infer<typeof reportSchema>["diagnostics"][number];

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-boundaries-"));
  for (const file of ["biome.json", ".gitignore"]) await copyFile(join(PACKAGE_ROOT, file), join(folder, file));
});

afterEach(() => rm(folder, { recursive: true, force: true }));

async function plant(path: string, source: string): Promise<void> {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, source);
}

/** Lints the planted files with the configuration of this package. */
async function lint(): Promise<Diagnostic[]> {
  const biome = join(PACKAGE_ROOT, "node_modules/@biomejs/biome/bin/biome");
  const output = await new Promise<string>((resolve) => {
    execFile(
      process.execPath,
      [biome, "lint", "--reporter=json", "--max-diagnostics=none"],
      { cwd: folder },
      (_, out) => resolve(out),
    );
  });
  return reportSchema.parse(JSON.parse(output)).diagnostics;
}

/** Folders of `src` that belong to a room, however deep, with the room each belongs to. */
function listRoomFolders(): (readonly [folder: string, room: string])[] {
  const found = readdirSync(join(PACKAGE_ROOT, "src"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => relative(join(PACKAGE_ROOT, "src"), join(entry.parentPath, entry.name)));
  const folders = [...new Set([...found, ...Object.keys(MAY_IMPORT)])];
  return folders.flatMap((path) => {
    const room = Object.keys(MAY_IMPORT).find((name) => path === name || path.startsWith(`${name}/`));
    return room === undefined ? [] : [[path, room] as const];
  });
}

describe("import directions", () => {
  test("every folder of a room refuses exactly what the design forbids", async () => {
    const folders = listRoomFolders();
    const targetsOf = (room: string) => TARGETS.filter((target) => target !== room);
    for (const [path, room] of folders) {
      const imports = targetsOf(room).map((target) => {
        const file = target.endsWith(".ts") ? target : `${target}/planted.ts`;
        return `import "${relative(path, file)}";`;
      });
      await plant(`src/${path}/planted.ts`, `${imports.join("\n")}\n`);
    }

    const diagnostics = await lint();

    const refused = new Map<string, Set<number>>();
    for (const { category, location } of diagnostics) {
      if (category !== "lint/style/noRestrictedImports") continue;
      refused.set(location.path, (refused.get(location.path) ?? new Set()).add(location.start.line));
    }
    for (const [path, room] of folders) {
      const lines = refused.get(`src/${path}/planted.ts`) ?? new Set();
      const allowed = targetsOf(room).filter((_, index) => !lines.has(index + 1));
      expect(allowed.sort(), path).toEqual([...expectedTargets(room)].sort());
    }
  });

  test.each([
    ["a type import", 'import type { X } from "../tools/run.ts";\nexport type Y = X;\n'],
    ["a re-export", 'export * from "../service/create-service.ts";\n'],
    ["a lazy import", 'export const load = () => import("../cli/main.ts");\n'],
  ])("%s counts as an import", async (_form, source) => {
    await plant("src/wire/planted.ts", source);
    expect((await lint()).map((diagnostic) => diagnostic.category)).toContain("lint/style/noRestrictedImports");
  });

  test("a cycle inside a room is refused", async () => {
    await plant("src/tools/first.ts", 'import { second } from "./second.ts";\nexport const first = () => second();\n');
    await plant("src/tools/second.ts", 'import { first } from "./first.ts";\nexport const second = () => first();\n');
    expect((await lint()).map((diagnostic) => diagnostic.category)).toContain("lint/suspicious/noImportCycles");
  });

  test.each([
    ["process.env outside the command line", "export const x = process.env.HOME;\n", "lint/style/noProcessEnv"],
    ["console outside the command line", 'export const x = () => console.log("a");\n', "lint/suspicious/noConsole"],
    ["any", "export const x = (y: any) => y;\n", "lint/suspicious/noExplicitAny"],
    ["an enum", "export enum X {\n  A,\n}\n", "lint/style/noEnum"],
    ["a default export", "const x = 1;\nexport default x;\n", "lint/style/noDefaultExport"],
    [
      "an import without ending",
      'import { x } from "./x";\nexport const y = x;\n',
      "lint/correctness/useImportExtensions",
    ],
  ])("%s is refused", async (_what, source, rule) => {
    await plant("src/tools/planted.ts", source);
    await plant("src/tools/x.ts", "export const x = 1;\n");
    expect((await lint()).map((diagnostic) => diagnostic.category)).toContain(rule);
  });
});

/** A whole room that is allowed, and the own one, allow their files too. */
function expectedTargets(room: string): Set<string> {
  const allowed = MAY_IMPORT[room] ?? [];
  const files = TARGETS.filter((target) => [...allowed, room].includes(dirname(target)));
  return new Set([...allowed, ...files]);
}
