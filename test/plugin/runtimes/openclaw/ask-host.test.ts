import { describe, expect, it } from "vitest";
import {
  askDeferred,
  askQuestion,
  createAccountQuestion,
  createConnectQuestion,
  type HostQuestion,
} from "../../../../src/plugin/runtimes/openclaw/ask/ask-host.ts";
import {
  findApprovalWait,
  findCardWait,
  findQuestionWait,
} from "../../../../src/plugin/runtimes/openclaw/ask/human-channel.ts";
import type { HostApproval } from "../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";

const signal = new AbortController().signal;

describe("a card from within a call", () => {
  const card = {
    title: "t",
    description: "d",
    allowedDecisions: ["allow-once" as const, "deny" as const],
  };
  const ask = (requestDeferredPluginToolApproval: unknown, given = signal) =>
    askDeferred(
      { card, timeoutMs: 5, toolName: "x", toolCallId: "c", context: { sessionKey: "s" }, signal: given },
      async () => ({ requestDeferredPluginToolApproval }),
    );
  type Asked = { deferredApproval: { approval: HostApproval } };
  const answer = (resolution: string, result: unknown) => async (asked: Asked) => {
    await asked.deferredApproval.approval.onResolution?.(resolution as "deny");
    return result;
  };

  it.each([
    ["allow-once", { blocked: false }, "allow-once"],
    ["deny", { blocked: true }, "denied"],
    ["timeout", { blocked: true }, "timeout"],
    ["cancelled", { blocked: true }, "no_route"],
    ["allow-always", { blocked: false }, "no_route"],
    ["allow-once", { blocked: true }, "no_route"],
    ["allow-once", undefined, "no_route"],
    ["approved", { blocked: false }, "no_route"],
  ])("that ends as %s with %o counts as %3$s", async (resolution, result, expected) => {
    expect(await ask(answer(resolution, result))).toBe(expected);
  });

  it("is not approved without a word of the callback", async () => {
    expect(await ask(async () => ({ blocked: false, approvalResolution: "allow-once" }))).toBe("no_route");
  });

  it.each([
    ["missing", undefined],
    ["failing", async () => Promise.reject(new Error("x"))],
  ])("has no way to a human when the host's function is %s", async (_what, request) => {
    expect(await ask(request)).toBe("no_route");
  });

  it("ends with the call", async () => {
    const stop = new AbortController();
    const asked = ask(async () => stop.abort(), stop.signal);
    await expect(asked).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("a question", () => {
  const question: HostQuestion = { id: "q", header: "Q", question: "?", options: [{ label: "a" }, { label: "b" }] };
  const ask = (run: unknown, context: Parameters<typeof askQuestion>[1]["context"] = { sessionKey: "s" }) =>
    askQuestion(question, { context, timeoutMs: 5, signal }, async () => ({ runAgentHarnessGatewayQuestion: run }));
  const answered = { status: "answered", answers: { answers: { q: ["a"], none: [] } } };

  it("gives the answer", async () => {
    expect(await ask(async () => answered)).toBe("a");
  });

  it.each([
    ["expired", async () => ({ status: "expired" })],
    ["cancelled", async () => ({ status: "cancelled" })],
    ["something else", async () => "yes"],
    ["an error", async () => Promise.reject(new Error("session already has a pending agent input request"))],
    ["no function", undefined],
  ])("has no answer after %s", async (_what, run) => {
    expect(await ask(run)).toBeUndefined();
  });

  it("is not asked outside a conversation", async () => {
    expect(await ask(async () => answered, {})).toBeUndefined();
  });

  it("waits for the one before it in the same conversation", async () => {
    const asked: string[] = [];
    const first = Promise.withResolvers<unknown>();
    const begun = Promise.withResolvers<void>();
    const run = (name: string, result: Promise<unknown>) => async () => {
      asked.push(name);
      begun.resolve();
      return result;
    };
    const one = ask(run("one", first.promise));
    const two = ask(run("two", Promise.resolve(answered)));
    await begun.promise;
    expect(asked).toEqual(["one"]);
    expect(await ask(run("other", Promise.resolve(answered)), { sessionKey: "other" })).toBeDefined();
    first.resolve(answered);
    await Promise.all([one, two]);
    expect(asked).toEqual(["one", "other", "two"]);
  });

  it("is sent as text where the turn has a chat", async () => {
    const sent: unknown[] = [];
    const delivery = { send: async (message: unknown) => void sent.push(message) };
    type Asked = { delivery: { onBlockReply?: (reply: unknown) => Promise<void> } };
    const run = async ({ delivery: route }: Asked) => route.onBlockReply?.({ text: "Which?", channelData: {} });
    await ask(run, { sessionKey: "s", delivery });
    expect(sent).toEqual([{ text: "Which?" }]);
  });
});

describe("the question for an account", () => {
  const choice = (id: string, label: string, isDefault = false) => ({ id, label, ...(isDefault ? { isDefault } : {}) });
  const create = (...choices: ReturnType<typeof choice>[]) =>
    createAccountQuestion({ toolName: "mail_send", integration: "mail", choices });
  const labels = (question: HostQuestion) => question.options.map(({ label }) => label);

  it("fits one question for two accounts, the default first", () => {
    const { question, read } = create(choice("1", "Home"), choice("2", "Work", true));
    expect(labels(question)).toEqual([
      "Work: this call only",
      "Work: from now on",
      "Home: this call only",
      "Home: from now on",
    ]);
    expect(read("Home: From now on")).toEqual({ id: "1", remember: true });
    expect(read("Home")).toBeUndefined();
    expect(read("")).toBeUndefined();
  });

  it("asks for a name where there are more, which counts for good when that is typed", () => {
    const { question, read } = create(choice("1", "A"), choice("2", "B"), choice("3", "C"));
    expect(labels(question)).toEqual(["A", "B", "C"]);
    expect(question).toMatchObject({
      isOther: true,
      question: expect.stringContaining('type its name with "from now on"'),
    });
    expect(read("b")).toEqual({ id: "2", remember: false });
    for (const typed of ["C from now on", "c, From now on ", "3: from now on"]) {
      expect(read(typed)).toEqual({ id: "3", remember: true });
    }
  });

  it("lets further ones be typed, and never shows two answers alike", () => {
    const { question, read } = create(
      ...["A", "a", "B", "C", "D", ""].map((label, index) => choice(`${index}`, label)),
    );
    expect(labels(question)).toEqual(["A (0)", "a (1)", "B", "C"]);
    expect(question.question).toContain("D | (5)");
    expect(read(" d ")).toEqual({ id: "4", remember: false });
    expect(read("5")).toEqual({ id: "5", remember: false });
    expect(read("E")).toBeUndefined();
  });

  it("is not fooled by an account with such a name", () => {
    const { read } = create(choice("1", "From now on"), choice("2", "B"), choice("3", "B from now on"));
    expect(read("B from now on")).toEqual({ id: "3", remember: false });
    expect(read("From now on")).toEqual({ id: "1", remember: false });
  });

  it("keeps to the host's limits", () => {
    const all: HostQuestion[] = [create(choice("1", "A"), choice("2", "B"), choice("3", "C")).question];
    all.push(createConnectQuestion({ toolName: "t", integration: "i", url: "https://x.org/c", isReconnect: true }));
    for (const { id, header, options } of all) {
      expect(id).toMatch(/^[a-z][a-z0-9_]*$/);
      expect(header.length).toBeLessThanOrEqual(12);
      expect(options.length).toBeLessThanOrEqual(4);
    }
  });
});

describe("a wait", () => {
  const chat = { messageChannel: "webchat" };

  it("takes five minutes, as set, or the host's ten", () => {
    expect(findCardWait({ approvalSeconds: undefined })).toBe(300_000);
    expect(findCardWait({ approvalSeconds: 120 })).toBe(120_000);
    expect(findCardWait({ approvalSeconds: 999 })).toBe(600_000);
    expect(findQuestionWait({ approvalSeconds: 120 }, chat)).toBe(120_000);
  });

  it("is short for a question that may be before nobody's eyes", () => {
    expect(findQuestionWait({ approvalSeconds: undefined }, {})).toBe(60_000);
  });

  it("ends before Codex ends the call", () => {
    const config = { plugins: { entries: { codex: { enabled: true } } } };
    for (const context of [
      { ...chat, activeModel: { provider: "openai-codex" } },
      { ...chat, activeModel: { provider: "openai" }, config },
    ]) {
      expect(findApprovalWait({ approvalSeconds: undefined }, context)).toBe(75_000);
      expect(findQuestionWait({ approvalSeconds: 60 }, context)).toBe(60_000);
    }
    expect(findApprovalWait({ approvalSeconds: undefined }, { activeModel: { provider: "openai" } })).toBe(300_000);
  });
});
