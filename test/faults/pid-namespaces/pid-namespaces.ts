import { spawnSync } from "node:child_process";
import { watchProcess } from "../../e2e/watch-process.ts";

/** Process ids of one's own, as each container has them, and the host name of the machine: as root, else by a user namespace. */
const PROGRAM = "unshare";
const USER = process.getuid?.() === 0 ? [] : ["--user", "--map-root-user"];
const FLAGS = [...USER, "--pid", "--fork", "--kill-child", "--mount-proc"];

/** True when this user can start a process with process ids of its own. */
export function canUsePidNamespaces(): boolean {
  return spawnSync(PROGRAM, [...FLAGS, "true"], { stdio: "ignore" }).status === 0;
}

/** A process has a few threads, which take ids too. */
const USE_UP_IDS = 'i=0; while [ $i -lt 100 ]; do (:); i=$((i+1)); done; "$@"; exit';

interface Place {
  /** For its temporary files. */
  readonly folder: string;
  readonly id?: "first" | "high";
}

/** Starts a script in a PID namespace of its own: as its process 1, or with an id that no other namespace has in use. */
export function startInPidNamespace(script: string, args: readonly string[], { folder, id = "first" }: Place) {
  const shell = id === "first" ? [] : ["sh", "-c", USE_UP_IDS, "sh"];
  const command = [...FLAGS, ...shell, process.execPath, script, ...args];
  return watchProcess(PROGRAM, command, { env: { ...process.env, TMPDIR: folder }, timeoutMs: 60_000 });
}
