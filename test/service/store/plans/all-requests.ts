import { expect } from "vitest";
import { createExecutionLog } from "../../../../src/service/executions/execution-log.ts";
import { createOutbox } from "../../../../src/service/notify/outbox.ts";
import { readWebhookSecret, signWebhook } from "../../../../src/service/notify/standard-webhook.ts";
import type { Store } from "../../../../src/service/store/open-store.ts";
import { forgetEnded, forgetExpired } from "../../../../src/service/store/retention.ts";
import type { TestService } from "../../../../src/testing.ts";
import { pressOnPage } from "../../approvals/owner.ts";
import { type Browser, openBrowser, readCsrf } from "../../http/pages/browser.ts";
import { call, type Reply } from "../../http-calls.ts";

/** Tables that grow with the work of a service; nothing may look through one of them. */
export const GROWING = [
  "api_keys",
  "grants",
  "executions",
  "idempotency_keys",
  "approvals",
  "opened_approvals",
  "flows",
  "flow_steps",
  "flow_calls",
  "spent_ingest_tokens",
  "notes",
  "trigger_events",
  "trigger_marks",
];

const FLOW = { flowTemplate: "notes_reminder", input: { text: "Look", delaySeconds: 3600 } };
const PAGE = { title: "A", body: "b" };
const DAYS = 90;

/** Sends every kind of request that reads or writes what grows, as agents and the owner do, and keeps the store. */
export async function sendAll(service: TestService, store: Store): Promise<void> {
  const { url } = service;
  const held = await service.createKey("Held", { approvals: "owner" });
  const get = (path: string, key = service.apiKey) => check(call(`${url}${path}`, { key }), 200);
  const post = (path: string, body: unknown, { key = service.apiKey, status = 200 } = {}) => {
    const headers = { "content-type": "application/json" };
    return check(call(`${url}${path}`, { method: "POST", key, headers, body: JSON.stringify(body) }), status);
  };
  const create = (title: string, key?: string) =>
    post(
      "/api/executions",
      {
        integration_id: "notes",
        action_id: "create_page",
        input: { ...PAGE, title },
        confirm: true,
        idempotency_key: title,
      },
      key === undefined ? {} : { key, status: 409 },
    );

  for (const path of ["/api/tools", "/api/tools/search?query=page", "/api/tools/notes_create_page"]) await get(path);
  await post("/api/tools/notes_search/execute", { arguments: { query: "a" } });
  const { json: done } = await create("once");
  await get(`/api/executions/${done.execution_id}`);
  await get("/api/executions?idempotency_key=once");

  const asked = await post(
    "/api/tools/notes_create_page/execute",
    { arguments: PAGE, confirmed: true },
    { key: held, status: 412 },
  );
  await create("held", held);
  await get("/api/approvals", held);
  await get("/api/approvals?status=done", held);
  const approvalId = asked.json.error.approval.id;

  const flows = [await post("/api/flows/start", FLOW), await post("/api/flows/start", FLOW)];
  const [first, second] = flows.map(({ json }) => json.flowId);
  await get("/api/flows");
  await get(`/api/flows/${first}`);
  await post(`/api/flows/${first}/approve`, {});
  await post(`/api/flows/${first}/cancel`, {});

  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const look = (path: string) => check(browser.open(`${url}${path}`), 200);
  const pages = [
    "/",
    "/log",
    "/log?status=failed",
    "/log?tool=notes_search",
    "/log?connection=con_1",
    "/log?device=key_1",
  ];
  const dated = ["/log?from=2026-01-01&to=2026-01-02", "/log?before=2026-01-01T00:00:00.000Z~exe_1"];
  for (const path of [
    ...pages,
    ...dated,
    `/log?flow=${first}`,
    `/log/${done.execution_id}`,
    "/devices",
    "/flows",
    `/flows/${second}`,
  ]) {
    await look(path);
  }
  for (const path of ["/inbox", "/inbox?after=2099-01-01T00:00:00.000Z~apr_1", "/inbox/decided"]) await look(path);
  await check(
    pressOnPage(browser, `${url}/inbox/${approvalId}`, () => "approve"),
    303,
  );
  await get(`/api/approvals/${approvalId}?wait=20`, held);
  await look(`/inbox/${approvalId}`);
  const { json: connections } = await get("/api/tools/notes_create_page");
  await look(`/connections/${connections.tool.defaultConnectionId}`);
  await sendTriggers(service, browser);
  await keepUp(store);
}

/** Triggers that look, are sent a webhook, run, and are deleted. */
async function sendTriggers({ url }: TestService, browser: Browser): Promise<void> {
  const csrf = readCsrf(await browser.open(`${url}/triggers/new?kind=file&does=post`));
  const submit = (path: string, fields: Record<string, string> = {}) =>
    browser.submit(`${url}/triggers/${path}`, {
      csrf,
      name: "T",
      does: "flow/notes_reminder",
      "in.text": "x",
      "in.delaySeconds": "60",
      press: "p",
      ...fields,
    });
  const { headers } = await submit("new", { kind: "file" });
  const [id = ""] = /trg_\w+/.exec(String(headers.location)) ?? [];
  const { text } = await submit("new", { kind: "webhook" });
  const [hook = ""] = /trg_\w+/.exec(text) ?? [];
  const secret = readWebhookSecret(/whsec_[\w+/=]+/.exec(text)?.[0]) ?? Buffer.alloc(0);
  const signed = {
    "content-type": "application/json",
    ...signWebhook(secret, { id: "msg", now: Date.now(), body: "{}" }),
  };
  await check(call(`${url}/api/hooks/${hook}`, { method: "POST", headers: signed, body: "{}" }), 202);
  for (const path of ["/triggers", `/triggers/${id}`, `/triggers/${hook}`])
    await check(browser.open(`${url}${path}`), 200);
  for (const move of ["run", "pause", "resume", "delete"]) await check(submit(`${id}/${move}`), 303);
}

/** What the service does by itself, at times no test waits for. */
async function keepUp(store: Store): Promise<void> {
  const time = Date.now() - 1000;
  await forgetExpired(store, time);
  await forgetEnded({ store, time, days: DAYS, isStopping: () => false });
  const target = { key: "target" } as Parameters<ReturnType<typeof createOutbox>["claim"]>[0];
  const outbox = createOutbox({ store, targets: [target], nodeId: "node", now: Date.now });
  await store.transaction().execute((transaction) => outbox.add(transaction, "apr_1"));
  await outbox.claim(target);
  const log = createExecutionLog(store, Date.now);
  await log.listReads("con_1");
  await log.hasSucceeded("con_1");
}

async function check(answer: Promise<Reply>, status: number): Promise<Reply> {
  const reply = await answer;
  expect([reply.status, reply.status === status ? "" : reply.text]).toEqual([status, ""]);
  return reply;
}
