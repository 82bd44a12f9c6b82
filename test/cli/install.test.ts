import { mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse as parseToml } from "smol-toml";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { call } from "../service/http-calls.ts";
import { expectMode } from "../suites/this-system.ts";

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

const env = () => ({ HOME: home, SVC_BASE_URL: service.url, APPDATA: "", CLAUDE_CONFIG_DIR: "" });
const readJson = async (file: string) => JSON.parse(await readFile(file, "utf8"));

/** Runs `svc install --remote` and plays the human. */
async function install(args: readonly string[], decision: "approve" | "decline" = "approve") {
  const running = startSvc(["install", "--remote", ...args], home, env());
  const [, link = ""] = await running.waitFor(/approve the installation: (\S+)/);
  await running.waitFor(/shows the code [A-Z0-9]{4}-[A-Z0-9]{4}/);
  await service.decide(link, decision);
  return running.done;
}

/** Calls the MCP endpoint with what a configuration says. */
async function listTools({ url, headers }: { url: string; headers: Record<string, string> }): Promise<string[]> {
  const reply = await call(url, {
    method: "POST",
    headers: { ...headers, "content-type": "application/json", accept: "application/json, text/event-stream" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
  });
  expect(reply.status).toBe(200);
  return reply.json.result.tools.map((tool: { name: string }) => tool.name);
}

describe("svc install --remote", () => {
  test.each([
    ["claude-code", ".claude.json", "mcpServers"],
    ["cursor", ".cursor/mcp.json", "mcpServers"],
    ["vscode", ".config/Code/User/mcp.json", "servers"],
    ["zed", ".config/zed/settings.json", "context_servers"],
  ])("%s: writes a configuration that works", async (client, file, key) => {
    const run = await install(["--client", client]);
    expect(run.code, run.stderr).toBe(0);
    expect(run.stdout + run.stderr).not.toMatch(/svc_live_/);
    const path = join(home, file);
    expectMode(path, 0o600);
    const entry = (await readJson(path))[key].svc;
    expect(await listTools(entry)).toContain("svc.execute");
    expect(await readdir(dirname(path))).not.toContainEqual(expect.stringMatching(/backup|tmp/));
  });

  test("claude-desktop: starts a bridge and keeps the key out of its arguments", async () => {
    const run = await install(["--client", "claude-desktop"]);
    expect(run.code, run.stderr).toBe(0);
    const { svc } = (await readJson(join(home, ".config/Claude/claude_desktop_config.json"))).mcpServers;
    expect(svc.command).toBe("npx");
    expect(svc.args).toEqual([
      "-y",
      "mcp-remote",
      `${service.url}/api/mcp`,
      "--header",
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the bridge puts the variable in
      "x-svc-api-key:${SVC_HEADER_0}",
    ]);
    const headers = { "x-svc-api-key": svc.env.SVC_HEADER_0 };
    expect(await listTools({ url: svc.args[2], headers })).toContain("svc.execute");
  });

  test("codex: writes a table with the address and the headers", async () => {
    const run = await install(["--client", "codex"]);
    expect(run.code, run.stderr).toBe(0);
    const config = parseToml(await readFile(join(home, ".codex/config.toml"), "utf8"));
    const { url, http_headers: headers } = (
      config.mcp_servers as { svc: { url: string; http_headers: Record<string, string> } }
    ).svc;
    expect(await listTools({ url, headers })).toContain("svc.execute");
  });

  test("keeps other servers and a copy of the old file, both the owner's alone", async () => {
    const file = join(home, ".cursor/mcp.json");
    const old = '{\n    "mcpServers": {\n        "other": { "command": "x" }\n    }\n}\n';
    await mkdir(dirname(file));
    await writeFile(file, old, { mode: 0o644 });
    const run = await install([]);
    expect(run.stdout).toContain(`Added "svc" in ${file}`);
    expect(Object.keys((await readJson(file)).mcpServers)).toEqual(["other", "svc"]);
    const backup = (await readdir(dirname(file))).find((name) => name.includes(".backup-")) ?? "";
    expect(await readFile(join(dirname(file), backup), "utf8")).toBe(old);
    for (const name of [file, join(dirname(file), backup)]) expectMode(name, 0o600);
  });

  test("writes through a link to the file it leads to", async () => {
    await mkdir(join(home, "dotfiles"));
    await writeFile(join(home, "dotfiles/claude.json"), "{}");
    await symlink(join(home, "dotfiles/claude.json"), join(home, ".claude.json"));
    await install(["--client", "claude-code"]);
    expect((await readJson(join(home, "dotfiles/claude.json"))).mcpServers.svc.type).toBe("http");
    expect(await readFile(join(home, ".claude.json"), "utf8")).toContain("svc_live_");
  });

  test("declined: writes nothing", async () => {
    const file = join(home, "project/.mcp.json");
    const run = await install(["--client", "claude-code", "--file", file], "decline");
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(/not approved/)]);
    await expect(stat(file)).rejects.toThrow("ENOENT");
  });

  test("a file that cannot be kept whole is refused before anybody is asked", async () => {
    const file = join(home, ".claude.json");
    await writeFile(file, '{ // mine\n "mcpServers": {} ');
    const run = await runSvc(["install", "--remote", "--client", "claude-code"], home, { env: env() });
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(/\.claude\.json is damaged.*--print/s)]);
    expect(run.stdout).not.toContain("approve the installation");
    expect(await readFile(file, "utf8")).toBe('{ // mine\n "mcpServers": {} ');
  });

  test("--print shows everything but a key, and writes nothing", async () => {
    const run = await runSvc(["install", "--remote", "--client", "vscode", "--print"], home, { env: env() });
    expect(run.code).toBe(0);
    expect(run.stdout).toContain(`"url": "${service.url}/api/mcp"`);
    expect(run.stdout).toContain("svc_live_••••••••");
    expect(await readdir(home)).toEqual([]);
    const json = await runSvc(["--json", "install", "--remote", "--client", "vscode", "--print"], home, { env: env() });
    expect(JSON.parse(json.stdout)).toMatchObject({ client: "vscode", config: { servers: { svc: { type: "http" } } } });
  });

  test("without --client takes the only client there is, and asks when there is none or several", async () => {
    const none = await runSvc(["install", "--print"], home, { env: env() });
    expect([none.code, none.stderr]).toEqual([1, expect.stringMatching(/No agent client was found.*--client/s)]);
    await mkdir(join(home, ".cursor"));
    expect((await runSvc(["install", "--print"], home, { env: env() })).stdout).toContain("Cursor reads");
    await writeFile(join(home, ".claude.json"), "{}");
    const several = await runSvc(["install", "--print"], home, { env: env() });
    expect([several.code, several.stderr]).toEqual([1, expect.stringMatching(/Several.*Claude Code, Cursor/s)]);
  });
});

describe("svc integrations and svc connect", () => {
  const withKey = () => ({ env: { ...env(), SVC_API_KEY: service.apiKey } });

  test("lists the apps and their states", async () => {
    const run = await runSvc(["integrations"], home, withKey());
    expect(run.code, run.stderr).toBe(0);
    for (const line of [/^drive +Drive +connected$/m, /^mail +Mail +connected$/m, /^notes +Notes +connected$/m]) {
      expect(run.stdout).toMatch(line);
    }
    const json = await runSvc(["--json", "integrations", "--connected"], home, withKey());
    expect(
      JSON.parse(json.stdout)
        .map((item: { integration_id: string }) => item.integration_id)
        .sort(),
    ).toEqual(["calendar", "contacts", "drive", "feeds", "mail", "notes"]);
  });

  test("prints the page on which an app is connected", async () => {
    const [drive] = await service.service.connections.list("drive");
    const change = await runSvc(["connect", "drive"], home, withKey());
    expect(change.code, change.stderr).toBe(0);
    expect(change.stdout).toContain(`connection of Drive: ${service.url}/connections/${drive?.id}/reconnect`);
    await service.service.connections.remove(drive?.id ?? "");
    const first = await runSvc(["connect", "Drive"], home, withKey());
    expect(first.stdout).toContain(`connect Drive: ${service.url}/connect/drive`);
  });

  test("leads to the reconnect page of a connection that needs it", async () => {
    const [mail] = await service.service.connections.list("mail");
    await service.service.connections.update(mail?.id ?? "", { state: "reauth_required" });
    const run = await runSvc(["--json", "connect", "mail"], home, withKey());
    expect(run.code, run.stderr).toBe(0);
    const { connectUrl } = JSON.parse(run.stdout);
    expect(connectUrl).toBe(`${service.url}/connections/${mail?.id}/reconnect`);
  });

  test("an unknown app is named with those there are", async () => {
    const run = await runSvc(["connect", "billing"], home, withKey());
    expect([run.code, run.stderr]).toEqual([1, expect.stringMatching(/no app "billing".*drive.*mail.*notes/s)]);
  });
});
