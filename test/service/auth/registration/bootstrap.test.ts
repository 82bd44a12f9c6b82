import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { bootstrapInstaller, type InstallConfig } from "../../../../src/plugin/pairing/bootstrap.ts";
import { type BootstrapStartReply, bootstrapStartReplySchema } from "../../../../src/shared/wire/registration.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { verifies } from "../../../contract/verifies.ts";
import { readStored } from "../../find-store.ts";
import { openBrowser, readCsrf } from "../../http/pages/browser.ts";
import { call, post, type Reply } from "../../http-calls.ts";

const MINUTE = 60_000;
const INSTALLER = {
  client_label: "Claude <Code>",
  hostname: "desk\u202E.local",
  platform: "linux",
  agent_family: "claude-code",
  agent_version: "2.1",
  metadata: { anything: ["goes"] },
};

let service: TestService;
let now: number;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  service = await startTestService({ integrations: [], now: () => now });
});
afterEach(() => service.close());

const create = (body?: unknown): Promise<Reply> => post(`${service.url}/api/installer/bootstrap-sessions`, body);
async function start(body: unknown = INSTALLER): Promise<BootstrapStartReply> {
  return bootstrapStartReplySchema.parse((await create(body)).json);
}
const poll = (session: BootstrapStartReply): Promise<Reply> => call(session.poll_url);

async function openPage(session: BootstrapStartReply) {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  return { browser, page: await browser.open(session.approval_url) };
}

describe("start", () => {
  test("needs no key and no body", async () => {
    verifies("bootstrap.start.reply", "bootstrap.start.optional", "bootstrap.start.body-optional");
    verifies("auth.open-bootstrap");
    const reply = await call(`${service.url}/api/installer/bootstrap-sessions`, { method: "POST" });
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      session_id: expect.stringMatching(/^bts_/),
      approval_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/install\/[\w-]{43}$/),
      poll_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/api\/installer\/bootstrap-sessions\/[\w-]{43}$/),
      expires_at: "2026-03-04T10:15:00.000Z",
      status: "awaiting_approval",
      poll_interval_ms: 2000,
      display_code: expect.stringMatching(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/),
      display: { title: expect.any(String), summary: expect.stringContaining(reply.json.display_code) },
    });
  });

  test.each([[[1, 2]], ["text"], [7]])("400 bare for the body %j", async (body) => {
    verifies("bootstrap.start.failure");
    const { status, json } = await create(body);
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
  });

  test("any object will do", async () => {
    await start({ client_label: 7, hostname: null, platform: ["x"], more: { deep: true } });
  });

  test("nobody is refused because others started many", async () => {
    const replies = await Promise.all(Array.from({ length: 30 }, () => create()));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("approval", () => {
  test("the page shows who asks, cleaned and escaped, and the code", async () => {
    verifies("bootstrap.approval");
    const session = await start();
    now += 3 * MINUTE;
    const { page } = await openPage(session);
    expect(page.status).toBe(200);
    expect(page.text).toContain(`<strong>${session.display_code}</strong>`);
    expect(page.text).toContain("Claude &lt;Code&gt;");
    expect(page.text).toContain("<dd>desk .local</dd>");
    expect(page.text).toContain("claude-code 2.1");
    expect(page.text).toContain("<dd>127.0.0.1</dd>");
    expect(page.text).toContain("3 minutes ago");
  });

  test("is for the signed-in owner alone, and leads back here", async () => {
    verifies("bootstrap.approval");
    const session = await start();
    const stranger = openBrowser();
    const first = await stranger.open(session.approval_url);
    expect([first.status, first.text.includes("svc login-link")]).toEqual([401, true]);
    const signedIn = await stranger.open(await service.service.signInUrl());
    expect(signedIn.headers.location).toBe(new URL(session.approval_url).pathname);
    const attempts = [
      openBrowser().submit(session.approval_url, { decision: "approve" }, { "x-svc-api-key": service.apiKey }),
      stranger.submit(session.approval_url, { decision: "approve" }),
      stranger.submit(session.approval_url, { decision: "approve", csrf: "x" }),
    ];
    for (const { status } of await Promise.all(attempts)) expect(status).toBe(403);
    expect((await poll(session)).json.status).toBe("awaiting_approval");
  });

  test("the first decision stands", async () => {
    const session = await start();
    const { browser, page } = await openPage(session);
    const csrf = readCsrf(page);
    await browser.submit(session.approval_url, { csrf, decision: "decline" });
    await browser.submit(session.approval_url, { csrf, decision: "approve" });
    expect((await poll(session)).json).toMatchObject({ status: "denied" });
    expect((await browser.open(session.approval_url)).text).toContain("Installation declined");
  });

  test("unknown and expired requests say so", async () => {
    verifies("bootstrap.expiry");
    const session = await start();
    const { browser } = await openPage(session);
    expect((await browser.open(`${service.url}/install/${"x".repeat(43)}`)).status).toBe(404);
    now += 15 * MINUTE;
    const late = await browser.open(session.approval_url);
    expect([late.status, late.text.includes("expired")]).toEqual([410, true]);
  });
});

describe("poll", () => {
  test("hands out the configuration exactly once, with a working key", async () => {
    verifies("bootstrap.poll", "decision.bootstrap.poll-shape", "decision.bootstrap.install-once");
    const session = await start();
    const rest = { session_id: session.session_id, expires_at: session.expires_at, poll_interval_ms: 2000, scopes: {} };
    expect((await poll(session)).json).toEqual({ ...rest, status: "awaiting_approval" });
    await service.decide(session.approval_url);
    const { json } = await poll(session);
    expect(json).toEqual({
      ...rest,
      status: "approved",
      scopes: { approvals: "owner" },
      install: {
        server_name: "svc",
        url: `${service.url}/api/mcp`,
        headers: { "x-svc-api-key": expect.stringMatching(/^svc_live_/) },
      },
    });
    const key = json.install.headers["x-svc-api-key"];
    expect((await call(`${service.url}/api/tools`, { key })).status).toBe(200);
    expect((await poll(session)).json).toEqual({ ...rest, scopes: { approvals: "owner" }, status: "consumed" });
  });

  test("of twenty at one time exactly one gets the key", async () => {
    const session = await start();
    await service.decide(session.approval_url);
    const replies = await Promise.all(Array.from({ length: 20 }, () => poll(session)));
    expect(replies.filter(({ json }) => json.install !== undefined)).toHaveLength(1);
    expect(replies.filter(({ json }) => json.status === "consumed")).toHaveLength(19);
  });

  test("a HEAD request spends nothing", async () => {
    const session = await start();
    await service.decide(session.approval_url);
    const { status, headers } = await call(session.poll_url, { method: "HEAD" });
    expect([status, headers.allow]).toEqual([405, "GET"]);
    expect((await poll(session)).json.install).toBeDefined();
  });

  test("yields nothing 15 minutes after the start, also when approved", async () => {
    verifies("bootstrap.expiry", "limits.bootstrap-lifetime");
    const session = await start();
    await service.decide(session.approval_url);
    now += 15 * MINUTE - 1;
    const other = await start();
    now += 1;
    const { json } = await poll(session);
    expect([json.status, json.install]).toEqual(["expired", undefined]);
    expect((await poll(other)).json.status).toBe("awaiting_approval");
  });

  test("neither the public id nor the approval address is enough", async () => {
    const session = await start();
    await service.decide(session.approval_url);
    for (const guess of [session.session_id, session.approval_url.split("/").at(-1), "nope"]) {
      const { status, json } = await call(`${service.url}/api/installer/bootstrap-sessions/${guess}`);
      expect([status, Object.keys(json)]).toEqual([404, ["error"]]);
    }
  });
});

test("the installer of the plugin completes against the service", async () => {
  const client = new SvcClient({ baseUrl: service.url });
  const installed: InstallConfig[] = [];
  await bootstrapInstaller({
    client,
    request: INSTALLER,
    install: async (config) => {
      installed.push(config);
    },
    onProgress: (step) => {
      if (step.kind === "started") void service.decide(step.approvalUrl);
    },
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
  });
  await client.close();
  expect(installed).toMatchObject([{ server_name: "svc", url: `${service.url}/api/mcp` }]);
});

test("no secret is on the disk", async () => {
  const session = await start();
  await service.decide(session.approval_url);
  const { json } = await poll(session);
  const stored = await readStored(service.dataDir);
  expect(stored).toContain(session.session_id);
  const secrets = [json.install.headers["x-svc-api-key"], session.poll_url, session.approval_url].map((text) =>
    String(text).split("/").at(-1),
  );
  for (const secret of secrets) expect(stored).not.toContain(secret);
});
