import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openSourceAdmin } from "../../src/service/added/open-source-admin.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { waitForTool } from "../service/added/wait-for-tool.ts";
import { execute } from "../service/http-calls.ts";

/** `svc add`, `svc review` and `svc remove` as a person and as a script use them, beside a running service. */

const SERVER = fileURLToPath(new URL("../apps/mcp/fixture-server.ts", import.meta.url));
const DOCUMENT = {
  openapi: "3.1.0",
  info: { title: "Door" },
  servers: [{ url: "https://door.example.org/v1" }],
  security: [{ key: [] }],
  components: { securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } } },
  paths: { "/door": { get: { operationId: "look" } } },
};

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
  home = await mkdtemp(join(tmpdir(), "svc-add-"));
  await writeFile(join(home, "door.json"), JSON.stringify(DOCUMENT));
});

afterEach(async () => {
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  for (const { slug } of await admin.list()) await admin.remove(slug);
  await admin.close();
  await Promise.all(["changed", "fault"].map((name) => rm(join(home, name), { force: true })));
});

afterAll(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

function svc(args: readonly string[], o: { input?: string; env?: Record<string, string> } = {}) {
  const dashes = args.indexOf("--");
  const at = dashes < 0 ? args.length : dashes;
  return runSvc([...args.slice(0, at), "--data", service.dataDir, ...args.slice(at)], home, o);
}

const addShelf = (...flags: string[]) => [
  "add",
  "mcp",
  "shelf",
  "--trust",
  ...flags,
  "--",
  process.execPath,
  SERVER,
  home,
];

test("what would be added is shown before the question: what is started, what it may do, what trust means", async () => {
  const run = await svc(addShelf(), { input: "n\n" });
  expect(run.code, run.stderr).toBe(4);
  expect(run.stdout).toContain("Fixture (shelf): 8 actions: 5 read, 2 write, 1 delete.\n");
  expect(run.stdout).toMatch(/\n {2}5 read: (?:shelf_\w+, ){4}shelf_\w+\n {2}shelf_note +write +note\n/);
  expect(run.stdout).toMatch(/ {2}shelf_note +write +note\n.*\n {2}shelf_wipe +delete {2}/);
  expect(run.stdout).toContain(
    `Note: The service starts it, with its own rights, as: ${process.execPath} ${SERVER} ${home}`,
  );
  expect(run.stdout).toContain("Note: The server itself says which of its tools only read");
  expect(run.stdout).toMatch(/Note: "picture\/1" is called "picture_1_[0-9a-f]{6}" here\./);
  expect(run.stdout).toMatch(/Add Fixture\? \[y\/N\] \nNothing was added\.\n$/);
});

test("a typed y adds it; a running service offers it and runs a read", async () => {
  const run = await svc(addShelf(), { input: "y\n" });
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toContain('Next: see its tools with "svc tools --integration shelf".');
  await waitForTool(service, "shelf_look");
  expect((await execute(service, "shelf_look")).json).toMatchObject({ ok: true });
});

test("where nobody answers nothing is added, and --yes is named", async () => {
  const run = await svc(addShelf());
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/Nobody answered\.[\s\S]*run the same command with --yes/);
  expect((await svc(["review", "shelf"])).stderr).toContain('No app "shelf" was added to this service.');
});

test("--json prints one JSON value, and what is for people goes to stderr", async () => {
  const run = await svc(["--json", ...addShelf("--yes")]);
  expect(run.code, run.stderr).toBe(0);
  expect(JSON.parse(run.stdout)).toMatchObject({ added: "shelf", kind: "mcp", actions: 8, connected: true });
  expect(run.stderr).toContain("8 actions");
});

test.each([
  [["add", "mcp", "Bad Name", "--", "touch"], /"Bad Name" cannot be the short name of an app\./],
  [["add", "mcp", "drive", "--", "touch"], /There is already an app "drive"\./],
  [["add", "mcp", "two", "--url", "https://x.example.org", "--", "touch"], /by one of the two/, 2],
  [
    ["add", "mcp", "plain", "--url", "http://x.example.org/mcp"],
    /http:\/\/x\.example\.org is not encrypted\.[\s\S]*--private/,
    2,
  ],
  [["add", "mcp", "near", "--url", "https://10.0.0.7/mcp"], /10\.0\.0\.7 is not a public host\./, 2],
  [["add", "mcp", "token", "--env", "NO_SUCH_VARIABLE", "--", "touch"], /The environment variable/],
  [["add", "openapi", "drive", "/no/such/file"], /There is already an app "drive"\./],
])("%j is refused before anything is started or read", async (args, problem, code = 1) => {
  const mark = join(home, "started");
  const run = await svc(args.at(-1) === "touch" ? [...args, mark] : args);
  expect(run.code).toBe(code);
  expect(run.stderr).toMatch(problem);
  expect(run.stderr).not.toMatch(/\n\s+at /);
  expect(existsSync(mark)).toBe(false);
});

test("a command that does not exist is named, with what to do", async () => {
  const run = await svc(["add", "mcp", "shelf", "--", "no-such-command"]);
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/spawn no-such-command ENOENT\. Check its command or its address\./);
});

test("a server that does not start says what it wrote, without the secret it was given", async () => {
  const script = 'console.error("Error: no shelf for", process.env.SHELF_TOKEN); process.exit(3)';
  const args = ["add", "mcp", "shelf", "--env", "SHELF_TOKEN", "--", process.execPath, "-e", script];
  const run = await svc(args, { env: { SHELF_TOKEN: "secret-of-the-shelf" } });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/The server cannot be started or reached: .*It wrote: Error: no shelf for \[hidden\]/);
  expect(run.stdout + run.stderr).not.toContain("secret-of-the-shelf");
});

test("paths of the command mean what they mean where it was typed", async () => {
  const path = relative(process.cwd(), SERVER);
  const run = await svc(["add", "mcp", "shelf", "--trust", "--yes", "--", process.execPath, path, home]);
  expect(run.code, run.stderr).toBe(0);
  expect(run.stdout).toContain(`${path} ${home} in ${process.cwd()}.`);
});

test("what an app says of itself cannot draw on the screen", async () => {
  const evil = { ...DOCUMENT, info: { title: "Door\u001b[2J\u001b[1;1H0 actions" } };
  await writeFile(join(home, "evil.json"), JSON.stringify(evil));
  const run = await svc(["add", "openapi", "door", join(home, "evil.json")], { input: "n\n" });
  expect(run.stdout).toContain("Door\\u001b[2J");
  expect(run.stdout).not.toContain("\u001b");
});

test("an API whose key is not given is added, and the next step connects it; --replace takes its place", async () => {
  const file = join(home, "door.json");
  const first = await svc(["add", "openapi", "door", file, "--yes"]);
  expect(first.code, first.stderr).toBe(0);
  expect(first.stdout).toContain("Note: Its calls go to https://door.example.org/v1.");
  expect(first.stdout).toContain("Note: In a script it is connected at once with SVC_DOOR_KEY set.");
  expect(first.stdout).toContain(`Next: connect it at ${service.url}/connect/door\n`);
  expect(await service.service.connections.list("door")).toEqual([]);

  expect((await svc(["add", "openapi", "door", file, "--yes"])).stderr).toContain('There is already an app "door".');
  const env = { SVC_DOOR_KEY: "key-1" };
  const again = await svc(["add", "openapi", "door", file, "--yes", "--replace"], { env });
  expect(again.stdout).toContain("Against what is in use: Its actions are the same as before.");
  const [connection] = await service.service.connections.list("door");
  expect(connection?.settings).toEqual({ key: "key-1" });
  await svc(["add", "openapi", "door", file, "--yes", "--replace"], { env: { SVC_DOOR_KEY: "key-2" } });
  expect(await service.service.connections.list("door")).toMatchObject([
    { id: connection?.id, settings: { key: "key-2" } },
  ]);
});

test("a changed action is shown as it was and would be; only a yes puts it in use", async () => {
  await svc(addShelf("--yes"));
  await waitForTool(service, "shelf_look");
  expect((await svc(["review", "shelf"])).stdout).toContain("\nFixture offers what you agreed to.\n");
  const { pid } = (await execute(service, "shelf_look")).json.result;
  await writeFile(join(home, "changed"), "");
  process.kill(pid, "SIGKILL");
  await expect
    .poll(async () => (await svc(["review", "shelf"])).stdout, { timeout: 30_000 })
    .toContain("Actions: 1 changed, 0 gone, 0 new.");
  const asked = await svc(["review", "shelf"], { input: "\n" });
  expect(asked.code).toBe(4);
  expect(asked.stdout).toContain('  changed  look\n             description: "Looks." → "Looks, and tells others."\n');
  expect(asked.stdout).toContain("Nothing was changed");
  expect((await svc(["review", "shelf"])).stderr).toContain("Nobody answered.");
  expect((await svc(["review", "shelf"], { input: "y\n" })).stdout).toContain("in use within seconds");
  expect((await svc(["review", "shelf"])).stdout).toContain("\nFixture offers what you agreed to.\n");
}, 120_000);

test("svc remove asks, and takes the app and its connections away", async () => {
  await svc(addShelf("--yes"));
  await waitForTool(service, "shelf_look");
  expect((await svc(["remove", "shelf"])).stderr).toContain("Nobody answered.");
  expect((await svc(["remove", "shelf"], { input: "n\n" })).code).toBe(4);
  expect(await service.service.connections.list("shelf")).toHaveLength(1);
  const run = await svc(["remove", "shelf"], { input: "y\n" });
  expect(run.stdout).toContain("Remove Fixture, its 8 actions and its connections? [y/N]");
  expect(run.code, run.stderr).toBe(0);
  expect(await service.service.connections.list("shelf")).toEqual([]);
  expect((await svc(["remove", "shelf"])).stderr).toContain("No app");
});

test("a folder where no service was ever started is named before anything happens", async () => {
  const mark = join(home, "started");
  const run = await runSvc(["add", "mcp", "shelf", "--data", join(home, "nowhere"), "--", "touch", mark], home);
  expect(run.stderr).toMatch(/No service has been started on this data folder yet\.[\s\S]*svc serve/);
  expect(existsSync(mark)).toBe(false);
  expect(existsSync(join(home, "nowhere"))).toBe(false);
});
