import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { startTestService } from "../../src/testing.ts";
import { findFreePort } from "../service/free-port.ts";
import { checkClients } from "./check-clients.ts";
import { checkInspector } from "./check-inspector.ts";
import { checkLocal } from "./check-local.ts";
import { checkRemoteApps } from "./check-remote-apps.ts";
import { checkRevision, checkScenario } from "./check-suite.ts";
import { conformanceFixtures } from "./fixtures.ts";
import { openKeyProxy } from "./key-proxy.ts";
import { run } from "./run-tool.ts";
import type { StepResult } from "./step.ts";

/*
 * `npm run test:conformance`: the official MCP conformance suite, the Inspector, both official clients and the
 * LangChain adapters against the running service, the Inspector with `svc mcp`, and the suite against the service as a client of remote MCP servers.
 * Exit code 1 when any of them finds something unexpected.
 */

const HERE = import.meta.dirname;
/** Scenarios of the Skills extension; directories are not read here. */
const SKILLS = ["sep-2640-skills-enumeration", "sep-2640-skills-manifest"];

const results: StepResult[] = [];
await installTools();
results.push(...(await runSuite()), ...(await checkRemoteApps()), ...(await runClients()));
printTable(results);
process.exitCode = results.every((result) => result.ok) ? 0 : 1;

/** The suite and the Inspector have their own lock, so that nobody else has to install them. */
async function installTools(): Promise<void> {
  const lock = createHash("sha256")
    .update(await readFile(join(HERE, "package-lock.json")))
    .digest("hex");
  const mark = join(HERE, "node_modules/.installed-lock");
  if ((await readFile(mark, "utf8").catch(() => "")) === lock) return;
  console.log("Installing the conformance suite and the Inspector …");
  const { code, output } = await run("npm", ["ci", "--no-audit", "--no-fund", "--ignore-scripts"], {}, HERE);
  if (code !== 0) throw new Error(`npm ci failed:\n${output}`);
  await writeFile(mark, lock);
}

/** The suite calls tools by names of its own, so it gets a service that has them. */
async function runSuite(): Promise<StepResult[]> {
  const proxy = await openKeyProxy();
  const port = await findFreePort();
  const service = await startTestService({ publicUrl: proxy.url, port, mcpExtras: conformanceFixtures });
  proxy.aim({ url: `http://127.0.0.1:${port}`, apiKey: service.apiKey });
  const url = `${proxy.url}/api/mcp`;
  try {
    return [
      await checkRevision("2026-07-28", url),
      await checkRevision("2025-11-25", url),
      ...(await checkScenarios(url, ["http-header-validation", ...SKILLS])),
      await checkScenario("authorization-server-metadata-endpoint", ["authorization", "--url", proxy.url]),
    ];
  } finally {
    await service.close();
    await proxy.close();
  }
}

async function checkScenarios(url: string, names: readonly string[]): Promise<StepResult[]> {
  const results: StepResult[] = [];
  for (const name of names) {
    results.push(await checkScenario(name, ["server", "--url", url, "--spec-version", "2026-07-28"]));
  }
  return results;
}

async function runClients(): Promise<StepResult[]> {
  const service = await startTestService();
  try {
    return [
      ...(await checkClients(service)),
      await checkInspector(service, "legacy"),
      await checkInspector(service, "modern"),
      await checkLocal("legacy"),
      await checkLocal("modern"),
    ];
  } finally {
    await service.close();
  }
}

function printTable(steps: readonly StepResult[]): void {
  const width = Math.max(...steps.map(({ name }) => name.length));
  for (const { name, ok, output } of steps) if (!ok) console.log(`\n--- ${name}\n${output}`);
  console.log();
  for (const { name, ok, detail } of steps) console.log(`${ok ? "ok  " : "FAIL"}  ${name.padEnd(width)}  ${detail}`);
}
