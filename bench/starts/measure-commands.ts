import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { startService } from "../processes/start-service.ts";
import type { Measure } from "../report/part-report.ts";
import { reportProgress } from "../report/run-part.ts";
import { takeTurns } from "../report/take-turns.ts";

/** Prints the CPU time of the process when it ends. */
const REPORT = `process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process.stderr.write("[cpu] " + (user + system) / 1000 + "\\n");
});`;

const NOTHING = "node with nothing";
/** Of a command that asks the service, beside Node. */
const TARGET = 2;

/** `svc --version`, and `svc tools --json` on a machine that ran it before, each beside Node with nothing to do. */
export async function measureCommands(dist: string, folder: string, rounds: number): Promise<Measure[]> {
  reportProgress("command line");
  const bin = join(dist, "bin.js");
  const report = join(folder, "report-cpu.cjs");
  await writeFile(report, REPORT);
  const service = await startService(join(folder, "commands-data"));
  const places = { SVC_HOME: join(folder, "commands-home"), SVC_BASE_URL: service.url, SVC_API_KEY: service.apiKey };
  const env = { PATH: process.env.PATH, ...places };
  const commands = [
    ["--eval", ""],
    [bin, "--version"],
    [bin, "tools", "--json"],
  ];
  try {
    // Apart, because the report is work too.
    const wall = await takeTurns(commands, { rounds, warmUps: 2 }, async (args) => {
      const begun = performance.now();
      await promisify(execFile)(process.execPath, args, { env });
      return performance.now() - begun;
    });
    const cpu = await takeTurns(commands, { rounds, warmUps: 0 }, async (args) => {
      const { stderr } = await promisify(execFile)(process.execPath, ["--require", report, ...args], { env });
      return Number(/\[cpu\] ([\d.]+)/.exec(stderr)?.[1]);
    });
    return [
      ...compare("wall", wall, [{ bound: "at most", limit: TARGET, ratioTo: NOTHING }]),
      ...compare("CPU", cpu, undefined),
    ];
  } finally {
    await service.stop();
  }
}

/** Samples of Node, of the version and of the tools, in this order. */
function compare(what: string, samples: readonly number[][], targets: Measure["targets"]): Measure[] {
  const [nothing = [], version = [], tools = []] = samples;
  const peers = [{ name: NOTHING, samples: nothing }];
  return [
    { what: `svc --version: ${what}`, unit: "ms", samples: version, peers, targets },
    { what: `a second svc tools --json: ${what}`, unit: "ms", samples: tools, peers, targets },
  ];
}
