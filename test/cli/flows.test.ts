import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";
import { startRecordingServer } from "../plugin/client/recording-server.ts";

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-flows-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const svc = (args: readonly string[], input?: string) =>
  runSvc(args, home, {
    env: { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url },
    ...(input === undefined ? {} : { input }),
  });
const INPUT = JSON.stringify({ text: "Water the plants", delaySeconds: 1 });

/** Starts a reminder and gives its id. */
async function start(): Promise<string> {
  const started = await svc(["flows", "start", "notes_reminder", "--input", INPUT]);
  expect(started.stdout + started.stderr).toContain("It waits for you.");
  return /svc flows approve (\S+)/.exec(started.stdout)?.[1] ?? "";
}

describe("svc flows", () => {
  test("a reminder from the list of templates to its page, in plain lines", async () => {
    expect((await svc(["flows", "templates"])).stdout).toContain("notes_reminder");
    const id = await start();
    const approved = await svc(["flows", "approve", id], "a\n");
    expect(approved.stdout).toContain("Water the plants");
    expect(approved.stdout).toMatch(/create_reminder +completed/);
    expect(approved.stdout).toContain("The flow is completed.");
    expect(approved.stdout).not.toContain("\u001b[");
    expect(approved.code).toBe(0);
    expect((await svc(["flows", "list"])).stdout).toMatch(new RegExp(`${id}  completed`));
    const watched = await svc(["flows", "watch", id, "--json"]);
    expect(JSON.parse(watched.stdout)).toMatchObject({ flow: { id, status: "completed" } });
  }, 90_000);

  test("approving with a key that is refused ends like every command without access", async () => {
    const env = { SVC_API_KEY: `svc_live_${"x".repeat(43)}`, SVC_BASE_URL: service.url };
    const refused = await runSvc(["flows", "approve", "flow_1"], home, { env });
    expect(refused.stdout + refused.stderr).toContain("svc pair");
    expect(refused.code).toBe(3);
  });

  test("what is no service at all is not called a missing flow", async () => {
    const page = await startRecordingServer(() => (_, response) => response.writeHead(404).end("<p>No</p>"));
    const env = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: page.url };
    const run = await runSvc(["flows", "list"], home, { env });
    await page.close();
    expect(run.stderr).toMatch(/HTTP 404 .*Check that the base URL points at the API/);
    expect(run.code).toBe(1);
  });

  test.each([
    ["start", ["start", "notes_reminder", "--input", INPUT], "svc flows list"],
    ["resume", ["resume", "flw_1"], "svc flows watch flw_1"],
    ["cancel", ["cancel", "flw_1"], "svc flows watch flw_1"],
  ])("%s without an answer may have been done, and says where to look", async (_, args, look) => {
    const silent = await startRecordingServer(() => (request) => request.socket.destroy());
    const env = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: silent.url };
    const run = await runSvc(["flows", ...args], home, { env });
    await silent.close();
    expect(run.stdout).toMatch(/^It is not known whether this was done\. /);
    expect(run.stdout).toContain(`Next: "${look}", before you repeat it.`);
    expect(run.code).toBe(5);
    expect(silent.requests).toHaveLength(1);
  });

  test("declining leaves it waiting, cancelling ends it, and what cannot be done is said", async () => {
    const id = await start();
    expect((await svc(["flows", "approve", id], "d\n\n")).code).toBe(4);
    expect((await svc(["flows", "cancel", id])).stdout).toContain("The flow is cancelled.");
    const late = await svc(["flows", "resume", id]);
    expect(late.code).toBe(1);
    expect(late.stderr).toContain("The flow is cancelled");
    expect((await svc(["flows", "watch", id])).code).toBe(1);
    const again = await svc(["flows", "approve", id]);
    expect(again.code).toBe(1);
    expect(again.stdout).toMatch(new RegExp(`waits for no approval\\. .*Next: svc flows watch ${id}$`, "m"));
    expect((await svc(["flows", "approve", "nope"])).stdout).toMatch(/not found.*"svc flows list"/);
  }, 90_000);

  test.each([
    [["flows", "start", "notes_reminder", "--input", "[]"], /--input is not a JSON object/, 2],
    [["flows", "start", "notes_reminder"], /input\.text.*"svc flows templates".*--input '\{/],
    [["flows", "start", "nope"], /no flow template "nope".*"svc flows templates"/],
    [["flows", "watch", "nope"], /knows none of that name.*svc flows list/],
  ])("svc %j is refused in one line", async (args, text, code = 1) => {
    const run = await svc(args);
    expect(run.code).toBe(code);
    expect(run.stderr).toMatch(text);
    expect(run.stderr).not.toMatch(/\n\s+at /);
  });
});

describe("svc tools --pin and --check", () => {
  test("pins, agrees, and then names what is new or changed", async () => {
    expect((await svc(["tools", "--check"])).stderr).toContain("Nothing is pinned yet");
    expect((await svc(["tools", "--pin"])).stdout).toMatch(/Pinned \d+ tools, \d+ of which may act/);
    expect(await svc(["tools", "--check"])).toMatchObject({ code: 0 });
    const file = join(home, "state", "tools.lock.json");
    const pins = JSON.parse(await readFile(file, "utf8"));
    delete pins.tools.mail_send_message;
    pins.tools.notes_create_page.schemaHash = "0";
    await writeFile(file, JSON.stringify(pins));
    const check = await svc(["tools", "--check"]);
    expect(check.code).toBe(1);
    expect(check.stdout).toMatch(/new +write +mail_send_message/);
    expect(check.stdout).toMatch(/changed +write +notes_create_page/);
    expect((await svc(["tools", "--check", "--pin"])).code).toBe(2);
  });
});
