import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, realpath, rm, stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PieceOrder } from "../../../../src/service/sources/piece/piece-messages.ts";

const PROCESS = fileURLToPath(new URL("./run-piece-process.ts", import.meta.url));
/** Connects to the test, says its process id there, and then does not end by itself. */
const PIECE = `
const { connect } = require("node:net");
const stay = (port) => new Promise(() => connect(port, "127.0.0.1").write(String(process.pid)));
const actions = {
  hang: ({ propsValue }) => stay(propsValue.port),
  keep: async ({ propsValue, files }) => {
    setInterval(() => {}, 1000);
    void stay(propsValue.port);
    await files.write({ fileName: "a.txt", data: Buffer.from("a") });
  },
  insist: async ({ propsValue }) => {
    process.on("SIGHUP", () => {}).on("SIGTERM", () => {});
    process.stdin.pause();
    process.stdin.resume();
    await stay(propsValue.port);
  },
};
const props = { port: { type: "NUMBER", displayName: "Port" } };
const _actions = Object.fromEntries(Object.entries(actions).map(([name, run]) => [name, { name, props, run }]));
exports.piece = { displayName: "Stay", _actions, _triggers: {} };
`;

let folder: string;
let server: Server;
/** Processes that a test began; whatever it found out, none of them stays. */
let started: number[];
beforeEach(async () => {
  started = [];
  folder = await realpath(await mkdtemp(join(tmpdir(), "svc-orphans-")));
  for (const name of ["call", "piece"]) await mkdir(join(folder, name));
  await writeFile(join(folder, "piece", "index.js"), PIECE);
  await writeFile(join(folder, "piece", "package.json"), '{"name":"stay","main":"index.js"}');
  server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(async () => {
  for (const pid of started) end(pid);
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

test.each(["hang", "keep", "insist"])("a call ends with a service that was killed: %s", async (action) => {
  const { port } = server.address() as AddressInfo;
  const entry = join(folder, "piece");
  const task = { do: "run", action, property: "", auth: null, args: { port } } as const;
  const order: PieceOrder = { entry, network: { hosts: {}, reach: "any" }, task };
  const connection: Promise<Socket[]> = once(server, "connection");
  const parameters = [PROCESS, JSON.stringify(order), entry, join(folder, "call")];
  const service = spawn(process.execPath, parameters, { stdio: "ignore" });
  started.push(Number(service.pid));
  const [socket] = await connection;
  const [said] = await once(socket as Socket, "data");
  started.push(Number(String(said)));
  expect(new Set(started).size).toBe(2);
  // A killed process may leave its connection with an error.
  const closed = new Promise((resolve) => socket?.on("error", () => {}).on("close", resolve));
  service.kill("SIGKILL");
  await closed;
  await expect(stat(join(folder, "call"))).rejects.toMatchObject({ code: "ENOENT" });
});

function end(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}
