import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalCard } from "../../../../src/plugin/calls/ask/card.ts";
import type { ApprovalDecision, ApprovalRequest } from "../../../../src/plugin/calls/ask/request.ts";
import { type CallJournal, type Journal, openJournal } from "../../../../src/plugin/calls/journal/journal.ts";
import type { BeginTerms, JournalRecord } from "../../../../src/plugin/calls/journal/journal-record.ts";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import { createToolSession } from "../../../../src/plugin/calls/session.ts";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import type { FlowToolName, StaticCall } from "../../../../src/plugin/calls/static-tools.ts";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startLossyProxy } from "../lossy-proxy.ts";
import { closeAll, closeLater, makeFolder, sayNo, sayYes } from "../open-test-session.ts";
import { startScriptedService } from "../scripted-service.ts";

/** The flow tools against the real service. */

type FlowCall = StaticCall;
type FlowOutcome = ToolOutcome;
type FlowProgress = Extract<SessionEvent, { type: "flow_progress" }>;

let service: TestService;
let asked: ApprovalRequest[];
let events: FlowProgress[];
let answer: (request: ApprovalRequest) => ApprovalDecision;

beforeEach(async () => {
  service = closeLater(await startTestService());
  asked = [];
  events = [];
  answer = sayYes;
});
afterEach(closeAll);

type Run = (name: FlowToolName, args: unknown, call?: Partial<FlowCall>) => Promise<FlowOutcome>;

async function open(url = service.url, stateDir?: string): Promise<Run> {
  const client = closeLater(new SvcClient({ baseUrl: url, apiKey: service.apiKey }));
  const session = await createToolSession({
    client,
    stateDir,
    approve: async (request) => {
      asked.push(request);
      return answer(request);
    },
    approvalTtlMs: 60_000,
    onEvent: (event) => event.type === "flow_progress" && events.push(event),
  });
  closeLater(session);
  let calls = 0;
  return async (name, args, call = {}) => {
    const tool = session.flowTools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`No tool ${name}`);
    return tool.run(args, { callId: `call_${++calls}`, ...call });
  };
}

const REMINDER = { template: "notes_reminder", input: { text: "Water the plants", delaySeconds: 1 } };
const idOf = (outcome: FlowOutcome) => (outcome.result as { flow_id: string }).flow_id;
const statusOf = (outcome: FlowOutcome) => (outcome.result as { status: string }).status;
const pages = async () => readdir(join(service.dataDir, "notes", "Reminders")).catch(() => []);

describe("a flow from the first word to the last", () => {
  it("is found, started, shown, approved and done", async () => {
    const run = await open();
    const listed = await run("svc_list_flow_templates", {});
    const { templates } = listed.result as { templates: { key: string; inputs: unknown }[] };
    const inputs = { required: ["text"], properties: { delaySeconds: { type: "integer" } } };
    expect(templates.find(({ key }) => key === "notes_reminder")).toMatchObject({ inputs });
    const started = await run("svc_start_flow", REMINDER);
    expect(started).toMatchObject({
      status: "succeeded",
      result: { status: "waiting", current_step: "approve_reminder" },
    });
    expect(started.hint).toContain("svc_approve_flow");
    expect(asked[0]).toMatchObject({ tool: "svc_start_flow", arguments: REMINDER, effect: "write" });
    expect(await pages()).toEqual([]);
    const done = await run("svc_approve_flow", { flow_id: idOf(started), wait_seconds: 15 });
    expect(done).toMatchObject({ status: "succeeded", result: { status: "completed" } });
    expect(asked[1]).toMatchObject({
      tool: "svc_approve_flow",
      arguments: {
        step: "approve_reminder",
        about_to_do: { text: "Water the plants" },
        after_that: ["wait_until_due (wait)", "create_reminder (tool_call)"],
      },
    });
    expect(asked[1]?.description).toContain("leave a reminder");
    const would = 'Create the page "Reminder: Water the plants" in "Local notes" (3 lines)';
    expect(asked[1]?.previews?.map(({ preview }) => preview?.summary)).toEqual([would]);
    expect(started.result).toMatchObject({ would_do: [would] });
    const [, first, ...lines] = createApprovalCard(asked[1] as ApprovalRequest);
    expect(first).toBe('Call 1    │ Create the page "Reminder: Water the plants" in "Local notes" (3 ');
    expect(lines).toContain('Besides   │ New folder: "Reminders".');
    expect(createApprovalCard(asked[0] as ApprovalRequest).join("\n")).not.toMatch(/account|connection/i);
    expect(await pages()).toHaveLength(1);
    expect(events.map(({ status }) => status)).toContain("completed");
    expect(new Set(events.map(({ step }) => step)).size).toBeGreaterThan(1);
    expect(await run("svc_get_flow", {})).toMatchObject({
      result: { flows: [{ flow_id: idOf(started), status: "completed" }] },
    });
  });

  it("stays where it is when the human declines, and can be cancelled", async () => {
    const run = await open();
    const id = idOf(await run("svc_start_flow", REMINDER));
    answer = sayNo;
    expect(await run("svc_approve_flow", { flow_id: id })).toMatchObject({ status: "declined", code: "declined" });
    expect(statusOf(await run("svc_get_flow", { flow_id: id, wait_seconds: 0 }))).toBe("waiting");
    expect(await run("svc_cancel_flow", { flow_id: id })).toMatchObject({ result: { status: "cancelled" } });
    expect(await run("svc_approve_flow", { flow_id: id })).toMatchObject({ code: "nothing_to_approve" });
    expect(asked).toHaveLength(2);
    expect(await pages()).toEqual([]);
  });

  it("is not started when the human declines, or when nobody can be asked", async () => {
    const run = await open();
    answer = sayNo;
    expect((await run("svc_start_flow", REMINDER)).status).toBe("declined");
    const nobody = { approve: () => Promise.reject(new Error("no terminal")) };
    expect(await run("svc_start_flow", REMINDER, nobody)).toMatchObject({
      status: "needs_approval",
      code: "approval_failed",
    });
    expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
  });

  it.each([
    ["svc_start_flow", { template: "nope" }, "template_not_found"],
    ["svc_start_flow", {}, "invalid_arguments"],
    ["svc_get_flow", { flow_id: "nope" }, "flow_not_found"],
    ["svc_cancel_flow", { flow_id: "nope" }, "flow_not_found"],
    ["svc_approve_flow", { flow_id: "nope" }, "flow_not_found"],
    ["svc_start_flow", { template: "notes_reminder", input: { text: "" } }, "invalid_arguments"],
  ] as const)("%s %j ends as %s", async (name, args, code) => {
    const run = await open();
    expect(await run(name, args)).toMatchObject({ status: "failed", code, retryable: false });
  });
});

describe("an approval", () => {
  it("names the account that the flow uses then, as its starter may have chosen another than the default", async () => {
    const { connections } = service.service;
    const blog = await connections.add({
      integration: "notes",
      label: "PUBLIC BLOG",
      settings: { folder: await makeFolder() },
    });
    const run = await open();
    const input = { text: "Pay", delaySeconds: 3600, notesConnectionId: blog.id };
    const started = await run("svc_start_flow", { template: "notes_reminder", input });
    answer = sayNo;
    await run("svc_approve_flow", { flow_id: idOf(started) });
    const request = asked.at(-1) as ApprovalRequest;
    const accounts = [{ app: "notes", account: "PUBLIC BLOG", connection: blog.id }];
    expect(request.arguments).toMatchObject({ about_to_do: { accounts } });
    expect(createApprovalCard(request).join("\n")).toContain(`PUBLIC BLOG (connection ${blog.id})`);
  });

  it("that was given for a flow which moved on meanwhile does nothing", async () => {
    const run = await open();
    const id = idOf(await run("svc_start_flow", REMINDER));
    const client = closeLater(new SvcClient({ baseUrl: service.url, apiKey: service.apiKey }));
    const approve: FlowCall["approve"] = async (request) => {
      await client.cancelFlow(id);
      return sayYes(request);
    };
    expect(await run("svc_approve_flow", { flow_id: id }, { approve })).toMatchObject({
      status: "failed",
      code: "nothing_to_approve",
    });
  });

  it("counts for one call only: a replayed decision approves nothing", async () => {
    const run = await open();
    const id = idOf(await run("svc_start_flow", REMINDER));
    const [first] = asked;
    answer = () => sayYes(first!);
    expect(await run("svc_approve_flow", { flow_id: id })).toMatchObject({
      status: "needs_approval",
      code: "approval_wrong_id",
    });
    expect(statusOf(await run("svc_get_flow", { flow_id: id, wait_seconds: 0 }))).toBe("waiting");
  });

  it("cannot be given for good, and what is shown cannot be edited", async () => {
    const run = await open();
    answer = (request) => ({ ...sayYes(request), always: true });
    const input = { text: "Pay", delaySeconds: 3600 };
    const id = idOf(await run("svc_start_flow", { template: "notes_reminder", input }));
    const approved = await run("svc_approve_flow", { flow_id: id, wait_seconds: 0 });
    expect(approved.notes.join(" ")).toContain("a standing permission cannot be given for this tool");
    answer = ({ id, fingerprint }) => ({ type: "edit", id, fingerprint, arguments: REMINDER });
    expect(await run("svc_start_flow", REMINDER)).toMatchObject({ status: "declined", code: "edit_not_possible" });
    expect(asked).toHaveLength(3);
  });

  it("is waited for no longer than its time, also when the approver does not listen", async () => {
    const run = await open();
    const call = { approve: () => new Promise<never>(() => {}), approvalTtlMs: 1 };
    expect(await run("svc_start_flow", REMINDER, call)).toMatchObject({
      status: "needs_approval",
      code: "approval_expired",
    });
    expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
  });

  it("is waited for no longer than the call, also when the approver does not listen", async () => {
    const run = await open();
    const stop = new AbortController();
    const approve = () => {
      stop.abort(new Error("the host is shut down"));
      return new Promise<never>(() => {});
    };
    const stopped = run("svc_start_flow", REMINDER, { approve, signal: stop.signal });
    await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
  });
});

describe("a flow that cannot be resumed", () => {
  const isRefused = { status: "failed", code: "flow_conflict", retryable: false };

  it("is not asked about: one that waits for an approval, and one that has ended", async () => {
    const run = await open();
    const id = idOf(await run("svc_start_flow", REMINDER));
    const waiting = await run("svc_resume_flow", { flow_id: id });
    expect(waiting).toMatchObject({ ...isRefused, hint: expect.stringContaining("svc_approve_flow") });
    await run("svc_cancel_flow", { flow_id: id });
    const ended = await run("svc_resume_flow", { flow_id: id });
    expect(ended).toMatchObject({ ...isRefused, message: expect.stringContaining("cancelled") });
    expect(asked.map(({ tool }) => tool)).toEqual(["svc_start_flow"]);
  });

  it("is not asked about while it waits for its time", async () => {
    const run = await open();
    const later = { ...REMINDER, input: { ...REMINDER.input, delaySeconds: 3600 } };
    const id = idOf(await run("svc_start_flow", later));
    await run("svc_approve_flow", { flow_id: id, wait_seconds: 0 });
    expect(await run("svc_resume_flow", { flow_id: id })).toMatchObject(isRefused);
    expect(asked.map(({ tool }) => tool)).toEqual(["svc_start_flow", "svc_approve_flow"]);
  });

  it.each([
    ["running", null, "failed"],
    ["waiting", { waitUntil: "2999-01-01T00:00:00.000Z" }, "failed"],
    ["waiting", { waitUntil: "2020-01-01T00:00:00.000Z" }, "declined"],
    ["waiting", null, "declined"],
  ])("is told from one whose wait may be over: %s, %j", async (status, output, ending) => {
    const scripted = closeLater(await startScriptedService());
    const step = { stepKey: "pause", stepIndex: 0, stepType: "wait", status, output };
    const view = { flow: { id: "fl_1", status, currentStep: "pause" }, steps: [step] };
    scripted.answer("/api/flows/fl_1", { status: 200, body: view });
    const run = await open(scripted.url);
    answer = sayNo;
    expect(await run("svc_resume_flow", { flow_id: "fl_1" })).toMatchObject({ status: ending });
    expect(asked).toHaveLength(ending === "declined" ? 1 : 0);
  });

  it("is told from one that failed, which goes on after a yes", async () => {
    const run = await open();
    const [mail] = await service.service.connections.list("mail");
    await service.service.connections.remove(mail?.id ?? "");
    const id = idOf(await run("svc_start_flow", { template: "mail_unread_summary" }));
    expect(statusOf(await run("svc_get_flow", { flow_id: id }))).toBe("failed");
    await service.service.connections.add({ integration: "mail", label: "New", settings: mail?.settings ?? {} });
    expect(await run("svc_resume_flow", { flow_id: id })).toMatchObject({
      status: "succeeded",
      result: { status: "completed" },
    });
    expect(asked.at(-1)).toMatchObject({ tool: "svc_resume_flow", arguments: { step: "fetch_unread" } });
  });
});

describe("a journal that cannot be written", () => {
  const PATH = "/home/anna/.svc/journal";
  const fail = () =>
    Promise.reject(Object.assign(new Error(`ENOSPC: no space left on device, write '${PATH}'`), { code: "ENOSPC" }));

  it.each<Partial<CallJournal>>([{ find: fail }, { record: fail }, { begin: fail }])(
    "ends the call as internal before anything is sent: %o",
    async (broken) => {
      const run = await open();
      const journal = { ...(await openJournal()), ...broken };
      const outcome = await run("svc_start_flow", REMINDER, { journal });
      expect(outcome).toMatchObject({ status: "failed", code: "internal", retryable: false });
      expect(outcome.message).toContain("ENOSPC");
      expect(JSON.stringify(outcome)).not.toContain(PATH);
      expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
    },
  );

  it.each(["find", "record", "begin"] as const)(
    "and never answers %s does not keep a call from being given up",
    async (name) => {
      const run = await open();
      const [stop, isAsked] = [new AbortController(), Promise.withResolvers<void>()];
      const hang = () => {
        isAsked.resolve();
        return new Promise<never>(() => {});
      };
      const journal = { ...(await openJournal()), [name]: hang };
      const outcome = run("svc_start_flow", REMINDER, { journal, signal: stop.signal });
      await isAsked.promise;
      stop.abort();
      await expect(outcome).rejects.toMatchObject({ name: "AbortError" });
      expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
    },
    5_000,
  );

  it("does not lose what was done when it fails after the answer", async () => {
    const run = await open();
    const kept = await openJournal();
    const journal: Journal = { ...kept, record: (one) => (one.state === "done" ? fail() : kept.record(one)) };
    const outcome = await run("svc_start_flow", REMINDER, { journal });
    expect(outcome).toMatchObject({ status: "succeeded", result: { status: "waiting" } });
    expect(outcome.notes).toEqual(["the end of this call could not be written to the journal"]);
  });

  it("does not lose why nothing was done", async () => {
    const busy = closeLater(await startScriptedService());
    busy.answer("/api/flows/templates", { status: 200, body: { templates: [{ key: REMINDER.template }] } });
    busy.answer("/api/flows/start", { status: 429, body: { error: "Too many flows." } });
    const run = await open(busy.url);
    const journal = { ...(await openJournal()), forget: fail };
    const outcome = await run("svc_start_flow", REMINDER, { journal });
    expect(outcome).toMatchObject({
      status: "failed",
      message: "Too many flows (POST /api/flows/start).",
      retryable: true,
    });
    expect(outcome.notes).toEqual(["the end of this call could not be written to the journal"]);
  });
});

describe("nothing twice", () => {
  it("the same call made again is answered from the journal, also by a new process", async () => {
    const stateDir = await makeFolder();
    const run = await open(service.url, stateDir);
    const first = await run("svc_start_flow", REMINDER, { callId: "c1" });
    const again = await (await open(service.url, stateDir))("svc_start_flow", REMINDER, { callId: "c1" });
    expect(idOf(again)).toBe(idOf(first));
    expect(again.notes.join(" ")).toContain("answered from the journal");
    expect(asked).toHaveLength(1);
  });

  describe("a call that ends while the flow is watched", () => {
    const view = { flow: { id: "fl_1", status: "running", currentStep: "one" }, steps: [] };
    const failed = { ...view, flow: { ...view.flow, status: "failed" } };
    const step = { stepKey: "one", stepIndex: 0, stepType: "approval", status: "waiting" };
    const waiting = { flow: { ...view.flow, status: "waiting" }, steps: [step] };
    const running = { status: 200, body: view };
    const completed = { status: 200, body: { ...view, flow: { ...view.flow, status: "completed" } } };
    /** Resolves once the flow is watched. */
    let watched: PromiseWithResolvers<void>;

    async function openRunning() {
      events.push = (event) => {
        watched.resolve();
        return Array.prototype.push.call(events, event);
      };
      const scripted = closeLater(await startScriptedService());
      scripted.answer("/api/flows/templates", { status: 200, body: { templates: [{ key: REMINDER.template }] } });
      scripted.answer("/api/flows/start", { status: 200, body: { flowId: "fl_1", flow: view } });
      scripted.answer("/api/flows/fl_1/approve", running);
      scripted.answer("/api/flows/fl_1/resume", running);
      return scripted;
    }

    async function stopWhileWatched(run: Run, name: FlowToolName, args: unknown) {
      watched = Promise.withResolvers();
      const stop = new AbortController();
      const stopped = run(name, args, { callId: "c1", signal: stop.signal });
      await watched.promise;
      stop.abort();
      await expect(stopped).rejects.toMatchObject({ name: "AbortError" });
    }

    it.each([
      ["svc_start_flow", REMINDER, []],
      ["svc_approve_flow", { flow_id: "fl_1" }, [waiting, waiting]],
      ["svc_resume_flow", { flow_id: "fl_1" }, [failed, failed]],
    ] as const)("goes on with the watch when %s is made again, and sends nothing again", async (name, args, before) => {
      const scripted = await openRunning();
      scripted.answer("/api/flows/fl_1", ...before.map((body) => ({ status: 200, body })), running);
      const stateDir = await makeFolder();
      const run = await open(scripted.url, stateDir);
      await stopWhileWatched(run, name, args);
      // What a process finds that comes after this one was killed, and this one itself.
      const next = await open(scripted.url, stateDir);
      scripted.answer("/api/flows/fl_1", running, completed);
      const again = await next(name, args, { callId: "c1" });
      expect(again).toMatchObject({ status: "succeeded", result: { flow_id: "fl_1", status: "completed" } });
      expect(again.notes).toEqual([
        expect.stringMatching(/^answered from the journal: .* was not made again; the flow was watched on$/),
      ]);
      expect(events.at(-1)).toMatchObject({ callId: "c1", toolName: name, flowId: "fl_1", status: "completed" });
      const { length } = scripted.seen;
      const last = await next(name, args, { callId: "c1" });
      expect(last).toMatchObject({ status: "succeeded", result: again.result });
      expect(last.notes).toEqual([
        expect.stringMatching(/^answered from the journal: .* was not made again; the flow is shown as it was then$/),
      ]);
      expect(scripted.seen).toHaveLength(length);
      expect(scripted.seen.filter(({ method }) => method === "POST")).toHaveLength(1);
      expect(asked).toHaveLength(1);
    });

    it("goes on with a watch that ends again, as often as it takes", async () => {
      const scripted = await openRunning();
      scripted.answer("/api/flows/fl_1", running);
      const run = await open(scripted.url);
      await stopWhileWatched(run, "svc_start_flow", REMINDER);
      await stopWhileWatched(run, "svc_start_flow", REMINDER);
      scripted.answer("/api/flows/fl_1", completed);
      expect(statusOf(await run("svc_start_flow", REMINDER, { callId: "c1" }))).toBe("completed");
      expect(asked).toHaveLength(1);
    });

    it.each([
      ["does not know the flow any more", { status: 404, body: { error: "Flow not found." } }],
      ["refuses the key", { status: 401, body: { error: "Unknown key." } }],
      ["is broken", { status: 200, body: { flow: 7 } }],
    ])("is told which flow it is when the service %s", async (_what, reply) => {
      const scripted = await openRunning();
      scripted.answer("/api/flows/fl_1", running);
      const run = await open(scripted.url);
      await stopWhileWatched(run, "svc_start_flow", REMINDER);
      scripted.answer("/api/flows/fl_1", reply);
      const again = await run("svc_start_flow", REMINDER, { callId: "c1" });
      expect(again).toMatchObject({
        status: "succeeded",
        result: { flow_id: "fl_1", status: "running" },
        hint: expect.stringContaining("svc_get_flow"),
      });
      expect(again.notes).toEqual([
        expect.stringMatching(/^answered from the journal: .* was not made again; the flow is shown as it was then$/),
        "the flow could not be watched to the end; look at it with svc_get_flow",
      ]);
      scripted.answer("/api/flows/fl_1", completed);
      expect(statusOf(await run("svc_start_flow", REMINDER, { callId: "c1" }))).toBe("completed");
    });

    it("says of a flow whose watch was over that it is shown as it was then", async () => {
      const scripted = await openRunning();
      scripted.answer("/api/flows/fl_1", running);
      const run = await open(scripted.url);
      const args = { ...REMINDER, wait_seconds: 0 };
      expect(statusOf(await run("svc_start_flow", args, { callId: "c1" }))).toBe("running");
      const again = await run("svc_start_flow", args, { callId: "c1" });
      expect(statusOf(again)).toBe("running");
      expect(again.notes.join(" ")).not.toContain("ended");
      expect(again.notes.join(" ")).toContain("the flow is shown as it was then");
    });
  });

  it("a lost answer to a start is unknown and not repeated", async () => {
    const proxy = closeLater(await startLossyProxy(service.url));
    const stateDir = await makeFolder();
    const run = await open(proxy.url, stateDir);
    proxy.lose("/api/flows/start", 1);
    const call = { callId: "c1" };
    expect(await run("svc_start_flow", REMINDER, call)).toMatchObject({ status: "unknown", code: "outcome_unknown" });
    expect(await run("svc_start_flow", REMINDER, call)).toMatchObject({ status: "unknown" });
    expect(((await run("svc_get_flow", {})).result as { flows: unknown[] }).flows).toHaveLength(1);
  });

  it("a call that another process makes while this one is asked about is done once", async () => {
    const stateDir = await makeFolder();
    const [one, other] = [await open(service.url, stateDir), await open(service.url, stateDir)];
    const call = { callId: "c1" };
    let made: FlowOutcome | undefined;
    const approve: FlowCall["approve"] = async (request) => {
      made = await other("svc_start_flow", REMINDER, call);
      return sayYes(request);
    };
    const outcome = await one("svc_start_flow", REMINDER, { ...call, approve });
    expect(outcome).toMatchObject({ status: "succeeded", result: made?.result });
    expect(outcome.notes.join(" ")).toContain("answered from the journal");
    expect(((await one("svc_get_flow", {})).result as { flows: unknown[] }).flows).toHaveLength(1);
  });

  it("a call made twice at once is asked about once and done once", async () => {
    const run = await open();
    const both = await Promise.all([1, 2].map(() => run("svc_start_flow", REMINDER, { callId: "c1" })));
    expect(both[1]).toEqual(both[0]);
    expect(statusOf(both[0]!)).toBe("waiting");
    expect(asked).toHaveLength(1);
    expect(((await run("svc_get_flow", {})).result as { flows: unknown[] }).flows).toHaveLength(1);
  });

  it.each(["aborted", "left by its graph"])("a call made twice at once goes on when the other is %s", async (how) => {
    const run = await open();
    const call = { callId: "c1", keepsAnswers: how === "left by its graph" };
    const [stop, isAsked] = [new AbortController(), Promise.withResolvers<void>()];
    const { promise: left, reject: leave } = Promise.withResolvers<never>();
    const approve: FlowCall["approve"] = () => {
      isAsked.resolve();
      return left;
    };
    const first = run("svc_start_flow", REMINDER, { ...call, signal: stop.signal, approve });
    await isAsked.promise;
    const second = run("svc_start_flow", REMINDER, call);
    const interrupt = Object.assign(new Error("interrupt"), { name: "GraphInterrupt", is_bubble_up: true });
    if (call.keepsAnswers) leave(interrupt);
    else stop.abort();
    await expect(first).rejects.toMatchObject({ name: call.keepsAnswers ? "GraphInterrupt" : "AbortError" });
    expect((await second).status).toBe("succeeded");
  });

  it("a call that waits for the same one is given up by itself", async () => {
    const run = await open();
    const [stop, isAsked] = [new AbortController(), Promise.withResolvers<void>()];
    const answered = Promise.withResolvers<void>();
    const approve: FlowCall["approve"] = async (request) => {
      isAsked.resolve();
      await answered.promise;
      return sayYes(request);
    };
    const first = run("svc_start_flow", REMINDER, { callId: "c1", approve });
    await isAsked.promise;
    const second = run("svc_start_flow", REMINDER, { callId: "c1", signal: stop.signal });
    stop.abort();
    await expect(second).rejects.toMatchObject({ name: "AbortError" });
    answered.resolve();
    expect((await first).status).toBe("succeeded");
    expect(asked).toEqual([]);
  });

  it("an interrupt of a graph passes through, and the call made again goes on with its answer", async () => {
    const run = await open();
    const interrupt = Object.assign(new Error("interrupt"), { is_bubble_up: true });
    const call = { callId: "c1", keepsAnswers: true };
    let shown: ApprovalRequest | undefined;
    const pause: FlowCall["approve"] = (request) => {
      shown = request;
      return Promise.reject(interrupt);
    };
    await expect(run("svc_start_flow", REMINDER, { ...call, approve: pause })).rejects.toBe(interrupt);
    const outcome = await run("svc_start_flow", REMINDER, { ...call, approve: async () => sayYes(shown!) });
    expect(outcome.status).toBe("succeeded");
  });

  it.each(["record", "begin"] as const)(
    "a call aborted while the journal writes (%s) asks and sends nothing, and is not taken for sent when made again",
    async (name) => {
      const run = await open();
      const stop = new AbortController();
      const kept = await openJournal();
      const journal: Journal = {
        ...kept,
        async [name](...given: [JournalRecord, BeginTerms]) {
          const result = await kept[name](...given);
          stop.abort();
          return result;
        },
      };
      const call = { callId: "c1", journal };
      await expect(run("svc_start_flow", REMINDER, { ...call, signal: stop.signal })).rejects.toMatchObject({
        name: "AbortError",
      });
      expect(asked).toHaveLength(name === "begin" ? 1 : 0);
      expect((await run("svc_get_flow", {})).result).toEqual({ flows: [] });
      expect(statusOf(await run("svc_start_flow", REMINDER, call))).toBe("waiting");
    },
  );

  it("an aborted call does nothing and rejects", async () => {
    const run = await open();
    const signal = AbortSignal.abort();
    await expect(run("svc_start_flow", REMINDER, { signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(asked).toEqual([]);
  });
});

it("an input with an own member called __proto__ is shown and sent as it is", async () => {
  const proxy = closeLater(await startLossyProxy(service.url));
  const run = await open(proxy.url);
  const input = '{"text":"Water","__proto__":{"to":"x"},"deep":{"__proto__":1}}';
  await run("svc_start_flow", { template: "notes_reminder", input: JSON.parse(input) as unknown });
  expect(JSON.stringify(asked[0]?.arguments.input)).toBe(input);
  const [sent] = proxy.passed.filter(({ method }) => method === "POST");
  expect(sent?.body).toContain(input);
});
