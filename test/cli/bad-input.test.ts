import { mkdir, mkdtemp, readdir, readFile, rm, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { findPlaces } from "../../src/cli/context.ts";
import { sleepFor } from "../../src/plugin/client/retry.ts";
import { openCredentialStore } from "../../src/plugin/pairing/credentials.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";
import { startRecordingServer } from "../plugin/client/recording-server.ts";

let service: TestService;
let home: string;

beforeAll(async () => {
  service = await startTestService();
});

afterAll(() => service.close());

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-cli-"));
});

afterEach(() => rm(home, { recursive: true, force: true }));

const withKey = (apiKey = service.apiKey) => ({ env: { SVC_API_KEY: apiKey, SVC_BASE_URL: service.url } });

/** A refusal: its exit code, one line on stderr or stdout that matches, and never a stack. */
async function expectRefusal(
  args: readonly string[],
  expected: { code: number; text: RegExp },
  options: Parameters<typeof runSvc>[2] = withKey(),
) {
  const run = await runSvc(args, home, options);
  const all = run.stdout + run.stderr;
  expect(all).toMatch(expected.text);
  expect(run.code, all).toBe(expected.code);
  expect(all).not.toMatch(/\n\s+at |node:internal|svc_live_/);
  return all;
}

test("arguments that do not fit are answered with the command that shows them", async () => {
  const all = await expectRefusal(["call", "drive_upload_file", "--args", '{"folder":"A"}'], {
    code: 1,
    text: /Next: "svc describe drive_upload_file" shows the arguments\./,
  });
  expect(all).not.toContain("make the same call again");
});

describe("an address that cannot be one", () => {
  const pair = () =>
    openCredentialStore(findPlaces({ SVC_HOME: home }).config).write({
      baseUrl: service.url,
      apiKey: service.apiKey,
      apiKeyId: "key_1",
      pairedAt: new Date(0).toISOString(),
    });

  test.each([
    ["foo", /The base URL must be an absolute http or https address\. Give the whole address/],
    ["https://me:hunter2@svc.example", /must not hold a user name or password/],
    [
      "http://svc.example",
      /uses http for svc\.example.*Use https, or reach it through a tunnel that ends on 127\.0\.0\.1\./,
    ],
  ])("--base-url %s is refused with and without a stored key", async (url, text) => {
    const env = { SVC_API_KEY: "" };
    const args = ["tools", "--base-url", url];
    const without = await expectRefusal(args, { code: 1, text }, { env });
    await pair();
    const stored = await expectRefusal(args, { code: 1, text }, { env });
    const given = await expectRefusal(args, { code: 1, text }, { env: { SVC_API_KEY: service.apiKey } });
    expect([stored, given]).toEqual([without, without]);
    expect(stored).not.toMatch(/hunter2|allowInsecure/);
  });

  test("the address of the stored key may be written in another way", async () => {
    await pair();
    const run = await runSvc(["status", "--base-url", `${service.url.replace("http", "HTTP")}/`], home);
    expect(run.code, run.stderr).toBe(0);
  });

  test("pairing makes no second key for an address written in another way", async () => {
    await pair();
    const run = await runSvc(["pair", "--base-url", `${service.url.replace("http", "HTTP")}/`], home);
    expect(run.stdout).toBe(`Already paired with ${service.url}. "svc pair --again" makes a new key.\n`);
    expect(run.code, run.stderr).toBe(0);
  });

  test("svc pair --again means the service of the stored key", async () => {
    await pair();
    const running = startSvc(["pair", "--again"], home);
    const [, link] = await running.waitFor(/approve[^\n]*: (\S+)\n/);
    expect(link).toContain(`${service.url}/`);
    running.kill("SIGINT");
    expect(await running.done).toMatchObject({ code: 130 });
  });

  test("a client is given the service of the stored key", async () => {
    await pair();
    const run = await runSvc(["install", "--client", "cursor", "--remote", "--print"], home);
    expect(run.stdout, run.stderr).toContain(`"${service.url}/api/mcp"`);
  });

  test("whoever pairs is told of the key in SVC_API_KEY, which is used first", async () => {
    await pair();
    const run = await runSvc(["pair"], home, withKey(`svc_live_${"w".repeat(43)}`));
    expect(run.stdout).toMatch(/Already paired.*\n.*SVC_API_KEY.*used first.*unset/i);
    expect(run.code, run.stderr).toBe(0);
  });

  test("a key stored with an address in another spelling is found", async () => {
    await pair();
    const { path } = openCredentialStore(findPlaces({ SVC_HOME: home }).config);
    const text = await readFile(path, "utf8");
    await writeFile(path, text.replace(service.url, `${service.url.replace("http", "HTTP")}/`));
    for (const command of ["status", "pair"]) {
      const run = await runSvc([command, "--base-url", service.url], home);
      expect(run.stdout).toMatch(new RegExp(`[Pp]aired with ${service.url}[.\n]`));
      expect(run.code, run.stderr).toBe(0);
    }
  });

  test("the stored key is not used for another path of its host", async () => {
    await pair();
    const text = /The stored key is for http:\S+\d, not for http:\S+\/team-b\./;
    await expectRefusal(["status", "--base-url", `${service.url}/team-b`], { code: 3, text }, {});
  });
});

describe("the command line itself", () => {
  test.each([
    [["frobnicate"], 2, /unknown command 'frobnicate'\nNext: "svc --help" shows how it is used\./],
    [["help", "flows", "start"], 0, /^Usage: svc flows start \[options\] <template>/],
    [["help", "flows", "go"], 2, /unknown command 'go'\nNext: "svc flows --help"/],
    [["call"], 2, /missing required argument 'tool'\nNext: "svc call --help"/],
    [["flows", "start", "x", "--inptu", "{}"], 2, /\(Did you mean --input\?\)\nNext: "svc flows start --help"/],
    [["call", "drive_list_files", "--args", "[1]"], 2, /--args is not a JSON object/],
    [
      ["call", "drive_upload_file", "--file", "report.pdf"],
      2,
      /--file is "report\.pdf"; it must have the form FIELD=PATH/,
    ],
    [["call", "drive_upload_file", "--upload", "pigeon"], 2, /Allowed choices are envelope, ingest/],
    [["search", "mail", "--limit", "many"], 2, /--limit is "many"; it must be a whole number from 1 to 200/],
    [["serve", "--port", "70000"], 2, /--port is "70000"; it must be a whole number from 0 to 65535/],
    [["serve", "--flow-approvals", "nobody"], 2, /Allowed choices are api, dashboard/],
    [["completion", "tcsh"], 2, /choose bash, zsh or fish/],
  ])("svc %j", async (args, code, text) => {
    await expectRefusal(args, { code, text });
  });

  test("a wrong setting is named with its file", async () => {
    await mkdir(join(home, "config"));
    await writeFile(join(home, "config/config.json"), '{ "upload": "pigeon" }');
    await expectRefusal(["tools"], { code: 1, text: /config\.json: upload: / });
    await writeFile(join(home, "config/config.json"), "{");
    await expectRefusal(["tools"], { code: 1, text: /config\.json: the file: .*Correct the file/ });
  });
});

describe("keys", () => {
  test("an unpaired machine is told to pair", async () => {
    await expectRefusal(["tools"], { code: 3, text: /not paired.*svc pair/ }, {});
  });

  test("a revoked or foreign key ends with the way back", async () => {
    const call = ["call", "drive_list_files"];
    await expectRefusal(call, { code: 3, text: /svc pair/ }, withKey(`svc_live_${"z".repeat(43)}`));
    await expectRefusal(["tools"], { code: 3, text: /pair/i }, withKey(`svc_live_${"x".repeat(43)}`));
    await expectRefusal(
      ["status"],
      { code: 3, text: /does not work with this key/ },
      withKey(`svc_live_${"y".repeat(43)}`),
    );
  });

  test("a damaged credential file is kept aside and explained, and unpair still works", async () => {
    await mkdir(join(home, "config"), { mode: 0o700 });
    await writeFile(join(home, "config/credentials.json"), "{ not json", { mode: 0o600 });
    await expectRefusal(["tools"], { code: 3, text: /credentials\.json\.corrupt-/ }, {});
    expect((await readdir(join(home, "config"))).filter((name) => name.includes("corrupt"))).toHaveLength(1);
    await expectRefusal(["unpair"], { code: 0, text: /Nothing to forget/ }, {});
  });

  test("a credential file that others may read is refused with the fix", async () => {
    await mkdir(join(home, "config"), { mode: 0o700 });
    await writeFile(join(home, "config/credentials.json"), "{}", { mode: 0o644 });
    await expectRefusal(["tools"], { code: 1, text: /chmod 600/ }, {});
  });

  test("a service that is not there", async () => {
    const env = { SVC_API_KEY: service.apiKey, SVC_BASE_URL: "http://127.0.0.1:9" };
    await expectRefusal(["tools"], { code: 1, text: /127\.0\.0\.1:9|could not be reached|unreachable/i }, { env });
    const text = /^Whether this key works is not known: .*127\.0\.0\.1:9/;
    await expectRefusal(["status"], { code: 1, text }, { env });
  });
});

test.each(["pair", "status", "doctor"])("Ctrl-C ends svc %s at once while the stored key is tried", async (command) => {
  const { promise: asked, resolve } = Promise.withResolvers<void>();
  const silent = await startRecordingServer(() => () => resolve());
  const credentials = openCredentialStore(findPlaces({ SVC_HOME: home }).config);
  await credentials.write({ baseUrl: silent.url, apiKey: "svc_live_silent", apiKeyId: "1", pairedAt: "2026-01-05" });
  const running = startSvc([command], home);
  await asked;
  running.kill("SIGINT");
  const late = sleepFor(5_000).then(() => "still running");
  const ended = await Promise.race([running.done, late]);
  running.kill("SIGKILL");
  await silent.close();
  expect(ended).toMatchObject({ code: 130, stdout: "Interrupted.\n" });
});

describe("the service", () => {
  test("a data folder in use names the process that serves it", async () => {
    const text = new RegExp(`already served by process ${process.pid}`);
    await expectRefusal(["serve", "--port", "0", "--data", service.dataDir], { code: 1, text });
  });

  test("a port in use is named", async () => {
    const { port } = new URL(service.url);
    await expectRefusal(["serve", "--port", port, "--data", join(home, "data")], { code: 1, text: new RegExp(port) });
  });

  test("login-link without a service says how to start one", async () => {
    await expectRefusal(["login-link", "--data", join(home, "none")], {
      code: 1,
      text: /No service is running.*svc serve/s,
    });
  });

  test("Ctrl-C stops it cleanly, and its folder is free again", async () => {
    for (let round = 0; round < 2; round += 1) {
      const running = startSvc(["serve", "--port", "0", "--data", join(home, "data")], home);
      await running.waitFor(/Sign in: /);
      running.kill("SIGINT");
      expect(await running.done).toMatchObject({ code: 0, stderr: "" });
    }
  });
});

describe("calls", () => {
  test("an unknown tool runs nothing and says how to find one", async () => {
    await expectRefusal(["call", "drive_explode"], { code: 1, text: /no tool named "drive_explode".*svc search/s });
    await expectRefusal(["describe", "drive_explode"], { code: 1, text: /no tool named "drive_explode"\./ });
    const mistyped = { code: 1, text: /no tool named "drive_upload_fiel".*\n {2}drive_upload_file \(write\): /s };
    await expectRefusal(["call", "drive_upload_fiel"], mistyped);
  });

  test("an unknown app is no empty list", async () => {
    await expectRefusal(["tools", "--integration", "nix"], { code: 1, text: /No connected app is called "nix"/ });
  });

  test("a file over 25 MB is refused before anybody is asked", async () => {
    const big = join(home, "big.bin");
    await writeFile(big, "");
    await truncate(big, 25 * 1024 * 1024 + 1);
    const said = await expectRefusal(["call", "drive_upload_file", "--file", `file=${big}`], {
      code: 1,
      text: /larger than 25 Mi?B/,
    });
    expect(said).not.toContain("Approval needed");
  });

  test("nobody at the terminal approves nothing, and is told where to answer", async () => {
    await writeFile(join(home, "a.txt"), "a");
    await expectRefusal(["call", "drive_upload_file", "--file", `file=${join(home, "a.txt")}`], {
      code: 4,
      text: /Approval needed.*Not done \(needs_approval\).*Next: run it in a terminal/s,
    });
    expect(await service.effects()).toEqual([]);
  });

  test("a damaged tool cache is rebuilt", async () => {
    await runSvc(["tools"], home, withKey());
    const folder = join(home, "cache/catalog");
    const [file = ""] = await readdir(folder);
    await writeFile(join(folder, file), "{ half");
    const run = await runSvc(["describe", "drive_list_files", "--json"], home, withKey());
    expect(run, run.stderr).toMatchObject({ code: 0 });
    expect(JSON.parse(run.stdout)).toMatchObject({ name: "drive_list_files", effect: "read" });
    expect(await readFile(join(folder, file), "utf8")).toContain("drive_list_files");
  });
});
