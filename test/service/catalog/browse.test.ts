import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import {
  actionDetailSchema,
  actionListSchema,
  catalogSearchSchema,
  integrationPageSchema,
} from "../../../src/shared/wire/catalog.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call, type Reply } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { createIntegration } from "./read-large-catalogue.ts";

/** Many apps, the lab, and those of the service. */
const TOTAL = 130 + 1 + builtInIntegrations.length;

let service: TestService;

beforeAll(async () => {
  const many = Array.from({ length: 130 }, (_, index) => createIntegration(`app-${1000 + index}`, []));
  service = await startTestService({ integrations: [...many, createLab().integration, ...builtInIntegrations] });
  await service.service.connections.add({ integration: "lab", label: "A", settings: {} });
  const { id } = await service.service.connections.add({ integration: "app-1000", label: "B", settings: {} });
  await service.service.connections.update(id, { state: "reauth_required" });
});
afterAll(() => service.close());

const get = (path: string, key = service.apiKey): Promise<Reply> => call(`${service.url}${path}`, { key });
const ids = async (query: string) =>
  integrationPageSchema.parse((await get(`/api/integrations${query}`)).json).items.map((item) => item.integration_id);

describe("GET /api/integrations", () => {
  test("answers a page of items by slug", async () => {
    verifies("catalog.integrations.reply", "catalog.integration-item");
    const { status, json } = await get("/api/integrations?page_size=100&page=2");
    expect(status).toBe(200);
    expect(json).toMatchObject({ page: 2, page_size: 100, total: TOTAL });
    expect(json.items).toHaveLength(TOTAL - 100);
    expect(json.items.find((item: { integration_id: string }) => item.integration_id === "notes")).toEqual({
      integration_id: "notes",
      name: "Notes",
      category: "notes",
      summary: expect.stringContaining("Markdown"),
      connected: true,
      connection_state: "healthy",
      capabilities: ["create_page", "delete_page", "list_pages", "read_page", "search", "update_page"],
    });
  });

  test.each([
    ["", 1, 25],
    ["?page=0&page_size=0", 1, 1],
    ["?page=-4&page_size=5000", 1, 100],
    ["?page=two&page_size=", 1, 25],
    ["?page=1.9&page_size=1e1", 1, 10],
    ["?page=1e99", 1_000_000, 25],
  ])("reads paging %j", async (query, page, page_size) => {
    verifies("catalog.integrations.paging");
    const { json } = await get(`/api/integrations${query}`);
    expect(json).toMatchObject({ page, page_size, total: TOTAL });
    expect(json.items).toHaveLength(page === 1 ? page_size : 0);
  });

  test("pages do not overlap and leave nothing out", async () => {
    const pages = await Promise.all([1, 2, 3, 4].map((page) => ids(`?page_size=40&page=${page}`)));
    expect(new Set(pages.flat()).size).toBe(TOTAL);
    expect(pages.flat()).toEqual([...pages.flat()].sort());
  });

  test("filters by words, category, connection and action", async () => {
    verifies(
      "catalog.integrations.query",
      "catalog.integrations.category",
      "catalog.integrations.connected-only",
      "catalog.integrations.supports-action",
    );
    expect((await ids("?query=markdown%20notes"))[0]).toBe("notes");
    expect(await ids("?query=dri")).toContain("drive");
    expect(await ids("?query=submarine")).toEqual([]);
    expect(await ids("?category=MAIL")).toEqual(["mail"]);
    expect(await ids("?connected_only=true")).toEqual([
      "app-1000",
      "calendar",
      "contacts",
      "drive",
      "feeds",
      "lab",
      "mail",
      "notes",
    ]);
    expect((await ids("?connected_only=false")).length).toBe(25);
    expect(await ids("?supports_action=create_page")).toEqual(["notes"]);
    expect(await ids("?supports_action=drive_list_files&connected_only=1")).toEqual(["drive"]);
    expect(await ids("?supports_action=create_page&category=mail")).toEqual([]);
  });

  test("shows the state of the connection", async () => {
    const { json } = await get("/api/integrations?query=app-1000");
    expect(json.items[0]).toMatchObject({ connected: true, connection_state: "reauth_required" });
    expect((await get("/api/integrations?query=app-1001")).json.items[0]).toMatchObject({
      connected: false,
      connection_state: "not_connected",
    });
  });
});

describe("GET /api/actions", () => {
  test("answers all actions of an integration, ranked by an intent", async () => {
    verifies("catalog.actions.reply", "catalog.actions.item", "catalog.actions.intent");
    const plain = await get("/api/actions?integration_id=drive");
    expect(plain.status).toBe(200);
    const list = actionListSchema.parse(plain.json);
    expect(list.integration_id).toBe("drive");
    expect(list.items.map((item) => item.action_id)).toEqual([...list.items.map((item) => item.action_id)].sort());
    expect(list.items[0]).toEqual({
      action_id: "create_folder",
      title: expect.any(String),
      description: expect.any(String),
      side_effect_level: "write",
    });
    const ranked = actionListSchema.parse(
      (await get("/api/actions?integration_id=drive&intent=throw%20a%20file%20away")).json,
    );
    expect(ranked.items[0]?.action_id).toBe("delete_file");
    expect(ranked.items.map((item) => item.action_id).sort()).toEqual(list.items.map((item) => item.action_id));
  });

  test.each([
    ["/api/actions", 400, "validation_error", null],
    ["/api/actions?integration_id=%20", 400, "validation_error", null],
    ["/api/actions?integration_id=nowhere", 404, "integration_not_found", "nowhere"],
    ["/api/actions/nowhere/look", 404, "integration_not_found", "nowhere"],
    ["/api/actions/lab/dance", 404, "action_not_found", "lab"],
    ["/api/search", 400, "validation_error", null],
    ["/api/search?query=", 400, "validation_error", null],
  ])("%s answers a summary", async (path, status, error_code, integration_id) => {
    verifies("catalog.errors", "errors.canonical-summary");
    const reply = await get(path);
    expect([reply.status, reply.json]).toMatchObject([
      status,
      { status: "blocked", execution_id: null, integration_id, error_code, message: expect.any(String) },
    ]);
    expect(reply.json.display).toEqual({ title: expect.any(String), summary: reply.json.message });
  });
});

describe("GET /api/actions/{integration_id}/{action_id}", () => {
  test("answers everything needed to call it, with the schema that calls are checked against", async () => {
    verifies(
      "catalog.action.input-schema",
      "catalog.action.input-summary",
      "catalog.action.requires-confirmation",
      "catalog.action.side-effect-level",
      "catalog.action.examples",
      "catalog.action.preconditions",
    );
    for (const { slug, actions } of builtInIntegrations) {
      for (const action of actions) {
        const reply = await get(`/api/actions/${slug}/${action.id}`);
        expect(reply.status).toBe(200);
        const detail = actionDetailSchema.parse(reply.json);
        const required = Array.isArray(action.inputSchema.required) ? action.inputSchema.required : [];
        expect(detail).toMatchObject({
          action_id: action.id,
          title: action.title,
          description: action.description,
          side_effect_level: action.level,
          requires_confirmation: action.requiresConfirmation,
          examples: action.examples ?? [],
          preconditions: action.preconditions ?? [],
        });
        expect(detail.input_schema).toEqual(JSON.parse(JSON.stringify(action.inputSchema)));
        expect(detail.input_summary?.required).toEqual(expect.arrayContaining(required));
      }
    }
  });

  test.each(["/api/actions/Drive/drive_list_files", "/api/actions/drive/list-files"])(
    "%s is found too",
    async (path) => {
      expect((await get(path)).json.action_id).toBe("list_files");
    },
  );
});

describe("GET /api/search", () => {
  test("answers actions and integrations by relevance", async () => {
    verifies("catalog.search.reply", "catalog.search.item");
    const { status, json } = await get("/api/search?query=send%20an%20email");
    expect(status).toBe(200);
    catalogSearchSchema.parse(json);
    expect(json.items[0]).toEqual({
      kind: "action",
      integration_id: "mail",
      action_id: "send_message",
      title: expect.any(String),
      summary: expect.any(String),
      connected: true,
      connection_state: "healthy",
    });
    const notes = (await get("/api/search?query=notes")).json.items;
    expect(notes.find((item: { kind: string }) => item.kind === "integration")).toMatchObject({
      integration_id: "notes",
      action_id: null,
    });
    expect((await get("/api/search?query=submarine")).json).toEqual({ items: [] });
  });

  test("keeps to connected apps and to a limit on request", async () => {
    verifies("catalog.search.connected-only");
    const of = async (query: string) => (await get(`/api/search?query=app${query}`)).json.items;
    expect(await of("")).toHaveLength(25);
    expect(await of("&limit=500")).toHaveLength(100);
    const connected = await of("&connected_only=true&limit=100");
    expect(connected.every((item: { connected: boolean }) => item.connected)).toBe(true);
    expect(connected.map((item: { integration_id: string }) => item.integration_id)).toContain("app-1000");
  });
});

test("every catalog endpoint needs a key", async () => {
  verifies("catalog.requires-key", "auth.bare-401");
  for (const path of ["/api/integrations", "/api/actions", "/api/actions/lab/look", "/api/search?query=x"]) {
    const { status, json } = await get(path, "svc_live_wrong");
    expect([path, status, Object.keys(json)]).toEqual([path, 401, ["error"]]);
  }
});
