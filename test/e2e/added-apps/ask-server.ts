import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** One tool in the words of its server, and the line they came in. */
export interface RawTool {
  readonly name: string;
  readonly inputSchema: Record<string, unknown>;
  readonly line: string;
}

/** Asks a server for its tools over its own pipe, with nothing of this package or of an SDK between. */
export async function askServer(program: string, args: readonly string[]): Promise<RawTool[]> {
  const server = spawn(process.execPath, [program, ...args], { stdio: ["pipe", "pipe", "ignore"] });
  const say = (message: object) => void server.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const clientInfo = { name: "test", version: "1.0.0" };
  say({ id: 1, method: "initialize", params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo } });
  try {
    for await (const line of createInterface({ input: server.stdout })) {
      const { id, result } = JSON.parse(line);
      if (id === 1) {
        say({ method: "notifications/initialized" });
        say({ id: 2, method: "tools/list" });
      }
      if (id === 2) return (result.tools as RawTool[]).map(({ name, inputSchema }) => ({ name, inputSchema, line }));
    }
    throw new Error("The server ended without an answer.");
  } finally {
    server.kill();
  }
}
