import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { McpLink } from "../../../../src/service/sources/mcp/mcp-link.ts";

/** Says who it is, never answers, and does not mind that nobody listens any more. */
const SLOW_SERVER = `require("fs").writeFileSync(process.argv[1], process.pid + ";"); setInterval(() => {}, 1000);`;

test("a server that is just being started has ended when its link is closed", async () => {
  const folder = await mkdtemp(join(tmpdir(), "svc-link-"));
  const pidFile = join(folder, "pid");
  const readPid = async () => Number(/^(\d+);$/.exec(await readFile(pidFile, "utf8"))?.[1]);
  const args = ["-e", SLOW_SERVER, pidFile];
  const link = new McpLink(
    { transport: "stdio", command: process.execPath, args, env: [], cwd: undefined, trusted: true },
    {},
    { onOpen: async () => {}, onDown: () => {}, onToolsChanged: () => {} },
  );
  try {
    const opened = link.open().catch(() => "refused");
    const pid = await vi.waitUntil(() => readPid().catch(() => undefined), { timeout: 20_000 });
    expect(process.kill(pid, 0)).toBe(true);
    await link.close(0);
    expect(await opened).toBe("refused");
    expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 30_000);
