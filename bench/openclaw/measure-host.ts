import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { runOpenClaw } from "../../test/e2e/openclaw/host/run-openclaw.ts";
import { startGateway } from "../../test/e2e/openclaw/host/start-gateway.ts";
import type { Candidate } from "./candidates.ts";

/** What one command of the host's command line cost. */
interface CommandSample {
  readonly cpuMs: number;
  readonly wallMs: number;
  readonly rssMb: number;
}

/** Prints what the process used when it ends; loaded before the host. */
const REPORT = `process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  const usage = { pid: process.pid, cpuMs: (user + system) / 1e3, rssMb: process.resourceUsage().maxRSS / 1024 };
  process.stderr.write("\\n[usage] " + JSON.stringify(usage) + "\\n");
});`;

/** Runs a command and reads what its process used; children of it are not counted. */
export async function measureCommand({ state }: Candidate, args: readonly string[]): Promise<CommandSample> {
  const preload = `--import data:text/javascript,${encodeURIComponent(REPORT)}`;
  const begun = performance.now();
  const run = await runOpenClaw(state, args, { NODE_OPTIONS: preload });
  const wallMs = performance.now() - begun;
  if (run.code !== 0) throw new Error(`openclaw ${args.join(" ")} failed:\n${run.stdout}${run.stderr}`);
  const last = [...run.stderr.matchAll(/^\[usage\] (\{.*\})$/gm)].at(-1)?.[1];
  if (last === undefined) throw new Error(`openclaw ${args.join(" ")} did not say what it used.`);
  const { cpuMs, rssMb } = JSON.parse(last) as { cpuMs: number; rssMb: number };
  return { cpuMs, rssMb, wallMs };
}

/** What one start of the gateway cost. */
interface GatewaySample {
  /** Until it takes calls. */
  readonly readyMs: number;
  /** CPU time and memory of its process at that moment; NaN where there is no /proc. */
  readonly cpuMs: number;
  readonly rssMb: number;
  /** The host's own figures for the plugin; NaN without one. */
  readonly loadMs: number;
  readonly registerMs: number;
  /** Files of the plugin that the host copies each time it loads it; NaN without one. */
  readonly files: number;
  /** Load and registration of the host's own plugins in the same start, in milliseconds. */
  readonly others: readonly number[];
}

/** Starts a gateway, reads its own timing lines, and stops it. */
export async function measureGateway({ state, pluginId }: Candidate): Promise<GatewaySample> {
  const begun = performance.now();
  const gateway = await startGateway(state, { OPENCLAW_GATEWAY_STARTUP_TRACE: "1" });
  const readyMs = performance.now() - begun;
  const usage = await readUsage(gateway.pid);
  const files = pluginId === undefined ? Number.NaN : await countCopied(state.stateDir);
  await gateway.stop();
  const lines = readPluginLines(gateway.output());
  const own = lines.find(({ id }) => id === pluginId);
  if (pluginId !== undefined && own === undefined) throw new Error(`The gateway did not load ${pluginId}.`);
  return {
    ...{ readyMs, ...usage, files },
    loadMs: own?.loadMs ?? Number.NaN,
    registerMs: own?.registerMs ?? Number.NaN,
    others: lines.filter(({ id }) => id !== pluginId).map(({ loadMs, registerMs }) => loadMs + registerMs),
  };
}

/** Files of one of the copies that the host made of the only plugin that does not come with it. */
async function countCopied(stateDir: string): Promise<number> {
  const files = await readdir(join(stateDir, "tmp/plugin-captures"), { recursive: true, withFileTypes: true });
  const copies = files
    .filter((file) => file.isFile())
    .flatMap(({ parentPath }) => /^.*-build-[^/]+/.exec(parentPath) ?? []);
  const counts = [...Map.groupBy(copies, (copy) => copy).values()].map(({ length }) => length);
  return Math.max(...counts);
}

/** `plugins.gateway-load.plugin.ID loadMs=1.2 loadFailedCount=0.0 registerMs=3.4 …` */
function readPluginLines(output: string) {
  const pattern = /plugins\.gateway-load\.plugin\.(\S+) loadMs=([\d.]+) .*?registerMs=([\d.]+)/g;
  return [...output.matchAll(pattern)].map(([, id, load, register]) => ({
    id,
    loadMs: Number(load),
    registerMs: Number(register),
  }));
}

/** Linux counts CPU time in hundredths of a second. */
const MS_PER_TICK = 10;

async function readUsage(pid: number): Promise<{ cpuMs: number; rssMb: number }> {
  try {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    const status = await readFile(`/proc/${pid}/status`, "utf8");
    const rssKb = Number(/VmRSS:\s*(\d+)/.exec(status)?.[1]);
    return { cpuMs: (user + system) * MS_PER_TICK, rssMb: rssKb / 1024 };
  } catch {
    return { cpuMs: Number.NaN, rssMb: Number.NaN };
  }
}
