import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LINK } from "../../../../../src/plugin/runtimes/openclaw/actions/action-tools.ts";
import { readActions } from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { applySync, removeSync } from "../../../../../src/plugin/runtimes/openclaw/actions/apply-sync.ts";
import { planSync } from "../../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import type {
  HostApi,
  HostConfig,
  HostToolFactory,
} from "../../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import type { HostTool } from "../../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import { registerTools } from "../../../../../src/plugin/runtimes/openclaw/register-parts.ts";
import { createStaticTools } from "../../../../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { expectMode } from "../../../../suites/this-system.ts";
import { createFakeApi } from "../fake-api.ts";
import { createManyApp } from "../many-actions.ts";
import { openSyncKit, type SyncKit } from "../sync-kit.ts";

const READ = { id: "look" };
const WRITE = { id: "change", level: "write", requiresConfirmation: true } as const;
const app = createManyApp("app", [READ, WRITE]);

let kit: SyncKit;

beforeEach(async () => {
  kit = await openSyncKit([app], { tools: { profile: "coding" } });
});
afterEach(() => kit.close());

async function sync(api: HostApi = kit.api) {
  const { host } = kit;
  const plan = await planSync(await host.openAccount(undefined), readActions(host.places.actions));
  return applySync(host, api, plan);
}

const readJson = (name: string) => JSON.parse(readFileSync(join(kit.host.places.companion, name), "utf8"));

describe("an applied sync", () => {
  it("declares every name to the host, with what it may do and for every profile", async () => {
    expect(await sync()).toMatchObject({ tools: 2, config: { kind: "changed" } });
    const profiles = ["minimal", "coding", "messaging", "full"];
    expect(readJson("openclaw.plugin.json")).toMatchObject({
      id: "svc-actions",
      contracts: { tools: ["app_change", "app_look"] },
      toolMetadata: { app_look: { profiles, replaySafe: true }, app_change: { profiles, sideEffecting: true } },
      configSchema: { type: "object", additionalProperties: false },
      activation: { onStartup: true },
    });
    expect(readJson("openclaw.plugin.json").toolMetadata.app_change.replaySafe).toBeUndefined();
    expect(readJson("package.json")).toMatchObject({ type: "module", openclaw: { extensions: ["./index.js"] } });
    expectMode(join(kit.host.places.companion, "index.js"), 0o600);
  });

  it("makes the host load the companion, and load it again when the names change", async () => {
    await sync();
    const { companion } = kit.host.places;
    expect(kit.config.current).toEqual({
      tools: { profile: "coding" },
      plugins: {
        load: { paths: [companion] },
        entries: { "svc-actions": { enabled: true, config: { revision: expect.stringMatching(/^[0-9a-f]{16}$/) } } },
      },
    });
    const first = kit.config.current;
    expect(await sync()).toMatchObject({ config: { kind: "unchanged" } });
    expect(kit.config.current).toBe(first);
    await kit.offer(createManyApp("app", [READ, { ...WRITE, id: "other" }]));
    expect(await sync()).toMatchObject({ config: { kind: "changed" } });
    expect(readRevision(kit.config.current)).not.toBe(readRevision(first));
  });

  it("adds to what the user has set, and takes only that away again", async () => {
    const own = {
      plugins: {
        allow: ["svc", "telegram"],
        load: { paths: ["/srv/mine"] },
        entries: { svc: { enabled: true, config: { baseUrl: "http://a" } } },
      },
    };
    kit.config.current = own;
    await sync();
    expect(kit.config.current).toMatchObject({
      plugins: { allow: ["svc", "telegram", "svc-actions"], load: { paths: ["/srv/mine", kit.host.places.companion] } },
    });
    await removeSync(kit.host, kit.api);
    expect(kit.config.current).toEqual(own);
  });

  it("leaves nothing behind when it is removed, and can be removed twice", async () => {
    await sync();
    expect(await removeSync(kit.host, kit.api)).toMatchObject({ tools: 0, config: { kind: "changed" } });
    expect(kit.config.current).toEqual({ tools: { profile: "coding" }, plugins: {} });
    expect(existsSync(kit.host.places.companion)).toBe(false);
    expect(readActions(kit.host.places.actions)).toBeUndefined();
    expect(await removeSync(kit.host, kit.api)).toMatchObject({ config: { kind: "unchanged" } });
  });

  it("removes everything when there is nothing left to offer", async () => {
    await sync();
    await kit.offer();
    expect(await sync()).toMatchObject({ tools: 0 });
    expect(existsSync(kit.host.places.companion)).toBe(false);
  });

  it.each([1, 2, 3, 4, 5])("leaves tools, names and configuration of one sync when two run at once: %i", async () => {
    const plans = await Promise.all(
      [READ, WRITE].map(async (action) => {
        const { next } = await planSync(await kit.host.openAccount(undefined), undefined);
        const actions = next.actions.filter(({ name }) => name === `app_${action.id}`);
        return { next: { ...next, actions } };
      }),
    );
    await Promise.all(plans.map((plan) => applySync(kit.host, kit.api, plan)));
    const names = readActions(kit.host.places.actions)?.actions.map(({ name }) => name);
    expect(names).toHaveLength(1);
    expect(readJson("openclaw.plugin.json").contracts.tools).toEqual(names);
    expect(readFileSync(join(kit.host.places.companion, "index.js"), "utf8")).toContain(JSON.stringify(names));
    const written = readRevision(kit.config.current);
    await sync();
    await applySync(kit.host, kit.api, plans.find(({ next }) => next.actions[0]?.name === names?.[0]) ?? expect.fail());
    expect(readRevision(kit.config.current)).toBe(written);
  });

  it("says what to do by hand where the configuration cannot be written", async () => {
    const { config } = kit.api.runtime;
    const mutateConfigFile = async () => Promise.reject(new Error("the file is read-only"));
    const api = { ...kit.api, runtime: { ...kit.api.runtime, config: { ...config, mutateConfigFile } } };
    const report = await sync(api);
    expect(report.config).toEqual({ kind: "refused", reason: "the file is read-only" });
    expect(report.next).toContain(`add ${kit.host.places.companion} to plugins.load.paths by hand`);
    await sync();
    const removed = await removeSync(kit.host, api);
    expect(removed.next).toContain("by hand");
    expect(existsSync(kit.host.places.companion)).toBe(true);
    expect(readActions(kit.host.places.actions)).toBeUndefined();
  });
});

describe("the companion plugin", () => {
  /** The generated code, as the host runs it. */
  async function loadCompanion() {
    const file = pathToFileURL(join(kit.host.places.companion, "index.js")).href;
    const module = (await import(/* @vite-ignore */ `${file}?${Math.random()}`)) as {
      default: { id: string; register(api: HostApi): void };
    };
    const fake = createFakeApi();
    module.default.register(fake.api);
    const factory = fake.recorded.tools[0]?.tool as HostToolFactory;
    return { id: module.default.id, assemble: () => (factory({}) ?? []) as HostTool[], recorded: fake.recorded };
  }

  /** As in a process that the main plugin was never in. */
  function withdrawAll(): void {
    const links = (globalThis as { [link: symbol]: Map<string, unknown> | undefined })[Symbol.for(LINK)];
    links?.delete(kit.host.places.companion);
  }

  async function askStatus(): Promise<unknown> {
    const status = createStaticTools(kit.host, {}).find(({ name }) => name === "svc_status");
    const result = await status?.execute("c1", {});
    return (JSON.parse(result?.content[0]?.text ?? "{}") as { result?: unknown }).result;
  }

  it("offers what the main plugin has, at each assembly anew", async () => {
    await sync();
    const companion = await loadCompanion();
    expect(companion.id).toBe("svc-actions");
    registerTools(kit.api, kit.host);
    expect(companion.assemble().map(({ name }) => name)).toEqual(["app_change", "app_look"]);
    const look = companion.assemble().find(({ name }) => name === "app_look");
    const result = await look?.execute("c1", { text: "hello" });
    expect(result?.details).toEqual({ status: "ok", ok: true, outcome: "succeeded" });
    expect(app.calls.at(-1)).toEqual({ action: "look", args: { text: "hello" } });
  });

  it("offers only what it declares: a new tool waits until the host has loaded the new names", async () => {
    await sync();
    registerTools(kit.api, kit.host);
    const before = await loadCompanion();
    await kit.offer(createManyApp("app", [READ, WRITE, { id: "news" }]));
    await sync();
    expect(before.assemble().map(({ name }) => name)).toEqual(["app_change", "app_look"]);
    const fix = "openclaw plugins reload svc-actions";
    expect(await askStatus(), "the model is told").toMatchObject({ action_tools: 2, not_loaded: ["app_news"], fix });
    const after = await loadCompanion();
    expect(after.assemble().map(({ name }) => name)).toEqual(["app_change", "app_look", "app_news"]);
    expect(await askStatus()).toMatchObject({ action_tools: 3 });
    expect(await askStatus()).not.toHaveProperty("not_loaded");
  });

  it("offers a removed tool no more; a turn that has it already is asked before it acts", async () => {
    const plan = await planSync(await kit.host.openAccount(undefined), undefined);
    await applySync(kit.host, kit.api, plan);
    registerTools(kit.api, kit.host);
    const companion = await loadCompanion();
    const held = companion.assemble().find(({ name }) => name === "app_change");
    const actions = plan.next.actions.filter(({ name }) => name === "app_look");
    await applySync(kit.host, kit.api, { next: { ...plan.next, actions } });
    expect(companion.assemble().map(({ name }) => name)).toEqual(["app_look"]);
    const gate = companion.recorded.hooks[0]?.handler;
    const call = { toolName: "app_change", params: { text: "x" }, toolCallId: "held" };
    expect(await gate?.(call, { toolName: "app_change" })).toBeUndefined();
    expect((await held?.execute("held", { text: "x" }))?.details).toMatchObject({ outcome: "needs_approval" });
    expect(app.calls.filter(({ action }) => action === "change")).toEqual([]);
  });

  it("gates exactly the names it declares", async () => {
    await sync();
    const { recorded } = await loadCompanion();
    expect(recorded.hooks.map(({ name }) => name)).toEqual(["before_tool_call"]);
    expect(readFileSync(join(kit.host.places.companion, "index.js"), "utf8")).toContain('["app_change","app_look"]');
  });

  it("offers nothing where the main plugin is not, or not any more", async () => {
    await sync();
    withdrawAll();
    const companion = await loadCompanion();
    expect(companion.assemble()).toEqual([]);
    registerTools(kit.api, kit.host);
    expect(companion.assemble()).toHaveLength(2);
    for (const dispose of kit.recorded.disposals) await dispose();
    expect(companion.assemble()).toEqual([]);
  });

  it("offers nothing once a gateway drops the main plugin, which it tells in its own way", async () => {
    await sync();
    const disposals: (() => void | Promise<void>)[] = [];
    const lifecycle = {
      onDispose: (dispose: () => void | Promise<void>) => disposals.push(dispose),
      registerRuntimeLifecycle: () => undefined,
    };
    registerTools({ ...kit.api, lifecycle }, kit.host);
    const companion = await loadCompanion();
    expect(companion.assemble()).toHaveLength(2);
    for (const dispose of disposals) await dispose();
    expect(companion.assemble()).toEqual([]);
    const gate = companion.recorded.hooks[0]?.handler;
    const call = { toolName: "app_change", params: {}, toolCallId: "c1" };
    expect(await gate?.(call, { toolName: "app_change" })).toBeUndefined();
  });

  it("says once at the start of a gateway that the main plugin is not there, and nothing when it is", async () => {
    await sync();
    const start = async () => {
      const { recorded } = await loadCompanion();
      for (const service of recorded.services) await service.start();
      return recorded.lines;
    };
    withdrawAll();
    expect(await start()).toEqual([
      expect.stringMatching(/openclaw plugins enable svc\..*openclaw plugins disable svc-/),
    ]);
    registerTools(kit.api, kit.host);
    expect(await start()).toEqual([]);
  });

  it("goes on with the newer registration when the older one is dropped after it", async () => {
    await sync();
    registerTools(kit.api, kit.host);
    const older = [...kit.recorded.disposals];
    registerTools(kit.api, kit.host);
    for (const dispose of older) await dispose();
    expect((await loadCompanion()).assemble()).toHaveLength(2);
  });

  it("is not run by names that a service chose: they are data in it", async () => {
    mkdirSync(kit.host.places.companion, { recursive: true });
    const { writeCompanion } = await import("../../../../../src/plugin/runtimes/openclaw/actions/companion.ts");
    const record = (name: string) => ({
      name,
      toolName: '"];throw new Error("ran")//',
      integration: "x",
      effect: "read" as const,
      asksFirst: false,
      description: "*/ `",
      parameters: {},
      schemaHash: "",
    });
    await writeCompanion(kit.host.places, [record("a_b")]);
    expect((await loadCompanion()).recorded.tools).toHaveLength(1);
  });
});

function readRevision(config: HostConfig): unknown {
  return JSON.stringify(config).match(/"revision":"([^"]+)"/)?.[1];
}
