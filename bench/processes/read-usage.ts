import { readFileSync, writeFileSync } from "node:fs";

const BYTES_PER_MB = 1024 * 1024;

/** CPU time in milliseconds, user and system, since `before`. */
export function readCpu(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Heap in use after a collection, in MB; run with `--expose-gc`. */
export function readHeap(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / BYTES_PER_MB;
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
