import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { findFreePort } from "../service/free-port.ts";

/** A PostgreSQL for tests. */
export interface TestPostgres {
  /** Address of a database that is always there. */
  readonly url: string;
  /** Makes a database and returns its URL. It is empty, or a copy of the one whose URL is given and nobody uses. */
  createDatabase(copied?: string): Promise<string>;
  /** Stops a server that was started here, or drops the databases made on one that was given. */
  stop(): Promise<void>;
}

/** A PostgreSQL that a test may take away. */
interface OwnPostgres extends TestPostgres {
  /** Cuts every connection and stops the server; its data stay. `crash` gives it no time to tidy up. */
  pause(how?: "stop" | "crash"): Promise<void>;
  /** Starts it again on the same port. */
  resume(): Promise<void>;
}

const INSTALLED = "/usr/lib/postgresql";
const USER = "svc_test";

/** Folder with `initdb` and `postgres`, of the newest version; undefined when none is installed. */
export function findPostgres(): string | undefined {
  const packaged = existsSync(INSTALLED)
    ? readdirSync(INSTALLED)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(INSTALLED, version, "bin"))
    : [];
  const onPath = (process.env.PATH ?? "").split(":");
  return [...packaged, ...onPath].find((folder) =>
    ["initdb", "postgres"].every((name) => existsSync(join(folder, name))),
  );
}

/** The server of `SVC_TEST_POSTGRES` when that is set, else one of its own in a temporary folder on a free port. */
export async function startPostgres(): Promise<TestPostgres> {
  const given = process.env.SVC_TEST_POSTGRES;
  return given ? useServer(given, async () => {}) : startOwnPostgres();
}

/**
 * A server of its own, of version 15 or newer. It sorts text as people do and not by bytes, so that code which relies
 * on bytes is found out.
 */
export async function startOwnPostgres(): Promise<OwnPostgres> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("PostgreSQL is not installed.");
  const folder = mkdtempSync(join(tmpdir(), "svc-postgres-"));
  const who = chooseUser();
  if (who.uid !== undefined && who.gid !== undefined) chownSync(folder, who.uid, who.gid);
  const data = join(folder, "data");
  const options = ["-D", data, "-U", USER, "--auth=trust", "--encoding=UTF8", "--no-sync", ...LOCALE];
  const made = spawnSync(join(bin, "initdb"), options, { ...who, cwd: folder, encoding: "utf8" });
  if (made.status !== 0) throw new Error(`initdb failed: ${made.error ?? made.stderr}`);
  const port = await findFreePort();
  const url = `postgres://${USER}@127.0.0.1:${port}/postgres`;
  const flags = ["-D", data, "-p", String(port), ...SETTINGS.flatMap((setting) => ["-c", setting])];
  let server: ChildProcess | undefined;
  const pause: OwnPostgres["pause"] = async (how = "stop") => {
    if (server !== undefined) await end(server, how === "crash" ? "SIGQUIT" : "SIGINT");
  };
  const resume = async () => {
    server = spawn(join(bin, "postgres"), flags, { ...who, cwd: folder, stdio: "ignore" });
    await waitForServer(url, server);
  };
  const stop = async () => {
    await pause();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await resume();
  } catch (error) {
    await stop();
    throw error;
  }
  return { ...useServer(url, stop), pause, resume };
}

const LOCALE = ["--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
const SETTINGS = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off", "max_connections=200"];

/** PostgreSQL does not run as root: then as `postgres`, the user its package makes. */
function chooseUser(): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {};
  const read = (flag: string) => Number(execFileSync("id", [flag, "postgres"], { encoding: "utf8" }));
  return { uid: read("-u"), gid: read("-g") };
}

async function waitForServer(url: string, server: ChildProcess): Promise<void> {
  for (let tries = 0; tries < 300 && server.exitCode === null; tries++) {
    const isThere = await query(url, "SELECT 1").then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("PostgreSQL did not start.");
}

/** Databases on a server that runs; `stop` comes after they were dropped. */
export function useServer(url: string, stop: () => Promise<void>): TestPostgres {
  const made: string[] = [];
  return {
    url,
    async createDatabase(copied) {
      const name = `svc_${randomBytes(6).toString("hex")}`;
      const template = copied === undefined ? "" : ` TEMPLATE ${new URL(copied).pathname.slice(1)}`;
      await query(url, `CREATE DATABASE ${name}${template}`);
      made.push(name);
      const own = new URL(url);
      own.pathname = `/${name}`;
      return own.href;
    },
    async stop() {
      for (const name of made) await query(url, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`).catch(() => {});
      await stop();
    },
  };
}

async function query(url: string, sql: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function end(server: ChildProcess, signal: "SIGINT" | "SIGQUIT"): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill(signal);
  await gone;
}
