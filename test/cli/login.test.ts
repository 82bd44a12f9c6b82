import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { openOwnerBrowser } from "../service/oauth/oauth-client.ts";
import { readCsrf } from "../service/pages/browser.ts";

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
});
afterAll(() => service.close());
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-login-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const svc = (args: readonly string[], input?: string) => runSvc(args, home, input === undefined ? {} : { input });
const readFileOfSecrets = () => readFile(join(home, "config/credentials.json"), "utf8");

/** Runs `svc login` while its owner decides in a browser without scripts. */
async function login(decision: "approve" | "decline" = "approve") {
  const running = startSvc(["login", "--base-url", service.url, "--label", "desk"], home);
  const [, link = ""] = await running.waitFor(/approve: (\S+)/);
  const owner = await openOwnerBrowser(await service.service.signInUrl());
  const page = await (await fetch(await owner.decide(link, decision))).text();
  return { ...(await running.done), page, owner };
}

test("signing in is enough to find and call tools, and signing out ends it", async () => {
  const done = await login();
  expect(done.code, done.stderr).toBe(0);
  expect(done.stdout).toContain(`Signed in to ${service.url}.`);
  expect(done.page).toContain("Signed in");
  expect((await stat(join(home, "config/credentials.json"))).mode & 0o777).toBe(0o600);
  const { signIn } = JSON.parse(await readFileOfSecrets());
  for (const secret of [signIn.accessToken, signIn.refreshToken])
    expect(done.stdout + done.stderr).not.toContain(secret);

  const status = await svc(["status", "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject({ baseUrl: service.url, credential: "oauth", works: true });
  expect((await svc(["status"])).stdout).toMatch(
    /^Signed in to http:.* since [\s\S]*Flows and files of this machine need a key/,
  );
  expect((await svc(["tools"])).stdout).toContain("notes_create_page");
  expect((await svc(["search", "create", "a", "page"])).stdout).toMatch(/notes_create_page +write/);
  expect((await svc(["describe", "notes_create_page"])).stdout).toContain("title");
  expect((await svc(["integrations"])).stdout).toContain("Notes");
  expect((await svc(["connect", "notes"])).stdout).toMatch(/Open this link while signed in .*Notes: http/);
  const call = await svc(["call", "notes_create_page", "--args", '{"title":"Signed in"}'], "a\n");
  expect(call.stdout).toContain("Done.");
  expect(call.code).toBe(0);
  expect((await service.effects()).map(({ toolName }) => toolName)).toEqual(["notes_create_page"]);
  const flows = await svc(["flows", "list"]);
  expect([flows.code, flows.stderr]).toEqual([3, expect.stringMatching(/needs an API key.*svc pair/)]);

  const out = await svc(["logout"]);
  expect(out.stdout).toContain(`Ended the sign-in to ${service.url}, here and there.`);
  const { status: refused } = await fetch(`${service.url}/api/mcp`, {
    headers: { authorization: `Bearer ${signIn.accessToken}` },
  });
  expect(refused).toBe(401);
  const after = await svc(["status"]);
  expect([after.code, after.stderr]).toEqual([3, expect.stringMatching(/svc pair.*svc login/)]);
  expect((await svc(["logout"])).stdout).toContain("Nothing to end");
});

describe("a sign-in that fails", () => {
  test("because the owner declined stores nothing", async () => {
    const done = await login("decline");
    expect([done.code, done.stderr]).toEqual([1, expect.stringContaining("declined in the browser")]);
    expect(done.page).toContain("Not signed in");
    await expect(readFileOfSecrets()).rejects.toThrow();
  });

  test("because of Ctrl-C ends at once", async () => {
    const running = startSvc(["login", "--base-url", service.url], home);
    await running.waitFor(/Waiting until/);
    running.kill("SIGINT");
    const done = await running.done;
    expect([done.code, done.stdout]).toEqual([130, expect.stringContaining("Interrupted.")]);
    expect(done.stderr).toBe("");
  });
});

test("access that was withdrawn is named with the command that renews it", async () => {
  const { owner } = await login();
  const page = await owner.browser.open(`${service.url}/devices`);
  const path = /action="(\/oauth\/apps\/[^"]+\/end)"/.exec(page.text)?.[1];
  await owner.browser.submit(`${service.url}${path}`, { csrf: readCsrf(page) });
  const call = await svc(["call", "notes_list_pages"]);
  expect(call.stdout).toMatch(/Not done \(failed\)[\s\S]*svc login/);
  for (const _time of [1, 2]) {
    const status = await svc(["status"]);
    expect([status.code, status.stdout]).toEqual([
      3,
      expect.stringMatching(/does not work with this sign-in[\s\S]*svc login/),
    ]);
  }
});

test("a key is used before a sign-in, and unpairing ends both", async () => {
  await login();
  const keyed = await runSvc(["status", "--json"], home, {
    env: { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url },
  });
  expect(JSON.parse(keyed.stdout)).toMatchObject({ credential: "api_key", key: "SVC_API_KEY" });
  const elsewhere = await svc(["status", "--base-url", "http://127.0.0.1:1"]);
  expect([elsewhere.code, elsewhere.stderr]).toEqual([3, expect.stringContaining(`is for ${service.url}, not for`)]);
  expect((await svc(["unpair"])).stdout).toContain(`Ended the sign-in to ${service.url}`);
  await expect(readFileOfSecrets()).rejects.toThrow();
});
