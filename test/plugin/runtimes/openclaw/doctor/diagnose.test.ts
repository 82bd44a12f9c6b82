import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readActions, writeActions } from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { applySync } from "../../../../../src/plugin/runtimes/openclaw/actions/apply-sync.ts";
import { planSync } from "../../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import { runGatewayCommand } from "../../../../../src/plugin/runtimes/openclaw/commands/decision-commands.ts";
import { showStatus } from "../../../../../src/plugin/runtimes/openclaw/doctor/diagnose.ts";
import { rememberKeyOrigin } from "../../../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { type SvcHost, shareHost } from "../../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { STATIC_DEFINITIONS } from "../../../../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { startTestService, type TestService } from "../../../../../src/testing.ts";
import { findFreePort } from "../../../../service/free-port.ts";
import { createFakeApi, createStateFolder } from "../fake-api.ts";

let service: TestService;
let folder: ReturnType<typeof createStateFolder>;

beforeEach(async () => {
  service = await startTestService();
  folder = createStateFolder();
});

afterEach(async () => {
  await open({}).close();
  await service.close();
  folder.remove();
});

const open = (pluginConfig: Readonly<Record<string, unknown>>, storedKey?: string) =>
  shareHost(createFakeApi({ pluginConfig, storedKey }).api, folder.environment);
const openPaired = () => open({ baseUrl: service.url, apiKey: service.apiKey });

/** The finding with this id, and what comes out as a whole. */
async function look(host: SvcHost, id: string, config: Readonly<Record<string, unknown>> = {}) {
  const { exit, text, data } = await showStatus(host, { config });
  expect(JSON.stringify(data) + text).not.toContain("svc_live_");
  const { findings } = data as { findings: { id: string; level: string; text: string; fix?: string }[] };
  return { exit, text, finding: findings.find((one) => one.id === id), findings };
}

async function sync(host: SvcHost): Promise<void> {
  const { api } = createFakeApi();
  await applySync(host, api, await planSync(await host.openAccount(undefined), undefined));
}

const loading = () => ({ plugins: { load: { paths: [openPaired().places.companion] } } });

describe("openclaw svc status", () => {
  test("finds nothing to mend when everything is well", async () => {
    const host = openPaired();
    await sync(host);
    const { exit, findings, text } = await look(host, "key", loading());
    expect(findings.map(({ level }) => level)).toEqual(findings.map(() => "ok"));
    expect(exit).toBe(0);
    const short = await showStatus(host, { config: loading(), isShort: true });
    expect(short.text).toMatch(/^All well: \d+ tools of \d+ apps\. Each check: openclaw svc status$/);
    expect(text).toMatch(/key is from the plugin's settings.*\n.*answers.*\n.*accepted; the account has \d+ tools/);
  });

  test("says how to pair, and looks at the address all the same", async () => {
    const { exit, finding, findings } = await look(open({ baseUrl: service.url }), "key");
    expect(finding).toMatchObject({
      level: "fail",
      fix: expect.stringMatching(/openclaw svc pair.*models auth login.*\/login svc/),
    });
    expect(findings).toContainEqual(expect.objectContaining({ id: "service", level: "ok" }));
    expect(findings, "a sync cannot work yet").not.toContainEqual(expect.objectContaining({ id: "actions" }));
    expect(exit).toBe(3);
  });

  test("says that a key is revoked", async () => {
    const { exit, finding } = await look(open({ baseUrl: service.url, apiKey: "svc_live_revoked" }), "key.accepted");
    expect(finding).toMatchObject({
      level: "fail",
      text: expect.stringMatching(/revoked/),
      fix: expect.stringMatching(/Pair/),
    });
    expect(exit).toBe(1);
  });

  test("says that a key belongs to another address, and sends it nowhere", async () => {
    const host = open({ baseUrl: "https://elsewhere.example" }, service.apiKey);
    await rememberKeyOrigin(host.places, service.apiKey, { baseUrl: service.url, pairedAt: "2026-01-01T00:00:00Z" });
    const { finding, findings } = await look(host, "key");
    expect(finding).toMatchObject({ level: "fail", text: expect.stringContaining(`issued by ${service.url}`) });
    expect(findings.map(({ id }) => id)).not.toContain("service");
  });

  test("says how to start a service when none answers", async () => {
    const baseUrl = `http://127.0.0.1:${await findFreePort()}`;
    const { finding } = await look(open({ baseUrl, apiKey: service.apiKey }), "service");
    expect(finding).toMatchObject({
      level: "fail",
      text: `No service answers at ${baseUrl}.`,
      fix: expect.stringMatching(/svc serve/),
    });
  });

  test("names the setting that is wrong", async () => {
    const { finding, exit } = await look(open({ upload: "pigeon" }), "settings");
    expect(finding).toMatchObject({ level: "fail", text: expect.stringContaining("upload") });
    expect(exit).toBe(3);
    const root = await look(open({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: ["/"] }), "media");
    expect(root.finding).toMatchObject({ level: "fail" });
  });

  test("tells actions that are not synced, changed since, of another account, and damaged", async () => {
    const host = openPaired();
    expect((await look(host, "actions")).finding).toMatchObject({ level: "warn", fix: "openclaw svc sync" });
    await sync(host);
    const file = readActions(host.places.actions);
    if (file === undefined) throw new Error("Nothing was synced.");
    const pending = { at: file.syncedAt, added: ["mail_new"], changed: [], removed: ["mail_old", "mail_older"] };
    await writeActions(host.places.actions, { ...file, pending });
    const changed = await look(host, "actions.changed", loading());
    expect(changed.finding).toMatchObject({ level: "warn", text: expect.stringMatching(/1 new, 2 gone/) });
    expect(changed.exit).toBe(0);
    await writeActions(host.places.actions, { ...file, principal: "another" });
    expect((await look(host, "actions")).finding).toMatchObject({
      level: "fail",
      text: expect.stringMatching(/synced with another key/),
    });
    await mkdir(dirname(host.places.actions), { recursive: true });
    writeFileSync(host.places.actions, "{");
    expect((await look(host, "actions")).finding).toMatchObject({
      level: "fail",
      text: expect.stringMatching(/cannot be used/),
    });
  });

  test("tells that the host does not load the action tools", async () => {
    const host = openPaired();
    await sync(host);
    expect((await look(host, "companion")).finding).toMatchObject({ level: "fail", fix: "openclaw svc sync" });
  });

  test("tells which tools the host offers in the conversation that asks, by the host's own answer", async () => {
    const host = openPaired();
    await sync(host);
    const names = readActions(host.places.actions)?.actions.map(({ name }) => name) ?? [];
    const asked: unknown[] = [];
    const ask = (offered: readonly string[]) => async (method: string, params: Readonly<Record<string, unknown>>) => {
      if (method === "svc.command") return { ok: false, reason: "failed", message: "not asked here" } as const;
      asked.push([method, params.sessionKey]);
      if (method === "sessions.list") return { ok: true, payload: { sessions: [{ key: "latest" }] } } as const;
      return { ok: true, payload: { groups: [{ tools: offered.map((id) => ({ id })) }] } } as const;
    };
    const show = async (offered: readonly string[], { config = {}, sessionKey }: Look = {}) => {
      const { data } = await showStatus(host, { config: { ...loading(), ...config }, sessionKey, ask: ask(offered) });
      return (data as { findings: { id: string }[] }).findings.find(({ id }) => id === "tools");
    };
    const own = STATIC_DEFINITIONS.map(({ name }) => name);
    const missing = expect.stringContaining(`Missing: ${names[0]}`);
    const reload = "openclaw plugins reload svc-actions";
    expect(await show([...own, ...names, "exec"])).toMatchObject({ level: "ok" });
    expect(await show(own, { sessionKey: "mine" }), "the host has not loaded the names of a sync yet").toMatchObject({
      level: "warn",
      text: missing,
      fix: reload,
    });
    expect(asked).toEqual([
      ["sessions.list", undefined],
      ["tools.effective", "latest"],
      ["tools.effective", "mine"],
    ]);
    const listed = await show(own, { config: { tools: { allow: ["svc"] } } });
    expect(listed).toMatchObject({
      level: "warn",
      fix: expect.stringMatching(`^${reload}.*svc-actions in tools.allow `),
    });
    const entries = { helper: { tools: { deny: ["svc_*"] } } };
    expect(await show(["exec"], { config: { agents: { entries } } })).toMatchObject({
      level: "fail",
      text: expect.stringMatching(/^None of/),
      fix: expect.stringContaining("agents.entries.helper.tools.deny"),
    });
    const profiled = await show(["exec"], { config: { tools: { profile: "coding" } } });
    expect(profiled, "its answer knows nothing of what a plugin declares for a profile").toMatchObject({ level: "ok" });
    expect(await show(["exec"])).toMatchObject({ level: "warn", fix: "openclaw plugins reload svc" });
  });

  test("tells that the gateway has not taken over the settings, whatever the key", async () => {
    const host = open({ baseUrl: service.url, apiKey: service.apiKey, approvalSeconds: 60 });
    const ask = async (method: string, params: Readonly<Record<string, unknown>>) => {
      if (method !== "svc.command") return { ok: false, reason: "failed", message: "not asked here" } as const;
      const answers: unknown[] = [];
      await runGatewayCommand(host, { params, respond: (_ok, answered) => void answers.push(answered) });
      return { ok: true, payload: answers[0] } as const;
    };
    const show = async (written: object) => {
      const config = { plugins: { entries: { svc: { config: written } } } };
      const { data } = await showStatus(host, { config, ask });
      return (data as { findings: { id: string }[] }).findings.filter(({ id }) => id === "settings.stale");
    };
    expect(await show({ approvalSeconds: 60, baseUrl: service.url, apiKey: { source: "env", id: "KEY" } })).toEqual([]);
    expect(await show({ baseUrl: service.url, approvalSeconds: 90 })).toMatchObject([
      { level: "warn", fix: "openclaw plugins reload svc" },
    ]);
  });

  test.each([
    [{ defaults: { sandbox: { mode: "all" } } }, {}, "agents.defaults.sandbox.mode"],
    [{ entries: { a: {}, b: { sandbox: { mode: "non-main" } } } }, {}, "agents.entries.b.sandbox.mode"],
    [{ defaults: { sandbox: { mode: "all" } } }, { alsoAllow: ["svc", "svc-actions"] }, undefined],
    [{ defaults: { sandbox: { mode: "off" } } }, {}, undefined],
    [{}, {}, undefined],
  ])("tells that a sandbox keeps the tools from its runs: %j with %j", async (agents, tools, named) => {
    const config = { ...loading(), agents, tools: { sandbox: { tools } } };
    const { finding } = await look(openPaired(), "sandbox", config);
    if (named === undefined) expect(finding).toBeUndefined();
    else
      expect(finding).toMatchObject({ level: "warn", text: expect.stringContaining(named), fix: expect.any(String) });
  });
});

interface Look {
  readonly config?: Readonly<Record<string, unknown>>;
  readonly sessionKey?: string;
}
