import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ApprovalRequest } from "../../../../../src/plugin/calls/ask/request.ts";
import type { AskState } from "../../../../../src/plugin/runtimes/openclaw/ask/ask-state.ts";
import { runGatewayCommand } from "../../../../../src/plugin/runtimes/openclaw/commands/decision-commands.ts";
import { runSlashCommand } from "../../../../../src/plugin/runtimes/openclaw/commands/slash-command.ts";
import type { HostCommandContext } from "../../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import { registerCommands } from "../../../../../src/plugin/runtimes/openclaw/register-parts.ts";
import { readFacts } from "../../../../hostile/read-card.ts";
import { createFakeApi } from "../fake-api.ts";
import { createManyApp, createNumberedActions } from "../many-actions.ts";
import { openSyncKit, type SyncKit } from "../sync-kit.ts";

let kit: SyncKit;
let askState: AskState;

beforeEach(async () => {
  kit = await openSyncKit([numbered("crm", 3)]);
  askState = await kit.host.openAskState();
});

afterEach(() => kit.close());

const numbered = (slug: string, count: number) => createManyApp(slug, createNumberedActions(count));

const ADMIN = ["operator.read", "operator.write", "operator.approvals", "operator.admin"];

/** Sends a chat command as the client of the gateway or the person in a channel that `sender` describes. */
async function send(
  args: string,
  sender: Partial<HostCommandContext> = { gatewayClientScopes: ADMIN },
): Promise<string> {
  const context = {
    channel: "webchat",
    isAuthorizedSender: true,
    commandBody: `/svc ${args}`,
    config: kit.config.current,
    args,
  };
  const { text = "" } = await runSlashCommand({ host: kit.host, api: kit.api, context: { ...context, ...sender } });
  expect(text).not.toContain("svc_live_");
  return text;
}

const request = (more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  id: "1",
  fingerprint: "f1",
  tool: "crm_write_1",
  integration: "crm",
  account: "Sales",
  connection: "c1",
  arguments: { note: "hello" },
  files: [],
  effect: "write",
  title: "Write a note",
  description: "",
  reason: "it writes",
  expiresAt: "2026-01-01T00:00:00Z",
  ...more,
});

describe("who may use /svc", () => {
  test.each([
    ["a client that may approve", { gatewayClientScopes: ["operator.approvals"] }, true],
    ["an administrator's client", { gatewayClientScopes: ["operator.admin"] }, true],
    ["a client that may only write", { gatewayClientScopes: ["operator.read", "operator.write"] }, false],
    ["a client without rights that claims to be an owner", { gatewayClientScopes: [], senderIsOwner: true }, false],
    ["an owner in a channel", { senderIsOwner: true }, true],
    ["somebody else in a channel", { senderIsOwner: false }, false],
    ["somebody the host says nothing about", {}, false],
  ])("%s", async (_who, sender, isAllowed) => {
    const waitingCall = askState.waitingCalls.open(request());
    await send(`show ${waitingCall?.code}`, sender);
    const reply = await send(`approve ${waitingCall?.code}`, sender);
    expect(reply).toMatch(isAllowed ? /^Approved/ : /^Only an owner/);
    expect(askState.waitingCalls.isDecided("f1")).toBe(isAllowed);
  });

  test.each([
    ["sync apply 00000000", /Only an administrator/],
    ["unpair yes", /Only an administrator/],
    ["sync", /Apply exactly this/],
  ])("a client that may approve gets for %s", async (args, reply) => {
    expect(await send(args, { gatewayClientScopes: ["operator.approvals"] })).toMatch(reply);
    expect(kit.config.current).toEqual({});
  });

  test("nothing changes when the owner is one no more at the last moment", async () => {
    const hash = /apply (\w+)/.exec(await send("sync"))?.[1];
    const assertOwnerCurrent = () => {
      throw new Error("No owner any more.");
    };
    const reply = await send(`sync apply ${hash}`, { senderIsOwner: true, assertOwnerCurrent });
    expect(reply).toBe("No owner any more.");
    expect(kit.config.current).toEqual({});
  });

  test("the command and the gateway's method ask the host for the right to approve", () => {
    const { api, recorded } = createFakeApi();
    const methods: unknown[] = [];
    const registerGatewayMethod = (method: string, _run: unknown, options: unknown) =>
      void methods.push([method, options]);
    registerCommands({ ...api, registerGatewayMethod }, kit.host);
    expect(recorded.commands).toMatchObject([
      { name: "svc", requireAuth: true, requiredScopes: ["operator.approvals"] },
    ]);
    expect(methods).toEqual([["svc.command", { scope: "operator.approvals" }]]);
    expect(recorded.tools, "the model's tools lead nowhere near").toEqual([]);
  });
});

describe("/svc", () => {
  test.each([
    ["", /\/svc status/],
    ["help", /\/svc approve CODE/],
    ["frobnicate", /There is no \/svc frobnicate/],
    ["pair", /\/login svc/],
  ])("%s", async (args, reply) => {
    expect(await send(args)).toMatch(reply);
  });

  test.each(["status", "doctor"])("%s says what is not well", async (name) => {
    expect(await send(name)).toMatch(/accepted.*Not synced.*Fix: openclaw svc sync/s);
  });

  test("sync shows every name, and applies exactly what was shown", async () => {
    const shown = await send("sync");
    expect(shown).toMatch(/^Added:\n {2}crm_\w+ {2}\(\w+\)\n/);
    const hash = /\/svc sync apply ([0-9a-f]{8})$/.exec(shown)?.[1];
    expect(await send("sync"), "the same offer has the same hash").toBe(shown);
    expect(await send("sync apply 00000000")).toMatch(/not what would be applied now[\s\S]*Added:/);
    expect(kit.config.current).toEqual({});
    expect(await send(`sync apply ${hash}`)).toMatch(/offers the tools/);
    expect(JSON.stringify(kit.config.current)).toContain(kit.host.places.companion);
    expect(await send("sync")).toMatch(/nothing changes/);
  });

  test("sync does not apply an old hash to a new offer", async () => {
    const hash = /apply (\w+)$/.exec(await send("sync"))?.[1];
    await kit.offer(numbered("crm", 3), numbered("shop", 2));
    expect(await send(`sync apply ${hash}`)).toMatch(/not what would be applied now[\s\S]*shop_/);
    expect(kit.config.current).toEqual({});
  });

  test("sync cuts a list no chat can show, and says where the rest is", async () => {
    await kit.offer(numbered("crm", 100));
    const shown = await send("sync");
    expect(shown.split("\n").length).toBeLessThan(50);
    expect(shown).toMatch(/and \d+ more lines: openclaw svc sync shows them/);
  });

  test("pending, show and decline", async () => {
    expect(await send("pending")).toBe("No call waits for approval.");
    expect(await send("show")).toMatch(/Which one/);
    const waitingCall = askState.waitingCalls.open(request({ arguments: { note: "x".repeat(9000) } }));
    expect(await send("pending")).toMatch(
      new RegExp(`^\`\`\`\n${waitingCall?.code} {2}write .*Write a note: .* \\(2[34] h left\\)\n\`\`\`\n`),
    );
    const card = await send(`show ${waitingCall?.code.toLowerCase()}`);
    expect(readFacts(card.split("\n")).get("Arguments")).toEqual([`note: ${"x".repeat(9000)}`]);
    expect(card).toContain(`/svc approve ${waitingCall?.code}`);
    expect(card, "how long it waits, not how long a card would").toContain(
      `Expires   │ ${new Date(waitingCall?.expiresAt ?? 0).toISOString()}`,
    );
    expect(await send(`decline ${waitingCall?.code}`)).toMatch(/^Declined: Write a note/);
    expect(askState.waitingCalls.take("f1")).toBe("decline");
    expect(await send(`approve ${waitingCall?.code}`)).toMatch(/No request waits under this code/);
  });

  test("pending stands in a fence that no call closes: addresses are no links there, and nothing is escaped for it", async () => {
    const to = ["ada@example.org", "https://evil.example", "```[pay](https://evil.example)"];
    askState.waitingCalls.open(request({ title: "Send ``` a mail", arguments: { to } }));
    const [first, line, last, ...ways] = (await send("pending")).split("\n");
    expect([first, last, ways.length]).toEqual(["```", "```", 1]);
    expect(line).toContain('to: ["ada@example.org","https://evil.example","``\\u0060[pay]');
    expect(line?.match(/```/g)).toBeNull();
  });

  test("show also finds the card that the host showed cut", async () => {
    const code = askState.cards.add(request({ arguments: { note: "everything" } }), 60_000);
    expect(await send(`show ${code}`)).toContain("everything");
    expect(await send(`approve ${code}`), "its code releases nothing").toMatch(/No request waits/);
  });

  test("a yes to a call that was not shown whole shows it instead; the next one counts", async () => {
    const waitingCall = askState.waitingCalls.open(request({ arguments: { note: "everything" } }));
    const shown = await send(`approve ${waitingCall?.code} always`);
    expect(shown).toMatch(
      /^Not approved yet: read it first, then send the same command again\.\n```\n[\s\S]*note: everything/,
    );
    expect(askState.waitingCalls.isDecided("f1")).toBe(false);
    expect(await send(`approve ${waitingCall?.code}`)).toMatch(/^Approved: /);
    expect(askState.waitingCalls.take("f1")).toBe("approve");
  });

  test("what an approval lets through is said", async () => {
    const [once, always] = ["f1", "f2"].map((fingerprint) =>
      askState.waitingCalls.open(request({ fingerprint, account: "AccountSession", connection: "con_1" })),
    );
    for (const waitingCall of [once, always]) await send(`show ${waitingCall?.code}`);
    expect(await send(`approve ${once?.code}`)).toMatch(/let through once, a changed one is asked about again/);
    expect(await send(`approve ${always?.code} always`)).toMatch(/every call of crm_write_1 on AccountSession\.$/);
  });

  test("approve always stands only where a standing permission may", async () => {
    const dangerous = askState.waitingCalls.open(request({ effect: "delete" }));
    await send(`show ${dangerous?.code}`);
    expect(await send(`approve ${dangerous?.code} always`)).toMatch(/only for a call that writes/);
    expect(await send(`approve ${dangerous?.code} forever`)).toMatch(/only "always" may stand/);
    expect(askState.waitingCalls.isDecided("f1")).toBe(false);
  });

  test("rules lists what is always allowed, and takes back exactly the named one", async () => {
    expect(await send("rules")).toMatch(/^Nothing is always allowed/);
    const { session } = await kit.host.openAccount(undefined);
    const allow = (tool: string, principal = session.principal) =>
      session.rules.allow({ principal, tool, connection: "c1", effect: "write" });
    await allow("crm_a");
    await allow("crm_b");
    await allow("crm_a", "another account");
    const listed = await send("rules");
    expect(listed.match(/crm_\w+ on connection c1/g)).toEqual(["crm_a on connection c1", "crm_b on connection c1"]);
    const id = /^([0-9a-f]{8}) {2}crm_b/m.exec(listed)?.[1];
    expect(await send("rules revoke 00000000")).toMatch(/No permission has this id/);
    expect(await send("rules revoke")).toMatch(/Which one/);
    expect(await send(`rules revoke ${id}`)).toMatch(/^Taken back: crm_b/);
    expect(session.rules.list().map(({ tool, principal }) => [tool, principal === session.principal])).toEqual([
      ["crm_a", true],
      ["crm_a", false],
    ]);
    await send("rules revoke all");
    expect(session.rules.list()).toHaveLength(1);
  });

  test("unpair asks before it does anything", async () => {
    expect(await send("unpair")).toMatch(/\/svc unpair yes/);
    expect(await send("status")).toMatch(/accepted/);
  });
});

test("the gateway's method answers what only the gateway knows, and nothing else", async () => {
  const ask = async (words: unknown) => {
    const answers: unknown[] = [];
    await runGatewayCommand(kit.host, {
      params: { words },
      respond: (ok, payload) => void answers.push([ok, payload]),
    });
    return answers;
  };
  askState.waitingCalls.open(request());
  expect(await ask(["pending"])).toEqual([
    [true, expect.objectContaining({ exit: 0, data: [expect.objectContaining({ tool: "crm_write_1" })] })],
  ]);
  expect(await ask(["pending"]), "it is read in a terminal").toEqual([
    [true, expect.objectContaining({ text: expect.stringMatching(/: openclaw svc show CODE\./) })],
  ]);
  expect(JSON.stringify(await ask(["rules", "revoke"]))).toContain("openclaw svc rules lists them");
  for (const words of [["unpair", "yes"], ["sync"], ["status"], [], "pending", undefined]) {
    expect(await ask(words)).toEqual([[true, expect.objectContaining({ exit: 1 })]]);
  }
});
