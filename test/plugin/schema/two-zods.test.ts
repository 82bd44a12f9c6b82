import { cp, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { PACKAGE_ROOT } from "../../package/read-package.ts";
import { readLock } from "../../package/release/runtime-packages.ts";
import { runCommand } from "../../package/run-command.ts";
import { MESSY_SCHEMAS } from "./messy-schemas.ts";

/** An application whose LangChain resolves zod 3.25 while this package resolves its own zod 4. */

const require = createRequire(import.meta.url);
const MODULES = join(PACKAGE_ROOT, "node_modules");
const ARGS = { a: 5, other: null, list: [{ deep: "x" }], "odd key": "" };

let folder: string;
let plugin: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-zods-"));
  const modules = join(folder, "node_modules");
  await linkAll(MODULES, modules, new Set(["zod", "@langchain"]));
  await linkAll(join(MODULES, "@langchain"), join(modules, "@langchain"), new Set(["core"]));
  // A copy: behind a link it would resolve the zod of this repository.
  await cp(join(MODULES, "@langchain/core"), join(modules, "@langchain/core"), { recursive: true });
  await symlink(dirname(require.resolve("zod-v3/package.json")), join(modules, "zod"));

  plugin = join(folder, "plugin");
  await mkdir(join(plugin, "node_modules"), { recursive: true });
  await symlink(join(MODULES, "zod"), join(plugin, "node_modules/zod"));
  await writeFile(join(plugin, "package.json"), '{ "private": true, "type": "module" }\n');
  await cp(join(PACKAGE_ROOT, "src"), join(plugin, "src"), { recursive: true });
  for (const file of ["messy-schemas.ts", "create-tool-over.ts"]) {
    await cp(join(import.meta.dirname, file), join(plugin, "test/plugin/schema", file));
  }
}, 60_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function linkAll(from: string, to: string, except: ReadonlySet<string>): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    if (!except.has(name) && !name.startsWith(".")) await symlink(join(from, name), join(to, name));
  }
}

/** Runs an ES module next to the plugin and parses what it prints. */
async function runModule(source: string): Promise<unknown> {
  await writeFile(join(plugin, "child.ts"), source);
  const result = await runCommand(process.execPath, ["child.ts"], plugin);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout);
}

describe("with another zod under LangChain", () => {
  test("the two sides really have different zods", async () => {
    const versions = await runModule(`
      import { readFileSync } from "node:fs";
      import { createRequire } from "node:module";
      const versionFrom = (url: string) =>
        JSON.parse(readFileSync(createRequire(url).resolve("zod/package.json"), "utf8")).version;
      const core = import.meta.resolve("@langchain/core/tools");
      console.log(JSON.stringify([versionFrom(core), versionFrom(import.meta.resolve("./src/index.ts"))]));`);
    const [ofCore, own] = z.tuple([z.string(), z.string()]).parse(versions);
    expect(ofCore).toMatch(/^3\.25\./);
    expect(own).toBe(readLock().packages["node_modules/zod"]?.version);
  });

  test("every tool's schema arrives as it was projected", async () => {
    const sent = await runModule(`
      import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
      import { toJsonSchema } from "@langchain/core/utils/json_schema";
      import { projectToolSchema } from "./src/plugin/schema/project/project-schema.ts";
      import { createToolOver } from "./test/plugin/schema/create-tool-over.ts";
      import { MESSY_SCHEMAS } from "./test/plugin/schema/messy-schemas.ts";
      const tools = MESSY_SCHEMAS.map(({ name, schema: input }) => {
        const { schema } = projectToolSchema(input);
        const tool = createToolOver({ name: "tool", schema });
        return {
          name,
          projected: JSON.stringify(schema),
          converted: JSON.stringify(toJsonSchema(tool.schema)),
          sent: JSON.stringify(convertToOpenAITool(tool).function.parameters),
        };
      });
      console.log(JSON.stringify(tools));`);
    const text = z.string();
    const tools = z.array(z.object({ name: text, projected: text, converted: text, sent: text })).parse(sent);
    expect(tools.map(({ name }) => name)).toEqual(MESSY_SCHEMAS.map(({ name }) => name));
    for (const { name, projected, converted, sent: parameters } of tools) {
      expect(converted, name).toBe(projected);
      expect(parameters, name).toBe(projected);
    }
  });

  test("a call's arguments pass through unchanged, legal or not", async () => {
    const seen = await runModule(`
      import { createToolOver } from "./test/plugin/schema/create-tool-over.ts";
      const tool = createToolOver({
        name: "tool",
        schema: { type: "object", properties: { a: { type: "string", default: "x" } }, required: ["b"] },
      });
      const args = ${JSON.stringify(ARGS)};
      const message = await tool.invoke({ type: "tool_call", id: "call-1", name: "tool", args });
      console.log(JSON.stringify(message.artifact.result));`);
    expect(JSON.stringify(seen)).toBe(JSON.stringify(ARGS));
  });
});
