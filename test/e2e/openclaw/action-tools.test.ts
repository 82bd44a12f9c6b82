import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import { createManyApp, createNumberedActions } from "../../plugin/runtimes/openclaw/many-actions.ts";
import { startHostService } from "./host/host-service.ts";
import type { HostState } from "./host/isolated-state.ts";
import { syncPlugin } from "./host/set-up-plugin.ts";
import { throughReload } from "./host/through-reload.ts";
import { getProvided, useHost } from "./host/use-host.ts";

/** 300 actions, and some that the host has tools or plugins named after. */
const apps = ["one", "two", "three"].map((slug) => createManyApp(slug, createNumberedActions(100)));
const [one] = apps;
const clashing = createManyApp("memory", [{ id: "search" }, { id: "get" }]);
const all = [...apps, clashing].map(({ integration }) => integration);
const host = useHost({ integrations: [...builtInIntegrations, ...all] });

const SYNC_AND_RELOAD_MS = 300_000;
let planned: string;

/**
 * `openclaw svc sync` in another process; the gateway takes over what it wrote. It is asked for a tool all the time, so
 * that it puts its tools together at every moment of the sync; within the reload it refuses.
 */
async function sync(): Promise<string> {
  const { state, invoke } = host();
  let isDone = false;
  const ask = async () => {
    while (!isDone) await Promise.all([invoke("drive_list_files").catch(() => undefined), setTimeout(100)]);
  };
  const asking = ask();
  try {
    return await throughReload(state, () => syncPlugin(state as HostState));
  } finally {
    isDone = true;
    await asking;
  }
}

beforeAll(async () => {
  const { connections } = host().service.service;
  for (const { slug } of all) {
    await connections.add({ integration: slug, label: `${slug} account`, settings: {}, scopes: [] });
  }
  planned = await sync();
}, SYNC_AND_RELOAD_MS);

/** The service without the apps of this file takes its place; a sync then leaves the host as the other files know it. */
afterAll(async () => {
  const { service, redirect } = host();
  const { port } = getProvided().service;
  await service.close();
  const bare = await startHostService({ dataDir: service.dataDir, publicUrl: `http://127.0.0.1:${port}` });
  try {
    await redirect(bare.port);
    expect(await sync()).toMatch(/Removed:[\s\S]*memory_search_svc[\s\S]*three_act_99/);
    expect(await host().invoke("three_act_99", { text: "a" })).toMatchObject({ status: 404 });
    expect(await host().invoke("drive_list_files")).toMatchObject({ status: 200 });
  } finally {
    await bare.close();
  }
}, SYNC_AND_RELOAD_MS);

describe("a sync while the gateway runs", () => {
  test("names what it adds, and the gateway offers it without a restart", async () => {
    expect(planned).toMatch(/Added:[\s\S]*memory_search_svc[\s\S]*one_act_0/);
    expect(await host().invoke("one_act_0", { text: "now" })).toMatchObject({ status: 200, details: { ok: true } });
    expect(one?.calls.at(-1)).toEqual({ action: "act_0", args: { text: "now" } });
  });

  test("takes no name that the host has: its own tools stay, and no tool is dropped", async () => {
    expect(await host().invoke("memory_search_svc", { text: "a" })).toMatchObject({ status: 200 });
    expect(await host().invoke("memory_get_svc", { text: "a" })).toMatchObject({ status: 200 });
    expect(clashing.calls.map(({ action }) => action)).toEqual(["search", "get"]);
    const log = await readFile(join(host().state.folder, "openclaw.log"), "utf8");
    expect(log.match(/tool name conflict|tool is undeclared|tool is malformed|conflicts with core tool/g)).toBeNull();
  });

  test("shows the model all 300 in its directory, and finds one by searching", async () => {
    const { model, operator } = host();
    model.playTurn(
      { tool: "tool_search", args: { query: "two act_42" } },
      { tool: "two_act_42", args: { text: "found" } },
      "Done.",
    );
    await (await operator.chat("Do what act 42 of two does.", { sessionKey: "three-hundred" })).done;
    // The host may ask the model for something else of its own beside.
    const first = model.requests.find(({ words, tools }) => tools.length > 0 && words.includes("act 42 of two"));
    expect(new Set(first?.raw.match(/(?:one|two|three)_act_\d+/g)).size).toBe(300);
    const [found, called] = model.requests.at(-1)?.results ?? [];
    expect(found).toContain('"input": "{ text: string;');
    expect(called).toContain("found");
  });
});

describe("a slip of the model", () => {
  const slips: [string, object, object][] = [
    ["a number as text", { text: "a", count: "5" }, { text: "a", count: 5 }],
    ["another letter case", { text: "a", mode: "Fast" }, { text: "a", mode: "fast" }],
    ["one item for a list", { text: "a", tags: "x" }, { text: "a", tags: ["x"] }],
    ["null for what may be left out", { text: "a", count: null }, { text: "a" }],
  ];

  test.each(slips)("is repaired before the host's tool search would refuse it: %s", async (what, given, meant) => {
    const { model, operator } = host();
    model.playTurn({ tool: "one_act_0", args: given }, "Done.");
    await (await operator.chat("Go.", { sessionKey: `slip-${what.replaceAll(" ", "-")}` })).done;
    expect(one?.calls.at(-1)?.args).toEqual(meant);
  });
});

test("a failed call is shown as failed, with our words", async () => {
  const { model, operator } = host();
  model.playTurn({ tool: "svc_call_tool", args: { name: "one_nothing", arguments: {} } }, "Sorry.");
  await (await operator.chat("Go.", { sessionKey: "failed" })).done;
  const item = await operator.take("agent", ({ stream, data }) => {
    const { phase, name } = data as { phase?: string; name?: string };
    return stream === "item" && phase === "end" && name === "svc_call_tool";
  });
  expect(item.data).toMatchObject({ status: "failed", error: expect.stringContaining("one_nothing") });
});
