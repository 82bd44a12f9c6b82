import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CallJournal } from "../../../src/plugin/calls/journal/journal.ts";
import type { ToolCall } from "../../../src/plugin/calls/pipeline.ts";
import { verifies } from "../../contract/verifies.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayNo, sayYes } from "./open-test-session.ts";
import { createTool, type ScriptedReply, type ScriptedService, startScriptedService } from "./scripted-service.ts";

/** Lost answers, surprises and aborts against a real server that misbehaves. */

let service: ScriptedService;
beforeEach(async () => {
  service = closeLater(await startScriptedService());
  service.offer(createTool("probe_read", "read"));
  service.offer(createTool("probe_write", "write"));
});
afterEach(closeAll);

const write: ToolCall = { callId: "w1", toolName: "probe_write", arguments: { text: "a" } };
const read: ToolCall = { callId: "r1", toolName: "probe_read", arguments: { text: "a" } };
const OK: ScriptedReply = { status: 200, body: { ok: true, result: { done: 1 } } };
const CONFIRM: ScriptedReply = {
  status: 412,
  body: {
    ok: false,
    requiresConfirmation: true,
    policyReason: "It posts publicly.",
    error: { code: "confirmation_required", message: "Confirm first." },
  },
};
const TWO_ACCOUNTS = {
  code: "ambiguous_connection",
  message: "Two accounts.",
  connections: [
    { id: 1, label: "Home" },
    { id: 2, label: "Work" },
  ],
};
const answer = (tool: string, ...replies: ScriptedReply[]) => service.answer(`/api/tools/${tool}/execute`, ...replies);

describe("a lost answer", () => {
  it.each<[string, ScriptedReply]>([
    ["the connection drops", { drop: true }],
    ["a gateway answers for the service", { status: 502, text: "<html>Bad gateway</html>" }],
    ["a gateway answers for it in JSON", { status: 504, body: { message: "Endpoint request timed out" } }],
    ["the service breaks on the way", { status: 500, body: { error: "Something went wrong" } }],
  ])("to a write is outcome unknown when %s: never sent again, also when the call comes back", async (_name, reply) => {
    answer("probe_write", reply, OK);
    const session = await openTestSession(service, { answer: sayYes });
    await session.catalog.load();
    const outcome = await session.call(write);
    expect(outcome).toMatchObject({ status: "unknown", code: "outcome_unknown", retryable: false });
    expect(outcome.hint).toContain("probe_read");
    const again = await session.call(write);
    expect(again.status).toBe("unknown");
    expect(service.executed()).toHaveLength(1);
  });

  it("warns the human when an equal write is asked for under another id", async () => {
    answer("probe_write", { drop: true }, OK);
    const session = await openTestSession(service, { answer: sayYes });
    await session.call(write);
    expect((await session.call({ ...write, callId: "w2" })).status).toBe("succeeded");
    expect(session.asked[1]?.reason).toContain("may already have happened");
  });

  it("is not tried again under a standing permission: an equal write is asked about, another one is not", async () => {
    service.offer(createTool("probe_write", "write", { connections: [{ id: "1", label: "Only" }] }));
    answer("probe_write", OK, { drop: true }, OK);
    const session = await openTestSession(service, { answer: (request) => ({ ...sayYes(request), always: true }) });
    await session.call({ ...write, callId: "w1", arguments: { text: "first" } });
    expect((await session.call({ ...write, callId: "w2" })).status).toBe("unknown");
    expect(session.asked).toHaveLength(1);
    await session.call({ ...write, callId: "w3" });
    expect(session.asked[1]?.reason).toContain("may already have happened");
    await session.call({ ...write, callId: "w4", arguments: { text: "another" } });
    expect(session.asked).toHaveLength(2);
  });

  it("is warned of until a human agreed to an equal one and that one ended; what became of it stays unknown", async () => {
    service.offer(createTool("probe_write", "write", { connections: [{ id: "1", label: "Only" }] }));
    answer("probe_write", { drop: true }, OK);
    let agrees = false;
    const session = await openTestSession(service, {
      answer: (request) => (agrees ? { ...sayYes(request), always: true } : sayNo(request)),
    });
    agrees = true;
    expect((await session.call({ ...write, callId: "w1" })).status).toBe("unknown");
    agrees = false;
    expect((await session.call({ ...write, callId: "w2" })).status).toBe("declined");
    agrees = true;
    expect((await session.call({ ...write, callId: "w3" })).status).toBe("succeeded");
    expect(session.asked.map(({ reason }) => reason.includes("may already have happened"))).toEqual([
      false,
      true,
      true,
    ]);
    expect((await session.call({ ...write, callId: "w4" })).status).toBe("succeeded");
    expect(session.asked).toHaveLength(3);
    expect((await session.call({ ...write, callId: "w1" })).status).toBe("unknown");
  });

  it("is asked about under a standing permission until there is an answer, however often the call is made", async () => {
    service.offer(createTool("probe_write", "write", { connections: [{ id: "1", label: "Only" }] }));
    answer("probe_write", OK, { drop: true }, OK);
    const session = await openTestSession(service, { answer: (request) => ({ ...sayYes(request), always: true }) });
    await session.call({ ...write, callId: "w1", arguments: { text: "first" } });
    await session.call({ ...write, callId: "w2" });
    const leave = Object.assign(new Error("the graph asks"), { is_bubble_up: true });
    const asked: string[] = [];
    const approve = async ({ reason }: { reason: string }) => {
      asked.push(reason);
      throw leave;
    };
    for (let run = 1; run <= 2; run += 1)
      await expect(session.call({ ...write, callId: "w3", keepsAnswers: true, approve })).rejects.toBe(leave);
    expect(asked).toEqual([expect.stringContaining("may already"), expect.stringContaining("may already")]);
    expect(service.executed()).toHaveLength(2);
  });

  it("to a read is tried again", async () => {
    answer("probe_read", { drop: true }, { status: 502, text: "bad gateway" }, OK);
    const session = await openTestSession(service);
    expect(await session.call(read)).toMatchObject({ status: "succeeded", result: { done: 1 } });
    expect(service.executed()).toHaveLength(3);
  });

  it("to a request that never left is failed and may be made again", async () => {
    const stateDir = await makeFolder();
    const first = await openTestSession(service, { stateDir });
    await first.catalog.load();
    await first.catalog.find("probe_write");
    await first.close();
    await service.close();
    const session = await openTestSession(service, { stateDir, answer: sayYes });
    await session.catalog.load();
    const outcome = await session.call(write);
    expect(outcome).toMatchObject({ status: "failed", code: "unreachable", retryable: true });
    expect(outcome.message).toContain("Nothing was sent");
  });

  it("to a read uses up the time limit, which is for all tries together", async () => {
    answer("probe_read", { hang: true });
    const session = await openTestSession(service, { timeoutMs: 60, random: () => 1 });
    expect(await session.call(read)).toMatchObject({ status: "failed", code: "timeout", retryable: true });
    expect(service.executed()).toHaveLength(1);
  });

  it("to a read is followed by another try only while there is time", async () => {
    answer("probe_read", { drop: true }, { drop: true }, OK);
    let skew = 0;
    const onEvent = () => {
      skew += 31_000;
    };
    const session = await openTestSession(service, { timeoutMs: 60_000, now: () => Date.now() + skew, onEvent });
    await session.catalog.find("probe_read");
    expect(await session.call(read)).toMatchObject({ status: "failed", code: "unreachable" });
    expect(service.executed()).toHaveLength(2);
  });

  it.each([
    ["the app gave no answer in time", "timeout", 0],
    ["another try would take longer than there is time", "provider_unavailable", 31_000],
  ])("is not awaited again where %s", async (_when, code, slowness) => {
    const message = "The app gave no answer.";
    answer("probe_read", { status: 503, body: { ok: false, error: { code, message, retryable: true } } }, OK);
    let skew = 0;
    const onEvent = () => {
      skew += slowness;
    };
    const session = await openTestSession(service, { timeoutMs: 60_000, now: () => Date.now() + skew, onEvent });
    await session.catalog.find("probe_read");
    expect(await session.call(read)).toMatchObject({ status: "failed", code, message });
    expect(service.executed()).toHaveLength(1);
  });

  it("within the time limit to a write is unknown too", async () => {
    answer("probe_write", { hang: true });
    const session = await openTestSession(service, { answer: sayYes, timeoutMs: 2_000 });
    expect((await session.call(write)).status).toBe("unknown");
    expect(service.executed()).toHaveLength(1);
  });
});

describe("surprises", () => {
  it("a 412 on a tool said to be harmless: the human is asked, then the same bytes go out confirmed", async () => {
    answer("probe_read", CONFIRM, OK);
    const session = await openTestSession(service, { answer: sayYes });
    expect((await session.call(read)).status).toBe("succeeded");
    expect(session.asked).toHaveLength(1);
    expect(session.asked[0]?.reason).toContain("It posts publicly.");
    const [first, second] = service.executed().map((request) => request.body);
    expect(second).toEqual({ ...first, confirmed: true });
  });

  it("a second 412 after the confirmation is a failure, not another question", async () => {
    answer("probe_write", CONFIRM);
    const session = await openTestSession(service, { answer: sayYes });
    expect(await session.call(write)).toMatchObject({ status: "failed", code: "confirmation_required" });
    expect(session.asked).toHaveLength(1);
    expect(service.executed()).toHaveLength(1);
  });

  it("policy_blocked in a summary is a confirmation, and an account question once confirmed", async () => {
    verifies("summary.accepted-by-plugin");
    const blocked = { execution_id: null, status: "blocked", error_code: "policy_blocked", message: "Blocked." };
    answer("probe_read", { status: 409, body: blocked }, { status: 409, body: blocked });
    const session = await openTestSession(service, { answer: sayYes });
    const outcome = await session.call(read);
    expect(outcome).toMatchObject({ status: "needs_connection", code: "ambiguous_connection" });
    expect(session.asked).toHaveLength(1);
    expect(service.executed()).toHaveLength(2);
  });

  it.each([
    [
      ["connectionId 61 (Work)", "64 | Home"],
      [
        ["61", "Work"],
        ["64", "Home"],
      ],
    ],
    [
      ["61", "con_b"],
      [
        ["61", "61"],
        ["con_b", "con_b"],
      ],
    ],
    [
      ["- id: con_a – Ana's mail", "- id: con_b – Bo"],
      [
        ["con_a", "Ana's mail"],
        ["con_b", "Bo"],
      ],
    ],
  ])("reads the ids of accounts as services write them: %j", async (details, choices) => {
    const hint = "Send connectionId with one of the ids in details.";
    const error = { code: "ambiguous_connection", message: "Which one?" };
    answer("probe_read", { status: 409, body: { ok: false, error, details, hint } });
    const outcome = await (await openTestSession(service)).call(read);
    expect(outcome.choices?.map(({ id, label }) => [id, label])).toEqual(choices);
    expect(outcome.hint).toContain("connectionId");
  });

  it("passes on what it cannot read, and says when an account that was named is not taken", async () => {
    const details = ["Ask the owner which of the accounts is meant."];
    const hint = "Look at the settings page for the ids.";
    const error = { code: "unknown_connection", message: "Connection nope-7 does not belong to probe" };
    answer("probe_read", { status: 409, body: { ok: false, error, details, hint } });
    const outcome = await (await openTestSession(service)).call({ ...read, connectionId: "nope-7" });
    expect(outcome).toMatchObject({ choices: [], details, hint });
    expect(outcome.message).toContain('The account "nope-7" cannot be used for probe');
  });

  it("another account after the approval is asked about again", async () => {
    answer("probe_write", { status: 409, body: { ok: false, error: TWO_ACCOUNTS } }, OK);
    const session = await openTestSession(service, { answer: sayYes, chooseConnection: async () => "2" });
    expect((await session.call(write)).status).toBe("succeeded");
    expect(session.asked.map((request) => request.account)).toEqual([undefined, "Work"]);
    expect(session.asked[1]?.fingerprint).not.toBe(session.asked[0]?.fingerprint);
    expect(service.executed()[1]?.body.connectionId).toBe("2");
  });

  it.each(["left by its graph", "given up"])(
    "a call %s while the human picks an account leaves no doubt behind",
    async (how) => {
      answer("probe_write", { status: 409, body: { ok: false, error: TWO_ACCOUNTS } }, OK);
      const session = await openTestSession(service, { answer: sayYes });
      const stop = new AbortController();
      const leave = Object.assign(new Error("the graph asks"), { is_bubble_up: true });
      const call = { ...write, keepsAnswers: how === "left by its graph" };
      const chooseConnection = () => {
        if (call.keepsAnswers) return Promise.reject(leave);
        stop.abort();
        return new Promise<never>(() => {});
      };
      const left = session.call({ ...call, chooseConnection, signal: stop.signal });
      await expect(left).rejects.toMatchObject(call.keepsAnswers ? leave : { name: "AbortError" });
      const again = await session.call({ ...call, chooseConnection: async () => "2" });
      expect(again.status).toBe("succeeded");
      expect(service.executed()).toHaveLength(2);
    },
  );

  it("arguments refused because the schema changed: described again, and what changed is said", async () => {
    const session = await openTestSession(service);
    await session.catalog.find("probe_read");
    const properties = { text: { type: "string" }, parent: { type: "string" } };
    service.offer(
      createTool("probe_read", "read", { inputSchema: { type: "object", properties, required: ["parent"] } }),
    );
    const error = { code: "invalid_arguments", message: "arguments.parent is required" };
    answer("probe_read", { status: 400, body: { ok: false, error } });
    const outcome = await session.call(read);
    expect(outcome.notes.join(" ")).toContain("new required argument parent");
    const local = await session.call({ ...read, callId: "r2" });
    expect(local.message).toContain("Nothing was sent");
    expect(service.executed()).toHaveLength(1);
  });

  it("a tool whose effect nobody states is sent unconfirmed; a lost answer is unknown, a 412 asks the human", async () => {
    service.offer(createTool("probe_vague", "read", { canonical: undefined }));
    answer("probe_vague", { drop: true }, CONFIRM, OK);
    const session = await openTestSession(service, { answer: sayYes });
    const vague = { toolName: "probe_vague", arguments: {} };
    expect((await session.call({ callId: "v1", ...vague })).status).toBe("unknown");
    expect((await session.call({ callId: "v2", ...vague, arguments: { text: "other" } })).status).toBe("succeeded");
    expect(session.asked).toHaveLength(1);
    expect(session.asked[0]?.effect).toBe("unknown");
    expect(service.executed().map((request) => request.body.confirmed)).toEqual([undefined, undefined, true]);
  });

  it("a tool whose effect nobody states is asked about before it may happen a second time", async () => {
    service.offer(createTool("probe_vague", "read", { canonical: undefined }));
    answer("probe_vague", { drop: true }, OK);
    const answers = [sayNo, sayYes];
    const session = await openTestSession(service, { answer: (request) => answers.shift()?.(request) });
    const vague = { toolName: "probe_vague", arguments: {} };
    expect((await session.call({ callId: "v1", ...vague })).status).toBe("unknown");
    expect(await session.prepare({ callId: "v2", ...vague })).toMatchObject({ kind: "approval" });
    expect((await session.call({ callId: "v2", ...vague })).status).toBe("declined");
    expect(service.executed()).toHaveLength(1);
    expect((await session.call({ callId: "v3", ...vague })).status).toBe("succeeded");
    expect(session.asked.map(({ reason }) => reason)).toEqual(Array(2).fill(expect.stringContaining("may already")));
    expect(service.executed().map((request) => request.body.confirmed)).toEqual([undefined, true]);
  });

  it.each<[string, Parameters<typeof createTool>[2]]>([
    ["the list is read anew", {}],
    ["it is described anew for an idempotency key", { keeps: 3_600 }],
  ])("a tool that comes to delete while a human reads is asked about again: %s", async (_name, { keeps } = {}) => {
    const offer = (effect: string) => {
      const action = { action_id: "probe_write", side_effect_level: effect, requires_confirmation: true };
      const promise = keeps === undefined ? {} : { idempotency_key: { kept_seconds: keeps } };
      service.offer(createTool("probe_write", effect, { canonical: { integration_id: "probe", action, ...promise } }));
    };
    offer("write");
    const session = await openTestSession(service, {
      answer: async (request) => {
        if (request.effect === "delete") return sayNo(request);
        offer("delete");
        if (keeps === undefined) await session.catalog.sync();
        return sayYes(request);
      },
    });
    expect((await session.call(write)).status).toBe("declined");
    expect(session.asked.map(({ effect }) => effect)).toEqual(["write", "delete"]);
    expect(session.asked[0]?.fingerprint).not.toBe(session.asked[1]?.fingerprint);
    expect(service.seen.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("a tool that is another one each time it is looked at is not sent, whoever says yes how often", async () => {
    const effects = ["write", "delete"];
    const offer = () => {
      effects.reverse();
      const action = { action_id: "probe_write", side_effect_level: effects[0], requires_confirmation: true };
      const canonical = { integration_id: "probe", action, idempotency_key: { kept_seconds: 3_600 } };
      service.offer(createTool("probe_write", "write", { canonical }));
    };
    offer();
    const session = await openTestSession(service, {
      answer: (request) => {
        offer();
        return sayYes(request);
      },
    });
    expect(await session.call(write)).toMatchObject({
      status: "needs_approval",
      message: expect.stringContaining("Nothing was run"),
    });
    expect(service.seen.filter(({ method }) => method === "POST")).toEqual([]);
  });

  it("a code nobody documented is passed on, with its null members", async () => {
    verifies("envelope.unknown-code-passed", "envelope.nullables-accepted");
    const error = { code: "moon_phase", type: null, message: "Not tonight.", retryable: null };
    answer("probe_read", { status: 409, body: { ok: false, error, hint: null, details: ["a", "b"], canonical: null } });
    const session = await openTestSession(service);
    expect(await session.call(read)).toMatchObject({ status: "failed", code: "moon_phase", message: "Not tonight." });
  });

  it("a daily limit is a 429 that is not tried again", async () => {
    const error = { code: "rate_limit_day", message: "Tomorrow.", retryable: false };
    answer("probe_read", { status: 429, headers: { "retry-after": "1" }, body: { ok: false, error } });
    const session = await openTestSession(service);
    expect(await session.call(read)).toMatchObject({ status: "failed", code: "rate_limit_day", retryable: false });
    expect(service.executed()).toHaveLength(1);
  });

  it("a bare 401 asks to pair again and is not retried", async () => {
    verifies("errors.bare-accepted");
    answer("probe_read", { status: 401, body: { error: "Unauthorized" } });
    const session = await openTestSession(service);
    const outcome = await session.call(read);
    expect(outcome).toMatchObject({ status: "failed", code: "unauthorized", retryable: false });
    expect(outcome.hint).toContain("svc pair");
    expect(service.executed()).toHaveLength(1);
  });
});

describe("the same call", () => {
  it("made twice at once is sent once", async () => {
    answer("probe_write", OK);
    const session = await openTestSession(service, { answer: sayYes });
    const [one, two] = await Promise.all([session.call(write), session.call(write)]);
    expect(two).toEqual(one);
    expect(session.asked).toHaveLength(1);
    expect(service.executed()).toHaveLength(1);
  });

  it("made again after it ended is answered from the journal, over a restart", async () => {
    answer("probe_write", OK);
    const stateDir = await makeFolder();
    const first = await openTestSession(service, { stateDir, answer: sayYes });
    await first.call(write);
    await first.close();
    const second = await openTestSession(service, { stateDir, answer: sayYes });
    const outcome = await second.call(write);
    expect(outcome).toMatchObject({ status: "succeeded", result: { done: 1 } });
    expect(outcome.notes.join(" ")).toContain("answered from the journal");
    expect(service.executed()).toHaveLength(1);
    expect((await second.call({ ...write, arguments: { text: "b" } })).status).toBe("succeeded");
    expect(service.executed()).toHaveLength(2);
  });
});

describe("an abort", () => {
  it("before the start sends nothing", async () => {
    const session = await openTestSession(service, { answer: sayYes });
    const call = session.call({ ...write, signal: AbortSignal.abort() });
    await expect(call).rejects.toMatchObject({ name: "AbortError" });
    expect(service.seen).toEqual([]);
  });

  it("while the human is asked ends at once and sends nothing", async () => {
    const stop = new AbortController();
    const session = await openTestSession(service, {
      answer: () => {
        stop.abort();
        return new Promise(() => {});
      },
    });
    await expect(session.call({ ...write, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect(service.executed()).toEqual([]);
  });

  it("while the journal writes down what is asked asks nobody", async () => {
    answer("probe_write", OK);
    const stop = new AbortController();
    const session = await openTestSession(service, { answer: sayYes });
    const journal: CallJournal = {
      ...session.journal,
      async record(record) {
        await session.journal.record(record);
        stop.abort();
      },
    };
    const call = { ...write, journal, signal: stop.signal };
    await expect(session.call(call)).rejects.toMatchObject({ name: "AbortError" });
    expect(session.asked).toEqual([]);
    expect((await session.call(write)).status).toBe("succeeded");
  });

  it("while the journal writes down that it is sent sends nothing, and leaves no doubt behind", async () => {
    answer("probe_write", OK);
    const stop = new AbortController();
    const session = await openTestSession(service, { answer: sayYes });
    const journal: CallJournal = {
      ...session.journal,
      async begin(record, terms) {
        const obstacle = await session.journal.begin(record, terms);
        stop.abort();
        return obstacle;
      },
    };
    const call = { ...write, journal, signal: stop.signal };
    await expect(session.call(call)).rejects.toMatchObject({ name: "AbortError" });
    expect(service.executed()).toEqual([]);
    expect((await session.call(write)).status).toBe("succeeded");
    expect((await session.call({ ...write, callId: "w2" })).status).toBe("succeeded");
    for (const { reason } of session.asked) expect(reason).not.toContain("may already have happened");
  });

  it("while a write is on its way is never followed by another send", async () => {
    answer("probe_write", { hang: true });
    const stop = new AbortController();
    const session = await openTestSession(service, { answer: sayYes });
    const aborted = expect(session.call({ ...write, signal: stop.signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    await service.whenExecuted;
    stop.abort();
    await aborted;
    expect((await session.call(write)).status).toBe("unknown");
    expect(service.executed()).toHaveLength(1);
  });

  it("keeps the reason of a time limit as its cause", async () => {
    answer("probe_read", { hang: true });
    const session = await openTestSession(service);
    const call = session.call({ ...read, signal: AbortSignal.timeout(50) });
    await expect(call).rejects.toMatchObject({ name: "AbortError", cause: { name: "TimeoutError" } });
  });
});
