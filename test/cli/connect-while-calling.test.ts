import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { addConnection, type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { verifies } from "../contract/verifies.ts";
import { startSvc } from "../e2e/run-svc.ts";

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
