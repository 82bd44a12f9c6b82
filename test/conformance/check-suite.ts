import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";
import { runStep, type StepResult } from "./step.ts";

const HERE = import.meta.dirname;
/** The command line of the suite. */
export const SUITE = join(HERE, "node_modules/@modelcontextprotocol/conformance/dist/index.js");

/** What a revision requires, run at its own wire; fails on anything that the file of expected failures does not name. */
export async function checkRevision(revision: string, url: string): Promise<StepResult> {
  return runStep(`suite, ${revision}, required`, async () => {
    const expected = join(HERE, `expected-${revision}.yml`);
    const output = await runSuite([
      "server",
      "--url",
      url,
      "--requirements",
      revision,
      "--expected-failures",
      expected,
    ]);
    const ran = new Map(
      [...output.matchAll(/^([✓✗]) ([\w-]+): \d+ passed, \d+ failed$/gm)].map(([, mark, name]) => [name, mark]),
    );
    const required = await listRequired(revision);
    const left = required.filter((name) => !ran.has(name));
    if (left.length > 0) throw new Error(`The suite left out ${left.join(", ")}:\n${output}`);
    const failed = required.filter((name) => ran.get(name) === "✗");
    return `${required.length - failed.length} of ${required.length} pass, ${failed.length} expected not to`;
  });
}

/** Names of the server scenarios that a revision requires. */
async function listRequired(revision: string): Promise<string[]> {
  const { output } = await runTool(SUITE, ["list", "--requirements", revision]);
  const [, section = ""] = /Server scenarios.*\n((?: {2}- .*\n)+)/.exec(output) ?? [];
  const names = [...section.matchAll(/^ {2}- ([\w-]+)$/gm)].map(([, name]) => String(name));
  if (names.length === 0) throw new Error(`The suite requires nothing of a server:\n${output}`);
  return names;
}

/** One more scenario, all of whose checks must pass. */
export async function checkScenario(scenario: string, args: readonly string[]): Promise<StepResult> {
  return runStep(`suite, ${scenario}`, async () => {
    const output = await runSuite([...args, "--scenario", scenario]);
    return /Passed: .*|\d+ passed, 0 failed/.exec(output)?.[0] ?? "passes";
  });
}

/** Runs the suite and gives what it prints; throws when it finds something unexpected. */
export async function runSuite(args: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "svc-conformance-"));
  try {
    const { code, output } = await runTool(SUITE, [...args, "-o", folder]);
    if (code !== 0) throw new Error(`The suite found an unexpected failure (exit ${code}).\n${output}`);
    return output;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
