import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { type HostService, startHostService } from "./host/host-service.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { OPEN_HOST_MS, type OwnHost, openOwnHost } from "./host/own-host.ts";
import { runOpenClaw } from "./host/run-openclaw.ts";
import { startGateway } from "./host/start-gateway.ts";

/** Calls that nobody answers: too late, nobody there, no chat at all, and a gateway that dies in the middle. */

let dataDir: string;
let service: HostService;
let host: OwnHost;
let person: Operator;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-unanswered-"));
  service = await startHostService({ dataDir });
  host = await openOwnHost({ baseUrl: service.url, apiKey: service.apiKey, approvalSeconds: 15 });
}, OPEN_HOST_MS);

afterAll(async () => {
  await host?.close();
  await service?.close();
  await rm(dataDir, { recursive: true, force: true });
});

afterEach(() => person?.close());

/** With the right to approve, but without an app that shows requests. */
const connectWithoutScreen = () => connectOperator(host.gateway, host.state, undefined, ["tool-events"]);

const write = (text: string) => ({
  tool: "svc_call_tool",
  args: { name: "probe_write_text", arguments: { text } },
});
const effects = (text: string) => service.probe.calls.filter(({ args }) => args.text === text);

/** One turn; the results of its calls. */
async function play(
  sessionKey: string,
  calls: { tool: string; args: object }[],
  act: () => Promise<unknown> = async () => {},
) {
  host.model.playTurn(...calls, "Done.");
  const turn = await person.chat("Go on.", { sessionKey });
  await act();
  await turn.done;
  return host.model.requests.at(-1)?.results ?? [];
}

test("a write with two accounts asks which, and then for approval, both from within the call", async () => {
  person = await connectOperator(host.gateway, host.state);
  const second = await service.service.connections.add({ integration: "lab", label: "Second", settings: {} });
  const call = { tool: "svc_call_tool", args: { name: "lab_put", arguments: { title: "x" } } };
  await play("choice", [call], async () => {
    const asked = (await person.take("question.requested")) as { id?: unknown };
    const answers = { account: ["Second: this call only"] };
    await person.request("question.resolve", { id: asked.id, answers: { answers } });
    expect(await person.answerCard("deny")).toMatchObject({ title: expect.stringContaining("(Second)") });
  });
  expect(service.lab.ran).toEqual([]);
  await service.service.connections.remove(second.id);
});

test("a card nobody answers in time runs nothing and is not shown again in this turn", async () => {
  person = await connectOperator(host.gateway, host.state);
  const [first, second] = await play("late", [write("late"), write("late")]);
  expect(first).toContain("Nobody answered the request for approval in time");
  expect(second).toContain("Do not make this call again now");
  const card = await person.take("plugin.approval.requested");
  await expect(person.request("plugin.approval.resolve", { id: card.id, decision: "allow-once" })).rejects.toThrow();
  expect(person.events.filter(({ event }) => event === "plugin.approval.requested")).toHaveLength(1);
  expect(effects("late")).toEqual([]);
});

test("a question nobody answers ends the call with the accounts", async () => {
  person = await connectOperator(host.gateway, host.state);
  const second = await service.service.connections.add({ integration: "probe", label: "Second", settings: {} });
  const call = { tool: "svc_call_tool", args: { name: "probe_echo", arguments: { text: "which" } } };
  const [result] = await play("no-answer", [call]);
  expect(result).toContain("needs_connection");
  expect(result).toContain("Second");
  expect(effects("which")).toEqual([]);
  await service.service.connections.remove(second.id);
});

test("with nobody to ask, the call waits for a command of a person, whose code no model sees", async () => {
  person = await connectWithoutScreen();
  const told = await play("alone", [write("alone"), write("alone")]);
  expect(told[0]).toContain("no approval route");
  expect(told[1]).toContain("/svc pending");
  const listed = await (await person.chat("/svc pending", { sessionKey: "alone" })).done;
  const [code] = /\b[2-9A-HJKMNP-TV-Z]{8}\b/.exec(listed) ?? expect.fail(listed);
  host.model.playTurn("Done.");
  expect(await (await person.chat("And now?", { sessionKey: "alone" })).done).toBe("Done.");
  // The words of a person's own commands stay in the conversation, their answers do not.
  expect(host.model.requests.some(({ raw }) => raw.includes(code))).toBe(false);
  const approve = async () => (await person.chat(`/svc approve ${code}`, { sessionKey: "alone" })).done;
  expect(await approve(), "shown whole before a yes counts").toMatch(/^Not approved yet[\s\S]*text: alone/);
  expect(await approve()).toContain("Approved");
  const [result] = await play("alone", [write("alone")]);
  expect(result).toContain("succeeded");
  expect(effects("alone")).toHaveLength(1);
  expect(await play("alone", [write("alone"), write("alone")])).toMatchObject(
    [/no approval route/, /svc pending/].map((text) => expect.stringMatching(text)),
  );
  expect(effects("alone"), "a release counts once").toHaveLength(1);
});

test("a run of the command line: a connected person is asked, else it waits for a command", async () => {
  host.model.playTurn(write("cli"), "Done.");
  const run = () => runOpenClaw(host.state, ["agent", "--agent", "main", "--message", "Go on.", "--json"]);
  expect((await run()).code).toBe(0);
  expect(host.model.requests.at(-1)?.results).toEqual([expect.stringContaining("/svc pending")]);
  person = await connectOperator(host.gateway, host.state);
  const running = run();
  expect(await person.answerCard("allow-once")).toMatchObject({ title: "write_text (Probe account)" });
  await running;
  expect(host.model.requests.at(-1)?.results).toEqual([expect.stringContaining("succeeded")]);
  expect(effects("cli")).toHaveLength(1);
});

/** Makes the call, and makes it again when the host has lost its result. */
function insist(call: { tool: string; args: object }): void {
  host.model.play(({ results }) => (isResult(results.at(-1)) ? "Done." : call));
}

/**
 * Kills the gateway and starts it again. The host then goes on with the turn by itself, in a run that may show nobody a
 * card, and that may end before anybody is connected. Returns what the call gave the model in that run.
 */
async function restart(sessionKey: string): Promise<string> {
  const asked = host.model.requests.length;
  await host.gateway.kill();
  await person.close();
  host.gateway = await startGateway(host.state);
  person = await connectOperator(host.gateway, host.state);
  const result = await vi.waitFor(
    () =>
      host.model.requests
        .slice(asked)
        .findLast(({ results }) => isResult(results.at(-1)))
        ?.results.at(-1) ?? expect.fail(),
    { timeout: 120_000, interval: 100 },
  );
  await vi.waitFor(async () => expect(await isIdle(sessionKey)).toBe(true), { timeout: 120_000, interval: 250 });
  return result;
}

/** False for the words that stand in for a result the host has lost. */
const isResult = (text: string | undefined) => text !== undefined && !/missing tool result|^$/.test(text);

async function isIdle(sessionKey: string): Promise<boolean> {
  const { sessionInfo } = await person.request("chat.history", { sessionKey });
  return (sessionInfo as { hasActiveRun?: boolean } | undefined)?.hasActiveRun === false;
}

test("a gateway that dies while a card is open: nothing is sent, the old card is worth nothing, the call is asked about anew", async () => {
  person = await connectOperator(host.gateway, host.state);
  insist(write("killed"));
  const turn = await person.chat("Go on.", { sessionKey: "killed" });
  turn.done.catch(() => {});
  const card = await person.take("plugin.approval.requested");
  expect(await restart("killed")).toContain("/svc pending");
  await expect(person.request("plugin.approval.resolve", { id: card.id, decision: "allow-once" })).rejects.toThrow();
  expect(effects("killed")).toEqual([]);
  const again = await person.chat("Go on.", { sessionKey: "killed" });
  await person.answerCard("allow-once");
  await again.done;
  expect(effects("killed")).toHaveLength(1);
}, 300_000);

test("a gateway that dies while a write is on its way: it is not sent again by itself, and the next card says so", async () => {
  person = await connectOperator(host.gateway, host.state);
  insist({ tool: "svc_call_tool", args: { name: "lab_wait", arguments: {} } });
  const turn = await person.chat("Go on.", { sessionKey: "torn" });
  turn.done.catch(() => {});
  await person.answerCard("allow-once");
  await service.lab.waiting;
  expect(await restart("torn")).toContain("/svc pending");
  service.lab.release();
  const again = await person.chat("Go on.", { sessionKey: "torn" });
  expect((await person.answerCard("deny")).description).toContain("An equal call was sent before and never answered");
  await again.done;
  expect(service.lab.ran).toEqual(["wait"]);
}, 300_000);
