import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, expect, test, vi } from "vitest";
import { KNOWN_APPS_CHECKED, knownApps } from "../../src/apps/known/known-apps.ts";
import { startTestService } from "../../src/testing.ts";
import { startHttpMcpServer } from "../apps/mcp/http-server.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { closeAll, closeLater, makeFolder } from "../plugin/calls/open-test-session.ts";

/** docs/integrations.md: its template is a file of the tests, and its commands are run. */

const GUIDE = readFileSync(new URL("../../docs/integrations.md", import.meta.url), "utf8");
const TEMPLATE = new URL("../apps/contract/template/", import.meta.url);
const SERVER = fileURLToPath(new URL("../apps/mcp/fixture-server.ts", import.meta.url));

afterEach(closeAll);

function readBlocks(language: string): string[] {
  return [...GUIDE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, "gms"))].map(([, code = ""]) => code);
}

test("the template is the one that the tests compile, run and hold to the contract", () => {
  const blocks = readBlocks("ts");
  expect(blocks).toHaveLength(3);
  for (const [index, name] of ["tally-integration.ts", "try-tally.ts"].entries()) {
    const inside = readFileSync(new URL(name, TEMPLATE), "utf8");
    expect(blocks[index]).toBe(inside.replaceAll(/"(?:\.\.\/){4}src\/(\w+)\.ts"/g, '"svc-agent-plugin/$1"'));
  }
});

test("the template works outside of the repository, by the doors of the package alone", async () => {
  const folder = await makeFolder();
  for (const [index, name] of ["tally-integration.ts", "tally.test.ts", "serve.ts"].entries()) {
    const code = (readBlocks("ts")[index] ?? "")
      .replaceAll(/"svc-agent-plugin\/(\w+)"/g, (_match, door: string) =>
        JSON.stringify(new URL(`../../src/${door}.ts`, import.meta.url).href),
      )
      .replace('"zod"', JSON.stringify(import.meta.resolve("zod")));
    expect(code).not.toContain('"../');
    await writeFile(join(folder, name), code);
  }
  const tested = await promisify(execFile)(process.execPath, ["--test", "tally.test.ts"], { cwd: folder });
  expect(tested.stdout).toMatch(/pass 1\n.*fail 0\n/);
  const served = spawn(process.execPath, ["serve.ts"], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  closeLater({
    async close() {
      if (served.exitCode === null && served.kill()) await once(served, "exit");
    },
  });
  const [line] = await once(createInterface({ input: served.stdout }), "line");
  const signIn = await fetch(line, { redirect: "manual" });
  expect(signIn.status).toBeLessThan(400);
}, 60_000);

test.each(knownApps.map((app) => [app.slug, app] as const))("the guide has what is known of %s", (slug, app) => {
  const needs = `${app.needs[0]?.toUpperCase()}${app.needs.slice(1)}`;
  const [row = ""] = GUIDE.split("\n").filter((line) => line.includes(`| \`svc add ${slug}\` |`));
  expect(row).toContain(`| ${needs} | ${app.about}: `);
  expect(row).toMatch(/^\| \[/);
  expect(app.source).toContain(/\]\(([^)]+)\)/.exec(row)?.[1]);
  expect(GUIDE).toContain(KNOWN_APPS_CHECKED);
});

test("every command of the guide works, with a server of the tests in the place of the one it names", async () => {
  const service = closeLater(await startTestService());
  const remote = closeLater(await startHttpMcpServer());
  const home = await makeFolder();
  const document = join(home, "tracker.json");
  const paths = { "/issues": { get: { operationId: "list" } } };
  const servers = [{ url: "https://tracker.example.org" }];
  await writeFile(document, JSON.stringify({ openapi: "3.1.0", info: { title: "Tracker" }, servers, paths }));
  const google = join(home, "calendar.json");
  const methods = { list: { id: "list", path: "events", httpMethod: "GET" } };
  await writeFile(google, JSON.stringify({ kind: "discovery#restDescription", title: "Calendar", methods }));
  const commands = readBlocks("sh").flatMap((block) => block.trim().split("\n"));
  expect(commands).toHaveLength(12);
  const env = {
    SVC_HEADER_AUTHORIZATION: "Bearer token",
    SVC_BASE_URL: service.url,
    SVC_API_KEY: service.apiKey,
  };
  for (const command of commands) {
    const line = command
      .replace("npx -y @modelcontextprotocol/server-memory", `${process.execPath} ${SERVER} ${home}`)
      .replace("svc add linear", `svc add linear --url ${remote.url} --private`)
      .replace("https://wiki.example.org/mcp", `${remote.url} --private`)
      .replace("./tracker.yaml", document)
      .replace(/https:\/\/www\.googleapis\.com\/\S+/, google)
      // Only this one asks the service that runs.
      .replace(/^svc (?!connect)(\w+)/, `svc $1 --data ${service.dataDir}`)
      .replace(/^svc add --data (\S+) (\w+)/, "svc add $2 --data $1");
    const [, ...args] = line.replaceAll("'", "").split(" ");
    const work = async () => {
      const run = await runSvc(args, home, { env });
      expect(run, `${command}\n${run.stderr}`).toMatchObject({ code: 0 });
    };
    // A running service knows what was added within seconds.
    await (args[0] === "connect" ? vi.waitFor(work, { timeout: 30_000, interval: 200 }) : work());
  }
}, 180_000);
