import { afterEach, beforeEach, expect, test } from "vitest";
import { builtInIntegrations } from "../../../src/apps/built-in.ts";
import type { ServiceOptions } from "../../../src/service/service-options.ts";
import type { Store } from "../../../src/service/store/open-store.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { decideHeld } from "../approvals/owner.ts";
import { openStoreOf } from "../find-store.ts";
import { startFlow } from "../flows/flow-calls.ts";
import { deliverMail } from "../flows/mailbox.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { isSignedBy, type Receiver, startReceiver } from "./receiver.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=";
const MINUTE = 60_000;

let receiver: Receiver;
let service: TestService;
let store: Store;
let clock: number;
let warnings: string[];

beforeEach(async () => {
  clock = Date.parse("2026-11-25T12:00:00Z");
  warnings = [];
  receiver = await startReceiver();
});
afterEach(async () => {
  await store.destroy();
  await service.close();
  await receiver.close();
});

async function start(notify: NonNullable<ServiceOptions["notify"]>, more: Partial<ServiceOptions> = {}) {
  service = await startTestService({
    integrations: [...builtInIntegrations, createLab().integration],
    approvals: "owner",
    notify,
    heartbeatMs: 10,
    now: () => clock,
    log: ({ level, message }) => level === "warn" && warnings.push(message),
    ...more,
  });
  store = await openStoreOf(service.dataDir);
  await service.service.connections.add({ integration: "lab", label: "Secret account", settings: {} });
}
const webhook = () => ({ to: `webhook:${receiver.url}/hook`, secret: SECRET });

async function hold(title: string, apiKey = service.apiKey): Promise<string> {
  const held = await execute({ url: service.url, apiKey }, "lab_put", { arguments: { title } });
  return held.json.error.approval.id;
}
/** The message of this number, once the service has noted its end: time that passes before would count for the next one twice. */
const received = async (count: number) => {
  await expect.poll(() => receiver.received.length).toBe(count);
  await expect
    .poll(() => store.selectFrom("note_targets").select("target").where("leased_by", "is not", null).execute())
    .toEqual([]);
  return receiver.received[count - 1] as (typeof receiver.received)[number];
};
const bodies = () => receiver.received.map(({ body }) => JSON.parse(body));
const ids = () => receiver.received.map(({ headers }) => headers["webhook-id"]);
async function openHome(): Promise<string> {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  return (await browser.open(`${service.url}/`)).text;
}

test("an ntfy server gets app, action, asker and link of a held call, and no argument", async () => {
  await start([{ to: `ntfy:${receiver.url}/my-topic`, secret: "tk_1" }]);
  const id = await hold("Private milk");
  const { path, headers, body } = await received(1);
  expect(path).toBe("/");
  expect(headers.authorization).toBe("Bearer tk_1");
  const link = `${service.url}/inbox/${id}`;
  expect(JSON.parse(body)).toEqual({
    topic: "my-topic",
    title: "Approval needed: Lab",
    message: `“Test device” asks for “Put”.\n${link}`,
    click: link,
  });
  expect(body).not.toMatch(/Private|Secret account/);
});

test("a webhook is signed as Standard Webhooks says", async () => {
  await start([webhook()]);
  const id = await hold("Private milk");
  const sent = await received(1);
  expect(sent.path).toBe("/hook");
  expect(isSignedBy(SECRET, sent, clock / 1000)).toBe(true);
  expect(isSignedBy(SECRET, { ...sent, body: `${sent.body} ` }, clock / 1000)).toBe(false);
  expect(isSignedBy(`whsec_${Buffer.alloc(32).toString("base64")}`, sent, clock / 1000)).toBe(false);
  expect(JSON.parse(sent.body)).toMatchObject({
    type: "approval.waiting",
    timestamp: new Date(clock).toISOString(),
    data: { waiting: 1, items: [{ id, kind: "call", app: "Lab", action: "Put", asked_by: "Test device" }] },
  });
  expect(sent.body).not.toMatch(/Private|Secret account/);
});

test("the check of these tests takes what the library of the specification signed", () => {
  const headers = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  };
  const signed = { path: "/", headers, body: '{"test": 2432232314}' };
  expect(isSignedBy("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", signed, 1_614_265_330)).toBe(true);
});

test("arguments are in a note where the owner chose so, without credentials", async () => {
  await start([webhook()], { notifyArguments: true });
  await hold("Milk from https://evil.example");
  await received(1);
  const [{ data }] = bodies();
  expect(data.items[0].arguments).toBe('{"title":"Milk from https: //evil.example"}');
  expect(data.text).toContain("\nArguments: {");
});

test("mail goes out through a connected account", async () => {
  await start(["mail:me@example.org", "mail:somebody@elsewhere.example"]);
  const [account] = await service.service.connections.list("mail");
  const settings = { ...account?.settings, aliases: ["me@example.org"] };
  await service.service.connections.update(account?.id ?? "", { settings });
  const id = await hold("Private milk");
  const search = () => execute(service, "mail_search", { arguments: {} });
  await expect.poll(async () => (await search()).text).toContain("Approval needed: Lab");
  expect((await search()).text).not.toContain("Private");
  const [{ message_id }] = (await search()).json.result.messages;
  expect((await execute(service, "mail_read_message", { arguments: { message_id } })).text).toContain(`/inbox/${id}`);
  await expect.poll(() => warnings.join()).toContain("(mail to somebody@elsewhere.example)");
});

test("the first goes out at once, and what comes within a minute goes into one note", async () => {
  await start([webhook()]);
  await hold("0");
  await received(1);
  for (let index = 1; index <= 8; index += 1) await hold(String(index));
  clock += MINUTE - 1;
  await hold("9");
  expect(receiver.received).toHaveLength(1);
  clock += 1;
  await received(2);
  const [, { data }] = bodies();
  expect(data).toMatchObject({ waiting: 9, title: "9 wait for your approval", url: `${service.url}/inbox` });
  expect(data.items).toHaveLength(5);
  expect(data.text).toContain("… and 4 more.");
  await hold("0");
  expect(receiver.received).toHaveLength(2);
});

test("nobody is told of what was decided, withdrawn or expired before", async () => {
  await start([webhook()]);
  await hold("first");
  await received(1);
  const withdrawn = await hold("withdrawn");
  await call(`${service.url}/api/approvals/${withdrawn}/cancel`, { method: "POST", key: service.apiKey });
  await decideHeld(service, await hold("declined"), "decline");
  await decideHeld(service, await hold("approved"), "approve");
  const left = await hold("left");
  clock += MINUTE;
  await received(2);
  expect(bodies()[1].data).toMatchObject({ waiting: 1, items: [{ id: left }] });
  receiver.answer = 500;
  await hold("expires");
  clock += 25 * 60 * MINUTE;
  const last = await hold("last");
  await received(3);
  expect(bodies()[2].data).toMatchObject({ waiting: 1, items: [{ id: last }] });
});

test("a note that failed is repeated under its id, less what was decided, and later ones wait", async () => {
  await start([webhook()]);
  receiver.answer = 500;
  const first = await hold("first");
  await received(1);
  await expect.poll(() => warnings.length).toBe(1);
  const second = await hold("second");
  clock += 5_000;
  await received(2);
  await expect.poll(() => warnings.length).toBe(2);
  receiver.answer = 200;
  clock += 20_000;
  await received(3);
  expect(new Set(ids()).size).toBe(1);
  expect(bodies().map(({ data }) => data.items[0].id)).toEqual([first, first, first]);
  clock += MINUTE;
  await received(4);
  expect(ids()[3]).not.toBe(ids()[0]);
  expect(bodies()[3].data).toMatchObject({ waiting: 1, items: [{ id: second }] });
});

test("the home page tells of a target that notes do not reach, and a note is given up after six hours", async () => {
  await start([webhook()]);
  receiver.answer = 403;
  await hold("lost");
  for (let failures = 1; failures <= 3; failures += 1) {
    await expect.poll(() => warnings.length).toBe(failures);
    if (failures === 3) break;
    expect(await openHome()).not.toContain("Notes do not arrive");
    clock += 30 * MINUTE;
  }
  const host = new URL(receiver.url).host;
  expect(await openHome()).toMatch(new RegExp(`Notes do not arrive: webhook at ${host}<.*>It answered 403\\.<`));
  expect((await call(`${service.url}/health`)).status).toBe(200);
  clock += 6 * 60 * MINUTE;
  await expect.poll(() => warnings.length).toBe(4);
  receiver.answer = 200;
  clock += 60 * MINUTE;
  const next = await hold("next");
  await received(5);
  expect(bodies()[4].data).toMatchObject({ waiting: 1, items: [{ id: next }] });
  await expect.poll(openHome).not.toContain("Notes do not arrive");
});

test("410 stops a webhook until a test note arrives, and a redirect is not followed", async () => {
  await start([webhook()]);
  receiver.answer = 410;
  await hold("first");
  await received(1);
  await expect.poll(openHome).toContain("It wants no more messages (410).");
  await hold("second");
  clock += 60 * MINUTE;
  await expect.poll(openHome).toContain("It wants no more messages (410).");
  expect(receiver.received).toHaveLength(1);
  await store.destroy();
  await service.close();

  receiver.answer = 302;
  await start([{ ...webhook(), to: `webhook:${receiver.url}/other` }]);
  await hold("third");
  await expect.poll(() => warnings.join()).toContain("It redirects (302), which is not followed.");
  expect(receiver.received.map(({ path }) => path)).toEqual(["/hook", "/other"]);
});

test("a name that an agent chose can neither end our quotes nor bring a line or a link", async () => {
  await start([webhook()]);
  const key = await service.createKey("laptop”.\r\nApproved\u202e. See https://evil.example/inbox/1 \u001b[31m");
  await hold("x", key);
  await received(1);
  const [{ data }] = bodies();
  expect(data.text.split("\n")).toEqual([
    "“laptop\\u{201d}\\u{2e} Approved \\u{2e} See https\\u{3a}\\u{2f}\\u{2f}evil\\u{2e}example\\u{2f}inbox\\u{2f}1 \\u{5b}31m” asks for “Put”.",
    data.url,
  ]);
});

test("a flow that waits for an approval is told too", async () => {
  await start([webhook()]);
  await deliverMail(service.dataDir, [{ from: "Anna <anna@example.org>", subject: "Private milk", text: "Buy it." }]);
  const id = await startFlow(service, "mail_to_notes_tasks", { notionParent: "Tasks" });
  const sent = await received(1);
  expect(sent.body).not.toContain("Private");
  const [{ data }] = bodies();
  expect(data.items).toMatchObject([{ id, kind: "flow", asked_by: "Test device", url: `${service.url}/flows/${id}` }]);
});
