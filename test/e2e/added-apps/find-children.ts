import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Ids of the processes that `parent` has started with this text in their command line. */
export async function findChildren(parent: number, text: string): Promise<number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,args="]);
  return stdout.split("\n").flatMap((line) => {
    const [, pid, ppid, args = ""] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? [];
    return Number(ppid) === parent && args.includes(text) ? [Number(pid)] : [];
  });
}
