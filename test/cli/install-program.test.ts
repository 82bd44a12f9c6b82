import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, inject, test } from "vitest";
import { describeOwnProgram } from "../../src/cli/own-program.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { connectClient } from "../plugin/runtimes/mcp/mcp-client.ts";
import { decideHeld } from "../service/approvals/owner.ts";
import { execute } from "../service/http-calls.ts";
import { expectMode } from "../suites/this-system.ts";

/** `svc install`: the files that agent clients read, and the command in them, started as they do. */

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-install-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const FILES = {
  "claude-code": [".claude.json", "mcpServers"],
  "claude-desktop": [".config/Claude/claude_desktop_config.json", "mcpServers"],
  cursor: [".cursor/mcp.json", "mcpServers"],
  vscode: [".config/Code/User/mcp.json", "servers"],
} as const;
const CLIENTS = Object.keys(FILES) as (keyof typeof FILES)[];

/** Without `SVC_HOME` the folders lie where those of a user do. */
const env = () => ({
  HOME: home,
  SVC_HOME: "",
  SVC_BASE_URL: service.url,
  APPDATA: "",
  CLAUDE_CONFIG_DIR: "",
  NODE_EXTRA_CA_CERTS: "",
});

const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8"));

/** What the client finds in its file. */
async function readEntry(client: keyof typeof FILES) {
  const [file, key] = FILES[client];
  const text = await readFile(join(home, file), "utf8");
  expect(text).not.toContain("svc_live_");
  return JSON.parse(text)[key].svc;
}

/** Runs `svc install`, and approves the device if it asks for that. */
async function install(args: readonly string[], more: Record<string, string> = {}) {
  const running = startSvc(["install", ...args], home, { ...env(), ...more });
  const [, link = ""] = await running.waitFor(/approve the device: (\S+)/);
  await service.decide(link);
  return running.done;
}

test.each(CLIENTS)("%s starts what its file says, and attaches a local file", async (client) => {
  const run = await install(["--client", client]);
  expect(run.code, run.stderr).toBe(0);
  const { type, command, args, env: own = {} } = await readEntry(client);
  expect(type).toBe(client === "claude-desktop" ? undefined : "stdio");
  // A desktop program has neither the PATH nor the variables of a terminal.
  const started = await connectClient({ command, args, env: { HOME: home, ...own } });
  try {
    const media = join(home, ".local/share/svc/media");
    await mkdir(media, { recursive: true, mode: 0o700 });
    await writeFile(join(media, "hello.txt"), "hello\n");
    const upload = { name: "drive_upload_file", arguments: { file: join(media, "hello.txt"), folder: client } };
    const told: string[] = [];
    const made = started.call("svc_call_tool", upload, { onprogress: ({ message = "" }) => told.push(message) });
    await expect.poll(() => told.at(-1), { timeout: 20_000 }).toContain("/inbox/");
    await decideHeld(service, told.at(-1)?.split("/").at(-1) ?? "", "approve");
    expect(await made, started.stderr()).toMatchObject({
      status: "succeeded",
      result: { path: `${client}/hello.txt` },
    });
    const outside = { name: "drive_upload_file", arguments: { file: join(home, FILES[client][0]) } };
    expect(await started.call("svc_call_tool", outside)).toMatchObject({ status: "failed", isError: true });
  } finally {
    await started.close();
  }
});

test("every client has a key and a name of its own, on a paired machine too, and unpairing leaves none", async () => {
  const pairing = startSvc(["pair", "--label", "Terminal"], home, env());
  const [, link = ""] = await pairing.waitFor(/approve the device: (\S+)/);
  await service.decide(link);
  await pairing.done;
  for (const client of ["cursor", "vscode"]) expect((await install(["--client", client])).code).toBe(0);
  const config = join(home, ".config/svc");
  const files = ["credentials.json", "clients/cursor/credentials.json", "clients/vscode/credentials.json"];
  const kept = await Promise.all(files.map(async (file) => (await readJson(join(config, file))).credentials));
  expect(new Set(kept.map(({ apiKey }) => apiKey)).size).toBe(3);
  expect(kept.map(({ deviceLabel }) => deviceLabel)).toEqual([
    "Terminal",
    `Cursor on ${hostname()}`,
    `VS Code on ${hostname()}`,
  ]);
  const write = async ({ apiKey }: { apiKey: string }) =>
    (await execute({ ...service, apiKey }, "notes_create_page", { arguments: { title: "x" }, confirmed: true })).json;
  const [own, ...installed] = await Promise.all(kept.map(write));
  expect(own).toMatchObject({ ok: true });
  for (const held of installed) expect(held).toMatchObject({ error: { approval: { status: "pending" } } });
  // The address is known from the key of another client, too.
  const { SVC_BASE_URL: _unset, ...noAddress } = env();
  await rm(join(config, "credentials.json"));
  const again = await runSvc(["install", "--client", "vscode"], home, { env: noAddress });
  expect([again.code, again.stdout]).toEqual([
    0,
    expect.stringContaining(`VS Code has a key of ${service.url} already`),
  ]);
  const forgot = await runSvc(["unpair"], home, { env: env() });
  expect(forgot.stdout).toContain("Forgot the keys of cursor, vscode too");
  expect(await readdir(config)).toEqual([]);
});

test("other servers stay, and the old file is kept beside", async () => {
  const old = '{\n  "servers": { "other": { "command": "x" } }\n}\n';
  await mkdir(join(home, ".config/Code/User"), { recursive: true });
  await writeFile(join(home, FILES.vscode[0]), old);
  expect((await install(["--client", "vscode"])).code).toBe(0);
  expect(Object.keys((await readJson(join(home, FILES.vscode[0]))).servers)).toEqual(["other", "svc"]);
  const names = await readdir(join(home, ".config/Code/User"));
  const backup = names.find((name) => name.includes(".backup-")) ?? "";
  expect(await readFile(join(home, ".config/Code/User", backup), "utf8")).toBe(old);
});

test("a home of its own and media folders reach the program, a key does not", async () => {
  const more = { SVC_HOME: join(home, "own"), SVC_MEDIA_ROOTS: "/srv/media", SVC_API_KEY: "svc_live_other" };
  expect((await install(["--client", "claude-code"], more)).code).toBe(0);
  expect((await readEntry("claude-code")).env).toEqual({ SVC_HOME: join(home, "own"), SVC_MEDIA_ROOTS: "/srv/media" });
});

test("--print shows the program and writes nothing, nor asks anybody", async () => {
  const run = await runSvc(["--json", "install", "--client", "vscode", "--print"], home, { env: env() });
  const { config } = JSON.parse(run.stdout);
  expect(config.servers.svc).toMatchObject({ type: "stdio", args: [inject("program"), "mcp", "--client", "vscode"] });
  expect(await readdir(home)).toEqual([]);
});

test("a program that may be gone tomorrow is not written down, and a link that lasts is taken", async () => {
  for (const folder of ["/home/a/.npm/_npx/1f/node_modules/.bin/svc", "/home/a/.cache/pnpm/dlx/x/svc.js"]) {
    expect(() => describeOwnProgram({ node: process.execPath, script: folder, env: {} })).toThrow(
      /emptied at any time/,
    );
  }
  const deno = describeOwnProgram({ node: "/usr/bin/deno", script: "/x/svc", env: {} });
  expect(deno.args).toEqual(["run", "--allow-all", "--quiet", "/x/svc", "mcp"]);
  const cellar = join(home, "Cellar/node/24.1.0/bin");
  await mkdir(cellar, { recursive: true });
  const node = join(cellar, "node");
  expect(describeOwnProgram({ node, script: "/x/svc", env: {} }).command).toBe(node);
  await mkdir(join(home, "opt/node/bin"), { recursive: true });
  await writeFile(join(home, "opt/node/bin/node"), "");
  expect(describeOwnProgram({ node, script: "/x/svc", env: {} })).toEqual({
    command: join(home, "opt/node/bin/node"),
    args: ["/x/svc", "mcp"],
  });
});

test("svc doctor says when a client can no longer start it, or would find no key", async () => {
  await install(["--client", "cursor"]);
  const doctor = async () => {
    const { stdout } = await runSvc(["--json", "doctor"], home, {
      env: { ...env(), OPENCLAW_STATE_DIR: join(home, "x") },
    });
    return JSON.parse(stdout).findings.find(({ id }: { id: string }) => id === "client.cursor");
  };
  expect(await doctor()).toMatchObject({ level: "ok" });
  const file = join(home, FILES.cursor[0]);
  const text = await readFile(file, "utf8");
  await writeFile(file, text.replace("bin.js", "gone.js"));
  expect(await doctor()).toMatchObject({ level: "fail", text: expect.stringMatching(/gone\.js is gone/) });
  await writeFile(file, text);
  await rm(join(home, ".config/svc/clients/cursor/credentials.json"));
  expect(await doctor()).toMatchObject({ level: "fail", fix: expect.stringContaining("svc install --client cursor") });
  expectMode(file, 0o600);
});
