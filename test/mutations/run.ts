/**
 * `npm run test:mutations [-- WORD …]`: breaks one safety-relevant line after another in a copy of the project and runs
 * the suite that is meant to notice. Exits with 1 when a suite stays green, or is red without any sabotage.
 */
import { spawn } from "node:child_process";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, matchesGlob } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { ALONE, LONG_TESTS } from "../suites/test-files.ts";
import { SABOTAGES, type Sabotage } from "./sabotages.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const WORKERS = 2;
/** Left out of a copy: `node_modules` is linked instead. */
const LEFT_OUT = new Set([".git", "node_modules", "dist"]);

const reportSchema = z.object({ numPassedTests: z.number(), numFailedTests: z.number() });
type Report = z.infer<typeof reportSchema>;

const words = process.argv.slice(2);
const chosen = SABOTAGES.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
const queue = [...Map.groupBy(chosen, ({ suite }) => suite)];
const ended = { killed: 0, survived: 0 };
const startedAt = Date.now();
process.stdout.write(`${chosen.length} sabotages, ${queue.length} suites\n`);
await Promise.all(Array.from({ length: WORKERS }, work));
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
process.stdout.write(`\nIn ${minutes} minutes; a sabotage that a suite noticed counts as passed:\n`);
process.stdout.write(`${ended.killed} passed, ${ended.survived} failed\n`);
process.exitCode = ended.survived > 0 || ended.killed === 0 ? 1 : 0;

/** Takes one suite after another into a copy of its own. */
async function work(): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), "svc-mutations-"));
  try {
    await cp(ROOT, copy, { recursive: true, filter: (path) => !LEFT_OUT.has(basename(path)) });
    await symlink(join(ROOT, "node_modules"), join(copy, "node_modules"));
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) await trySuite(copy, ...next);
  } finally {
    await rm(copy, { recursive: true, force: true });
  }
}

async function trySuite(copy: string, suite: string, sabotages: readonly Sabotage[]): Promise<void> {
  // To build the command line takes as long as most suites, and few start it.
  const startsProgram = !isGreen(await runSuite(copy, suite, false));
  if (startsProgram && !isGreen(await runSuite(copy, suite, true))) {
    for (const { name } of sabotages) count("survived", name, `${suite} is not green without any sabotage`);
    return;
  }
  for (const sabotage of sabotages) {
    const path = join(copy, sabotage.file);
    const text = await readFile(path, "utf8");
    await writeFile(
      path,
      text.replaceAll(sabotage.original, () => sabotage.sabotaged),
    );
    const report = await runSuite(copy, suite, startsProgram);
    await writeFile(path, text);
    const isKilled = report !== undefined && report.numFailedTests > 0;
    count(isKilled ? "killed" : "survived", sabotage.name, isKilled ? suite : `${suite} did not notice`);
  }
}

function count(how: keyof typeof ended, name: string, where: string): void {
  ended[how] += 1;
  process.stdout.write(`${how.padEnd(8)} ${name} (${where})\n`);
}

function isGreen(report: Report | undefined): boolean {
  return report !== undefined && report.numFailedTests === 0 && report.numPassedTests > 0;
}

function findProject(suite: string): string {
  const isOf = (globs: readonly string[]) => globs.some((glob) => matchesGlob(suite, glob));
  return isOf(LONG_TESTS) ? "long" : isOf(ALONE) ? "alone" : "tests";
}

/** Undefined when no test was counted, as for a file that cannot be loaded: that is no kill. */
async function runSuite(copy: string, suite: string, startsProgram: boolean): Promise<Report | undefined> {
  const output = join(copy, "report.json");
  await rm(output, { force: true });
  const vitest = join(copy, "node_modules/vitest/vitest.mjs");
  const flags = ["--config", "test/vitest.config.ts", "--project", findProject(suite), "--maxWorkers", "1"];
  const child = spawn(
    process.execPath,
    [vitest, "run", ...flags, "--reporter", "json", "--outputFile", output, "--bail", "1", suite],
    { cwd: copy, stdio: "ignore", env: startsProgram ? process.env : { ...process.env, SVC_TEST_PROGRAM: "none" } },
  );
  await new Promise<void>((resolve, reject) => child.once("error", reject).once("exit", () => resolve()));
  const text = await readFile(output, "utf8").catch(() => undefined);
  const report = reportSchema.safeParse(text === undefined ? undefined : JSON.parse(text));
  return report.success ? report.data : undefined;
}
