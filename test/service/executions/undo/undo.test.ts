import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { invite, openBrowser, readCsrf } from "../../http/pages/browser.ts";
import { call, execute } from "../../http-calls.ts";
import { type Box, createBox } from "./box-app.ts";

let box: Box;
let service: TestService;
let at: number;

const start = async (o: object = {}) => {
  service = await startTestService({ integrations: [box.integration], now: () => at, ...o });
  await service.service.connections.add({ integration: "box", label: "Mine", settings: {} });
};

beforeEach(async () => {
  box = createBox();
  at = Date.now();
  await start();
});
afterEach(() => service.close());

const fill = (what = "pears") => execute(service, "box_fill", { arguments: { with: what }, confirmed: true });

function post(path: string, body: object = {}) {
  const headers = { "content-type": "application/json" };
  return call(service.url + path, { method: "POST", key: service.apiKey, headers, body: JSON.stringify(body) });
}
const undo = (id: string, body: object = {}) => post(`/api/executions/${id}/undo`, body);
const find = (id: string) => call(`${service.url}/api/executions/${id}`, { key: service.apiKey });

describe("a write that can be undone", () => {
  test("says so in its preview and in its answer, with the call that takes it back", async () => {
    const asked = await execute(service, "box_fill", { arguments: { with: "pears" } });
    const until = new Date(at + 30 * 86_400_000).toISOString();
    expect(asked.json.error.preview.undo).toEqual({ possible: true, until });
    const { canonical } = (await fill()).json;
    const input = { execution_id: canonical.execution_id };
    const offered = { tool_name: "box_undo", input, until };
    expect(canonical.undo).toMatchObject(offered);
    expect((await find(canonical.execution_id)).json.undo).toMatchObject(offered);
  });

  test("is taken back once a human has seen what that does", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const { status, json } = await undo(id);
    expect([status, json.error.code]).toEqual([412, "confirmation_required"]);
    const { summary, state } = json.error.preview;
    expect(summary).toBe("Put apples back into the box");
    const done = await undo(id, { confirmed: true, preview_state: state });
    expect([done.status, done.json.result]).toEqual([200, { undone: id, content: "apples" }]);
    expect(box.content).toBe("apples");
    expect(done.json.canonical.undo).toBeUndefined();
    const twice = await undo(id, { confirmed: true });
    expect([twice.status, twice.json.error.code]).toEqual([409, "undo_unavailable"]);
    expect(twice.json.error.message).toContain("it was undone before");
  });

  test("is undone by its tool like any other call, which no list shows", async () => {
    const { execution_id } = (await fill()).json.canonical;
    const list = await call(`${service.url}/api/tools?limit=100`, { key: service.apiKey });
    expect(JSON.stringify(list.json)).not.toContain("box_undo");
    const described = await call(`${service.url}/api/tools/box_undo`, { key: service.apiKey });
    expect(described.json.tool.name).toBe("box_undo");
    const canonical = { integration_id: "box", action_id: "undo", input: { execution_id }, confirm: true };
    expect((await post("/api/executions", canonical)).json.output).toEqual({ undone: execution_id, content: "apples" });
  });

  test("is refused where somebody changed it since, before anybody is asked", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    box.content = "plums";
    const { status, json } = await undo(id);
    expect([status, json.error.message]).toEqual([409, "This cannot be undone: the box was filled by somebody else."]);
    expect(box.content).toBe("plums");
  });

  test("is refused where it is changed between the card and the run", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const { state } = (await undo(id)).json.error.preview;
    box.beforeAct = () => {
      box.content = "plums";
    };
    expect((await undo(id, { confirmed: true, preview_state: state })).json.ok).toBe(false);
    expect(box.content).toBe("plums");
  });

  test("is undone with the account it was made with, whatever account is the default by then", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    await service.service.connections.add({ integration: "box", label: "Other", settings: {} });
    const [mine, other] = await service.service.connections.list("box");
    const { json } = await undo(id);
    expect(json.connectionId).toBe(mine?.id);
    const wrong = { arguments: { execution_id: id }, connectionId: other?.id };
    const refused = await execute(service, "box_undo", wrong);
    expect([refused.status, refused.json.error.message]).toEqual([400, "That change was made with another account."]);
    expect((await undo(id, { confirmed: true })).json.ok).toBe(true);
  });

  test("is forgotten after thirty days", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    at += 30 * 86_400_000 + 1;
    expect((await undo(id)).json.error.message).toContain("it is too long ago");
  });
});

describe("what cannot be undone", () => {
  test("is everything where the service keeps nothing, which a card says", async () => {
    await service.close();
    await start({ undoMegabytes: 0 });
    const asked = await execute(service, "box_fill", { arguments: { with: "pears" } });
    expect(asked.json.error.preview.undo).toEqual({ possible: false, why: "This service keeps nothing for it." });
    const { canonical } = (await fill()).json;
    expect(canonical.undo).toBeUndefined();
    expect((await undo(canonical.execution_id)).json.error.code).toBe("undo_unavailable");
  });

  test("says why", async () => {
    const read = (await execute(service, "box_look", { arguments: {} })).json.canonical.execution_id;
    expect((await undo(read)).json.error.message).toContain("it changed nothing");
    expect((await undo("exe_abcdefghjkmn")).status).toBe(404);
    const unknown = await execute(service, "box_undo", { arguments: { execution_id: "exe_abcdefghjkmn" } });
    expect([unknown.status, unknown.json.error.code]).toEqual([404, "not_found"]);
  });

  test("a key that sees its own calls alone cannot undo those of others", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const limited = await service.createKey("Limited", { integrations: ["box"] });
    const refused = await execute({ ...service, apiKey: limited }, "box_undo", { arguments: { execution_id: id } });
    expect([refused.status, refused.json.error.code]).toEqual([404, "not_found"]);
    const [mine] = await service.service.connections.list("box");
    const named = { arguments: { execution_id: id }, connectionId: mine?.id, confirmed: true };
    expect((await execute({ ...service, apiKey: limited }, "box_undo", named)).status).toBe(404);
    expect(box.content).toBe("pears");
  });
});

describe("the owner", () => {
  test("undoes a change from its page in the log, after seeing what that does", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    expect((await browser.open(`${service.url}/log/${id}`)).text).toContain("Undo this change");
    const page = await browser.open(`${service.url}/log/${id}/undo`);
    expect(page.text).toContain("Put apples back into the box");
    const state = /name="state" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const sent = await browser.submit(`${service.url}/log/${id}/undo`, [
      ["csrf", readCsrf(page)],
      ["state", state],
    ]);
    expect(sent.status).toBe(303);
    const undone = await browser.open(new URL(String(sent.headers.location), service.url).href);
    expect(undone.text).toContain(", in the log");
    expect(box.content).toBe("apples");
    expect((await browser.open(`${service.url}/log/${id}`)).text).not.toContain("Undo this change");
  });

  test("is asked again where it was changed since the page was shown", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const page = await browser.open(`${service.url}/log/${id}/undo`);
    const fields: [string, string][] = [
      ["csrf", readCsrf(page)],
      ["state", "another"],
    ];
    const sent = await browser.submit(`${service.url}/log/${id}/undo`, fields);
    expect(sent.text).toContain("It was changed since this page was shown.");
    expect(box.content).toBe("pears");
  });

  test("alone may undo: an approver is shown no button, and refused", async () => {
    const { execution_id: id } = (await fill()).json.canonical;
    const [owner, approver] = [openBrowser(), openBrowser()];
    await owner.open(await service.service.signInUrl());
    await approver.open(await invite(owner, service.url, "Anna"));
    expect((await approver.open(`${service.url}/log/${id}`)).text).not.toContain("Undo this change");
    expect((await approver.open(`${service.url}/log/${id}/undo`)).status).toBe(403);
  });
});
