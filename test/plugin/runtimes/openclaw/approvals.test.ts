import { writeFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { showWaitingCall } from "../../../../src/plugin/runtimes/openclaw/commands/decision-commands.ts";
import { addConnection } from "../../../contract/probe-service.ts";
import { type ApprovalKit, openApprovalKit, readCard } from "./approval-kit.ts";

/** The way of a call through the gate and to the human, with a played host and the real service. */

let kit: ApprovalKit;

beforeEach(async () => {
  kit = await openApprovalKit();
});
afterEach(() => kit.close());

const write = { tool: "probe_write_text", args: { text: "hello" } };

async function addMedia(name: string, text: string): Promise<string> {
  const folder = join(kit.host.places.media, "inbound");
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, name), text);
  return `media://inbound/${name}`;
}

const store = (file: string) => ({
  tool: "probe_store_file",
  args: { file: { s3key: file, name: "a.txt", mimetype: "text/plain" } },
});

describe("the card before a call", () => {
  it("carries one yes into the call, which then runs once", async () => {
    kit.answers.push("allow-once");
    expect(await kit.play(write)).toMatchObject({ blocked: false, outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(1);
    expect(readCard(kit.cards[0] ?? expect.fail())).toMatch(
      /write_text \(First\)[\s\S]*probe_write_text, writes\ntext: hello/,
    );
    expect(kit.cards[0]).toMatchObject({ severity: "warning", timeoutMs: 300_000 });
    expect(kit.service.probe.calls).toHaveLength(1);
  });

  it("keeps the order of two calls while the host has not made the first that was allowed", async () => {
    const made = Promise.withResolvers<void>();
    const allowed = Promise.withResolvers<void>();
    kit.answers.push("allow-once");
    const before = () => {
      allowed.resolve();
      return made.promise;
    };
    const first = kit.play({ ...write, args: { text: "first" }, before });
    await allowed.promise;
    kit.answers.push("allow-once");
    const second = kit.play({ ...write, args: { text: "second" } });
    // Each takes as long as the second needs.
    for (let time = 0; time < 5; time += 1) await kit.play({ tool: "probe_echo", args: { text: String(time) } });
    made.resolve();
    await Promise.all([first, second]);
    const texts = (await kit.service.effects()).map(({ arguments: args }) => args.text);
    expect(texts).toEqual(["first", "second"]);
  });

  it("asks again for an equal call of a later turn", async () => {
    kit.answers.push("allow-once", "deny");
    await kit.play(write);
    expect(await kit.play(write)).toEqual({ blocked: true, reason: "deny" });
    expect(kit.cards).toHaveLength(2);
    expect(kit.service.probe.calls).toHaveLength(1);
  });

  it("is not shown for a read, a bad call and an unknown tool; the call says what is wrong", async () => {
    expect(await kit.play({ tool: "probe_echo", args: { text: "a" } })).toMatchObject({
      outcome: { status: "succeeded" },
    });
    expect(await kit.play({ tool: "probe_write_text", args: { text: 1, more: true } })).toMatchObject({
      outcome: { status: "failed", code: "invalid_arguments" },
    });
    expect(await kit.play({ tool: "probe_nothing", args: {} })).toMatchObject({ outcome: { code: "tool_not_found" } });
    expect(kit.cards).toEqual([]);
  });

  it("does not count for a file that changed after it: the human is asked again and told why", async () => {
    const reference = await addMedia("a.txt", "first");
    kit.answers.push("allow-once", "deny");
    const before = () => writeFileSync(join(kit.host.places.media, "inbound", "a.txt"), "second");
    expect(await kit.play({ ...store(reference), before })).toMatchObject({ outcome: { status: "declined" } });
    expect(readCard(kit.cards[0] ?? expect.fail())).toContain("\nFile: a.txt, text/plain, 5 bytes, md5 8b04d5e3");
    expect(readCard(kit.cards[1] ?? expect.fail())).toMatch(
      /6 bytes, md5 a9f0e61a[\s\S]*Why: It has changed since you approved it/,
    );
    expect(kit.service.probe.calls).toEqual([]);
  });

  it("that does not show everything counts only when everything was shown", async () => {
    const long = { ...write, args: { text: "word ".repeat(300) } };
    const readCode = (index: number) => /\/svc show (\w{8}) first/.exec(kit.cards[index]?.description ?? "")?.[1] ?? "";
    kit.answers.push("allow-once", "allow-once");
    const unread = await kit.play({ ...long, runId: "r1" });
    expect(unread).toMatchObject({
      outcome: { status: "needs_approval", message: expect.stringContaining("before all of it was shown") },
    });
    expect(kit.cards, "asked once more within the call").toHaveLength(2);
    expect(kit.cards[0]?.description).not.toContain("did NOT count");
    expect(kit.cards[1]?.description).toMatch(
      /^\n```\nYour Allow did NOT count: you had not read it\. Send \/svc show/,
    );
    expect(kit.service.probe.calls).toEqual([]);
    expect(kit.host.waitingCalls.list()).toHaveLength(1);
    kit.host.waitingCalls.decide(kit.host.waitingCalls.list()[0]?.code ?? "", "decline");
    await kit.play({ ...long, runId: "r2" });
    kit.answers.push("allow-once");
    const shown = showWaitingCall(kit.host, readCode(1)).text;
    expect(shown).toContain("word word");
    expect(await kit.play({ ...long, runId: "r3" })).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(3);
    expect(kit.service.probe.calls).toHaveLength(1);
  });

  it("sends the bytes that were approved", async () => {
    const reference = await addMedia("a.txt", "first");
    kit.answers.push("allow-once");
    expect(await kit.play(store(reference))).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.service.probe.calls).toMatchObject([{ files: [{ name: "a.txt" }] }]);
  });

  it("gives one call's yes to no other call", async () => {
    kit.answers.push("allow-once", "deny");
    const other = kit.play({ ...write, callId: "same" });
    await other;
    expect(await kit.play({ ...write, callId: "same", args: { text: "other" } })).toMatchObject({ blocked: true });
    expect(kit.service.probe.calls).toHaveLength(1);
  });
});

describe("always", () => {
  it("is kept: the next call needs no card, until it is taken back", async () => {
    kit.answers.push("allow-always");
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
    expect(await kit.play({ ...write, args: { text: "again" } })).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(1);
    const { session } = await kit.host.openAccount(undefined);
    for (const rule of session.rules.list()) await session.rules.revoke(rule);
    expect(await kit.play({ ...write, args: { text: "third" } })).toMatchObject({ blocked: true });
    expect(kit.cards).toHaveLength(2);
  });

  it("is offered only with a known account", async () => {
    await kit.service.service.connections.remove(kit.service.connectionId);
    await kit.play(write);
    expect(kit.cards[0]).toMatchObject({ allowedDecisions: ["allow-once", "deny"] });
    expect(kit.cards[0]?.description).not.toContain("Always");
  });
});

describe("without a yes", () => {
  it.each([
    ["deny", "deny", /declined this call.*in a later message/],
    ["timeout", /in time.*Do not make this call again now/, /in time.*go on only when they say so/],
  ] as const)(
    "after %s an equal call of the same turn is blocked without another card",
    async (answer, first, second) => {
      kit.answers.push(answer, "allow-once");
      const refused = await kit.play({ ...write, runId: "r1" });
      expect(refused).toMatchObject({ blocked: true, reason: expect.stringMatching(first) });
      expect(await kit.play({ ...write, runId: "r1" })).toEqual({
        blocked: true,
        reason: expect.stringMatching(second),
      });
      expect(kit.cards).toHaveLength(1);
      expect(await kit.play({ ...write, runId: "r2" })).toMatchObject({ outcome: { status: "succeeded" } });
      expect(kit.service.probe.calls).toHaveLength(1);
    },
  );

  it("with nobody to ask it waits for a command, is told so on the next try, and runs once when released", async () => {
    kit.answers.push("nobody", "nobody");
    expect(await kit.play({ ...write, runId: "r1" })).toEqual({ blocked: true, reason: "nobody" });
    const told = await kit.play({ ...write, runId: "r1" });
    expect(told).toMatchObject({
      outcome: { status: "needs_approval", code: "approval_required", hint: expect.stringContaining("/svc pending") },
    });
    const [waitingCall, ...more] = kit.host.waitingCalls.list();
    expect(more).toEqual([]);
    expect(JSON.stringify(told)).not.toContain(waitingCall?.code);
    const until = new Date(waitingCall?.expiresAt ?? 0).toISOString();
    expect(told, "as long as the waitingCall").toMatchObject({ outcome: { approval: { expiresAt: until } } });
    expect(kit.host.waitingCalls.decide(waitingCall?.code ?? "", "approve")).toMatchObject({ ok: true });
    expect(await kit.play({ ...write, runId: "r2" })).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(2);
    expect(kit.service.probe.calls).toHaveLength(1);
    await kit.play({ ...write, runId: "r3" });
    expect(kit.cards, "a release counts once").toHaveLength(3);
  });

  it("a declined call is declined once", async () => {
    kit.answers.push("nobody");
    await kit.play({ ...write, runId: "r1" });
    kit.host.waitingCalls.decide(kit.host.waitingCalls.list()[0]?.code ?? "", "decline");
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "declined" } });
    expect(kit.service.probe.calls).toEqual([]);
  });

  it("a run of the command line asks from within the call", async () => {
    kit.answers.push("allow-once");
    expect(await kit.play({ ...write, requester: {} })).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(1);
  });

  it("a scheduled run asks nobody", async () => {
    kit.answers.push("allow-once");
    const context = { sessionKey: "agent:main:cron:j1:run:r1" };
    expect(await kit.play({ ...write, requester: {}, context })).toMatchObject({
      outcome: { status: "needs_approval" },
    });
    expect(kit.cards).toEqual([]);
    expect(kit.host.waitingCalls.list()).toHaveLength(1);
    await kit.play({ ...write, requester: {}, context });
    const [event, ...more] = kit.recorded.events;
    expect(event, "the agent's own conversation is told, without a word of the call").toEqual({
      text: expect.stringMatching(/^(?!.*hello).*without a person.*\/svc pending/),
      sessionKey: "agent:main:main",
      agentId: "main",
      contextKey: "svc:waiting",
    });
    expect(more, "once for a call that waits already").toEqual([]);
    expect(kit.recorded.wakes).toMatchObject([{ intent: "event", agentId: "main", sessionKey: "agent:main:main" }]);
  });

  it("a person who writes in the host's own page, which names no sender, gets the card before the call", async () => {
    kit.answers.push("allow-once");
    const requester = { channel: "webchat", senderIsOwner: true };
    expect(await kit.play({ ...write, requester, runId: "r1" })).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.cards).toHaveLength(1);
    expect(kit.host.waitingCalls.list()).toEqual([]);
  });

  it.each([
    ["a scheduled run with a chat to answer to", { channel: "telegram", accountId: "default" }],
    ["a hook or a heartbeat in the main conversation", { channel: "telegram", senderIsOwner: true }],
  ])("%s asks nobody, is told the way on, and the main conversation is told once", async (_who, requester) => {
    kit.answers.push("allow-once");
    const run = { ...write, requester, runId: "r1" };
    const told = { status: "needs_approval", hint: expect.stringContaining("/svc pending") };
    expect(await kit.play(run)).toMatchObject({ blocked: false, outcome: told });
    expect(await kit.play(run)).toMatchObject({ blocked: false, outcome: told });
    expect(kit.cards).toEqual([]);
    expect(kit.host.waitingCalls.list()).toHaveLength(1);
    expect(kit.recorded.events).toMatchObject([{ sessionKey: "agent:main:main" }]);
    expect(kit.service.probe.calls).toEqual([]);
  });

  it("a card that the host refuses in spite of all leaves the call waiting, and the main conversation is told", async () => {
    kit.answers.push("nobody");
    await kit.play({ ...write, runId: "r1" });
    expect(kit.host.waitingCalls.list()).toHaveLength(1);
    expect(kit.recorded.events).toHaveLength(1);
  });

  it.each([
    ["a subagent", { context: { sessionKey: "agent:main:subagent:1" } }],
    ["the run that reads what a subagent found", { runId: "announce:v1:agent:main:subagent:1:r" }],
  ])("%s, whose card the host would refuse, gets none and is told the way on", async (_who, run) => {
    kit.answers.push("nobody");
    expect(await kit.play({ ...write, ...run })).toMatchObject({
      blocked: false,
      outcome: { status: "needs_approval", hint: expect.stringContaining("/svc pending") },
    });
    expect(kit.host.waitingCalls.list()).toHaveLength(1);
    expect(kit.recorded.events, "it has somebody to tell").toEqual([]);
  });

  it("a host that cannot be asked from within a call leaves the call waiting", async () => {
    kit.answers.push("deny");
    const { createHumanChannel } = await import("../../../../src/plugin/runtimes/openclaw/ask/human-channel.ts");
    const { session } = await kit.host.openAccount(undefined);
    const channel = createHumanChannel(kit.host, {}, "c1", { loadSdk: async () => undefined });
    const call = { callId: "c1", toolName: write.tool, arguments: write.args, approve: channel.approve };
    expect(channel.explain(await session.call(call))).toMatchObject({ code: "approval_required" });
    expect(kit.host.waitingCalls.list()).toMatchObject([{ state: "open", request: { tool: "probe_write_text" } }]);
  });
});

describe("a confirmation that the service asks for by surprise", () => {
  const read = { tool: "probe_echo", args: { text: "a" } };

  /** The plugin has read that nothing needs a confirmation before the owner of the service changes it. */
  beforeEach(async () => {
    await kit.play(read);
    const action = kit.service.probe.integration.actions.find(({ id }) => id === "echo");
    Object.assign(action ?? expect.fail(), { requiresConfirmation: true });
  });

  it("is put on a card from within the call, and the same call is sent again", async () => {
    kit.answers.push("allow-once");
    expect(await kit.play(read)).toMatchObject({ outcome: { status: "succeeded" } });
    const fromWithin = { pluginId: "svc", severity: "info", description: expect.stringContaining("Why: ") };
    expect(kit.cards).toMatchObject([fromWithin]);
    expect(kit.service.probe.calls).toHaveLength(2);
  });

  it.each([
    ["deny", "declined"],
    ["timeout", "needs_approval"],
    ["nobody", "needs_approval"],
  ] as const)("runs nothing after %s", async (answer, status) => {
    kit.answers.push(answer);
    expect(await kit.play(read)).toMatchObject({
      outcome: { status, hint: expect.stringMatching(/Do not make this call again/) },
    });
    expect(kit.service.probe.calls).toHaveLength(1);
  });
});

describe("several accounts", () => {
  beforeEach(async () => {
    await addConnection(kit.service.service, "Second", { scopes: [] });
  });

  it("are asked about within the call, with how long the choice counts, and the card follows", async () => {
    kit.answerQuestion = () => ({ status: "answered", answers: { answers: { account: ["Second: this call only"] } } });
    kit.answers.push("allow-once");
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.questions).toMatchObject([
      { sessionKey: "agent:main:main", questions: [{ header: "Account", options: { length: 4 } }], timeoutMs: 300_000 },
    ]);
    expect(readCard(kit.cards[0] ?? expect.fail())).toContain("Second");
    expect(kit.service.probe.calls).toMatchObject([{ connection: "Second" }]);
    await kit.play(write);
    expect(kit.questions).toHaveLength(2);
  });

  it("are remembered when the human says so", async () => {
    kit.answerQuestion = () => ({ status: "answered", answers: { answers: { account: ["second: from now on"] } } });
    kit.answers.push("allow-once", "allow-once");
    await kit.play(write);
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.questions).toHaveLength(1);
    expect(kit.service.probe.calls.map(({ connection }) => connection)).toEqual(["Second", "Second"]);
  });

  it("without an answer end the call with the list", async () => {
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "needs_connection", choices: { length: 2 } } });
    expect(kit.service.probe.calls).toEqual([]);
  });
});

describe("an app that is not connected", () => {
  beforeEach(() => kit.service.service.connections.remove(kit.service.connectionId));

  it("is shown as a link and used as soon as the human says that it is done", async () => {
    kit.answers.push("allow-once");
    kit.answerQuestion = async () => {
      await addConnection(kit.service.service, "New", { scopes: [] });
      return { status: "answered", answers: { answers: { connect: ["I have connected it"] } } };
    };
    expect(await kit.play(write)).toMatchObject({ outcome: { status: "succeeded" } });
    expect(kit.questions).toMatchObject([{ questions: [{ url: expect.stringContaining(kit.service.url) }] }]);
    expect(kit.cards, "the call is made again unchanged").toHaveLength(1);
    expect(kit.service.probe.calls).toMatchObject([{ connection: "New" }]);
  });

  it("ends the call with the link when the human does not want to, or nobody answers", async () => {
    for (const answer of [
      { status: "answered", answers: { answers: { connect: ["Not now"] } } },
      { status: "expired" },
    ]) {
      kit.answers.push("allow-once");
      kit.answerQuestion = () => answer;
      expect(await kit.play(write)).toMatchObject({
        outcome: { status: "needs_connection", connectUrl: expect.stringContaining(kit.service.url) },
      });
    }
    expect(kit.service.probe.calls).toEqual([]);
  });
});
