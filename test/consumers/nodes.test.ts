import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { openCredentialStore } from "../../src/plugin/pairing/credentials.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { EXPORTS } from "../package/expected-exports.ts";
import { installPacked } from "../package/install-packed.ts";
import { readPackage } from "../package/read-package.ts";
import { scriptReadmeAgent } from "../package/readme-blocks.ts";
import { runCommand } from "../package/run-command.ts";
import { createConsumer, NODES, type Peers } from "./consumer.ts";
import { BIN, DOOR_EXAMPLES, runExample, useFromMcpClient } from "./door-examples.ts";

/** The oldest Node meets the oldest peers. */
const PEERS_OF: Readonly<Record<string, Peers>> = {
  "22.19": "oldest peers",
  "24": "newest peers",
  "26": "newest peers",
};

/** What Node 22 says of a module that later ones have for good. */
const SQLITE_WARNING = /^\(node:\d+\) ExperimentalWarning: SQLite [^\n]*\n\(Use `node --trace-warnings[^\n]*\n/;

let folder: string;
const consumers = new Map<Peers, string>();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-nodes-"));
  const installed = await installPacked(folder);
  for (const peers of ["core 1.1 alone", "oldest peers", "newest peers"] as const) {
    consumers.set(peers, await createConsumer(installed, peers));
  }
  const inbound = join(folder, "home/.local/share/svc/media/inbound");
  await mkdir(inbound, { recursive: true });
  await writeFile(join(inbound, "hello.txt"), "Hello\n");
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});

afterEach(() => service.close());

/** Runs a Node in the project with these peers. */
function run(node: string, peers: Peers, args: readonly string[]) {
  const added = {
    SVC_BASE_URL: service.url,
    SVC_API_KEY: service.apiKey,
    SVC_HOME: join(folder, "home"),
  };
  return runCommand(NODES[node] ?? "", args, consumers.get(peers) ?? "", added);
}

const runModule = (node: string, peers: Peers, source: string) =>
  run(node, peers, ["--input-type=module", "--eval", source]);

describe.each(Object.entries(PEERS_OF))("Node %s with the %s", (node, peers) => {
  const engine = () => ({ command: [NODES[node] ?? ""] as const, consumer: consumers.get(peers) ?? "", service });

  test("is that Node", async () => {
    expect((await run(node, peers, ["--version"])).stdout).toMatch(new RegExp(`^v${node.replace(".", "\\.")}\\.`));
  });

  test("opens every door", async () => {
    const doors = JSON.stringify(Object.keys(EXPORTS));
    const source = `const names = {};
      for (const door of ${doors}) names[door] = Object.keys(await import("${readPackage().name}" + door.slice(1))).sort();
      console.log(JSON.stringify(names));`;
    const result = await runModule(node, peers, source);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stderr.replace(SQLITE_WARNING, "")).toBe("");
    expect(JSON.parse(result.stdout)).toEqual(EXPORTS);
  }, 180_000);

  test("opens no inner file", async () => {
    const source = `await import("${readPackage().name}/dist/index.js").catch((error) => console.log(error.code));`;
    expect((await runModule(node, peers, source)).stdout).toBe("ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  });

  test("runs the command line", async () => {
    const result = await run(node, peers, [BIN, "--help"]);
    expect(result).toMatchObject({ code: 0, stderr: "" });
    expect(result.stdout).toContain("Usage: svc");
  });

  test("runs the whole product once", async () => {
    const result = await run(node, peers, [BIN, "demo", "--unattended"]);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stderr.replace(SQLITE_WARNING, "")).toBe("");
    expect(result.stdout).toContain("equal to the source");
  }, 180_000);

  test("runs the README's agent against a service", async () => {
    const home = join(folder, "home");
    const { url: baseUrl, apiKey } = service;
    await openCredentialStore(join(home, ".config/svc")).write({
      baseUrl,
      apiKey,
      apiKeyId: "1",
      pairedAt: "2026-11-23T00:00:00Z",
    });
    const module = ["--input-type=module", "--eval", scriptReadmeAgent()];
    const result = await runCommand(NODES[node] ?? "", module, consumers.get(peers) ?? "", { HOME: home }, "a\n");
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stderr.replace(SQLITE_WARNING, "")).toBe("");
    expect(result.stdout).toMatch(/\nSaved\.\n$/);
    expect(await service.effects()).toMatchObject([{ toolName: "drive_upload_file", status: "succeeded" }]);
  }, 180_000);

  test.each(DOOR_EXAMPLES)("runs the program of $name", (example) => runExample(engine(), example), 180_000);

  test("is what an MCP client starts after svc install", () => useFromMcpClient(engine()), 180_000);
});

test("@langchain/core 1.1 is enough for the toolkit, and the middleware says what it needs", async () => {
  const source = `import { createApprovalMiddleware, SvcToolkit } from "${readPackage().name}/langchain";
    const { SVC_BASE_URL: baseUrl, SVC_API_KEY: apiKey } = process.env;
    const toolkit = await SvcToolkit.create({ baseUrl, apiKey });
    const status = toolkit.getTools().find(({ name }) => name === "svc_status");
    console.log(String(await status.invoke({})).includes("drive"));
    await createApprovalMiddleware(toolkit).catch(({ code, hint }) => console.log(code, hint));
    await toolkit.close();`;
  const result = await runModule("22.19", "core 1.1 alone", source);
  expect(result, result.stderr).toEqual({
    code: 0,
    stdout: "true\nunsupported Run npm install langchain.\n",
    stderr: "",
  });
});
