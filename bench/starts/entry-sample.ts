import "node:crypto";
import "node:fs";
import "node:os";
import "node:path";
import { readCpu } from "../processes/read-usage.ts";

/*
 * One measurement in a fresh process: `node entry-sample.ts ENTRY_URL` imports a plugin entry, registers it with a host
 * that answers to every name, and prints a line of JSON. A host has the modules of Node above long before it comes to a
 * plugin, so that they are not counted.
 */

/** What one process measured. */
export interface EntrySample {
  readonly importCpuMs: number;
  readonly registerCpuMs: number;
  /** Import and registration together. */
  readonly wallMs: number;
  /** Memory the process has more than before. */
  readonly rssMb: number;
}

const host: object = new Proxy(function answer() {}, {
  get: (_target, name) => {
    if (name === "registrationMode") return "full";
    return name === "pluginConfig" || name === "config" || name === "then" ? undefined : host;
  },
  apply: () => undefined,
});

const rssBefore = process.memoryUsage.rss();
const begun = performance.now();
const beforeImport = process.cpuUsage();
const { default: entry } = await import(process.argv[2] ?? "");
const importCpuMs = readCpu(beforeImport);
const beforeRegister = process.cpuUsage();
entry.register(host);
const registerCpuMs = readCpu(beforeRegister);
const wallMs = performance.now() - begun;
const rssMb = (process.memoryUsage.rss() - rssBefore) / 1024 / 1024;
const sample: EntrySample = { importCpuMs, registerCpuMs, wallMs, rssMb };
console.log(JSON.stringify(sample));
