import { type ChildProcess, spawn } from "node:child_process";
import { Socket } from "node:net";

/**
 * Waits for the end of this process, however it comes: then its end of the pipe is closed. Servers that are well end by
 * themselves within the five seconds, as their own input has ended, too.
 */
const SCRIPT =
  'while read -r line; do groups=$line; done; sleep 5; for group in $groups; do kill -s KILL -- "-$group"; done';

const groups = new Set<number>();
let watcher: ChildProcess | undefined;

/**
 * Lets a group of processes be killed when this process is gone and has not ended it: a server in an endless loop does not
 * notice that its client is gone. One small shell watches all groups; it is there only while there is one. Without a
 * shell (Windows), nothing is watched.
 *
 * @param group id of the process that leads it
 */
export function watchGroup(group: number): void {
  groups.add(group);
  tell();
}

/** Ends the watch over a group that has ended: its number may soon be another's. */
export function forgetGroup(group: number): void {
  if (groups.delete(group)) tell();
}

function tell(): void {
  if (process.platform === "win32") return;
  if (groups.size === 0) {
    watcher?.kill("SIGKILL");
    watcher = undefined;
    return;
  }
  watcher ??= startWatcher();
  watcher.stdin?.write(`${[...groups].join(" ")}\n`);
}

/** Leads a session of its own, so that nothing meant for this process, such as Ctrl-C, ends it. */
function startWatcher(): ChildProcess {
  const child = spawn("/bin/sh", ["-c", SCRIPT], { stdio: ["pipe", "ignore", "ignore"], detached: true, env: {} });
  const drop = () => {
    if (watcher === child) watcher = undefined;
  };
  child.on("error", drop).on("exit", drop).unref();
  child.stdin.on("error", drop);
  if (child.stdin instanceof Socket) child.stdin.unref();
  return child;
}
