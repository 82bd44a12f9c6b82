import { stat } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { ToolCatalog } from "../../../../../src/plugin/calls/catalog/catalog.ts";
import type { ActionRecord, ActionsFile } from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { writeCompanion } from "../../../../../src/plugin/runtimes/openclaw/actions/companion.ts";
import {
  type PlanOptions,
  planSync,
  type SyncPlan,
} from "../../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import { type AccountSession, openAccount } from "../../../../../src/plugin/runtimes/openclaw/setup/account-session.ts";
import { SvcError } from "../../../../../src/shared/errors.ts";

import { type CatalogService, startCatalogService } from "../../../calls/catalog-service.ts";
import { type ActionFacts, createManyApp, createNumberedActions } from "../many-actions.ts";
import { openSyncKit, type SyncKit } from "../sync-kit.ts";

let kit: SyncKit;

afterEach(() => kit.close());

type Facts = ActionFacts & { readonly id: string };
const app = (slug: string, ...actions: Facts[]) => createManyApp(slug, actions);
const names = (list: readonly { readonly name: string }[]) => list.map(({ name }) => name);

async function plan(current?: ActionsFile, options: PlanOptions = {}): Promise<SyncPlan> {
  return planSync(await kit.host.openAccount(undefined), current, options);
}

it("offers every action of the connected apps with its own schema, 321 of them from lists of 200", async () => {
  kit = await openSyncKit([1, 2, 3].map((n) => createManyApp(`app${n}`, createNumberedActions(107))));
  const { next, added, leftOut, replacesAccount } = await plan();
  expect(added).toHaveLength(321);
  expect(next.actions).toEqual(added);
  expect(leftOut).toEqual([]);
  expect(replacesAccount).toBe(false);
  expect(next.actions.find(({ name }) => name === "app2_act_2")).toMatchObject({
    toolName: "app2_act_2",
    integration: "app2",
    effect: "write",
    asksFirst: true,
    description: expect.stringMatching(/^Does what act_2 does, for tests\. Asks the user for approval/),
    parameters: { type: "object", required: ["text"], properties: { count: { type: "integer" } } },
  });
});

it("offers all of them while they fit the budget, and none beyond it", async () => {
  kit = await openSyncKit([app("app", { id: "a" }, { id: "b" })]);
  expect((await plan(undefined, { maxToolTokens: 10_000 })).next.actions).toHaveLength(2);
  const { next, leftOut } = await plan(undefined, { maxToolTokens: 50 });
  expect(next).toMatchObject({ actions: [], leftOut: 2 });
  expect(leftOut).toEqual([{ toolName: undefined, count: 2, reason: expect.stringContaining("maxToolTokens") }]);
});

it("says in a tool's description that its app has several accounts, and how to use another than the default", async () => {
  kit = await openSyncKit([app("app", { id: "a" })]);
  const alone = await plan();
  expect(alone.next.actions[0]?.description).not.toContain("Accounts");
  const { id } = await kit.service.service.connections.add({ integration: "app", label: "Work app", settings: {} });
  const { next } = await plan(alone.next);
  expect(next.actions[0]?.description).toMatch(
    new RegExp(
      `Accounts: app account .*Work app \\(${id}\\)\\. .*; to name one, call svc_call_tool .*connectionId\\.$`,
    ),
  );
});

it("tells what came, what went and what is another tool now, and nothing else", async () => {
  kit = await openSyncKit([app("app", { id: "a" }, { id: "b" }, { id: "c" }, { id: "d" }, { id: "e" })]);
  const first = await plan();
  await kit.offer(
    app(
      "app",
      { id: "a", properties: { text: { type: "string" }, where: { type: "string" } }, required: ["text", "where"] },
      { id: "b", level: "write", requiresConfirmation: true },
      { id: "c", description: "Says the same in other words." },
      { id: "d" },
      { id: "new" },
    ),
  );
  const second = await plan(first.next);
  expect(names(second.added)).toEqual(["app_new"]);
  expect(names(second.removed)).toEqual(["app_e"]);
  expect(second.changed.map(({ name, lines }) => [name, lines])).toEqual([
    ["app_a", expect.arrayContaining(["new required argument where", "argument count is gone"])],
    ["app_b", ["its effect is write now, read before", "it asks for approval now"]],
  ]);
  expect(second.next.actions.find(({ name }) => name === "app_c")?.description).toMatch(/^Says the same/);
  const third = await plan(second.next);
  expect([third.added, third.changed, third.removed]).toEqual([[], [], []]);
});

it("takes names away only when the service answers that they are gone", async () => {
  kit = await openSyncKit([app("app", { id: "a" }, { id: "b" })]);
  const first = await plan();
  await kit.stopService();
  await expect(plan(first.next)).rejects.toMatchObject({ code: "unreachable" });
  await kit.offer(app("app", { id: "a" }, { id: "b" }));
});

it("refuses to plan with a key the service does not accept", async () => {
  kit = await openSyncKit([app("app", { id: "a" })]);
  const stranger = await openAccount({ baseUrl: kit.service.url, apiKey: "svc_live_unknown" });
  await expect(planSync(stranger, undefined)).rejects.toMatchObject({ code: "unauthorized" });
  await stranger.session.close();
});

it("keeps a tool as it was when the service cannot describe it now, and leaves out a new one", async () => {
  kit = await openSyncKit([app("app", { id: "a" }, { id: "b" })]);
  const account = await kit.host.openAccount(undefined);
  const first = await planSync(account, undefined);
  const busy = failFor(account, "app_b", new SvcError("service_failure", "The service is busy.", { status: 503 }));
  const second = await planSync(busy, first.next);
  expect([second.added, second.changed, second.removed, second.leftOut]).toEqual([[], [], [], []]);
  expect(second.next.actions).toEqual(first.next.actions);
  expect(second.notes).toEqual(["Not described now, so they stay as they were: app_b."]);
  const fresh = await planSync(busy, undefined);
  expect(names(fresh.next.actions)).toEqual(["app_a"]);
  expect(fresh.leftOut).toEqual([
    { toolName: "app_b", integration: "app", count: 1, reason: "It could not be described: The service is busy." },
  ]);
  const revoked = failFor(account, "app_b", new SvcError("unauthorized", "The key was revoked.", { status: 401 }));
  await expect(planSync(revoked, first.next)).rejects.toMatchObject({ code: "unauthorized" });
});

/** The same account, on which one tool cannot be described. */
function failFor(account: AccountSession, toolName: string, error: SvcError): AccountSession {
  const { catalog } = account.session;
  const failing: Pick<ToolCatalog, "sync" | "list" | "refresh"> = {
    sync: (options) => catalog.sync(options),
    list: () => catalog.list(),
    refresh: async (name) => (name === toolName ? Promise.reject(error) : catalog.refresh(name)),
  };
  return { ...account, session: { ...account.session, catalog: failing as ToolCatalog } };
}

it("keeps to the limit, those already agreed to first, and says how many are not there", async () => {
  kit = await openSyncKit([app("app", { id: "x" }, { id: "y" })]);
  const first = await plan();
  await kit.offer(app("aaa", { id: "first" }), app("app", { id: "x" }, { id: "y" }));
  const second = await plan(first.next, { limit: 2 });
  expect(names(second.next.actions)).toEqual(["app_x", "app_y"]);
  expect(second.leftOut).toEqual([expect.objectContaining({ count: 1, reason: expect.stringContaining("limit") })]);
  expect(second.next.leftOut).toBe(1);
  expect(second.next.listed).toEqual(["aaa_first", "app_x", "app_y"]);
});

it("offers only the apps that were asked for", async () => {
  kit = await openSyncKit([app("one", { id: "a" }), app("two", { id: "b" })]);
  expect(names((await plan(undefined, { integrations: ["two"] })).next.actions)).toEqual(["two_b"]);
});

it("calls everything new for another account, and says so", async () => {
  kit = await openSyncKit([app("app", { id: "a" })]);
  const { next } = await plan();
  const foreign = {
    ...next,
    principal: "somebody else",
    actions: next.actions.map((one) => ({ ...one, name: "old" })),
  };
  const second = await plan(foreign);
  expect(second.replacesAccount).toBe(true);
  expect([names(second.added), names(second.removed)]).toEqual([["app_a"], ["old"]]);
});

it("leaves out what it cannot name, and gives a tool without arguments an empty schema", async () => {
  kit = await openSyncKit([
    app("app", { id: "send" }, { id: "Send" }, { id: "none", properties: {}, required: [], inputSchema: NOTHING }),
  ]);
  const { next, leftOut } = await plan();
  expect(next.actions).toEqual([
    expect.objectContaining({ name: "app_none", parameters: { type: "object", properties: {} } }),
  ]);
  expect(leftOut.map(({ toolName, reason }) => [toolName, reason])).toEqual([
    ["app_Send", expect.stringContaining("would both be called")],
    ["app_send", expect.stringContaining("would both be called")],
  ]);
});

const NOTHING = { type: "object", properties: {} };

describe("a service whose lists and descriptions have gaps", () => {
  let service: CatalogService;

  afterEach(() => service.close());

  async function openSessionOn(tools: Parameters<typeof startCatalogService>[0]) {
    kit = await openSyncKit([]);
    service = await startCatalogService(tools);
    return openAccount({ baseUrl: service.url, apiKey: "svc_live_key_of_the_test" });
  }

  const tool = (index: number, facts: object = {}) => ({
    integration: "big",
    name: `big_${index}`,
    description: "Does something.",
    mode: "read",
    inputSchema: { type: "object", properties: { a: { type: "string" } } },
    ...facts,
  });

  it("counts the tools that a cut list does not show", async () => {
    const account = await openSessionOn(Array.from({ length: 230 }, (_, index) => tool(index)));
    const { next, leftOut } = await planSync(account, undefined);
    expect(next.actions).toHaveLength(200);
    expect(leftOut).toEqual([expect.objectContaining({ integration: "big", count: 30, toolName: undefined })]);
    await account.session.close();
  });

  it("never makes a tool of one whose arguments the service does not tell", async () => {
    const account = await openSessionOn([
      tool(1),
      tool(2, { inputSchema: null }),
      tool(3, { inputSchema: {} }),
      tool(4, { inputSchema: { type: "object", additionalProperties: true } }),
    ]);
    const { next, leftOut } = await planSync(account, undefined);
    expect(names(next.actions)).toEqual(["big_1"]);
    expect(leftOut.map(({ toolName }) => toolName)).toEqual(["big_2", "big_3", "big_4"]);
    await account.session.close();
  });

  it("declares no more tools than the host's limit for a manifest allows", async () => {
    const long = "x".repeat(48);
    const tools = Array.from({ length: 1_440 }, (_, index) => tool(index, { integration: `big${index % 8}` }));
    const account = await openSessionOn(tools.map((one) => ({ ...one, name: `${one.name}_${long}` })));
    const { next, leftOut } = await planSync(account, undefined, { limit: 5_000 });
    const { places } = kit.host;
    await writeCompanion(places, next.actions);
    const { size } = await stat(join(places.companion, "openclaw.plugin.json"));
    expect(size).toBeLessThanOrEqual(256 * 1024);
    expect(size).toBeGreaterThan(250 * 1024);
    expect(leftOut).toEqual([
      expect.objectContaining({ count: 1_440 - next.actions.length, reason: expect.stringContaining("at most") }),
    ]);
    const tooMany = Array.from({ length: 1_440 }, () => next.actions[0] as ActionRecord);
    await expect(writeCompanion(places, tooMany)).rejects.toMatchObject({ code: "unsupported" });
    await account.session.close();
  });
});
