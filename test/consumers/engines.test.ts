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
import { createConsumer, ENGINES } from "./consumer.ts";
import { BIN, DOOR_EXAMPLES, runExample, useFromMcpClient } from "./door-examples.ts";

/** The packed package under Deno: what nodes.test.ts shows for every Node; and its refusal under Bun. */

let folder: string;
let home: string;
let consumer: string;
let service: TestService;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-engines-"));
  consumer = await createConsumer(await installPacked(folder), "newest peers");
  home = join(folder, "home");
  const inbound = join(home, ".local/share/svc/media/inbound");
  await mkdir(inbound, { recursive: true });
  await writeFile(join(inbound, "hello.txt"), "Hello\n");
}, 240_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

beforeEach(async () => {
  service = await startTestService();
});

afterEach(() => service.close());

describe.each(Object.entries(ENGINES))("%s", (name, [program, ...flags]) => {
  const isRefused = name.startsWith("Bun");
  const engine = () => ({ command: [program, ...flags] as const, consumer, service });
  const run = (args: readonly string[], added: Record<string, string> = {}, input?: string) =>
    runCommand(program, [...flags, ...args], consumer, { HOME: home, ...added }, input);

  async function runModule(source: string, added?: Record<string, string>, input?: string) {
    await writeFile(join(consumer, "module.mjs"), source);
    return run(["module.mjs"], added, input);
  }

  test("opens every door of the plugin", async () => {
    const doors = Object.keys(EXPORTS).filter((door) => !["./service", "./testing"].includes(door));
    const source = `const names = {};
      for (const door of ${JSON.stringify(doors)}) names[door] = Object.keys(await import("${readPackage().name}" + door.slice(1))).sort();
      console.log(JSON.stringify(names));`;
    const result = await runModule(source);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(result.stdout)).toEqual(Object.fromEntries(doors.map((door) => [door, EXPORTS[door]])));
  });

  test.runIf(isRefused)("is refused in one sentence, by the library and by the command line", async () => {
    const sentence = `svc-agent-plugin needs Node 22.19 or newer, and this is ${name}`;
    const place = `{ baseUrl: ${JSON.stringify(service.url)}, apiKey: "x" }`;
    const source = `import { SvcToolkit } from "${readPackage().name}/langchain";
      await SvcToolkit.create(${place}).catch(({ code, message }) => console.log(code, message));`;
    expect((await runModule(source)).stdout).toContain(`unsupported ${sentence}`);
    const command = await run([BIN, "tools"], { SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey });
    expect([command.code, command.stderr]).toEqual([1, expect.stringContaining(sentence)]);
  });

  test.skipIf(isRefused)("runs the command line", async () => {
    const result = await run([BIN, "--help"]);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stdout).toContain("Usage: svc");
    const read = await run([BIN, "call", "drive_list_files"], {
      SVC_BASE_URL: service.url,
      SVC_API_KEY: service.apiKey,
    });
    expect(read, read.stderr).toMatchObject({ code: 0 });
  });

  test.skipIf(isRefused)("runs the README's agent against a service", async () => {
    const { url: baseUrl, apiKey } = service;
    await openCredentialStore(join(home, ".config/svc")).write({
      baseUrl,
      apiKey,
      apiKeyId: "1",
      pairedAt: "2026-11-26T00:00:00Z",
    });
    const result = await runModule(scriptReadmeAgent(), {}, "a\n");
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stdout).toMatch(/\nSaved\.\n$/);
    expect(await service.effects()).toMatchObject([{ toolName: "drive_upload_file", status: "succeeded" }]);
  });

  test.skipIf(isRefused).each(DOOR_EXAMPLES)("runs the program of $name", (example) => runExample(engine(), example));

  test.skipIf(isRefused)("is what an MCP client starts after svc install", () => useFromMcpClient(engine()));

  test.skipIf(isRefused)("serves: the whole product once", async () => {
    const result = await run([BIN, "demo", "--unattended"]);
    expect(result, result.stderr).toMatchObject({ code: 0 });
    expect(result.stdout).toContain("equal to the source");
  });
});
