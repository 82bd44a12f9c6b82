import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import pg from "pg";
import { findFreePort } from "../service/free-port.ts";
import { findPostgres } from "./find-postgres.ts";

const run = promisify(execFile);

/** A PostgreSQL server of its own, in a temporary folder and on a free port. */
export interface PostgresServer {
  /** Address of the database that is always there. */
  readonly url: string;
  /** Makes an empty database; its address. */
  createDatabase(): Promise<string>;
  /** Removes a database, with whoever is connected to it. */
  dropDatabase(url: string): Promise<void>;
  /** Cuts every connection and stops, as `pg_ctl stop -m fast`. */
  stop(): Promise<void>;
  /** Starts again on the same data and port. */
  start(): Promise<void>;
  /** Stops and removes everything. */
  remove(): Promise<void>;
}

/**
 * Starts a server that sorts text as English people do, not by bytes, so that code which relies on bytes is found out.
 * It does not wait for the disk: tests kill processes, not the machine.
 */
export async function startPostgres(): Promise<PostgresServer> {
  const bin = findPostgres();
  if (bin === undefined) throw new Error("There is no PostgreSQL on this machine.");
  const folder = await mkdtemp(join(tmpdir(), "svc-postgres-"));
  const owner = await findOwner();
  if (owner !== undefined) await chown(folder, owner.uid, owner.gid);
  const locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
  await run(
    join(bin, "initdb"),
    ["-D", join(folder, "data"), "-U", "postgres", "-A", "trust", "--no-sync", ...locale],
    { ...owner, cwd: folder },
  );
  const port = await findFreePort();
  const urlOf = (database: string) => `postgres://postgres@127.0.0.1:${port}/${database}`;
  const url = urlOf("postgres");
  let server: ChildProcess | undefined;

  async function start(): Promise<void> {
    const settings = { port, fsync: "off", full_page_writes: "off", synchronous_commit: "off", max_connections: 200 };
    const flags = Object.entries({ ...settings, listen_addresses: "127.0.0.1", unix_socket_directories: "" });
    const args = ["-D", join(folder, "data"), ...flags.flatMap(([name, value]) => ["-c", `${name}=${value}`])];
    server = spawn(join(bin ?? "", "postgres"), args, { ...owner, cwd: folder, stdio: "ignore" });
    await waitUntilReady(url, server);
  }
  async function stop(): Promise<void> {
    if (server === undefined || server.exitCode !== null) return;
    const gone = once(server, "exit");
    server.kill("SIGINT");
    await gone;
  }

  await start();
  return {
    url,
    start,
    stop,
    async createDatabase() {
      const name = `svc_${randomBytes(6).toString("hex")}`;
      await query(url, `create database ${name}`);
      return urlOf(name);
    },
    dropDatabase: (dropped) => query(url, `drop database if exists ${new URL(dropped).pathname.slice(1)} with (force)`),
    async remove() {
      await stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Runs one statement on a connection of its own. */
async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** The server refuses to run as root; the package makes a user for it. */
async function findOwner(): Promise<{ uid: number; gid: number } | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const { stdout } = await run("id", ["-u", "postgres"]);
  const { stdout: group } = await run("id", ["-g", "postgres"]);
  return { uid: Number(stdout), gid: Number(group) };
}

async function waitUntilReady(url: string, server: ChildProcess): Promise<void> {
  for (;;) {
    if (server.exitCode !== null) throw new Error(`The PostgreSQL server ended with ${server.exitCode}.`);
    const isReady = await query(url, "select 1").then(
      () => true,
      () => false,
    );
    if (isReady) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
