import { readdirSync, readFileSync } from "node:fs";
import { median } from "../report/statistics.ts";

/** What one thing took: by the clock, and CPU time of the process that did it. */
export interface Cost {
  readonly ms: number;
  readonly cpuMs: number;
}

/** CPU time of a process and all its threads since its start, in milliseconds, as Linux counts it. */
export function readCpuOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`);
  const times = threads.map((id) => Number(readFileSync(`/proc/${pid}/task/${id}/schedstat`, "utf8").split(" ")[0]));
  return times.reduce((sum, time) => sum + time, 0) / 1_000_000;
}

/** Sends requests one after another: the median time of one, and the CPU time of the server for each. */
export async function measureRequests(pid: number, count: number, send: () => Promise<unknown>): Promise<Cost> {
  const times: number[] = [];
  const before = readCpuOf(pid);
  for (let sent = 0; sent < count; sent += 1) {
    const begun = performance.now();
    await send();
    times.push(performance.now() - begun);
  }
  return { ms: median(times), cpuMs: (readCpuOf(pid) - before) / count };
}
