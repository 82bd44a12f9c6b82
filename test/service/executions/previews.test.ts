import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Integration } from "../../../src/service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { createShelf, type Shelf } from "./shelf-app.ts";

let shelf: Shelf;
let service: TestService;

beforeEach(async () => {
  shelf = createShelf();
  const integrations = [shelf.integration, createLab().integration];
  service = await startTestService({ integrations, providerTimeoutMs: 300 });
  for (const integration of ["shelf", "lab"])
    await service.service.connections.add({ integration, label: "Mine", settings: {} });
});
afterEach(() => service.close());

const FILL = { arguments: { with: "pears" } };
const fill = (more: object = {}) => execute(service, "shelf_fill", { ...FILL, ...more });

function post(path: string, body: object) {
  const headers = { "content-type": "application/json" };
  return call(service.url + path, { method: "POST", key: service.apiKey, headers, body: JSON.stringify(body) });
}
const preview = (body: object = FILL, tool = "shelf_fill") => post(`/api/tools/${tool}/preview`, body);

const SUMMARY = "Put pears into the box, in place of apples";

describe("the preview of a call", () => {
  test("says what it would do, and does nothing", async () => {
    const { status, json } = await preview();
    expect(status).toBe(200);
    expect(json.preview).toMatchObject({ summary: SUMMARY, objectCount: 1, undo: { possible: false } });
    expect(shelf.content).toBe("apples");
    expect((await preview()).json.preview.state).toBe(json.preview.state);
    shelf.content = "plums";
    expect((await preview()).json.preview.state).not.toBe(json.preview.state);
  });

  test("is announced by the description of the tool", async () => {
    const describe = async (tool: string) =>
      (await call(`${service.url}/api/tools/${tool}`, { key: service.apiKey })).json.tool.canonical.preview;
    expect(await describe("shelf_fill")).toBe(true);
    expect(await describe("lab_put")).toBeUndefined();
  });

  test("is refused like the call before anybody is asked", async () => {
    expect((await preview({ arguments: {} })).json.error.code).toBe("invalid_arguments");
    expect((await preview(FILL, "shelf_no")).json.error.code).toBe("tool_not_found");
    const none = await preview({ arguments: { title: "x" } }, "lab_put");
    expect([none.status, none.json.error.code]).toEqual([404, "preview_unavailable"]);
    shelf.content = undefined;
    expect((await preview()).json.error).toMatchObject({ code: "not_found", message: "There is no box." });
    expect((await call(`${service.url}/api/tools/shelf_fill/preview`, { method: "POST" })).status).toBe(401);
  });

  test("fails like a read where the present state cannot be read", async () => {
    shelf.look = "fails";
    expect((await preview()).status).toBe(503);
  });
});

describe("a call that nobody confirmed", () => {
  test("is answered with what it would do", async () => {
    const { status, json } = await fill();
    expect(status).toBe(412);
    expect(json.error).toMatchObject({ code: "confirmation_required", preview: { summary: SUMMARY } });
    expect(json.canonical.preview.summary).toBe(SUMMARY);
    const input = { integration_id: "shelf", action_id: "fill", input: FILL.arguments };
    const canonical = await post("/api/executions", input);
    expect([canonical.status, canonical.json.preview.summary]).toEqual([409, SUMMARY]);
  });

  test("is refused where it cannot work, and nobody is asked", async () => {
    shelf.content = undefined;
    const { status, json } = await fill();
    expect([status, json.error.code, json.error.preview]).toEqual([404, "not_found", undefined]);
  });

  test.each(["fails", "hangs"] as const)("is asked about all the same when the look %s", async (look) => {
    shelf.look = look;
    const { status, json } = await fill();
    expect([status, json.error.code]).toEqual([412, "confirmation_required"]);
    expect(json.error).toMatchObject({ preview_failed: true });
    expect(json.error.preview).toBeUndefined();
    expect((await fill({ confirmed: true })).json.ok).toBe(true);
  });
});

describe("a confirmation with the state that was shown", () => {
  test("counts while that is the state, and costs one look", async () => {
    const { state } = (await fill()).json.error.preview;
    expect((await fill({ confirmed: true, preview_state: state })).json.result).toEqual({ filled: "pears" });
    expect(shelf.looked).toBe(1);
  });

  test("runs nothing in another one, and brings the new preview", async () => {
    const { state } = (await preview()).json.preview;
    shelf.content = "plums";
    const { status, json } = await fill({ confirmed: true, preview_state: state });
    expect([status, json.error.code, json.error.reason]).toEqual([412, "confirmation_required", "state_changed"]);
    expect(json.error.preview.summary).toBe("Put pears into the box, in place of plums");
    expect(json.canonical).toMatchObject({ status: "blocked", execution_id: null, reason: "state_changed" });
    expect(shelf.content).toBe("plums");
    const again = await fill({ confirmed: true, preview_state: json.error.preview.state });
    expect(again.json.ok).toBe(true);
  });

  test("holds for what changes at the last moment", async () => {
    const { state } = (await preview()).json.preview;
    shelf.beforeRun = () => {
      shelf.content = "plums";
    };
    expect((await fill({ confirmed: true, preview_state: state })).status).toBe(412);
    expect(shelf.content).toBe("plums");
  });

  test("leaves the idempotency key free when nothing ran", async () => {
    const { state } = (await preview()).json.preview;
    shelf.content = "plums";
    const send = (preview_state: string) =>
      post("/api/executions", {
        integration_id: "shelf",
        action_id: "fill",
        input: FILL.arguments,
        confirm: true,
        preview_state,
        idempotency_key: "key-1",
      });
    const stale = await send(state);
    expect([stale.status, stale.json.reason]).toEqual([409, "state_changed"]);
    const done = await send(stale.json.preview.state);
    expect([done.status, done.json.status]).toEqual([200, "succeeded"]);
    expect((await send("other")).json.execution_id).toBe(done.json.execution_id);
  });

  test("is none where it is no text", async () => {
    expect((await fill({ confirmed: true, preview_state: 1 })).status).toBe(412);
    expect(shelf.content).toBe("apples");
  });
});

test("a key that may read nothing of an app is not told what is in it", async () => {
  const { integration } = shelf;
  const look = { ...integration.actions[0], id: "look", level: "read", requiresConfirmation: false } as const;
  const app = { ...integration, actions: [...integration.actions, look] };
  const own = await startTestService({ integrations: [app as Integration] });
  await own.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
  const full = await execute(own, "shelf_fill", FILL);
  expect(full.json.error.preview.summary).toBe(SUMMARY);
  const rules = await openRules(own);
  await rules.add({ effect: "block", tool: "shelf_look" }, "test");
  await rules.close();
  const told = await execute(own, "shelf_fill", FILL);
  expect([told.status, told.json.error.preview, told.json.canonical.preview]).toEqual([412, undefined, undefined]);
  const asked = await call(`${own.url}/api/tools/shelf_fill/preview`, {
    method: "POST",
    key: own.apiKey,
    body: JSON.stringify(FILL),
  });
  expect(asked.json.error.code).toBe("preview_unavailable");
  const guessed = await execute(own, "shelf_fill", { ...FILL, confirmed: true, preview_state: "guessed" });
  expect([guessed.status, guessed.json.error.preview]).toEqual([412, undefined]);
  await own.close();
});
