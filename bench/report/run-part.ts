import { cpus } from "node:os";
import { formatReports } from "./format-report.ts";
import type { PartReport } from "./part-report.ts";

/** Measures one part and prints what it found: a table, or with `--json` the report itself. */
export async function runPart(measure: () => Promise<PartReport>): Promise<void> {
  const report = await measure();
  console.log(process.argv.includes("--json") ? JSON.stringify(report) : printable([report]));
}

/** Table and notes below a line that says what machine they are of. */
export function printable(reports: readonly PartReport[]): string {
  const cores = cpus();
  const machine = `Node ${process.version}, ${process.platform} ${process.arch}, ${cores.length} cores (${cores[0]?.model.trim() ?? "unknown"})`;
  return `${machine}. Medians (smallest..largest).\n\n${formatReports(reports, process.stdout.isTTY)}`;
}

/** Says on standard error what is going on. */
export function reportProgress(text: string): void {
  console.error(`  ${text}`);
}

/** The number after a flag of the command line, or what is usual. */
export function readCount(flag: string, usual: number): number {
  return Number(readWord(flag)) || usual;
}

/** The word after a flag of the command line; undefined without the flag. */
export function readWord(flag: string): string | undefined {
  const at = process.argv.indexOf(flag);
  return at === -1 ? undefined : process.argv[at + 1];
}
