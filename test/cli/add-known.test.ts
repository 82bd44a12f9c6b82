import { execFileSync } from "node:child_process";
import { Command } from "commander";
import { beforeEach, expect, test } from "vitest";
import { writeLongCommand } from "../../src/apps/known/known-app-command.ts";
import { knownApps } from "../../src/apps/known/known-apps.ts";
import { addKnown, planKnown } from "../../src/cli/commands/add-known.ts";
import { addCommands } from "../../src/cli/commands.ts";
import { type CliContext, placesUnder } from "../../src/cli/context.ts";
import { createTerminal } from "../../src/cli/terminal.ts";
import { isSvcError } from "../../src/shared/errors.ts";

/** `svc add NAME` does what the long command does that it prints, and nothing else. */

const written: string[] = [];

beforeEach(() => {
  written.length = 0;
});

function openContext({ json = false, columns = 80 } = {}): CliContext {
  const write = (text: string) => written.push(text) > 0;
  const stream: NodeJS.WriteStream = Object.assign(Object.create(process.stdout), { write, isTTY: true, columns });
  const env = { NO_COLOR: "1", TERM: "xterm" };
  const terminal = createTerminal({ stdout: stream, stderr: stream, env, json });
  const { signal } = new AbortController();
  return { places: placesUnder("/nowhere"), env, terminal, input: process.stdin, output: stream, signal };
}

/** The words of a line, as a shell reads them. */
function split(line: string): string[] {
  return execFileSync("sh", ["-c", `printf '%s\\n' ${line}`], { encoding: "utf8" })
    .trimEnd()
    .split("\n");
}

/** The arguments that the real command line hands to a command. */
async function parse(words: readonly string[]): Promise<unknown[]> {
  let given: unknown[] = [];
  const program = new Command("svc").exitOverride().configureOutput({ writeErr: () => {} });
  addCommands(program, () => async (...args) => {
    given = args.slice(0, -1);
  });
  await program.parseAsync([...words], { from: "user" });
  return given;
}

type Flags = Parameters<typeof planKnown>[1];

/** What runs for a known app, as the real command line hands it over, and the long command itself. */
async function plan(slug: string, flags: Flags = {}) {
  const app = knownApps.find((one) => one.slug === slug) ?? expect.unreachable();
  const { address, ...options } = planKnown(app, flags);
  const long = writeLongCommand(app, { address, ...options });
  const [, ...words] = split(long);
  const runs = app.kind === "mcp" ? [slug, [], { ...options, url: address }] : [slug, address, options];
  return { long, runs, parsed: await parse(words) };
}

test.each(knownApps.map(({ slug }) => slug))("%s runs what the long command runs", async (slug) => {
  const { runs, parsed } = await plan(slug);
  expect(parsed).toEqual(runs);
});

test.each<[string, Flags, string]>([
  ["home-assistant", { url: "http://10.0.0.5:8123/api/mcp" }, "--url http://10.0.0.5:8123/api/mcp"],
  ["github", { url: "https://ghe.example.org/mcp", header: ["Authorization"] }, "--header Authorization"],
  ["linear", { url: "http://127.0.0.1:1/mcp", private: true, name: "Mine" }, "--name Mine"],
  ["gmail", { url: "./gmail.json" }, "./gmail.json"],
])("%s takes %j in the place of its own", async (slug, flags, part) => {
  const { long, runs, parsed } = await plan(slug, flags);
  expect(parsed).toEqual(runs);
  expect(long).toContain(part);
  expect(long).not.toContain(knownApps.find((app) => app.slug === slug)?.address);
});

test("a header takes the place of a sign-in", async () => {
  expect((await plan("github", { header: ["Authorization"] })).long).toBe(
    "svc add mcp github --url https://api.githubcopilot.com/mcp/ --name GitHub --trust --header Authorization",
  );
});

test("levels of the owner come after those of the table, and so count over them", async () => {
  const { long, runs, parsed } = await plan("telegram", { level: ["getMe=write"] });
  expect(long).toMatch(/--level 'get\*=read' .*--level getMe=write$/);
  expect(parsed).toEqual(runs);
});

test("where an address comes from, that it was not tried, and what the owner needs is said first", async () => {
  await expect(addKnown(openContext(), "linear", {})).rejects.toThrow("No service has been started");
  expect(written.join("")).toBe(`"svc add linear" stands for:
  svc add mcp linear --url https://mcp.linear.app/mcp --name Linear --trust
Its address is from https://linear.app/docs/mcp, read on 2026-11-25; it was
  not tried.
You need nothing but your account.

`);
});

test("without a name all are listed, in 80 columns", async () => {
  expect(await addKnown(openContext(), undefined, {})).toBe(0);
  const lines = written.join("").split("\n");
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
  for (const { slug } of knownApps) expect(lines.filter((line) => line.startsWith(`  ${slug} `))).toHaveLength(1);
});

test("--json lists all with every member", async () => {
  await addKnown(openContext({ json: true }), undefined, {});
  const list = JSON.parse(written.join(""));
  expect(list).toHaveLength(knownApps.length);
  expect(list[1]).toMatchObject({ slug: "linear", kind: "mcp", checked: "2026-11-25", tried: false });
});

test.each([
  [["linaer", {}], 'No app is known by the name "linaer".', /^Did you mean "svc add linear"\?/],
  [["zzzz", {}], 'No app is known by the name "zzzz".', /^"svc add" lists all names;/],
  [["gmail", { header: ["X"] }], "Gmail is an OpenAPI document, which names its keys itself.", /svc connect gmail/],
] as const)("%j is refused, with the next step", async ([slug, flags], message, hint) => {
  const error = await addKnown(openContext(), slug, flags).catch((caught: unknown) => caught);
  expect(isSvcError(error) && [error.message, error.hint]).toEqual([message, expect.stringMatching(hint)]);
  expect(written).toEqual([]);
});

test("options of a kind count behind it, never before", async () => {
  const [slug, command, flags] = await parse(["add", "mcp", "wiki", "--url", "https://wiki.example.org", "--yes"]);
  expect([slug, command, flags]).toEqual(["wiki", [], { url: "https://wiki.example.org", yes: true }]);
  const early = parse(["add", "--data", "/other", "mcp", "wiki"]);
  await expect(early).rejects.toThrow("too many arguments");
});
