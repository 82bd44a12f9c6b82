import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { deliverMail } from "../flows/mailbox.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, post } from "../http-calls.ts";
import { changeLimits, without } from "./limits-page.ts";

let service: TestService;
beforeEach(async () => {
  service = await startTestService();
});
afterEach(() => service.close());

const send = (key: string, path: string, body: object = {}) =>
  call(`${service.url}${path}`, {
    method: "POST",
    key,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const get = async (key: string, path: string) => (await call(`${service.url}${path}`, { key })).json;
const start = (key: string, flowTemplate: string, input: object) =>
  send(key, "/api/flows/start", { flowTemplate, input });
const REMINDER = { text: "Water the plants", delaySeconds: 1, notionParent: "Reminders" };

test.each<[KeyScopes, string[]]>([
  [{ integrations: ["mail"] }, ["mail_unread_summary"]],
  [{ levels: ["read"] }, ["mail_unread_summary"]],
  [{ tools: ["notes_create_page", "notes/search"] }, ["notes_reminder"]],
  [{ tools: ["notes_create_page", "mail_search"] }, ["mail_unread_summary"]],
  [{ integrations: ["drive"] }, []],
])("a key with %j is offered and starts the flows whose tools it may all use: %j", async (scopes, keys) => {
  const key = await service.createKey("Limited", scopes);
  const { templates } = await get(key, "/api/flows/templates");
  expect(templates.map((template: { key: string }) => template.key).sort()).toEqual(keys);
  for (const [template, input] of [
    ["mail_unread_summary", {}],
    ["notes_reminder", REMINDER],
    ["mail_to_notes_tasks", { notionParent: "Tasks" }],
  ] as const) {
    const { status, text } = await start(key, template, input);
    expect([template, status]).toEqual([template, keys.includes(template) ? 200 : 400]);
    if (status === 400)
      for (const other of ["notes_reminder", "mail_unread_summary"]) {
        if (other !== template && !keys.includes(other)) expect(text).not.toContain(other);
      }
  }
});

test("every flow runs with a key for no more than the tools that its template names", async () => {
  await deliverMail(service.dataDir, [{ from: "anna@example.org", subject: "Trip", text: "Shall we?" }]);
  const runs = [
    [["mail_search"], "mail_unread_summary", {}],
    [["notes_search", "notes_create_page"], "notes_reminder", REMINDER],
    [["mail_search", "notes_search", "notes_create_page"], "mail_to_notes_tasks", { notionParent: "Tasks" }],
  ] as const;
  for (const [tools, template, input] of runs) {
    const key = await service.createKey("Limited", { tools: [...tools] });
    const { flowId, flow } = (await start(key, template, input)).json;
    if (flow.flow.status === "waiting") await send(key, `/api/flows/${flowId}/approve`);
    await expect.poll(async () => (await get(key, `/api/flows/${flowId}`)).flow.status).toBe("completed");
  }
});

test("a limited key knows no flows of others, and an unlimited one knows all", async () => {
  const limited = await service.createKey("Limited", { integrations: ["notes"] });
  const foreign = (await start(service.apiKey, "notes_reminder", REMINDER)).json.flowId;
  const own = (await start(limited, "notes_reminder", REMINDER)).json.flowId;
  expect((await get(limited, "/api/flows")).flows.map(({ id }: { id: string }) => id)).toEqual([own]);
  expect((await get(service.apiKey, "/api/flows")).flows).toHaveLength(2);
  expect(await get(limited, `/api/flows/${foreign}`)).toEqual({ error: "Flow not found." });
  for (const verb of ["approve", "resume", "cancel"]) {
    expect((await send(limited, `/api/flows/${foreign}/${verb}`)).status).toBe(404);
  }
  expect((await get(service.apiKey, `/api/flows/${foreign}`)).flow.status).toBe("waiting");
});

test("a step obeys the limits of its key as they are when it runs", async () => {
  const { sessionToken, pairUrl, verifier } = (
    await post(`${service.url}/api/plugin/pair/start`, { deviceLabel: "Laptop" })
  ).json;
  await service.decide(pairUrl);
  const { apiKey } = (await post(`${service.url}/api/plugin/pair/sessions/${sessionToken}/exchange`, { verifier }))
    .json;
  const { flowId } = (await start(apiKey, "notes_reminder", REMINDER)).json;
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  await changeLimits(browser, service, (fields) => without(fields, "level", "write"));
  const page = await browser.open(`${service.url}/flows/${flowId}`);
  const held = (name: string) => new RegExp(`name="${name}" value="([^"]+)"`).exec(page.text)?.[1] ?? "";
  const fields = { csrf: readCsrf(page), step: held("step"), seen: held("seen") };
  await browser.submit(`${service.url}/flows/${flowId}/approve`, fields);
  await expect.poll(async () => (await get(service.apiKey, `/api/flows/${flowId}`)).flow.status).toBe("failed");
  const { steps } = await get(service.apiKey, `/api/flows/${flowId}`);
  expect(steps.at(-1).error).toMatchObject({ code: "tool_not_found" });
  expect(await service.effects()).toEqual([]);
});
