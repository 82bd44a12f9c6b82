import { afterEach, expect, test } from "vitest";
import { type LossyProxy, startLossyProxy } from "../../plugin/calls/lossy-proxy.ts";
import { openBrowser, readCsrf } from "../../service/http/pages/browser.ts";
import { useHost } from "./host/use-host.ts";

/** What goes wrong between plugin and service, and how each ends: with the stated outcome, and nothing done twice. */

const host = useHost();
let proxy: LossyProxy | undefined;

afterEach(async () => {
  await host().redirect(host().service.port);
  await proxy?.close();
  proxy = undefined;
});

/** Puts a proxy between plugin and service that loses answers and counts requests. */
async function interpose(): Promise<LossyProxy> {
  const { service, redirect } = host();
  proxy = await startLossyProxy(`http://127.0.0.1:${service.port}`);
  await redirect(Number(new URL(proxy.url).port));
  return proxy;
}

/** One turn in which the model calls one tool; the result as the model reads it. */
async function callInTurn(
  sessionKey: string,
  tool: string,
  args: object,
  act: () => Promise<unknown> = async () => {},
) {
  const { model, operator } = host();
  model.playTurn({ tool, args }, "Done.");
  const turn = await operator.chat("Go on.", { sessionKey });
  await act();
  await turn.done;
  return model.requests.at(-1)?.results.at(-1) ?? "";
}

test("a confirmation that nobody expected is asked for within the call, and the call runs once", async () => {
  const { service, operator } = host();
  const action = service.lab.integration.actions.find(({ id }) => id === "fail");
  const countRuns = () => service.lab.ran.filter((id) => id === "fail").length;
  Object.assign(action ?? {}, { requiresConfirmation: true });
  const decline = () => operator.answerCard("deny");
  expect(await callInTurn("surprise-no", "lab_fail", { how: "never" }, decline)).toMatch(/declined|denied/i);
  expect(countRuns()).toBe(0);
  const approve = () => operator.answerCard("allow-once");
  expect(await callInTurn("surprise", "lab_fail", { how: "not at all" }, approve)).toMatch(/\bsucceeded\b/);
  expect(countRuns()).toBe(1);
});

test("an expired account: the person gets a link, and the call goes on when it is renewed", async () => {
  const { service, operator } = host();
  const [account] = await service.service.connections.list("lab");
  await service.service.connections.update(account?.id ?? "", { state: "reauth_required" });
  const renew = async () => {
    const { questions } = (await operator.take("question.requested")) as { questions: { question: string }[] };
    expect(questions[0]?.question).toContain(`${service.url}/`);
    await service.service.connections.update(account?.id ?? "", { state: "healthy" });
  };
  const before = service.lab.ran.length;
  expect(await callInTurn("expired", "lab_look", { text: "renewed" }, renew)).toMatch(/\bsucceeded\b/);
  expect(service.lab.ran.slice(before)).toEqual(["look"]);
});

test("no service: the call fails with the next step, and works again afterwards", async () => {
  const { redirect, invoke, service } = host();
  // With the accounts of this file: of several that another one had, a person would be asked for one.
  expect(await invoke("probe_echo", { text: "up" })).toMatchObject({ details: { status: "ok" } });
  await redirect(0);
  const failed = await callInTurn("down", "probe_echo", { text: "down" });
  expect(failed).toMatch(/\bfailed\b/);
  expect(failed).toMatch(/retry|again|reach/i);
  await redirect(service.port);
  expect(await invoke("probe_echo", { text: "up again" })).toMatchObject({ details: { status: "ok" } });
  expect(service.probe.calls.filter(({ args }) => args.text === "down")).toEqual([]);
});

test.each([
  ["once: it is asked for again under the same key", 1, /\bsucceeded\b/],
  ["for good: its result is unknown", 50, /\bunknown\b/],
])("the answer to a write is lost %s, and the write runs once", async (name, count, outcome) => {
  const { service, operator } = host();
  const lossy = await interpose();
  const loseAnswer = async () => {
    lossy.lose("/api/executions", count);
    await operator.answerCard("allow-once");
  };
  const text = `lost ${name}`;
  expect(await callInTurn(text, "probe_write_text", { text }, loseAnswer)).toMatch(outcome);
  expect(service.probe.calls.filter(({ args }) => args.text === text)).toHaveLength(1);
  const keys = lossy.passed
    .filter(({ method, path }) => method === "POST" && path === "/api/executions")
    .map(({ body }) => (JSON.parse(body) as { idempotency_key?: string }).idempotency_key);
  expect(keys.length).toBeGreaterThan(1);
  expect(new Set(keys).size).toBe(1);
});

test("a slow service: the turn waits for the one call that was sent", async () => {
  const { service, operator } = host();
  const slow = async () => {
    await operator.answerCard("allow-once");
    await service.lab.waiting;
    service.lab.release();
  };
  expect(await callInTurn("slow", "lab_wait", {}, slow)).toMatch(/\bsucceeded\b/);
  expect(service.lab.ran.filter((id) => id === "wait")).toHaveLength(1);
});

// Last, as the key cannot be given back.
test("a revoked key: nothing runs, nobody is asked in vain, and the person is told to pair again", async () => {
  const { service, invoke, operator } = host();
  const write = { text: "revoked write" };
  // A tool that nobody has used yet is looked at before the card, and would meet the refusal there.
  await callInTurn("before-revoked", "probe_write_text", write, () => operator.answerCard("deny"));
  await revokeKey();
  const before = service.probe.calls.length;
  const result = await callInTurn("revoked", "probe_echo", { text: "revoked" });
  expect(result).toMatch(/openclaw svc pair/);
  expect((await invoke("svc_search_tools", { query: "mail" })).text).toMatch(/openclaw svc pair/);
  const cards = countCards();
  const blocked = await callInTurn("revoked-write", "probe_write_text", write);
  expect(blocked).toMatch(/nobody was asked[\s\S]*Do not make this call again[\s\S]*openclaw svc pair/);
  expect(countCards()).toBe(cards);
  expect(service.probe.calls).toHaveLength(before);
});

function countCards(): number {
  return host().operator.events.filter(({ event }) => event === "plugin.approval.requested").length;
}

/** Revokes the host's key on the devices page. */
async function revokeKey(): Promise<void> {
  const { service } = host();
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const page = await browser.open(`${service.url}/devices`);
  const id = /OpenClaw on [\s\S]*?\/devices\/(key_\w+)\/revoke/.exec(page.text)?.[1];
  await browser.submit(`${service.url}/devices/${id}/revoke`, { csrf: readCsrf(page) });
}
