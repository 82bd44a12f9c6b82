import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { shareBuiltPackage } from "./processes/built-package.ts";
import type { PartReport } from "./report/part-report.ts";
import { printable, reportProgress } from "./report/run-part.ts";

/*
 * Everything this package measures beside others, as one table: `npm run bench`, or `npm run bench -- uploads service`
 * for some parts, `--json` for the figures as they were taken, `--rounds 3` for a shorter run, `--before DIR` for another
 * checkout of this package beside the service. Each part runs in processes of its own. A missed target is printed and is
 * no failure; a part that breaks is.
 */

const PARTS = ["tools", "calls", "uploads", "service", "starts", "growth", "openclaw"];
/** Flags with a text behind them. */
const TEXTS = ["--svg", "--only", "--before"];
const words = process.argv.slice(2);
const isText = (index: number) => TEXTS.includes(words[index - 1] ?? "");
const asked = words.filter((word, index) => PARTS.includes(word) && !isText(index));
const options = words.filter((word, index) => isText(index) || (!PARTS.includes(word) && word !== "--json"));
const unknown = options.find(
  (word, index) => !TEXTS.includes(options[index - 1] ?? "") && !/^(--[a-z]+|\d+)$/.test(word),
);
if (unknown !== undefined) {
  console.error(`There is no part "${unknown}". The parts are: ${PARTS.join(", ")}.`);
  process.exit(2);
}

const begun = performance.now();
const reports: PartReport[] = [];
const broken: string[] = [];
await shareBuiltPackage();
for (const part of asked.length === 0 ? PARTS : asked) {
  reportProgress(`${part} (${Math.round((performance.now() - begun) / 1_000)} s so far)`);
  const report = await measure(part);
  if (report === undefined) broken.push(part);
  else reports.push(report);
}
console.log(process.argv.includes("--json") ? JSON.stringify(reports) : printable(reports));
if (broken.length > 0) {
  console.error(`These parts broke, see above: ${broken.join(", ")}.`);
  process.exitCode = 1;
}

async function measure(part: string): Promise<PartReport | undefined> {
  const script = join(import.meta.dirname, part, "run.ts");
  const child = spawn(process.execPath, [script, "--json", ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const output = await text(child.stdout);
  return (await ended) === 0 ? (JSON.parse(output) as PartReport) : undefined;
}
