import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import {
  type BootstrapOptions,
  type BootstrapProgress,
  bootstrapInstaller,
  type InstallConfig,
} from "../../../src/plugin/pairing/bootstrap.ts";
import { readGoldenObject } from "../../contract/read-golden.ts";
import { type Answer, catchError, type RecordingServer, startRecordingServer } from "../client/recording-server.ts";

const INSTALL = {
  server_name: "svc",
  url: "https://svc.example/api/mcp",
  headers: { "x-svc-api-key": "svc_live_boot" },
};
const PENDING: Answer = { json: { session_id: "bs_1", status: "pending_approval" } };
const APPROVED: Answer = { json: { session_id: "bs_1", status: "approved", install: INSTALL } };
let server: RecordingServer;
let client: SvcClient;
let polls: Answer[];
let start: Record<string, unknown>;
let clock: number;
let waits: number[];
let progress: BootstrapProgress[];
let installed: InstallConfig[];

beforeEach(async () => {
  clock = 0;
  waits = [];
  progress = [];
  installed = [];
  polls = [PENDING, PENDING, APPROVED];
  start = {};
  server = await startRecordingServer(({ method }) => {
    if (method === "GET") return (polls.length > 1 ? polls.shift() : polls[0]) ?? PENDING;
    const poll_url = `${server.url}/api/installer/bootstrap-sessions/bs_1`;
    return { json: { ...readGoldenObject("resources/bootstrap-start"), poll_url, ...start } };
  });
  client = new SvcClient({ baseUrl: server.url, sleep: async () => {} });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const bootstrap = (change: Partial<BootstrapOptions> = {}) =>
  bootstrapInstaller({
    client,
    request: { hostname: "desk" },
    install: async (config) => {
      installed.push(config);
    },
    onProgress: (step) => progress.push(step),
    sleep: async (ms) => {
      waits.push(ms);
      clock += ms;
    },
    now: () => clock,
    ...change,
  });

describe("bootstrapInstaller", () => {
  test("shows the link, polls until a human has approved, and installs once", async () => {
    await bootstrap();
    expect(progress).toEqual([
      { kind: "started", approvalUrl: "https://svc.example/install/bs_1", expiresAt: "2026-01-05T10:15:00Z" },
      { kind: "waiting", elapsedMs: 0 },
      { kind: "waiting", elapsedMs: 2000 },
      { kind: "approved" },
    ]);
    expect(installed).toEqual([INSTALL]);
    expect(waits).toEqual([2000, 2000]);
    expect(server.requests.map(({ method }) => method)).toEqual(["POST", "GET", "GET", "GET"]);
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ hostname: "desk" });
    expect(server.requests.filter(({ headers }) => "x-svc-api-key" in headers)).toEqual([]);
  });

  test.each([
    { status: "approved", api_key: "svc_live_other" },
    { session: { id: "bs_1", state: "approved" }, headers: { Authorization: "Bearer svc_live_other" } },
    { status: "approved", install: { mcpServers: { svc: { env: { KEY: "svc_live_other" } } } } },
  ])("takes the key out of another service's answer, which comes once: %j", async (json) => {
    polls = [PENDING, { json }, { status: 410, json: { error: "gone", message: "Handed out." } }];
    await bootstrap();
    const headers = { "x-svc-api-key": "svc_live_other" };
    expect(installed).toEqual([{ server_name: "svc", url: `${server.url}/api/mcp`, headers }]);
  });

  test("installs what is handed out only once also when the listener fails", async () => {
    const onProgress = ({ kind }: BootstrapProgress) => {
      if (kind === "approved") throw new Error("the terminal is gone");
    };
    expect(await catchError(() => bootstrap({ onProgress }))).toMatchObject({ message: "the terminal is gone" });
    expect(installed).toEqual([INSTALL]);
  });

  test("waits through passing failures and follows a changed interval", async () => {
    polls = [
      { status: 429, json: { error: "slow down" }, headers: { "retry-after": "80" } },
      { json: { status: "pending_approval", poll_interval_ms: 5000 } },
      APPROVED,
    ];
    await bootstrap();
    expect(waits).toEqual([80_000, 5000]);
    expect(installed).toEqual([INSTALL]);
  });

  test("waits no longer than the session lasts, whatever it is told", async () => {
    polls = [{ status: 429, json: { error: "slow down" }, headers: { "retry-after": "99999999" } }];
    expect(await catchError(() => bootstrap())).toMatchObject({ code: "pairing_failed", serviceCode: "expired" });
    expect(waits).toEqual([15 * 60_000 + 1]);
  });

  test.each(["expired", "rejected", "denied", "consumed", "error"])("ends when the session is %s", async (status) => {
    polls = [PENDING, { json: { session_id: "bs_1", status } }];
    const error = await catchError(() => bootstrap());
    expect(error).toMatchObject({ code: "pairing_failed", serviceCode: status, hint: expect.any(String) });
    expect(installed).toEqual([]);
  });

  test("ends after 15 minutes without an approval", async () => {
    polls = [PENDING];
    expect(await catchError(() => bootstrap())).toMatchObject({ code: "pairing_failed", serviceCode: "expired" });
    expect(clock).toBe(15 * 60_000 + 2000);
  });

  test("ends when the session is refused or unreadable", async () => {
    polls = [{ status: 404, json: { error: "Unknown session" } }];
    const error = await catchError(() => bootstrap());
    expect(error).toMatchObject({ code: "pairing_failed", status: 404 });
    expect(inspect(error, { depth: 9 })).not.toContain("bs_1");
    polls = [{ json: { status: "approved", install: { url: 1 } } }];
    expect(await catchError(() => bootstrap())).toMatchObject({ code: "pairing_failed" });
  });

  test("calls no address elsewhere and shows no link that no browser opens", async () => {
    start = { poll_url: "https://evil.example/poll" };
    expect(await catchError(() => bootstrap())).toMatchObject({ code: "pairing_failed", field: "poll_url" });
    start = { approval_url: "javascript:alert(1)" };
    progress = [];
    expect(await catchError(() => bootstrap())).toMatchObject({ code: "pairing_failed", field: "approval_url" });
    expect(progress).toEqual([]);
  });

  test("a failing installation is the caller's own failure", async () => {
    const failure = new Error("no room");
    const install = async () => {
      throw failure;
    };
    expect(await catchError(() => bootstrap({ install }))).toBe(failure);
  });

  test("can be stopped", async () => {
    polls = [PENDING];
    const controller = new AbortController();
    const sleep = async () => controller.abort();
    expect(await catchError(() => bootstrap({ signal: controller.signal, sleep }))).toMatchObject({ code: "aborted" });
    expect(installed).toEqual([]);
  });
});
