import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const BYTES_PER_MB = 1024 * 1024;

/** CPU time in milliseconds, user and system, since `before`. */
export function readCpu(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** A collection goes on sweeping on other threads; on a large heap that is 10 ms of CPU, over well within this time. */
const SWEEP_MS = 300;

/**
 * Heap in use after a collection, in MB; run with `--expose-gc`. Resolves when the collection's threads are done too,
 * so that their CPU is not counted in what is measured next.
 */
export async function readHeap(): Promise<number> {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed } = process.memoryUsage();
  await sleep(SWEEP_MS);
  return heapUsed / BYTES_PER_MB;
}

/** Linux counts the CPU time of processes in these. */
const TICK_MS = 10;

/** CPU time of a process so far in milliseconds, user and system, in steps of 10; NaN where /proc does not tell. */
export function readCpuOf(pid: number): number {
  if (!existsSync(`/proc/${pid}/stat`)) return Number.NaN;
  // The name of the program, in brackets, may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

/** Starts to watch the memory of a process; returns a function that tells by how many MB it has grown at most since. */
export function watchPeak(pid: number | "self" = "self"): () => number {
  // Linux: sets the peak back to what is resident now.
  writeFileSync(`/proc/${pid}/clear_refs`, "5");
  const before = readStatus(pid, "VmRSS");
  return () => readStatus(pid, "VmHWM") - before;
}

function readStatus(pid: number | "self", field: "VmRSS" | "VmHWM"): number {
  const text = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`${field}:\\s*(\\d+)`).exec(text)?.[1]) / 1024;
}
