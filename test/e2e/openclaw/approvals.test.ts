import { expect, test } from "vitest";
import { parseExactly } from "../../../src/shared/base/exact-number.ts";
import { connectOperator } from "./host/operator.ts";
import { useHost } from "./host/use-host.ts";

/** What a person's answer to a card does in the real host, for action tools, for `svc_call_tool` and over HTTP. */

const host = useHost();

const write = (text: string) => ({ tool: "probe_write_text", args: { text } });

/** Effects of calls with this text. */
const effects = (text: string) => host().service.probe.calls.filter(({ args }) => args.text === text);

/** Cards shown in this session. */
function cardsOf(sessionKey: string) {
  const cards = host().operator.events.filter(({ event }) => event === "plugin.approval.requested");
  return cards.filter(({ payload }) => String((payload.request as Card).sessionKey).endsWith(`:${sessionKey}`));
}

interface Card {
  readonly sessionKey: string;
}

/** One turn of the agent; what its tool calls gave it. */
async function play(
  sessionKey: string,
  calls: { tool: string; args: object }[],
  act: () => Promise<unknown> = async () => {},
) {
  const { model, operator } = host();
  model.playTurn(...calls, "Done.");
  const turn = await operator.chat("Go on.", { sessionKey });
  await act();
  await turn.done;
  return model.requests.at(-1)?.results ?? [];
}

test.each([
  ["an action tool", "yes-action", write("yes action")],
  [
    "svc_call_tool",
    "yes-static",
    { tool: "svc_call_tool", args: { name: "probe_write_text", arguments: { text: "yes static" } } },
  ],
])("a yes to the card of %s runs the call once", async (_what, sessionKey, call) => {
  let card: Record<string, unknown> = {};
  const [result] = await play(sessionKey, [call], async () => {
    card = await host().operator.answerCard("allow-once");
  });
  const text = sessionKey.replace("-", " ");
  expect(card).toMatchObject({
    pluginId: expect.stringMatching(/^svc/),
    toolName: call.tool,
    title: "write_text (Probe account)",
    severity: "warning",
    allowedDecisions: ["allow-once", "allow-always", "deny"],
  });
  expect(card.description).toMatch(new RegExp(`probe_write_text, writes\ntext: ${text}\nWhy: .*\nAlways: `));
  expect(result).toContain("succeeded");
  expect(effects(text)).toHaveLength(1);
  expect(cardsOf(sessionKey)).toHaveLength(1);
});

test("a no runs nothing, and the same call in the same turn is refused without another card", async () => {
  const [first, second] = await play("no", [write("no"), write("no")], () => host().operator.answerCard("deny"));
  expect(first).toContain("Denied by user");
  expect(second).toContain("Do not make this call again");
  expect(cardsOf("no")).toHaveLength(1);
  const [third] = await play("no", [write("no")], () => host().operator.answerCard("allow-once"));
  expect(third, "the next message may ask again").toContain("succeeded");
  expect(effects("no")).toHaveLength(1);
});

test("always lets later calls through until it is taken back", async () => {
  const { operator } = host();
  await play("always", [write("always 1")], () => operator.answerCard("allow-always"));
  const [second] = await play("always", [write("always 2")]);
  expect(second).toContain("succeeded");
  expect(cardsOf("always")).toHaveLength(1);
  const listed = await (await operator.chat("/svc rules", { sessionKey: "always" })).done;
  expect(listed).toContain("probe_write_text");
  const revoked = await (await operator.chat("/svc rules revoke all", { sessionKey: "always" })).done;
  expect(revoked).toContain("Taken back");
  await play("always", [write("always 3")], () => operator.answerCard("deny"));
  expect(cardsOf("always")).toHaveLength(2);
  expect([1, 2, 3].map((count) => effects(`always ${count}`).length)).toEqual([1, 1, 0]);
});

test("over HTTP the request waits for the answer", async () => {
  const { invoke, operator } = host();
  const yes = invoke("probe_write_text", { text: "http" });
  await operator.answerCard("allow-once");
  expect(await yes).toMatchObject({ status: 200, details: { outcome: "succeeded" } });
  const no = invoke("probe_write_text", { text: "http" });
  await operator.answerCard("deny");
  expect(await no).toMatchObject({ status: 403 });
  expect(effects("http")).toHaveLength(1);
});

test("a number that the host rounded is refused; written as a text, its digits are on the card and at the app", async () => {
  const digits = "9007199254740993";
  // Where a tool of the host's own takes a number, the host makes one of a text.
  const call = (amount: unknown) => ({
    tool: "svc_call_tool",
    args: { name: "probe_write_text", arguments: { text: "digits", amount } },
  });
  const [rounded] = await play("digits", [call(parseExactly(digits))]);
  expect(rounded).toContain("too large a number");
  expect(cardsOf("digits")).toEqual([]);
  let card: Record<string, unknown> = {};
  await play("digits", [call(digits)], async () => {
    card = await host().operator.answerCard("allow-once");
  });
  expect(card.description).toContain(`amount: ${digits}`);
  expect(effects("digits").map(({ args }) => String(args.amount))).toEqual([digits]);
});

test("a read and a call that cannot work show no card", async () => {
  const [read, bad, unknown] = await play("no-card", [
    { tool: "lab_look", args: { text: "a read" } },
    { tool: "svc_call_tool", args: { name: "probe_write_text", arguments: { text: 1, other: 2 } } },
    { tool: "svc_call_tool", args: { name: "probe_write_txt", arguments: {} } },
  ]);
  expect(read).toContain("succeeded");
  expect(bad).toContain("invalid_arguments");
  expect(unknown).toContain("probe_write_text");
  expect(cardsOf("no-card")).toEqual([]);
});

test("what was cut from a card is shown by the code on it, to an operator", async () => {
  const { operator } = host();
  const text = `${"long ".repeat(400)}end`;
  let description = "";
  await play("cut", [write(text)], async () => {
    description = String((await operator.answerCard("deny")).description);
  });
  const [, code] = /NOT COMPLETE: .*\/svc show ([A-Z0-9]{8}) first/.exec(description) ?? expect.fail(description);
  const shown = await (await operator.chat(`/svc show ${code}`, { sessionKey: "cut" })).done;
  expect(shown.replaceAll(/\s|│/g, "")).toContain(text.replaceAll(/\s/g, "").slice(-200));
});

test("a client without the right to approve cannot reach the commands that decide", async () => {
  const { gateway, state } = host();
  const reader = await connectOperator(gateway, state, ["operator.read", "operator.write"]);
  const words = ["approve", "AAAAAAAA"];
  await expect(reader.request("svc.command", { words })).rejects.toThrow(/scope|operator\.approvals/i);
  await reader.close();
});
