import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { createGate } from "../../src/shared/base/concurrency.ts";
import { runSuite, SUITE } from "./check-suite.ts";
import { runTool } from "./run-tool.ts";
import { runStep, type StepResult } from "./step.ts";

/*
 * The suite's authorization scenarios for clients, with this service as a client of remote MCP servers: each at every
 * revision that it is listed for.
 */

const CLIENT = fileURLToPath(new URL("./remote-app.ts", import.meta.url));
const EXPECTED = fileURLToPath(new URL("./expected-clients.yml", import.meta.url));
/** Scenarios at a time: each starts a service. */
const AT_A_TIME = 2;
const PATIENCE_MS = 60_000;

/** One result for each revision, and one for the extensions. */
export async function checkRemoteApps(): Promise<StepResult[]> {
  const gate = createGate(AT_A_TIME);
  const expected = await readFile(EXPECTED, "utf8");
  const groups = Map.groupBy(await listScenarios(), ({ revision }) => revision);
  return Promise.all(
    [...groups].map(([revision, scenarios]) =>
      runStep(`suite, remote apps, ${revision}`, async () => {
        const isExpected = (scenario: string) => new RegExp(`^  - ${scenario}(:|$)`, "m").test(expected);
        const ends = await Promise.allSettled(
          scenarios.map(async ({ scenario }) => {
            const leave = await gate.enter();
            await run(scenario, revision, isExpected(scenario)).finally(leave);
          }),
        );
        const failed = ends.flatMap((end) => (end.status === "rejected" ? [String(end.reason)] : []));
        if (failed.length > 0) throw new Error(`${failed.length} of ${ends.length} failed\n${failed.join("\n")}`);
        const left = scenarios.filter(({ scenario }) => isExpected(scenario)).length;
        return `${ends.length - left} of ${ends.length} pass, ${left} expected not to in all`;
      }),
    ),
  );
}

async function listScenarios(): Promise<{ readonly scenario: string; readonly revision: string }[]> {
  const { output } = await runTool(SUITE, ["list", "--client"]);
  const found = [...output.matchAll(/^ {2}- (auth\/[\w-]+) \[([^\]]+)\]$/gm)];
  if (found.length === 0) throw new Error(`The suite lists no scenarios for clients:\n${output}`);
  return found.flatMap(([, scenario = "", revisions = ""]) =>
    revisions.split(",").map((revision) => ({ scenario, revision })),
  );
}

/** Without a file of expected failures, the exit code of the client counts too. */
async function run(scenario: string, revision: string, isExpected: boolean): Promise<void> {
  const command = `${process.execPath} ${CLIENT}`;
  const asked = ["client", "--command", command, "--scenario", scenario, "--timeout", String(PATIENCE_MS)];
  await runSuite([
    ...asked,
    ...(revision === "extension" ? [] : ["--spec-version", revision]),
    ...(isExpected ? ["--expected-failures", EXPECTED] : []),
  ]);
}
