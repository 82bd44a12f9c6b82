import { spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readFileSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { isBuiltin } from "node:module";
import { homedir, tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { findDeclarations } from "./build.ts";
import { EXPORTS } from "./expected-exports.ts";
import { followImports } from "./follow-imports.ts";
import { installPacked } from "./install-packed.ts";
import { listBiggest } from "./list-biggest.ts";
import type { PackedPackage } from "./pack-checkout.ts";
import { OPENCLAW_PACKAGE, type PackedForOpenClaw, packForOpenClaw } from "./pack-for-openclaw.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { findBlock, listReadmeBlocks, scriptReadmeAgent } from "./readme-blocks.ts";
import { runCommand } from "./run-command.ts";
import { scanCode } from "./scan-code.ts";

const packageJson = readPackage();
let folder: string;
let consumer: string;
let installed: string;
let packed: PackedPackage;

/** Builds and packs a copy of the sources, then installs the tarball in an empty folder. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-pack-"));
  ({ packed, consumer, installed } = await installPacked(folder));
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** Runs an ES module in the consumer's folder and parses what it prints. */
async function runModule(source: string): Promise<unknown> {
  const result = await runCommand(process.execPath, ["--input-type=module", "--eval", source], consumer);
  expect(result, result.stderr).toMatchObject({ code: 0 });
  return JSON.parse(result.stdout);
}

const printNames = (specifier: string) =>
  `const door = await import(${JSON.stringify(specifier)}); console.log(JSON.stringify(Object.keys(door).sort()));`;

/** Files of the package that an entry comes to load at once, and the packages, bundled or not, each sorted. */
function listLoaded(entry: string): { files: string[]; packages: string[] } {
  const files = new Set<string>([`dist/${entry}.js`]);
  const packages = new Set<string>();
  for (const file of files) {
    const text = readFileSync(join(installed, file), "utf8");
    for (const [, name = ""] of text.matchAll(/^(?:import|export) (?:.* from )?"(.+)";$/gm)) {
      if (name.startsWith(".")) files.add(join(dirname(file), name));
      else if (!name.startsWith("node:")) packages.add(name);
    }
  }
  for (const file of files) packages.add(/^dist\/packages\/(.*)\.js$/.exec(file)?.[1] ?? "");
  packages.delete("");
  return { files: [...files].sort(), packages: [...packages].sort() };
}

describe("the packed tarball", () => {
  test("holds built code, declarations and the listed extras, nothing else", () => {
    const unexpected = packed.files
      .map((file) => file.path)
      .filter(
        (path) =>
          !/^dist\/[a-z0-9-]+\.js(\.map)?$|^dist\/packages\/([a-z0-9.-]+\.js|licences\.txt)$|^dist\/.+\.d\.ts$|^skills\/[a-z-]+\/SKILL\.md$|^docs\/[A-Za-z/-]+\.(md|png|svg)$/.test(
            path,
          ),
      );
    expect(unexpected.sort()).toEqual(
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "SECURITY.md",
        "openclaw.plugin.json",
        "package.json",
        "plugin.manifest.json",
      ].sort(),
    );
    const builtWrong = /\.(test|test-d)\.|\.ts\.(js|map)$|^dist\/(src|test)\//;
    expect(packed.files.map((file) => file.path).filter((path) => builtWrong.test(path))).toEqual([]);
  });

  test("holds the declarations that its doors lead to, and no others", async () => {
    const reached = [...(await findDeclarations(installed))].map((file) => relative(installed, file));
    const held = packed.files.map(({ path }) => path).filter((path) => path.endsWith(".d.ts"));
    expect(held.sort()).toEqual(reached.sort());
    expect(held).toContain("dist/packages/zod/index.d.ts");
    expect(held).toContain("dist/plugin/runtimes/langchain/toolkit.d.ts");
  });

  test("stays within its size budget", () => {
    const biggest = `The biggest parts:\n${listBiggest(packed.files).join("\n")}`;
    const sizes = new Map(packed.files.map(({ path, size }) => [path, size]));
    const sum = (paths: Iterable<string>) => [...paths].reduce((total, path) => total + (sizes.get(path) ?? 0), 0);
    const isPackage = (path: string) => path.startsWith("dist/packages/");
    const ours = [...sizes.keys()].filter((path) => !isPackage(path));
    // What agents load, what people read, our own part with the service in it, and what is taken from packages: without
    // it npm would bring the whole of those, which is five times as much.
    expect(sum(listLoaded("langchain").files.filter((path) => !isPackage(path))), biggest).toBeLessThan(560_000);
    expect(sum(ours.filter((path) => path.startsWith("docs/"))), biggest).toBeLessThan(600_000);
    expect(ours.length, biggest).toBeLessThan(400);
    expect(sum(ours), biggest).toBeLessThan(4_200_000);
    expect(sum([...sizes.keys()].filter(isPackage)), biggest).toBeLessThan(7_500_000);
    expect(packed.size, biggest).toBeLessThan(3_050_000);
  });

  test("brings few packages with it, in few megabytes", async () => {
    const lock = JSON.parse(await readFile(join(consumer, "package-lock.json"), "utf8")) as { packages: object };
    const places = Object.keys(lock.packages).filter((place) => place !== "");
    const files = await readdir(join(consumer, "node_modules"), { recursive: true, withFileTypes: true });
    const sizes = files.filter((file) => file.isFile()).map((file) => stat(join(file.parentPath, file.name)));
    const bytes = (await Promise.all(sizes)).reduce((sum, { size }) => sum + size, 0);
    expect(places.length, places.join("\n")).toBeLessThanOrEqual(44);
    expect(bytes, places.join("\n")).toBeLessThan(13_800_000);
  });

  test("names no package in code or declarations but those that come with it, and peers", async () => {
    const { dependencies, peerDependencies } = packageJson;
    const known = [...Object.keys(dependencies), ...Object.keys(peerDependencies), "supports-color"];
    const isKnown = (name: string) => known.some((one) => name === one || name.startsWith(`${one}/`));
    const doors = Object.keys(EXPORTS).map((door) => join(installed, `dist/${door.slice(2) || "index"}.d.ts`));
    const modules = packed.files.map(({ path }) => join(installed, path)).filter((path) => path.endsWith(".js"));
    const declared = await followImports(doors, (path) => path.replace(/\.[jt]s$/, ".d.ts"));
    const foreign = [...declared.packages].filter((name) => !isKnown(name) && !isBuiltin(name));
    // In examples above the code.
    expect(foreign).toEqual(["vitest", "zod/compile"]);
    const named = await Promise.all(modules.map(async (path) => readFile(path, "utf8")));
    expect(named.filter((text) => /\brequire\("\./.test(text))).toEqual([]);
    const imports = named.flatMap((text) => [
      ...text.matchAll(/^(?:import|export) [^"'\n]*from "([^".][^"]*)";$|\bimport\("([^".][^"]*)"\)/gm),
    ]);
    const wanted = new Set(imports.map(([, name = "", later = ""]) => name || later));
    expect([...wanted].filter((name) => !isKnown(name) && !isBuiltin(name))).toEqual([]);
  });

  test("tells the licence of every package that is part of it", async () => {
    const text = await readFile(join(installed, "dist/packages/licences.txt"), "utf8");
    const held = packed.bundled.map(({ name }) => name);
    expect(held).toEqual(expect.arrayContaining(["hono", "imapflow", "kysely", "zod"]));
    for (const { name, version } of packed.bundled) expect(text).toContain(`\n## ${name} ${version}\n`);
    const lines = packed.files.filter(({ path }) => /^dist\/packages\/.*\.js$/.test(path));
    const code = await Promise.all(lines.map(({ path }) => readFile(join(installed, path), "utf8")));
    const regions = code.flatMap((one) => [
      ...one.matchAll(/^\s*\/\/(?:#region)? node_modules\/((?:@[^/\s]+\/)?[^/\s]+)/gm),
    ]);
    expect(regions.length).toBeGreaterThan(100);
    expect([...new Set(regions.map(([, name]) => name))].filter((name = "") => !held.includes(name))).toEqual([]);
  });

  test("loads for each door what it is for, and no package that another one needs", () => {
    expect(listLoaded("openclaw")).toEqual({
      files: ["dist/openclaw-entry.js", "dist/openclaw.js", "dist/values.js"],
      packages: [],
    });
    expect(listLoaded("bin")).toEqual({ files: ["dist/bin.js"], packages: [] });
    expect(listLoaded("cli").packages).toEqual(["commander"]);
    expect(listLoaded("tools").packages).toEqual(["commander", "spark-md5", "undici", "zod"]);
    // What `file-type` and an app need is a file of its own.
    const ofPlugin = ["cfworker-json-schema", "debug", "file-type", "mime", "spark-md5", "undici", "zod"];
    expect(listLoaded("index").packages).toEqual(ofPlugin);
    const { packages, files } = listLoaded("langchain");
    expect(packages.filter((name) => !name.startsWith("@langchain/core/"))).toEqual(ofPlugin);
    expect(files.filter((path) => /\/(server|cli|known-apps)\.js$/.test(path))).toEqual([]);
    const ofService = listLoaded("service");
    expect(ofService.files.filter((path) => /\/(client|session|plugin|cli|toolkit)\.js$/.test(path))).toEqual([]);
    const later = /undici|file-type|commander|imapflow|nodemailer|oidc/;
    expect(ofService.packages.filter((name) => later.test(name))).toEqual([]);
    const ofThread = listLoaded("parse-worker");
    expect(ofThread.files).not.toContain("dist/server.js");
    expect(ofThread.packages).toContain("postal-mime");
    const ofFeeds = listLoaded("feed-worker");
    expect(ofFeeds.files).not.toContain("dist/server.js");
    expect(ofFeeds.packages).toContain("feedsmith");
  });

  test("has source maps that lead from its own files to the sources", async () => {
    const maps = packed.files.map(({ path }) => path).filter((path) => path.endsWith(".map"));
    expect(maps).toContain("dist/server.js.map");
    for (const map of maps) {
      const { sources } = JSON.parse(await readFile(join(installed, map), "utf8")) as { sources: string[] };
      expect(
        sources.filter((path) => !/^\.\.\/src\/|^\0/.test(path)),
        map,
      ).toEqual([]);
    }
    const source = `const { SvcClient } = await import("${packageJson.name}");
      try { new SvcClient({ baseUrl: "nowhere" }); } catch (error) { console.log(JSON.stringify(error.stack)); }`;
    const args = ["--enable-source-maps", "--input-type=module", "--eval", source];
    const { stdout } = await runCommand(process.execPath, args, consumer);
    expect(stdout).toMatch(/src\/plugin\/client\/base-url\.ts:\d+/);
  });

  test("names no folder of the machine that built it", async () => {
    const banned = [PACKAGE_ROOT, folder, `${homedir()}/`].filter((path) => path.length > 6);
    for (const { path } of packed.files) {
      const text = await readFile(join(installed, path), "utf8");
      for (const local of banned) expect(text.includes(local), `${path} names ${local}`).toBe(false);
    }
  });
});

describe("the tarball for OpenClaw", () => {
  let tarball: PackedForOpenClaw;
  let place: string;

  beforeAll(async () => {
    tarball = await packForOpenClaw(join(folder, "copy"), folder);
    const home = join(folder, "openclaw-consumer");
    place = join(home, "node_modules", OPENCLAW_PACKAGE);
    await mkdir(home);
    await writeFile(join(home, "package.json"), '{ "private": true, "type": "module" }\n');
    const omit = ["--omit=dev", "--omit=peer", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund"];
    const install = await runCommand("npm", ["install", ...omit, tarball.path], home);
    expect(install, install.stderr).toMatchObject({ code: 0 });
  }, 60_000);

  const readDist = (name: string) => readFileSync(join(place, "dist", name), "utf8");

  test("is a dozen files that depend on nothing and load where they are installed", async () => {
    expect(tarball.files.map(({ path }) => path).sort()).toEqual([
      "LICENSE",
      "README.md",
      "assets/icon.png",
      "dist/calls.js",
      "dist/calls.js.map",
      "dist/openclaw.js",
      "dist/openclaw.js.map",
      "dist/packages.js",
      "dist/rolldown-runtime.js",
      "openclaw.plugin.json",
      "package.json",
      "skills/svc/SKILL.md",
    ]);
    expect(JSON.parse(readFileSync(join(place, "package.json"), "utf8"))).not.toHaveProperty("dependencies");
    expect(tarball.unpackedSize, listBiggest(tarball.files).join("\n")).toBeLessThan(2_400_000);
    expect((await stat(tarball.path)).size).toBeLessThan(600_000);
    const modules = JSON.stringify(tarball.files.map(({ path }) => path).filter((path) => path.endsWith(".js")));
    const source = `import { pathToFileURL } from "node:url";
      for (const file of ${modules}) await import(pathToFileURL(${JSON.stringify(place)} + "/" + file));
      const { default: entry } = await import(pathToFileURL(${JSON.stringify(join(place, "dist/openclaw.js"))}));
      console.log(entry.id);`;
    const run = await runCommand(process.execPath, ["--input-type=module", "--eval", source], dirname(place));
    expect(run, run.stderr).toEqual({ code: 0, stdout: "svc\n", stderr: "" });
  });

  test("holds the plugin half and no package that is not named with its licence", () => {
    const { sources } = JSON.parse(readDist("calls.js.map")) as { sources: string[] };
    expect(sources).toContain("../src/plugin/calls/run.ts");
    expect(
      sources.filter((path) => /^\.\.\/src\/(service|apps|cli|plugin\/runtimes\/(langchain|terminal))\//.test(path)),
    ).toEqual([]);
    const names = tarball.bundled.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(["@cfworker/json-schema", "file-type", "mime", "undici", "zod"]));
    const held = readDist("packages.js").matchAll(/^\s*\/\/ node_modules\/((?:@[^/\s]+\/)?[^/\s]+)\//gm);
    expect([...new Set([...held].map(([, name]) => name))].sort()).toEqual(names);
    const licences = readFileSync(join(place, "LICENSE"), "utf8");
    for (const { name, version, licence } of tarball.bundled) {
      expect(licences).toContain(`## ${name} ${version}\n\n${licence ?? "MIT License"}`);
    }
  });

  test("loads at the host's start what is light, and nothing of Node's that is heavy", () => {
    const { sources } = JSON.parse(readDist("openclaw.js.map")) as { sources: string[] };
    const light =
      /^\.\.\/src\/((openclaw|shared\/errors|plugin\/client\/redact|shared\/base\/[a-z-]+|plugin\/runtimes\/openclaw\/[a-z/-]+)\.ts|plugin\/runtimes\/openclaw\/static-tools\.json)$/;
    expect(sources.filter((path) => !light.test(path))).toEqual([]);
    const imports = [...readDist("openclaw.js").matchAll(/^import .* from "(.*)";$/gm)].map(([, name]) => name);
    expect(imports.sort()).toEqual(["node:fs", "node:os", "node:path"]);
  });

  test("passes the host's scan of the code that is ours", () => {
    for (const name of ["openclaw.js", "calls.js"]) expect(scanCode(readDist(name)), name).toEqual([]);
  });

  test("can be read: names and lines are as they were written, and traces lead to the sources", async () => {
    expect(readDist("calls.js")).toMatch(/^\/\/ src\/plugin\/calls\/run\.ts\n(.*\n)+?async function runCall\(/m);
    const source = `const { default: entry } = await import(${JSON.stringify(pathToFileURL(join(place, "dist/openclaw.js")))});
      const host = { registrationMode: "cli-metadata", registerCli() { throw new Error("stop here"); } };
      const broken = { ...host, registerProvider: host.registerCli };
      try { entry.register(broken); } catch (error) { console.log(error.stack); }`;
    const args = ["--enable-source-maps", "--input-type=module", "--eval", source];
    const { stdout } = await runCommand(process.execPath, args, dirname(place));
    const [, line = "0"] = /src\/plugin\/runtimes\/openclaw\/register-parts\.ts:(\d+)/.exec(stdout) ?? [stdout];
    const written = readFileSync(join(PACKAGE_ROOT, "src/plugin/runtimes/openclaw/register-parts.ts"), "utf8").split(
      "\n",
    );
    expect(written[Number(line) - 1], stdout).toMatch(/\bapi\.register/);
  });

  test("names no folder of the machine that built it", () => {
    const banned = [PACKAGE_ROOT, folder, `${homedir()}/`].filter((path) => path.length > 6);
    for (const { path } of tarball.files) {
      const text = readFileSync(join(place, path), "utf8");
      for (const local of banned) expect(text.includes(local), `${path} names ${local}`).toBe(false);
    }
  });
});

describe("an installed package", () => {
  /** Doors that need a peer, and the peer. */
  const peers = { "./langchain": "@langchain/core", "./ai-sdk": "ai", "./openai-agents": "@openai/agents" };
  const doorsWithoutPeers = Object.keys(EXPORTS).filter((door) => !Object.keys(peers).includes(door));

  test.each(doorsWithoutPeers)("opens %s with no peer installed", async (door) => {
    const names = await runModule(printNames(join(packageJson.name, door)));
    expect(names).toEqual(EXPORTS[door]);
  });

  test("says what the demo needs when its peers are not installed", async () => {
    const bin = join(consumer, "node_modules/.bin/svc");
    const result = await runCommand(process.execPath, [bin, "demo", "--unattended"], consumer);
    expect(result).toMatchObject({ code: 1, stdout: "" });
    expect(result.stderr).toMatch(/^Error: The demo's agent needs .*npm install langchain @langchain\/core\n$/);
  });

  test("opens the other doors next to the peers, and names the missing one without them", async () => {
    for (const [door, peer] of Object.entries(peers)) {
      const args = ["--input-type=module", "--eval", printNames(join(packageJson.name, door))];
      const missing = await runCommand(process.execPath, args, consumer);
      expect(missing.code).toBe(1);
      expect(missing.stderr).toContain(`'${peer}`);
    }
    for (const peer of Object.keys(packageJson.peerDependencies)) {
      const link = join(consumer, "node_modules", peer);
      await mkdir(dirname(link), { recursive: true });
      await symlink(join(PACKAGE_ROOT, "node_modules", peer), link);
    }
    for (const door of Object.keys(peers)) {
      expect(await runModule(printNames(join(packageJson.name, door)))).toEqual(EXPORTS[door]);
    }
  });

  test("opens no inner file", async () => {
    for (const inner of ["dist/index.js", "dist/plugin/client/client.js", "src/index.ts"]) {
      const source = `await import("${packageJson.name}/${inner}").catch((error) => console.log(JSON.stringify(error.code)));`;
      expect(await runModule(source), inner).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED");
    }
  });

  test("is imported by its doors only, in everything that is shown to people", async () => {
    const doors = Object.keys(packageJson.exports).map((door) => packageJson.name + door.slice(1));
    const shown = packed.files.map(({ path }) => path).filter((path) => path.endsWith(".md"));
    const imported = shown.flatMap((path) => {
      const text = readFileSync(join(installed, path), "utf8");
      return [...text.matchAll(/(?:from|import)[ (]+"(svc-agent-plugin[^"]*)"/g)].map(([, name = ""]) => name);
    });
    expect(imported).toContain(`${packageJson.name}/langchain`);
    expect(imported.filter((name) => !doors.includes(name))).toEqual([]);
  });

  test("gives the manifest and its own package.json by import", async () => {
    const source = `
      import manifest from "${packageJson.name}/plugin.manifest.json" with { type: "json" };
      import own from "${packageJson.name}/package.json" with { type: "json" };
      console.log(JSON.stringify([manifest.version, own.version]));`;
    expect(await runModule(source)).toEqual([packageJson.version, packageJson.version]);
  });

  test("has a command that prints its version", async () => {
    const bin = join(consumer, "node_modules/.bin/svc");
    accessSync(bin, constants.X_OK);
    expect((await readFile(bin, "utf8")).split("\n")[0]).toBe("#!/usr/bin/env node");
    const result = await runCommand(process.execPath, [bin, "--version"], consumer);
    expect(result).toEqual({ code: 0, stdout: `${packageJson.version}\n`, stderr: "" });
  });

  test("says one sentence under every older Node on this machine", async () => {
    for (const node of await findOldNodes()) {
      const result = await runCommand(node, [join(installed, "dist/bin.js"), "--version"], consumer);
      expect(result, node).toMatchObject({ code: 1, stdout: "" });
      expect(result.stderr, node).toMatch(/^svc needs Node 22\.19 or newer[^\n]*\n$/);
    }
  });

  test("compiles for a TypeScript consumer with library checks on", async () => {
    await writeFile(
      join(consumer, "use.ts"),
      `import { SvcClient, isSvcError } from "${packageJson.name}";
       import { createService } from "${packageJson.name}/service";
       export const client = new SvcClient({ baseUrl: "http://127.0.0.1:1" });
       export const start = () => createService({ dataDir: "x" }).catch((error: unknown) => isSvcError(error));\n`,
    );
    const types = join(consumer, "node_modules/@types");
    await mkdir(types, { recursive: true });
    await symlink(join(PACKAGE_ROOT, "node_modules/@types/node"), join(types, "node"));
    const tsc = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
    const flags = ["--noEmit", "--strict", "--module", "nodenext", "--target", "es2024", "--types", "node"];
    const result = await runCommand(process.execPath, [tsc, ...flags, "use.ts"], consumer);
    expect(result, result.stdout).toMatchObject({ code: 0 });
  });
});

describe("the README's code, run by an installed package", () => {
  let service: TestService;

  beforeAll(async () => {
    service = await startTestService();
    await mkdir(join(folder, "media/inbound"), { recursive: true });
    await writeFile(join(folder, "media/inbound/hello.txt"), "Hello\n");
    await writeFile(join(consumer, "report.pdf"), "%PDF-1.4\n%%EOF\n");
  });

  afterAll(() => service.close());

  const environment = (): NodeJS.ProcessEnv => ({
    PATH: process.env.PATH,
    HOME: join(folder, "home"),
    SVC_BASE_URL: service.url,
    SVC_KEY_FOLDER: join(folder, "keys"),
    SVC_DATA: join(folder, "data"),
  });

  /** Runs a module or script in the consumer; `onOutput` sees all output so far each time more comes. */
  async function run(
    command: string,
    args: readonly string[],
    env: NodeJS.ProcessEnv,
    onOutput?: (text: string) => void,
  ) {
    const child = spawn(command, args, { cwd: consumer, env, stdio: ["pipe", "pipe", "pipe"] });
    child.stdin.end("a\n");
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
      onOutput?.(stdout);
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const [code] = await once(child, "close");
    return { code, stdout, stderr };
  }

  async function runCode(code: string, env: NodeJS.ProcessEnv, onOutput?: (text: string) => void) {
    const file = join(consumer, "readme.mjs");
    await writeFile(file, code);
    const result = await run(process.execPath, [file], env, onOutput);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    return result;
  }

  /** Runs shell lines of a page with `svc` as the installed command. */
  async function runShell(code: string, env: NodeJS.ProcessEnv, onOutput?: (text: string) => void) {
    const bin = join(consumer, "node_modules/.bin/svc");
    const script = `set -e\nsvc() { "${process.execPath}" "${bin}" "$@"; }\n${code}`;
    const result = await run("bash", ["-c", script], env, onOutput);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    return result;
  }

  /** Approves the device whose link appears in the output, once. */
  function approveWhenAsked() {
    let pressed: Promise<void> | undefined;
    return {
      onOutput: (text: string) => {
        const pairUrl = text.match(/https?:\S+\/pair\/\S+/)?.[0];
        if (pairUrl !== undefined) pressed ??= service.decide(pairUrl);
      },
      done: async () => pressed,
    };
  }

  test("the quickstart leads from pairing to an approved file, in the order it stands there", async () => {
    const human = approveWhenAsked();
    await runShell(findBlock("README.md", "svc pair"), environment(), human.onOutput);
    await human.done();
    await runShell(findBlock("README.md", "mkdir -p"), environment());
    const { SVC_BASE_URL: _address, ...stored } = environment();
    const { stdout } = await runCode(scriptReadmeAgent(), stored);
    expect(stdout).toContain("Files     │ hello.txt, text/plain, 6 bytes");
    expect(stdout).toMatch(/\nSaved\.\n$/);
    expect(await service.effects()).toMatchObject([{ toolName: "drive_upload_file", status: "succeeded" }]);
    const work = await runShell(findBlock("README.md", "svc describe"), environment());
    expect(work.stdout).toContain("Reports/report.pdf");
  });

  test("a program pairs itself", async () => {
    const human = approveWhenAsked();
    await runCode(findBlock("docs/signing-in.md", "pairDevice({"), environment(), human.onOutput);
    await human.done();
    expect(await readFile(join(folder, "keys/credentials.json"), "utf8")).toContain('"svc_live_');
  });

  test("the service starts with its own apps", async () => {
    const code = `import { createService } from "${packageJson.name}/service";
      const service = await createService({ dataDir: process.env.SVC_DATA, port: 0 });
      for (const { integration, label } of await service.connections.list()) console.log(integration, label);
      await service.close();`;
    const { stdout } = await runCode(code, environment());
    expect(stdout).toBe(
      "calendar Local calendars\ncontacts Local contacts\ndrive Local drive\nfeeds Feeds\nmail Local mailbox\nnotes Local notes\n",
    );
  });

  test("a service started from the shell answers what the README asks it", async () => {
    const bin = join(consumer, "node_modules/.bin/svc");
    const home = { ...process.env, SVC_HOME: join(folder, "served") };
    const served = spawn(process.execPath, [bin, "serve", "--port", "0"], {
      env: home,
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      const { promise, resolve } = Promise.withResolvers<string>();
      served.stdout.setEncoding("utf8").on("data", (text: string) => {
        const url = text.match(/Listening on (\S+)/)?.[1];
        if (url !== undefined) resolve(url);
      });
      const url = await promise;
      const result = await runShell("svc login-link", home);
      expect(result.stdout).toContain(`${url}/sign-in?token=`);
      for (const path of ["/health", "/openapi.json", "/.well-known/mcp/server-card.json"]) {
        expect(readFileSync(join(PACKAGE_ROOT, "README.md"), "utf8")).toContain(path);
        expect((await fetch(url + path)).status, path).toBe(200);
      }
      expect((await fetch(`${url}/.well-known/oauth-authorization-server`)).status).toBe(200);
    } finally {
      const ended = once(served, "exit");
      served.kill("SIGTERM");
      await ended;
    }
  });

  test("other apps are added with nothing else installed", async () => {
    const home = { ...process.env, SVC_HOME: join(folder, "served") };
    const operation = { operationId: "listPets", responses: { 200: { description: "Pets" } } };
    const pets = { info: { title: "Pets", version: "1" }, paths: { "/pets": { get: operation } } };
    const documents = {
      "new.yaml": `openapi: 3.0.3\nservers: [{ url: "http://127.0.0.1:9" }]\n${JSON.stringify(pets).slice(1, -1).replace('"info":', "info: ").replace(',"paths":', "\npaths: ")}\n`,
      "old.json": JSON.stringify({ swagger: "2.0", host: "127.0.0.1:9", schemes: ["http"], ...pets }),
    };
    for (const [name, text] of Object.entries(documents)) await writeFile(join(consumer, name), text);
    await writeFile(join(consumer, "tools.mjs"), TOOL_SERVER);
    const added = await runShell(
      `svc add openapi pets new.yaml --private --yes
       svc add openapi old old.json --private --yes
       svc add mcp greet --yes -- "${process.execPath}" tools.mjs`,
      home,
    );
    for (const tool of ["pets_listPets", "old_listPets", "greet_hello"]) expect(added.stdout).toContain(tool);
  });

  test("no block of code is left out", () => {
    const run = ["SvcToolkit.create", "mkdir -p", "svc pair", "svc describe"];
    // Starting needs a checkout; the demo and the packing tests run it.
    const elsewhere = ["npm ci\nnpm start -- --unattended\n", "svc serve\n"];
    const left = listReadmeBlocks().filter(
      (code) => !elsewhere.includes(code) && !run.some((one) => code.includes(one)),
    );
    expect(left).toEqual([]);
  });
});

/** An MCP server with one tool, in plain JavaScript. */
const TOOL_SERVER = `import { createInterface } from "node:readline";
const tools = [{ name: "hello", description: "Says hello.", inputSchema: { type: "object" } }];
const info = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "greet", version: "1" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const result = { initialize: info, "tools/list": { tools } }[method];
  const error = { code: -32601, message: "no such method" };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(result ? { result } : { error }) }));
});
`;

/** Nodes on the PATH that are older than this package needs. */
async function findOldNodes(): Promise<string[]> {
  const found: string[] = [];
  for (const place of new Set(process.env.PATH?.split(delimiter) ?? [])) {
    const node = join(place, "node");
    const { stdout } = await runCommand(node, ["--version"], folder);
    const [major = 99, minor = 0] = stdout.trim().slice(1).split(".").map(Number);
    if (stdout !== "" && (major < 22 || (major === 22 && minor < 19))) found.push(node);
  }
  return found;
}
