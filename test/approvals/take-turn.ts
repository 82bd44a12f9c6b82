import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { Answer, Host, ModelCall, Turn } from "./door.ts";

const CHILD = fileURLToPath(new URL("./door-child.ts", import.meta.url));

/** Where a process stops for good: before its first write is sent, or once the first has been answered. */
export type Stop = "sending" | "finished";

/** One turn of a conversation. */
export type Task = { readonly host: Host; readonly at?: Stop } & (
  | { readonly calls: readonly ModelCall[] }
  | { readonly saved: string; readonly answers: readonly Answer[] }
);

/** What became of a process: where the conversation stands, or that it was killed where it stopped; neither if it failed. */
interface Taken {
  readonly turn?: Turn;
  readonly isKilled: boolean;
}

/** Has a process of its own take one turn, and kills it without warning where it says that it stops. */
export async function takeTurn(door: string, task: Task): Promise<Taken> {
  const child = spawn(process.execPath, [CHILD, door, JSON.stringify(task)], { stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  let isKilled = false;
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (task.at === undefined || !printed.includes(`at ${task.at}\n`)) continue;
    isKilled = child.kill("SIGKILL");
    break;
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const last = printed.trim().split("\n").at(-1) ?? "";
  return { isKilled, ...(last.startsWith("{") && { turn: JSON.parse(last) as Turn }) };
}
