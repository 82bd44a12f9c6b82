import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService } from "../../../src/testing.ts";
import { execute } from "../http-calls.ts";
import { waitForTool } from "./wait-for-tool.ts";

/** What a call was answered. */
interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** A service with one MCP server, a program that speaks over standard input; ready once it offers `tool`. */
export async function serveScriptedServer(slug: string, program: string, tool: string) {
  const folder = await mkdtemp(join(tmpdir(), `svc-${slug}-`));
  await writeFile(join(folder, "server.mjs"), program);
  /** Reads the tools of the program, started with these words. */
  const prepare = (name: string, ...words: string[]) => {
    const args = [join(folder, "server.mjs"), ...words];
    const definition = { transport: "stdio", command: process.execPath, args, env: [], trusted: true } as const;
    return prepareMcp({ slug: name, name: undefined, definition }, {}, AbortSignal.timeout(30_000));
  };
  const service = await startTestService();
  const { source, notes } = await prepare(slug);
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  await admin.add(source, { connection: { label: slug, settings: {} } });
  await admin.close();
  await waitForTool(service, `${slug}_${tool}`);
  return {
    service,
    /** What the owner was told when it was added. */
    notes,
    prepare,
    async send(name: string, args: object = {}): Promise<Answer> {
      return (await execute(service, `${slug}_${name}`, { arguments: args })).json;
    },
    async close() {
      await service.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
