import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { PACKAGE_ROOT } from "./read-package.ts";
import { findViolations } from "./rooms/find-violations.ts";
import { KNOWN_UPWARD } from "./rooms/rooms.ts";

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

/** The files whose imports the table of rooms refuses, in the planted folder. */
const refusedFiles = () => findViolations(folder).map(({ file }) => file);

describe("import directions", () => {
  test.each([
    ["shared/base", "shared/wire/tool.ts"],
    ["shared/wire", "shared/card/card-text.ts"],
    ["shared/schema-check", "plugin/calls/run.ts"],
    ["shared/card", "service/service-error.ts"],
    ["shared/card", "apps/port/integration.ts"],
    ["plugin/schema", "plugin/client/client.ts"],
    ["plugin/client", "plugin/media/open/roots.ts"],
    ["plugin/media/send", "shared/schema-check/json-schema.ts"],
    ["plugin/calls/steps", "plugin/pairing/pair.ts"],
    ["plugin/calls/steps", "apps/port/integration.ts"],
    ["plugin/pairing", "plugin/calls/run.ts"],
    ["plugin/runtimes/langchain", "plugin/runtimes/openclaw/svc-plugin.ts"],
    ["plugin/runtimes/openclaw/ask", "plugin/client/client.ts"],
    ["plugin/runtimes/openclaw", "service/create-service.ts"],
    ["service", "plugin/client/client.ts"],
    ["service/http/routes", "plugin/client/client.ts"],
    ["service/executions", "plugin/schema/project/project-schema.ts"],
    ["service/executions", "apps/mail/mail-settings.ts"],
    ["service/http/pages", "apps/mcp/connect-mcp.ts"],
    ["service/files", "apps/port/integration.ts"],
    ["service/store", "service/http/app.ts"],
    ["service/files", "service/executions/execute-tool.ts"],
    ["service/mcp/tools", "service/http/listen.ts"],
    ["service/executions", "service/create-service.ts"],
    ["apps/mail", "apps/drive/drive.ts"],
    ["apps/mail/parsing", "service/store/open-store.ts"],
    ["apps/mail", "plugin/client/client.ts"],
    ["apps/port", "apps/mail/mail-settings.ts"],
    ["apps/port", "service/connections/connection.ts"],
    ["apps/openapi", "apps/mcp/connect-mcp.ts"],
  ])("a file of %s may not import %s", async (room, target) => {
    await plant(`src/${room}/planted.ts`, `import "${relative(room, target)}";\n`);
    expect(refusedFiles()).toEqual([`src/${room}/planted.ts`]);
  });

  test.each([
    ["plugin/schema", "shared/schema-check/json-schema.ts"],
    ["plugin/client", "shared/base/concurrency.ts"],
    ["plugin/media/send", "plugin/media/open/roots.ts"],
    ["plugin/calls/steps", "plugin/schema/repair/argument-guard.ts"],
    ["plugin/runtimes/langchain", "plugin/media/open/roots.ts"],
    ["plugin/runtimes/openclaw/ask", "plugin/calls/run.ts"],
    ["service/http/routes", "service/executions/execute-tool.ts"],
    ["service/executions", "shared/schema-check/check-strictly.ts"],
    ["service/executions", "apps/port/integration.ts"],
    ["service/http/pages", "apps/known/known-apps.ts"],
    ["service/mcp", "service/service-error.ts"],
    ["apps/mail/server", "apps/port/define-action.ts"],
    ["apps/drive", "service/files/folder.ts"],
    ["apps/contacts", "apps/collections/dav-fetch.ts"],
    ["cli/commands", "service/create-service.ts"],
    ["cli/commands", "apps/mcp/connect-mcp.ts"],
  ])("a file of %s may import %s", async (room, target) => {
    await plant(`src/${room}/planted.ts`, `import "${relative(room, target)}";\n`);
    expect(refusedFiles()).toEqual([]);
  });

  test("a new room of the service needs a floor", async () => {
    await plant("src/service/attic/planted.ts", 'import "../service-options.ts";\n');
    expect(findViolations(folder)).toMatchObject([{ message: expect.stringContaining("has no floor") }]);
  });

  test.each([
    ["a type import", 'import type { X } from "../../plugin/calls/run.ts";\nexport type Y = X;\n'],
    [
      "an import over several lines",
      'import {\n  a,\n  b,\n} from "../../plugin/calls/run.ts";\nexport const c = a + b;\n',
    ],
    ["an import of a type in place", 'export type Y = import("../../plugin/calls/run.ts").X;\n'],
    ["a re-export", 'export * from "../../service/create-service.ts";\n'],
    ["a lazy import", 'export const load = () => import("../../cli/main.ts");\n'],
  ])("%s counts as an import", async (_form, source) => {
    await plant("src/shared/wire/planted.ts", source);
    expect(refusedFiles()).toEqual(["src/shared/wire/planted.ts"]);
  });

  test("every exception in the table still exists", () => {
    const needed = findViolations(PACKAGE_ROOT, []).length;
    expect(needed).toBe(KNOWN_UPWARD.length);
  });

  test("a cycle inside a room is refused", async () => {
    await plant(
      "src/plugin/calls/first.ts",
      'import { second } from "./second.ts";\nexport const first = () => second();\n',
    );
    await plant(
      "src/plugin/calls/second.ts",
      'import { first } from "./first.ts";\nexport const second = () => first();\n',
    );
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
    await plant("src/plugin/calls/planted.ts", source);
    await plant("src/plugin/calls/x.ts", "export const x = 1;\n");
    expect((await lint()).map((diagnostic) => diagnostic.category)).toContain(rule);
  });
});
