import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

/** A mount of one's own: as root, else as the root of a user namespace. */
const PROGRAM = "unshare";
const FLAGS = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
const MOUNT = 'mount -t tmpfs -o "size=$1,mode=700" svc-small-disk "$2" && shift 2 && exec "$@"';

/** True when a process of this user can have a small file system that nobody else sees. */
export function canMakeSmallDisk(): boolean {
  const tried = spawnSync(PROGRAM, [...FLAGS, "sh", "-c", MOUNT, "sh", "64k", "/tmp", "true"], { stdio: "ignore" });
  return tried.status === 0;
}

/**
 * Runs a script with an empty file system of `size` (as mount names it) as its argument, and returns what it printed as
 * JSON. The file system ends with the process.
 */
export async function runOnSmallDisk(script: URL, size: string): Promise<Record<string, unknown>> {
  const folder = await mkdtemp(join(tmpdir(), "svc-disk-"));
  const child = fileURLToPath(script);
  const command = [...FLAGS, "sh", "-c", MOUNT, "sh", size, folder, process.execPath, child, folder];
  try {
    const running = spawn(PROGRAM, command, { stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(running, "exit");
    const [printed, complaints] = await Promise.all([text(running.stdout), text(running.stderr)]);
    const [code] = await ended;
    if (code !== 0) throw new Error(`${child} ended with ${code}: ${complaints || printed}`);
    return JSON.parse(printed) as Record<string, unknown>;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
