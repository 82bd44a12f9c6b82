import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { status } from "../../src/cli/commands/access.ts";
import { describe as describeTool } from "../../src/cli/commands/describe.ts";
import { flowTemplates } from "../../src/cli/commands/flows.ts";
import { tools } from "../../src/cli/commands/tools.ts";
import { type CliContext, findPlaces } from "../../src/cli/context.ts";
import { showOutcome } from "../../src/cli/outcome-text.ts";
import { createTerminal, formatError } from "../../src/cli/terminal.ts";
import type { ToolOutcome } from "../../src/plugin/calls/outcome.ts";
import { openCredentialStore } from "../../src/plugin/pairing/credentials.ts";
import { SvcError } from "../../src/shared/errors.ts";
import { startTestService, type TestService } from "../../src/testing.ts";

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
});

afterAll(async () => {
  await rm(home, { recursive: true, force: true });
  await service.close();
});

/** The lines that a command shows on a terminal this wide, or elsewhere. */
async function show(
  columns: number | undefined,
  run: (context: CliContext) => Promise<number>,
  changed: NodeJS.ProcessEnv = {},
): Promise<string[]> {
  const written: string[] = [];
  const write = (text: string) => written.push(text) > 0;
  const stream: NodeJS.WriteStream = Object.assign(Object.create(process.stdout), {
    write,
    isTTY: columns !== undefined,
    columns,
  });
  const access = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url };
  const env = { SVC_HOME: home, ...access, TERM: "xterm", NO_COLOR: "1", ...changed };
  const terminal = createTerminal({ stdout: stream, stderr: stream, env, json: false });
  const { signal } = new AbortController();
  await run({ places: findPlaces(env), env, terminal, input: process.stdin, output: stream, signal });
  // A redrawn progress line is gone once the answer stands there.
  return written
    .join("")
    .split("\n")
    .map((line) => line.split("\u001b[2K").at(-1) ?? "");
}

test.each([60, 100])("a list of tools has one line each on a terminal of %i characters", async (columns) => {
  const lines = await show(columns, (context) => tools(context, { integration: "drive" }));
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
  expect(lines.filter((line) => line.startsWith("  drive_"))).toHaveLength(7);
  expect(lines.find((line) => line.includes("drive_delete_file"))).toMatch(/ {2}delete {3}Deletes a file .*…$/);
});

test("a description is broken between words, and every further line stays indented", async () => {
  const lines = await show(60, (context) => describeTool(context, "drive_upload_file", {}));
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(lines.join("\n")).toMatch(/^ {2}Saves a file .*\n {2}\S.*\n {2}\S/m);
  expect(lines.join("\n")).toMatch(/^ {2}if_exists \(string\) .*\n {6}\S.*\n {6}/m);
});

test("an error is broken between words on a terminal, and is one line elsewhere", () => {
  const message = "Could not connect to http://127.0.0.1:9: ECONNREFUSED (GET /api/tools).";
  const error = new SvcError("unreachable", message, { hint: "Check the base URL and that the service is running." });
  const format = (columns?: number) =>
    formatError({ style: (_, text) => text }, error, { columns, isDebugging: false });
  expect(format()).toBe(`Error: ${message} Check the base URL and that the service is running.`);
  expect(format(60).split("\n")).toEqual([
    "Error: Could not connect to http://127.0.0.1:9:",
    "  ECONNREFUSED (GET /api/tools). Check the base URL and that",
    "  the service is running.",
  ]);
});

test("a command that an error names stays on one line, to be copied", () => {
  const address = "https://svc.example.org/a/long/path";
  const error = new SvcError("credentials_missing", "The stored key is for another service.", {
    hint: `Run "svc pair --base-url ${address}" to pair with it, or "svc status --base-url ${address}".`,
  });
  const lines = formatError({ style: (_, text) => text }, error, { columns: 60, isDebugging: false }).split("\n");
  expect(lines).toEqual([
    "Error: The stored key is for another service. Run",
    `  "svc pair --base-url ${address}"`,
    "  to pair with it, or",
    `  "svc status --base-url ${address}".`,
  ]);
});

test("a hint that a service wrote for a model is not shown to a person", () => {
  const format = (hint: string, status?: number) => {
    const error = new SvcError("service_failure", "It is full.", { hint, status });
    return formatError({ style: (_, text) => text }, error, { columns: undefined, isDebugging: false });
  };
  for (const hint of [
    "Stop, and tell the human that their inbox is full.",
    "Show the human the tool and its final arguments; after approval send the same call with `confirmed` true.",
    "Ask the user which account to use.",
    "Look with svc_get_flow.",
  ])
    expect(format(hint, 429)).toBe("Error: It is full.");
  expect(format("Try again in a minute.", 503)).toBe("Error: It is full. Try again in a minute.");
  // Written here, for whoever typed the command.
  expect(format("Choose a folder that this user owns.")).toBe(
    "Error: It is full. Choose a folder that this user owns.",
  );
});

test("how a call ended is broken between words", async () => {
  const outcome: ToolOutcome = {
    status: "failed",
    toolName: "nope",
    code: "tool_not_found",
    message: 'There is no tool named "nope". Nothing was run.',
    details: ["The first detail is long enough that it needs a second line."],
    notes: ["A note is broken in the same way when it is as long as this."],
    retryable: false,
  };
  const lines = await show(60, async ({ terminal }) => {
    showOutcome(terminal, outcome, { hasKeyInEnvironment: false });
    return 0;
  });
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
  expect(lines.slice(0, 3)).toEqual([
    'Not done (failed). There is no tool named "nope". Nothing',
    "  was run.",
    "  The first detail is long enough that it needs a second",
  ]);
});

test("templates of flows are broken between words", async () => {
  const lines = await show(60, (context) => flowTemplates(context, {}));
  expect(lines.filter((line) => line.length > 60)).toEqual([]);
});

test("a path that does not fit beside its name has a line of its own, as it is", async () => {
  const { apiKey, url: baseUrl } = service;
  const store = openCredentialStore(join(home, "config"));
  await store.write({ baseUrl, apiKey, apiKeyId: "1", pairedAt: new Date(0).toISOString() });
  const roots = ["/srv/files of everybody in the house/in", "/srv/files of everybody in the house/out"];
  const env = { SVC_API_KEY: "", SVC_MEDIA_ROOTS: roots.join(delimiter) };
  const narrow = await show(48, (context) => status(context, {}), env);
  for (const path of [store.path, ...roots]) expect(narrow).toContain(`  ${path}`);
  const wide = await show(150, (context) => status(context, {}), env);
  expect(wide).toContain(`Key accepted, from: ${store.path}`);
  expect(wide).toContain(`Files may be attached from: ${roots.join(", ")}`);
  expect(await show(undefined, (context) => status(context, {}), env)).toEqual(wide);
});

test("why the access does not work is broken between words", async () => {
  const lines = await show(48, (context) => status(context, {}), { SVC_BASE_URL: "http://127.0.0.1:9" });
  expect(lines.filter((line) => line.length > 48)).toEqual([]);
  expect(lines.join(" ").replaceAll(/ +/g, " ")).toContain("Could not connect to http://127.0.0.1:9: ECONNREFUSED");
});

test("elsewhere a line stays one line, and its choices are a sentence", async () => {
  const lines = await show(undefined, (context) => describeTool(context, "drive_upload_file", {}));
  expect(lines.find((line) => line.startsWith("  if_exists"))).toMatch(
    /the old file, which goes to \.trash\. One of error, rename, replace\. Default "error"\.$/,
  );
});
