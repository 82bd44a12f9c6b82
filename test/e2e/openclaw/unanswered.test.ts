import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { HostState } from "./host/isolated-state.ts";
import { connectOperator, type Operator } from "./host/operator.ts";
import { runOpenClaw } from "./host/run-openclaw.ts";
import { patchConfig } from "./host/through-reload.ts";
import { useHost } from "./host/use-host.ts";

/** Calls that nobody answers: too late, nobody there, and no chat at all. */

const host = useHost();
let person: Operator;

/** Sets how long a card waits, in seconds; null is the default. */
async function setWait(approvalSeconds: number | null): Promise<void> {
  const { gateway, state } = host();
  const operator = await connectOperator(gateway, state);
  await patchConfig({ state, operator }, { plugins: { entries: { svc: { config: { approvalSeconds } } } } }, "plugins");
  await operator.close();
}

beforeAll(async () => {
  await setWait(15);
  // Nobody is at the gateway but whoever a test lets in.
  await host().operator.close();
});
afterAll(() => setWait(null));
afterEach(() => person?.close());

/** With the right to approve, but without an app that shows requests. */
const connectWithoutScreen = () => connectOperator(host().gateway, host().state, undefined, ["tool-events"]);

const write = (text: string) => ({
  tool: "svc_call_tool",
  args: { name: "probe_write_text", arguments: { text } },
});
const effects = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);

/** One turn; the results of its calls. */
async function play(
  sessionKey: string,
  calls: { tool: string; args: object }[],
  act: () => Promise<unknown> = async () => {},
) {
  host().model.playTurn(...calls, "Done.");
  const turn = await person.chat("Go on.", { sessionKey });
  await act();
  await turn.done;
  return host().model.requests.at(-1)?.results ?? [];
}

test("a write with two accounts asks which, and then for approval, both from within the call", async () => {
  person = await connectOperator(host().gateway, host().state);
  const { service } = host();
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
  person = await connectOperator(host().gateway, host().state);
  const [first, second] = await play("late", [write("late"), write("late")]);
  expect(first).toContain("Nobody answered the request for approval in time");
  expect(second).toContain("Do not make this call again now");
  const card = await person.take("plugin.approval.requested");
  await expect(person.request("plugin.approval.resolve", { id: card.id, decision: "allow-once" })).rejects.toThrow();
  expect(person.events.filter(({ event }) => event === "plugin.approval.requested")).toHaveLength(1);
  expect(effects("late")).toEqual([]);
});

test("a question nobody answers ends the call with the accounts", async () => {
  person = await connectOperator(host().gateway, host().state);
  const { connections } = host().service.service;
  const second = await connections.add({ integration: "probe", label: "Second", settings: {} });
  const call = { tool: "svc_call_tool", args: { name: "probe_echo", arguments: { text: "which" } } };
  const [result] = await play("no-answer", [call]);
  expect(result).toContain("needs_connection");
  expect(result).toContain("Second");
  expect(effects("which")).toEqual([]);
  await connections.remove(second.id);
});

test("with nobody to ask, the call waits for a command of a person, whose code no model sees", async () => {
  person = await connectWithoutScreen();
  const told = await play("alone", [write("alone"), write("alone")]);
  expect(told[0]).toContain("no approval route");
  expect(told[1]).toContain("/svc pending");
  const listed = await (await person.chat("/svc pending", { sessionKey: "alone" })).done;
  const [, code = ""] = /\b([2-9A-HJKMNP-TV-Z]{8})\b.*: alone /.exec(listed) ?? expect.fail(listed);
  host().model.playTurn("Done.");
  expect(await (await person.chat("And now?", { sessionKey: "alone" })).done).toBe("Done.");
  // The words of a person's own commands stay in the conversation, their answers do not.
  expect(host().model.requests.some(({ raw }) => raw.includes(code))).toBe(false);
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
  host().model.playTurn(write("cli"), "Done.");
  // Of an agent that no chat writes to: a run of one whose last words came from a chat is taken for nobody's.
  const run = () =>
    runOpenClaw(host().state as HostState, ["agent", "--agent", "helper", "--message", "Go on.", "--json"]);
  expect((await run()).code).toBe(0);
  expect(host().model.requests.at(-1)?.results).toEqual([expect.stringContaining("/svc pending")]);
  person = await connectOperator(host().gateway, host().state);
  const running = run();
  expect(await person.answerCard("allow-once")).toMatchObject({ title: "write_text (Probe account)" });
  await running;
  expect(host().model.requests.at(-1)?.results).toEqual([expect.stringContaining("succeeded")]);
  expect(effects("cli")).toHaveLength(1);
});
