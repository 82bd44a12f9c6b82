import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { AccessTokenSource } from "../../src/client/access-token.ts";
import { SvcClient } from "../../src/client/client.ts";
import { openSignInStore } from "../../src/pairing/sign-in-store.ts";
import { createTokenSource } from "../../src/pairing/token-source.ts";
import { createToolSession, type SessionSettings } from "../../src/tools/session.ts";
import { catchError } from "../client/recording-server.ts";
import { addConnection, type ProbeService, startProbeService } from "../contract/probe-service.ts";
import { signInAt } from "../pairing/sign-in-at.ts";
import { closeAll, closeLater, makeFolder, sayNo, sayYes } from "./open-test-session.ts";

/** The same pipeline with an OAuth sign-in and no key: tools are found and run through the MCP endpoint. */

let service: ProbeService;
let client: SvcClient;
let accessToken: AccessTokenSource;

beforeEach(async () => {
  service = closeLater(await startProbeService());
  const store = openSignInStore(await makeFolder());
  accessToken = createTokenSource({ store, signIn: await signInAt(service, store) });
  client = closeLater(new SvcClient({ baseUrl: service.url, accessToken }));
});
afterEach(closeAll);

async function open(settings: SessionSettings & { answer?: typeof sayYes | typeof sayNo } = {}) {
  const { answer = sayYes, ...rest } = settings;
  const asked: string[] = [];
  const session = await createToolSession({
    client,
    sleep: async () => undefined,
    random: () => 0.5,
    approve: async (request) => {
      asked.push(request.tool);
      return answer(request);
    },
    ...rest,
  });
  return closeLater({ ...session, asked });
}

const write = { callId: "w1", toolName: "probe_write_text", arguments: { text: "a" } };

describe("the catalogue", () => {
  it("is the one a key gives", async () => {
    const withKey = new SvcClient({ baseUrl: service.url, apiKey: service.apiKey });
    const names = async (from: SvcClient) => {
      const session = await createToolSession({ client: from });
      const report = await session.catalog.sync();
      await session.close();
      const found = session.catalog
        .list()
        .map(({ name, integration, effect, title }) => ({ name, integration, effect, title }));
      return { found, tools: report.tools, omitted: report.omitted };
    };
    expect(await names(client)).toEqual(await names(withKey));
    const [one, other] = [
      await client.describeTool("probe_write_text"),
      await withKey.describeTool("probe_write_text"),
    ];
    expect(one.inputSchema).toEqual(other.inputSchema);
    expect(one).toMatchObject({ name: other.name, integration: "probe", requiresConfirmation: true });
    await withKey.close();
  });

  it("says how many tools a page left out", async () => {
    const page = await client.listTools({ limit: 3 });
    expect(page).toMatchObject({ count: 3, truncated: true, integration: null });
    expect(page.total).toBeGreaterThan(3);
    expect(await client.listTools({ integration: "nowhere" })).toMatchObject({ tools: [], total: 0 });
  });

  it("can be searched, with the effect of each hit", async () => {
    for (const query of [{ query: "write text" }, { query: "write text", integration: "probe" }]) {
      const { tools } = await client.searchTools({ ...query, limit: 2 });
      expect(tools[0]).toMatchObject({
        name: "probe_write_text",
        integration: "probe",
        canonical: { action: { side_effect_level: "write" } },
      });
      expect(tools).toHaveLength(2);
    }
  });

  it("knows no tool that the service does not have", async () => {
    for (const name of ["probe_nothing", "nowhere_at_all", "probe_", ""]) {
      expect(await catchError(() => client.describeTool(name))).toMatchObject({ code: "service_failure", status: 404 });
    }
    const session = await open();
    expect(await session.call({ ...write, toolName: "probe_writ_text" })).toMatchObject({ code: "tool_not_found" });
  });

  it("has the canonical endpoints too", async () => {
    expect((await client.listIntegrations({ connected_only: true })).items).toMatchObject([
      { integration_id: "probe" },
    ]);
    expect((await client.listActions({ integration_id: "probe" })).items.length).toBeGreaterThan(3);
    expect(await client.getAction("probe", "echo")).toMatchObject({ action_id: "echo", side_effect_level: "read" });
    expect((await client.searchCatalog({ query: "echo" })).items[0]).toMatchObject({ action_id: "echo" });
    const done = await client.execute({ integration_id: "probe", action_id: "echo", input: { text: "x" } });
    expect(done).toMatchObject({ kind: "summary", status: 200, summary: { status: "succeeded" } });
    const id = done.kind === "summary" ? String(done.summary.execution_id) : "";
    expect(await client.getExecution(id)).toMatchObject({ execution_id: id, status: "succeeded" });
    expect(await catchError(() => client.getExecution("exe_none"))).toMatchObject({ status: 404 });
    expect(await catchError(() => client.listActions({ integration_id: "x" }))).toMatchObject({ status: 404 });
  });
});

describe("a call", () => {
  it("reads without asking", async () => {
    const session = await open();
    const outcome = await session.call({ callId: "r1", toolName: "probe_echo", arguments: { text: "hi" } });
    expect(outcome).toMatchObject({ status: "succeeded", result: { args: { text: "hi" }, connection: "First" } });
    expect(session.asked).toEqual([]);
  });

  it("writes once a human has approved, and only then", async () => {
    const no = await open({ answer: sayNo });
    expect(await no.call(write)).toMatchObject({ status: "declined" });
    expect(service.probe.calls).toEqual([]);
    const yes = await open();
    expect(await yes.call(write)).toMatchObject({ status: "succeeded" });
    expect(yes.asked).toEqual(["probe_write_text"]);
    expect(await service.effects()).toHaveLength(1);
  });

  it("goes through in a session that only has the cached catalogue", async () => {
    const stateDir = await makeFolder();
    const first = await open({ stateDir });
    await first.catalog.sync();
    expect(await first.call({ callId: "r0", toolName: "probe_echo", arguments: { text: "1" } })).toMatchObject({
      status: "succeeded",
    });
    await first.close();
    const fresh = new SvcClient({ baseUrl: service.url, accessToken });
    const second = await createToolSession({ client: fresh, stateDir });
    await second.catalog.load();
    const outcome = await second.call({ callId: "r2", toolName: "probe_echo", arguments: { text: "2" } });
    expect(outcome).toMatchObject({ status: "succeeded" });
    await second.close();
    await fresh.close();
  });

  it.each([
    ["rate_limit", "rate_limited", true],
    ["not_found", "execution_failed", false],
    ["misconfigured", "unsupported_operation", false],
    ["crash", "execution_failed", false],
  ])("that fails with %s ends as %s", async (how, code, retryable) => {
    const session = await open();
    const outcome = await session.call({ callId: "f1", toolName: "probe_fail", arguments: { how } });
    expect(outcome).toMatchObject({ status: "failed", code, retryable });
    expect(JSON.stringify(outcome)).not.toContain("secret detail");
  });

  it("with wrong arguments is explained by the service when nobody here checks", async () => {
    const session = await open({ validation: "off" });
    const outcome = await session.call({ callId: "i1", toolName: "probe_echo", arguments: { text: 1 } });
    expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments" });
    expect(service.probe.calls).toEqual([]);
  });

  it("waits while a human connects the app again", async () => {
    await service.service.connections.update(service.connectionId, { state: "reauth_required" });
    const links: string[] = [];
    const session = await open({
      presentConnectLink: async ({ url, isReconnect }) => {
        links.push(`${url} ${isReconnect}`);
        await service.service.connections.update(service.connectionId, { state: "healthy" });
        return true;
      },
    });
    expect(await session.call(write)).toMatchObject({ status: "succeeded" });
    expect(links).toEqual([expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/.* true$/)]);
    expect(service.probe.calls).toHaveLength(1);
  });
});

describe("what needs a key says so, and sends nothing", () => {
  it("for the bytes of a file", async () => {
    const media = await mkdtemp(join(tmpdir(), "svc-media-"));
    await writeFile(join(media, "a.txt"), "hello");
    const session = await open({ mediaRoots: [media] });
    const outcome = await session.call({
      callId: "b1",
      toolName: "probe_look_at_file",
      arguments: { file: { name: "a.txt", mimetype: "text/plain", s3key: join(media, "a.txt") } },
    });
    expect(outcome).toMatchObject({ status: "failed", code: "credentials_missing", retryable: false });
    const what = "Sending the bytes of a file needs an API key, and there is only an OAuth sign-in";
    expect(outcome.message).toBe(`${what} (POST /api/mcp, svc.execute). Nothing was sent.`);
    expect(outcome.hint).toContain("svc pair");
    expect(service.probe.calls).toEqual([]);
    await rm(media, { recursive: true });
  });

  it("for another account than the default one", async () => {
    await addConnection(service.service, "Second");
    const session = await open({ chooseConnection: async ({ choices }) => choices.at(-1)?.id });
    const outcome = await session.call({
      callId: "a1",
      toolName: "probe_echo",
      arguments: { text: "x" },
      connectionId: "2",
    });
    expect(outcome).toMatchObject({ status: "failed", code: "credentials_missing" });
    expect(outcome.message).toMatch(/^Choosing an account other than the default one needs an API key/);
    expect(outcome.hint).toContain("svc pair");
    expect(service.probe.calls).toEqual([]);
  });

  it("for flows", async () => {
    for (const call of [
      () => client.listFlowTemplates(),
      () => client.startFlow({ flowTemplate: "x" }),
      () => client.listFlows(),
      () => client.cancelFlow("1"),
    ]) {
      const error = await catchError(call);
      expect(error).toMatchObject({ code: "credentials_missing", sent: false });
      expect(error).toHaveProperty("hint", expect.stringContaining("svc pair"));
    }
  });
});

it("belongs to the service that was signed in to", () => {
  const source = { baseUrl: "https://a.example", signInId: "s", getToken: fail, renewToken: fail };
  expect(() => new SvcClient({ baseUrl: "https://b.example", accessToken: source })).toThrow(/belongs to https:\/\/a/);
  const one = new SvcClient({ baseUrl: "https://a.example/", accessToken: source });
  const other = new SvcClient({ baseUrl: "https://a.example", accessToken: { ...source, signInId: "t" } });
  expect(one.credential).toBe("oauth");
  expect(one.principal).toMatch(/^[0-9a-f]{16}$/);
  expect(one.principal).not.toBe(other.principal);
});

async function fail(): Promise<never> {
  throw new Error("not to be asked");
}
