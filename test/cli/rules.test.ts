import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { openRules } from "../service/access/open-rules.ts";
import { execute } from "../service/http-calls.ts";

/** `svc rules` beside a running service, which obeys at once. */

let service: TestService;
let home: string;
let rules: Awaited<ReturnType<typeof openRules>>;

beforeAll(async () => {
  service = await startTestService();
  home = await mkdtemp(join(tmpdir(), "svc-rules-"));
  rules = await openRules(service);
});
beforeEach(async () => {
  for (const { id } of await rules.list()) await rules.remove(id);
});
afterAll(async () => {
  await rules.close();
  await service.close();
  await rm(home, { recursive: true, force: true });
});

const svc = (args: readonly string[], input?: string) =>
  runSvc(["rules", ...args, "--data", service.dataDir], home, input === undefined ? {} : { input });
const search = async () => (await execute(service, "notes_search", { arguments: { query: "x" } })).status;

test("a rule is added, tested, listed and removed; the running service obeys at once", async () => {
  expect((await svc(["list"])).stdout).toContain("There is no rule.");
  const added = await svc([
    "add",
    "block",
    "notes/*",
    "--level",
    "read",
    "--account",
    "Local notes",
    "--note",
    "Private.",
  ]);
  expect(added.code, added.stderr).toBe(0);
  expect(added.stdout).toContain("About notes_");
  expect(await search()).toBe(403);
  const tested = await svc(["test", "Notes/search", "--account", "Local notes"]);
  expect(tested.stdout).toContain("notes_search (read): It is refused.");
  const [rule] = await rules.list();
  const listed = await svc(["list"]);
  expect(listed.stdout).toContain(`${rule?.id}  block  notes/*, level read, account Local notes, "Private."`);
  expect((await svc(["remove", rule?.id ?? ""], "n\n")).code).toBe(EXIT.notApproved);
  expect(await search()).toBe(403);
  expect((await svc(["remove", rule?.id ?? ""], "y\n")).code).toBe(0);
  expect(await search()).toBe(200);
});

test("nothing runs unasked before a yes", async () => {
  expect((await svc(["add", "allow", "notes_create_page"], "n\n")).code).toBe(EXIT.notApproved);
  expect(await rules.list()).toEqual([]);
  expect((await svc(["add", "allow", "notes_create_page"])).stderr).toContain("Nobody answered.");
  expect((await svc(["add", "allow", "notes_create_page", "--yes"])).code).toBe(0);
  expect((await execute(service, "notes_create_page", { arguments: { title: "A", body: "B" } })).status).toBe(200);
});

test("the rules are exported to a file, which is applied after its difference was shown", async () => {
  await svc(["add", "ask", "drive/*", "--key", "Test device"]);
  expect((await svc(["test", "drive/list-files"])).stdout).toContain("as without rules.\nNot for this account or key:");
  const exported = (await svc(["export"])).stdout;
  expect(exported).toMatch(/ {4}key: key_\w+ # Test device\n/);
  const file = join(home, "rules.yaml");
  await writeFile(file, exported);
  expect((await svc(["apply", file])).stdout).toBe("The rules are those of the file.\n");
  await writeFile(file, exported.replace("effect: ask", "effect: block").replace(/ +key: .*\n/, ""));
  const applied = await svc(["apply", file], "y\n");
  expect(applied.stdout).toContain("- ask    drive/*, key Test device\n+ block  drive/*\n");
  expect((await rules.list()).map(({ effect, tool }) => ({ effect, tool }))).toEqual([
    { effect: "block", tool: "drive/*" },
  ]);
});

test.each([
  ["rules:\n  - effect: permit\n    tool: x", "rules[0]: A rule has one of these effects"],
  ["rules:\n  - effect: block\n    tool: a b", "rules[0]: A pattern on tools has"],
  ["rules:\n  - effect: block\n    tool: x\n    account: Nobody", 'Nothing is called "Nobody"'],
  ["rules: [", "cannot be used"],
  ["- effect: block", "has no list `rules`"],
])("a file that is none changes nothing: %j", async (text, said) => {
  const file = join(home, "bad.yaml");
  await writeFile(file, text);
  const before = await rules.list();
  const run = await svc(["apply", file, "--yes"]);
  expect(run.code).toBe(EXIT.failed);
  expect(run.stderr).toContain(said);
  expect(await rules.list()).toEqual(before);
});
