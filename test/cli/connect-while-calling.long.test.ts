import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { addConnection, type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { verifies } from "../contract/verifies.ts";
import { runSvc, startSvc } from "../e2e/run-svc.ts";

/** `svc call` with an app that must be connected first, beside the real service. */

let service: ProbeService;
let home: string;

beforeEach(async () => {
  service = await startProbeService();
  home = await mkdtemp(join(tmpdir(), "svc-wait-"));
});
afterEach(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

function startCall(...flags: string[]) {
  const args = ["call", "probe_write_text", "--args", '{"text":"a"}', ...flags];
  return startSvc(args, home, { SVC_API_KEY: service.apiKey, SVC_BASE_URL: service.url });
}

const expire = () => service.service.connections.update(service.connectionId, { state: "reauth_required" });
const LINK = /Open this link while signed in to the service: (http:\/\/127\.0\.0\.1:\d+\/\S+)/;

describe("svc call --wait", () => {
  test("shows the link, waits until the sign-in is renewed, and makes the call", async () => {
    verifies("errors.retry-after-connecting");
    await expire();
    const running = startCall("--wait");
    running.type("a\n");
    running.endInput();
    const [, link] = await running.waitFor(LINK);
    expect(await running.waitFor(/The sign-in to probe has expired/)).toBeTruthy();
    expect(link).toContain(service.url);
    expect(service.probe.calls).toEqual([]);
    await service.service.connections.update(service.connectionId, { state: "healthy" });
    const done = await running.done;
    expect(done.code, done.stdout).toBe(0);
    expect(done.stdout.match(/Approval needed/g)).toHaveLength(1);
    expect(done.stdout).toContain("Done.");
    expect(service.probe.calls).toHaveLength(1);
  });

  test("waits until an app that never was is connected", async () => {
    await service.service.connections.remove(service.connectionId);
    const running = startCall("--wait");
    running.type("a\n");
    running.endInput();
    await running.waitFor(LINK);
    await addConnection(service.service, "New", { scopes: [] });
    const done = await running.done;
    expect(done.code, done.stdout).toBe(0);
    expect(service.probe.calls.map(({ connection }) => connection)).toEqual(["New"]);
  });

  test("prints only the answer on stdout with --json", async () => {
    await expire();
    const running = startCall("--wait", "--json");
    running.type("a\n");
    running.endInput();
    await running.waitFor(LINK);
    await service.service.connections.update(service.connectionId, { state: "healthy" });
    const done = await running.done;
    expect(JSON.parse(done.stdout)).toMatchObject({ status: "succeeded" });
  });

  test("ends at once with Ctrl-C, and nothing was done", async () => {
    await expire();
    const running = startCall("--wait");
    running.type("a\n");
    running.endInput();
    await running.waitFor(/waiting for probe/);
    running.kill("SIGINT");
    const done = await running.done;
    expect([done.code, done.stderr]).toEqual([130, ""]);
    expect(done.stdout).toContain("Interrupted.");
    expect(service.probe.calls).toEqual([]);
  });

  test("takes q for an answer", async () => {
    await expire();
    const running = startCall("--wait");
    running.type("a\nq\n");
    const done = await running.done;
    expect(done.code).toBe(1);
    expect(done.stdout).toMatch(/Not done \(needs_connection\)[\s\S]*Connect it here: http/);
  });
});

describe("two mail accounts, of which the default one is well", () => {
  async function setUp() {
    const mail = await startTestService();
    const { connections } = mail.service;
    const settings = { maildir: join(home, "ana"), address: "ana@localhost" };
    await mkdir(settings.maildir);
    const ana = await connections.add({ integration: "mail", label: "Ana", settings });
    await connections.update(ana.id, { state: "reauth_required" });
    const [local] = await connections.list("mail");
    if (local === undefined) throw new Error("There is no local mailbox.");
    const env = { SVC_API_KEY: mail.apiKey, SVC_BASE_URL: mail.url };
    const args = ["call", "mail_search", "--args", "{}", "--connection", ana.id];
    return { mail, connections, ana, local, env, args };
  }

  test("the link of a failed call leads to the account that failed", async () => {
    const { mail, ana, local, env, args } = await setUp();
    const run = await runSvc([...args, "--no-wait"], home, { env });
    expect(run.stdout).toContain(`${mail.url}/connections/${ana.id}/reconnect`);
    expect(run.stdout).toContain('"Ana" (Mail) must be signed in to again');
    expect(run.stdout).not.toContain(local.id);
    // Also where nobody named an account, the one that needs help is meant.
    const link = await runSvc(["connect", "mail"], home, { env });
    expect(link.stdout).toContain(`/connections/${ana.id}/reconnect`);
    await mail.close();
  });

  test("--wait waits for that account, and not for the one that is well", async () => {
    const { mail, connections, ana, env, args } = await setUp();
    const running = startSvc([...args, "--wait"], home, env);
    running.endInput();
    const [, link] = await running.waitFor(LINK);
    expect(link).toBe(`${mail.url}/connections/${ana.id}/reconnect`);
    await running.waitFor(/waiting for mail/);
    await connections.update(ana.id, { state: "healthy" });
    const done = await running.done;
    expect(done.code, done.stdout).toBe(0);
    await mail.close();
  });
});

test.each([[[]], [["--no-wait"]]])("without somebody at a terminal, %j, the call ends with the link", async (flags) => {
  await expire();
  const running = startCall(...flags);
  running.type("a\n");
  running.endInput();
  const done = await running.done;
  expect(done.code).toBe(1);
  expect(done.stdout).toMatch(/Not done \(needs_connection\)[\s\S]*Connect it here: http/);
  expect(done.stdout).not.toContain("waiting");
});
