import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PACKAGE_ROOT } from "../../package/read-package.ts";
import { runCommand } from "../../package/run-command.ts";

const SDK = join(PACKAGE_ROOT, "test/openclaw-host/node_modules/openclaw/dist/plugin-sdk");
const SETTINGS = {
  extends: join(PACKAGE_ROOT, "tsconfig.json"),
  compilerOptions: {
    paths: { "openclaw/plugin-sdk/*": [`${SDK}/*.d.ts`] },
    typeRoots: [join(PACKAGE_ROOT, "node_modules/@types")],
    rewriteRelativeImportExtensions: false,
  },
  include: ["check.ts"],
};

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-host-types-"));
});

afterEach(() => rm(folder, { recursive: true }));

/** What the compiler says of `code` beside the host's own types and ours. */
async function compile(code: string): Promise<string> {
  const source = `
    import type { OpenClawPluginApi, OpenClawPluginDefinition, OpenClawPluginToolContext } from "openclaw/plugin-sdk/plugin-entry";
    import type { HostApi } from "${PACKAGE_ROOT}/src/plugin/runtimes/openclaw/host/host-api.ts";
    import type { HostToolContext } from "${PACKAGE_ROOT}/src/plugin/runtimes/openclaw/host/host-tool.ts";
    import plugin from "${PACKAGE_ROOT}/src/openclaw.ts";
    declare const api: OpenClawPluginApi;
    declare const context: OpenClawPluginToolContext;
    ${code}`;
  await writeFile(join(folder, "package.json"), '{ "type": "module" }');
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(SETTINGS));
  await writeFile(join(folder, "check.ts"), source);
  const tsc = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
  return (await runCommand(process.execPath, [tsc, "-p", folder, "--noUnusedLocals", "false"], folder)).stdout;
}

test("what the plugin expects of the host is what the host's types promise", async () => {
  const code = `
    export const asWeSeeIt: HostApi = api;
    export const contextAsWeSeeIt: HostToolContext = context;
    export const asTheySeeUs: OpenClawPluginDefinition = plugin;`;
  expect(await compile(code)).toBe("");
});

test("a wrong expectation would be found out", async () => {
  expect(await compile("export const wrong: HostApi & { registerMagic(): void } = api;")).toContain("registerMagic");
});
