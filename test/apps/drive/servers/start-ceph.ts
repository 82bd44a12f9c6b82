import { type ChildProcess, execFile, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { Agent } from "undici";
import type { S3Place } from "../../../../src/service/files/files-place.ts";
import { createS3Requests } from "../../../../src/service/files/s3-requests.ts";
import { findFreePort } from "../../../service/free-port.ts";
import { CEPH } from "./find-drive-servers.ts";

const run = promisify(execFile);

const LIMIT_MS = 45_000;
const KEYS = { accessKeyId: "AKTEST", secretAccessKey: "a secret key / with + signs" };

/** A store of Ceph on loopback, with everything in memory. */
export interface Ceph {
  /** Its one bucket, which is empty. */
  readonly place: S3Place & { readonly endpoint: string };
  close(): Promise<void>;
}

/** Starts a monitor, a disk in memory and the gateway that speaks S3, and makes a bucket. */
export async function startCeph(): Promise<Ceph> {
  const folder = mkdtempSync(join(tmpdir(), "svc-ceph-"));
  const [monitorPort, port] = [await findFreePort(), await findFreePort()];
  const config = join(folder, "ceph.conf");
  const cluster = randomUUID();
  writeFileSync(config, configure({ folder, cluster, monitorPort, port }));
  for (const name of ["monitor", "disk"]) mkdirSync(join(folder, name));
  const servers: ChildProcess[] = [];
  const call = (program: string, ...args: string[]) => run(program, ["-c", config, ...args], { timeout: LIMIT_MS });
  const serve = (program: string, ...args: string[]) => {
    servers.push(spawn(program, ["-c", config, "-f", ...args], { stdio: "ignore" }));
  };
  const close = async () => {
    await Promise.all(servers.map(kill));
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const map = join(folder, "map");
    await call(CEPH.map, "--create", "--fsid", cluster, "--addv", "a", `[v2:127.0.0.1:${monitorPort}]`, map);
    await call(CEPH.monitor, "--mkfs", "-i", "a", "--monmap", map);
    serve(CEPH.monitor, "-i", "a");
    const disk = randomUUID();
    await call(CEPH.admin, "osd", "new", disk, "0");
    await call(CEPH.disk, "--mkfs", "-i", "0", "--osd-uuid", disk);
    serve(CEPH.disk, "-i", "0");
    const keys = ["--access-key", KEYS.accessKeyId, "--secret", KEYS.secretAccessKey];
    await call(CEPH.users, "user", "create", "--uid", "test", "--display-name", "Test", ...keys);
    serve(CEPH.gateway, "-n", "client.gateway");
    const place = { bucket: "files", endpoint: `http://127.0.0.1:${port}`, region: "us-east-1", ...KEYS };
    await makeBucket(place);
    return { place, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One disk that needs no copies, no sign-in between the parts, and changes of the cluster without a pause. */
function configure(o: {
  readonly folder: string;
  readonly cluster: string;
  monitorPort: number;
  port: number;
}): string {
  return [
    "[global]",
    `fsid = ${o.cluster}`,
    `mon host = v2:127.0.0.1:${o.monitorPort}`,
    "auth cluster required = none",
    "auth service required = none",
    "auth client required = none",
    "ms mon client mode = crc",
    "paxos propose interval = 0.02",
    "paxos min wait = 0.01",
    `run dir = ${o.folder}`,
    `log file = ${o.folder}/$name.log`,
    "admin socket =",
    `mon data = ${o.folder}/monitor`,
    "mon data avail crit = 0",
    `osd data = ${o.folder}/disk`,
    "osd objectstore = memstore",
    `memstore device bytes = ${512 * 1024 * 1024}`,
    "osd pool default size = 1",
    "osd pool default min size = 1",
    "osd pool default pg num = 1",
    "osd pool default pg autoscale mode = off",
    "osd crush chooseleaf type = 0",
    `rgw frontends = beast endpoint=127.0.0.1:${o.port}`,
    "[osd]",
    "public addr = 127.0.0.1",
    "cluster addr = 127.0.0.1",
    "",
  ].join("\n");
}

async function makeBucket(place: S3Place): Promise<void> {
  const agent = new Agent();
  const { send } = createS3Requests(place, { dispatcher: agent, now: Date.now });
  for (let tries = 0; ; tries += 1) {
    try {
      const { statusCode, body } = await send({ method: "PUT", name: "" });
      await body.dump();
      if (statusCode !== 200) throw new Error(`No bucket was made: ${statusCode}.`);
      return await agent.close();
    } catch (error) {
      if (tries === 300) throw error;
      await sleep(50);
    }
  }
}

/** Nothing of it is kept. */
async function kill(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const gone = once(server, "exit");
  server.kill("SIGKILL");
  await gone;
}
