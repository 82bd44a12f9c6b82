import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createCatalog, type ToolCatalog } from "../../../../src/plugin/calls/catalog/catalog.ts";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { verifies } from "../../../contract/verifies.ts";
import { expectMode } from "../../../suites/this-system.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "../scripted-service.ts";

const HOUR = 60 * 60 * 1_000;
let service: ScriptedService;
let events: SessionEvent[];
const clock = { now: Date.parse("2026-11-20T10:00:00Z") };

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  events = [];
});
afterEach(closeAll);

function open(cacheDir?: string, apiKey = "svc_live_one"): ToolCatalog {
  const client = closeLater(new SvcClient({ baseUrl: service.url, apiKey, sleep: async () => undefined }));
  const options = { client, cacheDir, now: () => clock.now, onEvent: (event: SessionEvent) => events.push(event) };
  return closeLater(createCatalog(options));
}

const requests = (path: string) => service.seen.filter((request) => request.path.startsWith(path)).length;

describe("sync", () => {
  it("needs one request when everything fits a page", async () => {
    verifies("limits.client-tools-page");
    service.offer(createTool("probe_b", "write"));
    service.offer(createTool("probe_a", "read"));
    const catalog = open();
    const report = await catalog.sync();
    expect(report).toMatchObject({ tools: 2, integrations: 1, omitted: [] });
    expect(catalog.list().map((entry) => [entry.name, entry.effect])).toEqual([
      ["probe_a", "read"],
      ["probe_b", "write"],
    ]);
    expect(service.seen.map((request) => request.path)).toEqual(["/api/tools?limit=200"]);
  });

  it("counts the tools of apps that nobody names, also without catalogue endpoints", async () => {
    verifies("tools.list.truncation-never-silent");
    const tools = [{ ...createTool("big_0", "read"), integration: "big" }];
    const notice = { name: null, integration: null, description: "more", inputSchema: null };
    const body = { tools: [...tools, notice], count: 1, total: 4, truncated: true, integration: null };
    service.answer("/api/tools?limit=200", { status: 200, body });
    const big = { tools, count: 1, total: 1, truncated: false, integration: "big" };
    service.answer("/api/tools?integration=big&limit=200", { status: 200, body: big });
    service.answer("/api/integrations", { status: 404, body: { error: "There is nothing at this address." } });
    const report = await open().sync();
    expect(report).toMatchObject({ tools: 1, omitted: [{ integration: null, count: 3 }] });
  });

  it("lists per integration when the list was cut, and says what is still missing", async () => {
    verifies("tools.list.truncation-never-silent");
    const page = (tools: unknown[], total: number, integration: string | null) => ({
      status: 200,
      body: { tools, count: tools.length, total, truncated: total > tools.length, integration },
    });
    const notice = { name: null, integration: null, description: "more", inputSchema: null };
    const tools = Array.from({ length: 3 }, (_, index) => ({
      ...createTool(`big_${index}`, "read"),
      integration: "big",
    }));
    service.answer("/api/tools?limit=200", page([...tools, notice], 6, null));
    service.answer("/api/tools?integration=big&limit=200", page([...tools, notice], 5, "big"));
    service.answer("/api/tools?integration=probe&limit=200", page([createTool("probe_a", "read")], 1, "probe"));
    service.answer("/api/integrations", {
      status: 200,
      body: {
        items: [
          { integration_id: "big", connected: true },
          { integration_id: "probe", connected: true },
          { integration_id: "off", connected: false },
        ],
        total: 3,
      },
    });
    const catalog = open();
    const seen: (string | null)[] = [];
    const report = await catalog.sync({ onProgress: ({ integration }) => seen.push(integration) });
    expect(seen[0]).toBeNull();
    expect(seen.slice(1).toSorted()).toEqual(["big", "probe"]);
    expect(report).toMatchObject({ tools: 4, integrations: 2, omitted: [{ integration: "big", count: 2 }] });
    expect(events).toContainEqual({ type: "tools_omitted", integration: "big", count: 2 });
    expect(catalog.list().map((entry) => entry.name)).toEqual(["big_0", "big_1", "big_2", "probe_a"]);
  });

  it("accepts null members and unknown ones", async () => {
    verifies("tool.nullables-accepted", "tool.unknown-properties-kept");
    service.answer("/api/tools", {
      status: 200,
      body: {
        tools: [
          { name: "x_y", integration: null, description: null, inputSchema: null, canonical: null, extra: { a: 1 } },
        ],
      },
    });
    const catalog = open();
    await catalog.sync();
    expect(catalog.peek("x_y")).toMatchObject({ name: "x_y", effect: "unknown", integration: "" });
  });
});

describe("describe on first use", () => {
  it("reads the schema once, whoever asks, and never from the list", async () => {
    verifies("tool.placeholder-is-not-empty-arguments", "tools.describe.client");
    service.offer(createTool("probe_a", "read"));
    const catalog = open();
    await catalog.sync();
    expect(catalog.peek("probe_a")?.inputSchema).toBeNull();
    const [one, two] = await Promise.all([catalog.find("probe_a"), catalog.find("probe_a")]);
    expect(one?.inputSchema).toMatchObject({ properties: { text: { type: "string" } } });
    expect(two).toBe(one);
    expect(requests("/api/tools/probe_a")).toBe(1);
  });

  it("takes the effect from the action detail when the description does not say it", async () => {
    service.offer(createTool("probe_a", "read", { canonical: undefined }));
    service.answer("/api/actions/probe/probe_a", {
      status: 200,
      body: { action_id: "a", side_effect_level: "delete", requires_confirmation: true },
    });
    expect(await open().find("probe_a")).toMatchObject({ effect: "delete", needsConfirmation: true });
  });

  it.each([
    [true, true],
    ["true", true],
    [1, true],
    [{}, true],
    [false, false],
  ])("asks before a read that says %j of its confirmation: %j", async (said, needsConfirmation) => {
    service.offer(createTool("probe_a", "read", { requiresConfirmation: said }));
    service.offer(createTool("probe_b", "read", { canonical: undefined }));
    service.answer("/api/actions/probe/probe_b", {
      status: 200,
      body: { action_id: "b", side_effect_level: "read", requires_confirmation: said },
    });
    const catalog = open();
    expect((await catalog.find("probe_a"))?.needsConfirmation).toBe(needsConfirmation);
    expect((await catalog.find("probe_b"))?.needsConfirmation).toBe(needsConfirmation);
  });

  it("keeps a listed tool whose description is a 404: its app may not be connected", async () => {
    service.offer(createTool("probe_a", "read"));
    const catalog = open();
    await catalog.sync();
    service.answer("/api/tools/probe_a", { status: 404, body: { error: "Tool not found" } });
    expect(await catalog.find("probe_a")).toMatchObject({ name: "probe_a", inputSchema: null });
    expect(await catalog.find("probe_zzz")).toBeUndefined();
  });

  it("reports the changed schema of a write", async () => {
    verifies("versioning.schema-may-change");
    service.offer(createTool("probe_w", "write"));
    const catalog = open();
    await catalog.find("probe_w");
    const properties = { text: { type: "integer" }, to: { type: "string" } };
    service.offer(createTool("probe_w", "write", { inputSchema: { type: "object", properties, required: ["to"] } }));
    const { change } = await catalog.refresh("probe_w");
    expect(change?.lines).toEqual(["argument text has a new definition", "new required argument to"]);
    expect(events).toContainEqual({ type: "schema_changed", change });
  });
});

describe("the disk cache", () => {
  it("answers the next start without a request, per principal", async () => {
    const folder = await makeFolder();
    service.offer(createTool("probe_a", "read"));
    const first = open(folder);
    await first.load();
    await first.find("probe_a");
    await first.close();
    const before = service.seen.length;
    const second = open(folder);
    expect(await second.load()).toMatchObject({ tools: 1 });
    expect(second.peek("probe_a")?.schemaHash).toMatch(/^[a-f0-9]{64}$/);
    expect(service.seen).toHaveLength(before);
    const other = open(folder, "svc_live_two");
    await other.load();
    await other.close();
    expect(await readdir(folder)).toHaveLength(2);
    const [name = ""] = await readdir(folder);
    expectMode(join(folder, name), 0o600);
    expect(await readFile(join(folder, name), "utf8")).not.toContain("svc_live_");
  });

  it("is used while a new list is fetched when it is older than six hours", async () => {
    const folder = await makeFolder();
    service.offer(createTool("probe_a", "read"));
    const first = open(folder);
    await first.load();
    await first.close();
    service.offer(createTool("probe_b", "read"));
    clock.now += 7 * HOUR;
    const second = open(folder);
    expect(await second.load()).toMatchObject({ tools: 1 });
    await expect.poll(() => second.list().length).toBe(2);
  });

  it.each([
    ["torn", (text: string) => text.slice(0, text.length / 2)],
    ["edited", (text: string) => text.replace('"effects":["write"]', '"effects":["read"]')],
    ["of another form", () => '{"version":2}'],
    ["empty", () => ""],
  ])("is rebuilt and reported when it is %s", async (_name, damage) => {
    const folder = await makeFolder();
    service.offer(createTool("probe_w", "write"));
    const first = open(folder);
    await first.load();
    await first.close();
    const [name = ""] = await readdir(folder);
    await writeFile(join(folder, name), damage(await readFile(join(folder, name), "utf8")));
    const second = open(folder);
    await second.load();
    expect(second.peek("probe_w")?.effect).toBe("write");
    expect(events.filter((event) => event.type === "cache_rebuilt")).toHaveLength(1);
  });

  it("holding the list of one app does not pass for that of another, nor for all", async () => {
    const folder = await makeFolder();
    for (const app of ["drive", "notes", "mail"]) {
      const tools = [{ ...createTool(`${app}_list`, "read"), integration: app }];
      const body = { tools, count: 1, total: 1, truncated: false, integration: app };
      service.answer(`/api/tools?integration=${app}&limit=200`, { status: 200, body });
      service.offer(createTool(`${app}_list`, "read"));
    }
    const load = async (integrations?: readonly string[]) => {
      const before = service.seen.length;
      const catalog = open(folder);
      const { syncedAt } = await catalog.load(integrations === undefined ? {} : { integrations });
      await catalog.close();
      return { names: catalog.list().map(({ name }) => name), requests: service.seen.length - before, syncedAt };
    };
    const start = clock.now;
    expect(await load(["drive"])).toMatchObject({ names: ["drive_list"], requests: 1 });
    clock.now += HOUR;
    expect(await load(["notes"])).toEqual({ names: ["drive_list", "notes_list"], requests: 1, syncedAt: start });
    expect(await load(["notes", "drive"])).toMatchObject({ requests: 0 });
    expect(await load()).toMatchObject({ names: ["drive_list", "mail_list", "notes_list"], requests: 1 });
    expect(await load()).toMatchObject({ requests: 0 });
    expect(await load(["mail"])).toMatchObject({ requests: 0 });
  });

  it("holding descriptions only does not pass for a catalogue", async () => {
    const folder = await makeFolder();
    service.offer(createTool("probe_a", "read"));
    service.offer(createTool("probe_b", "read"));
    const first = open(folder);
    await first.find("probe_a");
    await first.close();
    expect(await open(folder).load()).toMatchObject({ tools: 2 });
  });
});

describe("suggest", () => {
  it("puts reads first and gives three at most", async () => {
    for (const name of ["delete", "get", "list", "patch", "update"]) {
      service.offer(createTool(`calendar_list_${name}`, name === "get" || name === "list" ? "read" : "write"));
    }
    service.offer(createTool("drive_search", "read"));
    const catalog = open();
    await catalog.sync();
    const names = catalog.suggest("calendar_list_listing").map((entry) => entry.name);
    expect(names).toHaveLength(3);
    expect(names.slice(0, 2).toSorted()).toEqual(["calendar_list_get", "calendar_list_list"]);
    expect(catalog.suggest("zzzz")).toEqual([]);
  });
});
