import { mkdir, mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { TestService } from "../../src/testing.ts";
import { readFences } from "../docs/read-page.ts";
import { watchProcess } from "../e2e/watch-process.ts";
import { readPackage } from "../package/read-package.ts";
import { connectClient } from "../plugin/runtimes/mcp/mcp-client.ts";
import { decideHeld } from "../service/approvals/owner.ts";

/** The programs of the doors that are not LangChain's, as their pages show them: SDKs of others, and the library. */
export const DOOR_EXAMPLES = ["docs/agent-sdks.md", "docs/other-runtimes.md"]
  .flatMap(readFences)
  .filter(({ language }) => language === "ts");

/** Path of the command line, below a project that has the package. */
export const BIN = `node_modules/${readPackage().name}/dist/bin.js`;

/** An engine in a project with the packed package. */
export interface Engine {
  /** The program and its flags, before a file. */
  readonly command: readonly [string, ...string[]];
  /** Folder of the project. */
  readonly consumer: string;
  readonly service: TestService;
}

const inherited = () => ({ PATH: process.env.PATH ?? "", TMPDIR: process.env.TMPDIR ?? "/tmp" });

/** Runs a program of a page and sees that it printed what the page says, and wrote its note once. */
export async function runExample({ command, consumer, service }: Engine, example: (typeof DOOR_EXAMPLES)[number]) {
  const [program, ...flags] = command;
  await writeFile(join(consumer, "example.mts"), example.code);
  const SVC_STATE = await mkdtemp(join(consumer, "state-"));
  const env = { ...inherited(), SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey, SVC_STATE };
  const run = await watchProcess(program, [...flags, "example.mts"], { env, cwd: consumer }).done;
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toBe(example.prints);
  expect(await service.effects()).toMatchObject([{ toolName: "notes_create_page", arguments: { title: "Plan" } }]);
}

/** What the README says for MCP clients: `svc install`, and the client starts what its file then holds. */
export async function useFromMcpClient({ command, consumer, service }: Engine): Promise<void> {
  const [program, ...flags] = command;
  const home = await mkdtemp(join(consumer, "home-"));
  const env = { ...inherited(), HOME: home, SVC_BASE_URL: service.url };
  const installing = watchProcess(program, [...flags, BIN, "install", "--client", "cursor"], { env, cwd: consumer });
  const [, link = ""] = await installing.waitFor(/approve the device: (\S+)/);
  await service.decide(link);
  const installed = await installing.done;
  expect(installed.code, installed.stderr).toBe(0);

  const { svc } = JSON.parse(await readFile(join(home, ".cursor/mcp.json"), "utf8")).mcpServers;
  const client = await connectClient({ command: svc.command, args: svc.args, env: { HOME: home, ...svc.env } });
  try {
    const media = join(home, ".local/share/svc/media");
    await mkdir(media, { recursive: true, mode: 0o700 });
    await writeFile(join(media, "hello.txt"), "hello\n");
    const upload = { name: "drive_upload_file", arguments: { file: join(media, "hello.txt"), folder: "Letters" } };
    const told: string[] = [];
    const made = client.call("svc_call_tool", upload, { onprogress: ({ message = "" }) => told.push(message) });
    await expect.poll(() => told.at(-1)).toContain("/inbox/");
    await decideHeld(service, told.at(-1)?.split("/").at(-1) ?? "", "approve");
    const expected = { status: "succeeded", result: { path: "Letters/hello.txt" } };
    expect(await made, client.stderr()).toMatchObject(expected);
  } finally {
    await client.close();
  }
}
