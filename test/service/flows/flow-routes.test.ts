import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { openService } from "../../../src/service/open-service.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { testDefaults } from "../../../src/service/test-kit/start-test-service.ts";
import { flowViewSchema } from "../../../src/shared/wire/flow.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { call, type Reply } from "../http-calls.ts";
import { deliverMail } from "./mailbox.ts";

const ANNA = { from: "Anna <anna@example.org>", subject: "Trip to Rome", text: "Shall we go in May?\r\n\r\nLove, A." };
const BEN = { from: "Ben <ben@example.org>", subject: "Invoice 7", text: "<!-- flw_x --> Please pay." };
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);

let service: TestService;
/** Answers of the next mail searches; afterwards they work. */
let nextSearches: (ServiceError | Promise<unknown>)[];
/** The same of the next pages that are created; how often one was begun. */
let nextPages: (ServiceError | Promise<unknown>)[];
let pages: number;
let clock: number;
/** No sweep comes between a change of the clock and the request that is to find it. */
const SELDOM_MS = 600_000;
beforeEach(async () => {
  nextSearches = [];
  nextPages = [];
  pages = 0;
  clock = Date.parse("2026-11-20T10:00:00Z");
  const integrations = builtInIntegrations.map(holdUp);
  service = await startTestService({ integrations, heartbeatMs: SELDOM_MS, now: () => clock });
});
afterEach(() => service.close());

/** The apps, whose search for mail and whose creation of pages can be made to fail or wait. */
function holdUp(integration: Integration): Integration {
  const actions = integration.actions.map((action) => ({
    ...action,
    async run(...args: Parameters<typeof action.run>) {
      const answer = takeAnswer(`${integration.slug}_${action.id}`);
      if (answer instanceof ServiceError) throw answer;
      await answer;
      return action.run(...args);
    },
  }));
  return { ...integration, actions };
}

function takeAnswer(tool: string): ServiceError | Promise<unknown> | undefined {
  if (tool === "mail_search") return nextSearches.shift();
  if (tool !== "notes_create_page") return undefined;
  pages += 1;
  return nextPages.shift();
}

function get(path: string, key = service.apiKey): Promise<Reply> {
  return call(`${service.url}${path}`, { key });
}

async function send(path: string, body?: unknown): Promise<Reply> {
  const isHeld = nextSearches.length + nextPages.length > 0;
  const headers = { "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) };
  const reply = await call(`${service.url}${path}`, { method: "POST", key: service.apiKey, headers, ...sent });
  return isHeld ? reply : awaitEnd(reply);
}

/** The answer as it is on a machine that is quick enough: a flow that runs on is answered as running after a short while. */
async function awaitEnd(reply: Reply): Promise<Reply> {
  const { json } = reply;
  const isStart = json?.flowId !== undefined;
  const id = json?.flowId ?? json?.flow?.id;
  const isRunning = (view: { flow?: { status: string } } | undefined) => view?.flow?.status === "running";
  if (id === undefined || !isRunning(isStart ? json.flow : json)) return reply;
  const read = async () => (await get(`/api/flows/${id}`)).json;
  await expect.poll(async () => isRunning(await read())).toBe(false);
  return { ...reply, json: isStart ? { ...json, flow: await read() } : await read() };
}

const start = (flowTemplate: string, input: unknown = {}, more = {}) =>
  send("/api/flows/start", { flowTemplate, input, ...more });
const sync = (input = {}) => start("mail_to_notes_tasks", { notionParent: "Tasks", ...input });
const bare = (status: number, error: unknown) => ({ status, json: { error } });

describe("access", () => {
  test("every endpoint needs a key", async () => {
    verifies("flows.requires-key");
    const paths = ["/api/flows", "/api/flows/templates", "/api/flows/flw_x"];
    const posts = ["/api/flows/start", ...["approve", "resume", "cancel"].map((verb) => `/api/flows/flw_x/${verb}`)];
    for (const path of paths) expect(await call(service.url + path)).toMatchObject(bare(401, expect.any(String)));
    for (const path of posts) {
      expect(await call(service.url + path, { method: "POST" })).toMatchObject(bare(401, expect.any(String)));
    }
  });

  test("an unknown flow and one of another account answer alike", async () => {
    verifies("flows.unknown", "flows.foreign");
    const { flowId } = (await sync()).json;
    const stranger = await issueForeignKey();
    const headers = { "x-svc-api-key": stranger };
    for (const id of ["flw_unknown", flowId]) {
      expect(await get(`/api/flows/${id}`, stranger)).toMatchObject(bare(404, "Flow not found."));
      for (const verb of ["approve", "resume", "cancel"]) {
        const path = `${service.url}/api/flows/${id}/${verb}`;
        expect(await call(path, { method: "POST", headers })).toMatchObject(bare(404, "Flow not found."));
      }
    }
    expect((await get("/api/flows", stranger)).json).toEqual({ flows: [] });
    expect((await get("/api/flows")).json.flows).toHaveLength(1);
  });
});

/** Serves the same folder anew, and returns a key of somebody who is not its owner. */
async function issueForeignKey(): Promise<string> {
  await service.service.close();
  const { dataDir } = service;
  const defaults = await testDefaults.forFolder?.(dataDir);
  const open = await openService({ ...defaults, dataDir, port: Number(new URL(service.url).port) });
  const close = () => open.close().then(() => rm(dataDir, { recursive: true, force: true }));
  service = { ...service, close };
  const { apiKey } = await open.keys.issue({ accountId: "acc_other", label: "Stranger", client: null });
  return apiKey;
}

describe("templates", () => {
  test("are key, name and description", async () => {
    verifies("flows.templates", "flow.template-fields", "flow.template-summary", "flow.template-sync");
    const { status, json } = await get("/api/flows/templates");
    expect(status).toBe(200);
    const text = expect.stringMatching(/./);
    expect(json).toEqual({
      templates: ["mail_unread_summary", "mail_to_notes_tasks", "notes_reminder"].map((key) => ({
        key,
        name: text,
        description: text,
        inputSchema: expect.objectContaining({ type: "object", additionalProperties: false }),
      })),
    });
    const { properties, required } = json.templates[1].inputSchema;
    expect(required).toEqual(["notionParent"]);
    expect(properties.maxResults).toMatchObject({ type: "integer", minimum: 1, maximum: 20, default: 5 });
    expect(Object.values(properties).every((field) => typeof (field as { title?: unknown }).title === "string")).toBe(
      true,
    );
  });

  test("only those whose apps are installed are offered", async () => {
    await service.close();
    service = await startTestService({ integrations: builtInIntegrations.filter(({ slug }) => slug === "notes") });
    const { json } = await get("/api/flows/templates");
    expect(json.templates.map(({ key }: { key: string }) => key)).toEqual(["notes_reminder"]);
    expect(await start("mail_unread_summary")).toMatchObject(bare(400, expect.stringContaining("notes_reminder")));
  });
});

describe("the summary of unread mail", () => {
  test("tells senders, subjects, dates and first lines", async () => {
    verifies("flows.start.reply", "flow.identity", "flow.view", "flow.step-fields", "flow.step-index");
    verifies(
      "flow.timestamps",
      "flow.attempt-count",
      "flow.input-and-context",
      "flows.get",
      "flow.transition.completed",
    );
    verifies("decision.flow.step-timestamps");
    await deliverMail(service.dataDir, [ANNA, BEN]);
    const { status, json } = await start("mail_unread_summary", { maxResults: 5 }, { triggerType: "agent" });
    expect(status).toBe(200);
    expect(Object.keys(json)).toEqual(["flowId", "flow", "templates"]);
    expect(json.templates).toEqual((await get("/api/flows/templates")).json.templates);
    expect(json.flow.flow).toEqual({
      id: json.flowId,
      name: "Summarise unread mail",
      templateKey: "mail_unread_summary",
      status: "completed",
      triggerType: "agent",
      input: { maxResults: 5 },
      context: { connections: { mail: expect.stringMatching(/^con_/) } },
      currentStep: "summarise",
      createdAt: TIME,
      updatedAt: TIME,
      completedAt: TIME,
      startedBy: "Test device",
    });
    const [fetched, summarised] = json.flow.steps;
    expect(fetched).toEqual({
      stepKey: "fetch_unread",
      stepIndex: 0,
      stepType: "tool_call",
      status: "completed",
      input: {
        toolName: "mail_search",
        connectionId: json.flow.flow.context.connections.mail,
        arguments: { query: "is:unread", limit: 5 },
      },
      output: expect.objectContaining({ messages: expect.any(Array) }),
      error: null,
      attemptCount: 1,
      startedAt: TIME,
      completedAt: TIME,
    });
    expect(summarised).toMatchObject({ stepKey: "summarise", stepIndex: 1, stepType: "transform" });
    const date = "2026-11-20T09:00:00.000Z";
    expect(summarised.output).toEqual({
      summary: "2 messages from 2 senders.",
      count: 2,
      more: false,
      senders: [
        { from: ANNA.from, count: 1 },
        { from: BEN.from, count: 1 },
      ],
      messages: [
        {
          messageId: expect.any(String),
          from: ANNA.from,
          subject: ANNA.subject,
          date,
          firstLine: "Shall we go in May? Love, A.",
        },
        { messageId: expect.any(String), from: BEN.from, subject: BEN.subject, date, firstLine: BEN.text },
      ],
    });
    const read = await get(`/api/flows/${json.flowId}`);
    expect(read).toMatchObject({ status: 200, json: json.flow });
    expect(flowViewSchema.safeParse(read.json).success).toBe(true);
  });

  test("has defaults for everything: input, trigger, query and number", async () => {
    verifies("flows.start.input-default", "flows.start.trigger-default", "flow.template-inputs");
    await deliverMail(service.dataDir, [ANNA]);
    const { json } = await send("/api/flows/start", { flowTemplate: "mail_unread_summary" });
    expect(json.flow.flow).toMatchObject({ input: {}, triggerType: "manual", status: "completed" });
    expect(json.flow.steps[0].input.arguments).toEqual({ query: "is:unread", limit: 5 });
  });

  test("uses the query and the mail connection that are named", async () => {
    verifies("flow.template-inputs");
    await deliverMail(service.dataDir, [ANNA, BEN]);
    const [first] = await service.service.connections.list("mail");
    const { json } = await start("mail_unread_summary", { query: "from:ben", mailConnectionId: first?.id });
    expect(json.flow.steps[1].output.summary).toBe("1 message from 1 sender.");
    expect(json.flow.flow.context.connections).toEqual({ mail: first?.id });
  });

  test.each(["agent", "manual", "webhook", "schedule"])("records the trigger %s", async (triggerType) => {
    verifies("flows.start.trigger-recorded", "flow.trigger-type");
    const { json } = await start("mail_unread_summary", {}, { triggerType });
    expect((await get(`/api/flows/${json.flowId}`)).json.flow.triggerType).toBe(triggerType);
  });
});

describe("start refuses", () => {
  test.each([
    ["no template", {}, "`flowTemplate` is required"],
    ["a template that is no text", { flowTemplate: 7 }, "`flowTemplate` is required"],
    ["an unknown template", { flowTemplate: "mail" }, 'no flow template "mail". Templates: mail_unread_summary'],
    ["input that is no object", { flowTemplate: "mail_unread_summary", input: [] }, "`input` must be an object"],
    [
      "an unknown trigger",
      { flowTemplate: "mail_unread_summary", triggerType: "cron" },
      "agent, manual, webhook, schedule",
    ],
  ])("%s", async (_what, body, message) => {
    verifies("flows.start.template-required", "decision.flow.bad-input");
    expect(await send("/api/flows/start", body)).toMatchObject(bare(400, expect.stringContaining(message)));
    expect((await get("/api/flows")).json.flows).toEqual([]);
  });

  test.each([
    ["mail_unread_summary", { maxResults: 0 }, "`input.maxResults` must be a whole number from 1 to 20."],
    ["mail_unread_summary", { maxResults: 21 }, "`input.maxResults` must be a whole number from 1 to 20."],
    ["mail_unread_summary", { maxResults: 2.5 }, "`input.maxResults` must be a whole number from 1 to 20."],
    ["mail_unread_summary", { maxResults: "5" }, "`input.maxResults` must be a whole number from 1 to 20."],
    ["mail_unread_summary", { query: 7 }, "`input.query` must be a mail search"],
    ["mail_unread_summary", { max: 7 }, "`input.max` is not an input of this template; it takes: query, maxResults"],
    ["mail_unread_summary", { mailConnectionId: "con_x" }, "`input.mailConnectionId` names no connection of mail"],
    ["mail_to_notes_tasks", {}, "`input.notionParent` must name where pages are created"],
    ["mail_to_notes_tasks", { notionParent: "" }, "`input.notionParent` must name where pages are created"],
    ["mail_to_notes_tasks", { notionParent: "../x" }, '`input.notionParent` must not contain ".."'],
    ["notes_reminder", { delaySeconds: 5 }, "`input.text` is required"],
    ["notes_reminder", { text: "x" }, "`input.delaySeconds` is required, unless `input.at` is given."],
    ["notes_reminder", { text: "x", delaySeconds: 5, at: "2027-01-01T00:00:00Z" }, "`input.at` cannot be combined"],
    ["notes_reminder", { text: "x", at: "tomorrow" }, "`input.at` must be a time"],
    ["notes_reminder", { text: "x", at: "2026-11-20T09:59:59Z" }, "`input.at` must be a time that is still to come"],
    ["notes_reminder", { text: "x", at: "2031-01-01T00:00:00Z" }, "`input.at` must not be more than a year away"],
  ])("%s with %j", async (template, input, message) => {
    verifies("decision.flow.bad-input", "flow.template-parent", "limits.max-results");
    expect(await start(template, input)).toMatchObject(bare(400, expect.stringContaining(message)));
  });

  test("a body that is no JSON object", async () => {
    for (const body of ["{", "[]", '"x"']) {
      expect(await send("/api/flows/start", body)).toMatchObject(bare(400, expect.stringContaining("JSON")));
    }
    expect(await send(`/api/flows/${(await sync()).json.flowId}/approve`, { stepKey: 7 })).toMatchObject(
      bare(400, expect.stringContaining("`stepKey` must be a string")),
    );
  });
});

describe("task pages from unread mail", () => {
  test("are created after an approval that shows them", async () => {
    verifies("flow.template-sync", "flow.template-parent", "flow.step-types", "flow.status", "flow.current-step");
    verifies("flow.transition.running-waiting", "flow.transition.approve", "flows.approve", "flows.approve-step-key");
    await deliverMail(service.dataDir, [ANNA, BEN]);
    const { json } = await sync();
    expect(json.flow.flow).toMatchObject({
      status: "waiting",
      currentStep: "approve_task_creation",
      completedAt: null,
    });
    expect(json.flow.steps.map((step: { stepType: string }) => step.stepType)).toEqual([
      "tool_call",
      "transform",
      "approval",
      "tool_call",
    ]);
    const shown = json.flow.steps[2].output;
    expect(shown).toMatchObject({ message: 'Approve to create 2 task pages in "Tasks".', approved: false });
    expect(shown.pages.map(({ title }: { title: string }) => title)).toEqual([ANNA.subject, BEN.subject]);
    expect(shown.pages[1].body).toContain("> < !-- flw_x --> Please pay.");
    await expect(readdir(join(service.dataDir, "notes"))).resolves.not.toContain("Tasks");

    const done = await send(`/api/flows/${json.flowId}/approve`);
    expect(done).toMatchObject({ status: 200, json: { flow: { status: "completed", completedAt: TIME } } });
    expect(done.json.steps[2].output).toMatchObject({
      approved: true,
      approvedAt: TIME,
      approvedBy: expect.stringMatching(/^API key key_/),
    });
    expect(done.json.steps[3].output).toMatchObject({ created: 2, total: 2 });
    const page = await readFile(join(service.dataDir, "notes", "Tasks", "Trip to Rome.md"), "utf8");
    expect(page).toContain("- [ ] Trip to Rome");
    expect(page).toContain("> Shall we go in May? Love, A.");
    expect((await service.effects()).map(({ toolName, status }) => [toolName, status])).toEqual([
      ["notes_create_page", "succeeded"],
      ["notes_create_page", "succeeded"],
    ]);
  });

  test("a parent may be a page, also as an object", async () => {
    await deliverMail(service.dataDir, [ANNA]);
    const { flowId } = (await sync({ notionParent: { page_id: "Projects/House.md" } })).json;
    await send(`/api/flows/${flowId}/approve`, { stepKey: "approve_task_creation" });
    expect(await readdir(join(service.dataDir, "notes", "Projects", "House"))).toEqual(["Trip to Rome.md"]);
  });

  test("without mail there is nothing to approve", async () => {
    verifies("decision.flow.step-statuses");
    const { json } = await sync();
    expect(json.flow.flow.status).toBe("completed");
    expect(json.flow.steps.map((step: { status: string }) => step.status)).toEqual([
      "completed",
      "completed",
      "skipped",
      "skipped",
    ]);
  });
});

describe("a reminder", () => {
  test("waits for its approval and its time, then leaves a note", async () => {
    verifies("flow.step-types", "flow.transition.running-waiting", "flow.transition.resume-waiting", "flows.resume");
    const { json } = await start("notes_reminder", { text: "Call the plumber", delaySeconds: 3600 });
    expect(json.flow.steps[0].output).toMatchObject({
      message: 'Approve to leave a reminder in "Reminders" 1 hour after your approval.',
      text: "Call the plumber",
    });
    // Somebody looks at it two hours later.
    clock += 7_200_000;
    const waiting = await send(`/api/flows/${json.flowId}/approve`, {});
    expect(waiting.json.flow).toMatchObject({ status: "waiting", currentStep: "wait_until_due" });
    const early = await send(`/api/flows/${json.flowId}/resume`);
    expect(early).toMatchObject(bare(409, expect.stringContaining("until 2026-11-20T13:00:00.000Z")));
    clock += 3_600_000;
    const done = await send(`/api/flows/${json.flowId}/resume`);
    expect(done).toMatchObject({ status: 200, json: { flow: { status: "completed" } } });
    expect(await readdir(join(service.dataDir, "notes", "Reminders"))).toEqual(["Reminder Call the plumber.md"]);
  });

  test("whose time is past when it is approved is left at once", async () => {
    const { flowId } = (await start("notes_reminder", { text: "x", at: "2026-11-20T12:00:01+02:00" })).json;
    clock += 1000;
    expect((await send(`/api/flows/${flowId}/approve`, {})).json.flow.status).toBe("completed");
  });
});

describe("a running flow", () => {
  test("is answered as running after a short while, with its first step", async () => {
    verifies("flow.transition.start", "flow.transition.pending-running", "flow.status", "flows.get");
    const hold = Promise.withResolvers<void>();
    nextSearches.push(hold.promise);
    const { json } = await start("mail_unread_summary");
    expect(json.flow.flow).toMatchObject({ status: "running", currentStep: "fetch_unread", completedAt: null });
    expect(json.flow.steps.map(({ status }: { status: string }) => status)).toEqual(["running", "pending"]);
    expect(json.flow.steps[0]).toMatchObject({ attemptCount: 1, startedAt: TIME, completedAt: null });
    for (const verb of ["approve", "resume"]) {
      const refused = await send(`/api/flows/${json.flowId}/${verb}`, {});
      expect(refused).toMatchObject(bare(409, expect.stringContaining("The flow is running.")));
    }
    hold.resolve();
    const isDone = async () => (await get(`/api/flows/${json.flowId}`)).json.flow.status === "completed";
    await expect.poll(isDone).toBe(true);
  });

  test("can be cancelled", async () => {
    verifies("flow.transition.cancel", "flows.cancel");
    const hold = Promise.withResolvers<void>();
    nextSearches.push(hold.promise);
    const { flowId } = (await start("mail_unread_summary")).json;
    const { status, json } = await send(`/api/flows/${flowId}/cancel`);
    hold.resolve();
    expect(status).toBe(200);
    expect(json.flow).toMatchObject({ status: "cancelled", completedAt: null });
    expect(json.steps.map((step: { status: string }) => step.status)).toEqual(["skipped", "skipped"]);
  });
});

describe("a failed flow", () => {
  test("says at which step and why, and is tried again on resume", async () => {
    verifies("flow.transition.failed", "flow.transition.resume-failed", "flow.attempt-count", "flows.resume");
    nextSearches.push(
      new ServiceError(503, "provider_unavailable", "The mailbox is closed.", { type: "network", retryable: true }),
    );
    const { json } = await start("mail_unread_summary");
    expect(json.flow.flow).toMatchObject({ status: "failed", currentStep: "fetch_unread", completedAt: null });
    expect(json.flow.steps[0]).toMatchObject({
      status: "failed",
      output: null,
      error: {
        code: "provider_unavailable",
        type: "network",
        message: "The mailbox is closed.",
        retryable: true,
        executionId: expect.stringMatching(/^exe_/),
      },
      attemptCount: 1,
    });
    const resumed = await send(`/api/flows/${json.flowId}/resume`);
    expect(resumed).toMatchObject({ status: 200, json: { flow: { status: "completed" } } });
    expect(resumed.json.steps[0]).toMatchObject({ status: "completed", error: null, attemptCount: 2 });
  });

  test("for want of a connection goes on when the app is connected", async () => {
    const [mail] = await service.service.connections.list("mail");
    await service.service.connections.remove(mail?.id ?? "");
    const { json } = await start("mail_unread_summary");
    expect(json.flow.steps[0].error).toMatchObject({ code: "needs_connection", hint: expect.stringMatching(/./) });
    await service.service.connections.add({ integration: "mail", label: "New", settings: mail?.settings ?? {} });
    expect((await send(`/api/flows/${json.flowId}/resume`)).json.flow.status).toBe("completed");
  });
});

describe("conflicts", () => {
  test("answer 409 with what the flow is doing", async () => {
    verifies("decision.flow.conflicts", "flow.transition.cancel");
    await deliverMail(service.dataDir, [ANNA]);
    const { flowId } = (await sync()).json;
    const wrong = await send(`/api/flows/${flowId}/approve`, { stepKey: "create_pages" });
    expect(wrong).toMatchObject(bare(409, expect.stringContaining('"approve_task_creation" does')));
    expect(await send(`/api/flows/${flowId}/resume`)).toMatchObject(
      bare(409, expect.stringContaining('waits for an approval of "approve_task_creation"')),
    );
    expect((await send(`/api/flows/${flowId}/cancel`)).json.flow.status).toBe("cancelled");
    for (const verb of ["approve", "resume", "cancel"]) {
      expect(await send(`/api/flows/${flowId}/${verb}`)).toMatchObject(
        bare(409, expect.stringContaining("The flow is cancelled.")),
      );
    }
    const done = (await start("mail_unread_summary")).json.flowId;
    for (const verb of ["approve", "resume", "cancel"]) {
      expect(await send(`/api/flows/${done}/${verb}`)).toMatchObject(
        bare(409, expect.stringContaining("The flow is completed.")),
      );
    }
  });

  test("of two approvals at one time one is answered 409, and pages are created once", async () => {
    verifies("decision.flow.conflicts");
    await deliverMail(service.dataDir, [ANNA]);
    const { flowId } = (await sync()).json;
    const both = await Promise.all([1, 2].map(() => send(`/api/flows/${flowId}/approve`, {})));
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    await expect.poll(async () => (await get(`/api/flows/${flowId}`)).json.flow.status).toBe("completed");
    expect(await readdir(join(service.dataDir, "notes", "Tasks"))).toEqual(["Trip to Rome.md"]);
  });

  test("of many who resume at one time one is answered 200, and the write is made again once", async () => {
    await deliverMail(service.dataDir, [ANNA]);
    const { flowId } = (await sync()).json;
    nextPages.push(new ServiceError(500, "outcome_unknown", "Nobody knows.", { type: "unknown" }));
    expect((await send(`/api/flows/${flowId}/approve`, {})).json.flow.status).toBe("failed");
    const hold = Promise.withResolvers<void>();
    nextPages.push(hold.promise);
    const sent = Array.from({ length: 8 }, () => send(`/api/flows/${flowId}/resume`));
    let refused = 0;
    for (const one of sent) void one.then(({ status }) => (refused += status === 409 ? 1 : 0));
    await expect.poll(() => refused).toBe(7);
    hold.resolve();
    expect((await Promise.all(sent)).map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(409)]);
    await expect.poll(async () => (await get(`/api/flows/${flowId}`)).json.flow.status).toBe("completed");
    expect(pages).toBe(2);
    expect((await get(`/api/flows/${flowId}`)).json.steps[3].attemptCount).toBe(2);
  });

  test("approval may be kept for the dashboard", async () => {
    await service.close();
    service = await startTestService({ flowApprovals: "dashboard" });
    await deliverMail(service.dataDir, [ANNA]);
    const { flowId } = (await sync()).json;
    expect(await send(`/api/flows/${flowId}/approve`, {})).toMatchObject(
      bare(409, expect.stringContaining(`${service.url}/flows/${flowId}`)),
    );
    expect((await get(`/api/flows/${flowId}`)).json.flow.status).toBe("waiting");
    expect(await send("/api/flows/flw_x/approve", {})).toMatchObject(bare(404, "Flow not found."));
  });
});

describe("the list", () => {
  test("has the flow that changed last first, 30 by default and 100 at most", async () => {
    verifies("flows.list", "flows.list-limit", "limits.flows-page", "decision.flows-limit-clamped");
    await deliverMail(service.dataDir, [ANNA]);
    const first = (await sync()).json.flowId;
    for (let index = 0; index < 104; index++) {
      clock += 1000;
      await start("mail_unread_summary", { query: "subject:nothing" });
    }
    const list = async (query = "") => (await get(`/api/flows${query}`)).json.flows as { id: string }[];
    expect(await list()).toHaveLength(30);
    for (const [query, length] of [
      ["?limit=7", 7],
      ["?limit=0", 1],
      ["?limit=-3", 1],
      ["?limit=100", 100],
      ["?limit=101", 100],
      ["?limit=x", 30],
      ["?limit=", 30],
    ] as const) {
      expect(await list(query), query).toHaveLength(length);
    }
    expect((await list("?limit=100")).map(({ id }) => id)).not.toContain(first);
    clock += 1000;
    await send(`/api/flows/${first}/cancel`);
    const [newest] = await list("?limit=1");
    expect(newest).toEqual((await get(`/api/flows/${first}`)).json.flow);
  }, 60_000);
});
