import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { type Browser, openBrowser, readCsrf } from "../../service/http/pages/browser.ts";
import { closeAll, closeLater, openTestSession, sayYes } from "./open-test-session.ts";

/** Mails that a human approved at the device, and stopped before they were sent. */

let service: TestService;
let browser: Browser;
let sent: string;

beforeEach(async () => {
  service = closeLater(await startTestService({ sendDelay: 60 }));
  const maildir = join(service.dataDir, "box");
  await mkdir(maildir);
  sent = join(maildir, ".Sent/cur");
  const settings = { maildir, address: "me@example.org" };
  await service.service.connections.add({ integration: "mail", label: "Letters", settings, isDefault: true });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(closeAll);

/** Id of the call that waits, once there is one. */
async function findWaiting(): Promise<string> {
  let id: string | undefined;
  await expect
    .poll(async () => {
      const { text } = await browser.open(`${service.url}/log`);
      id = /<a href="\/log\/(exe_\w+)">[\s\S]*?Can be stopped/.exec(text)?.[1];
      return id;
    })
    .toBeDefined();
  return id ?? "";
}

async function openSession() {
  const session = await openTestSession(service, { answer: sayYes });
  const [connection] = (await service.service.connections.list("mail")).filter(({ label }) => label === "Letters");
  const call = {
    callId: "1",
    toolName: "mail_send_message",
    arguments: { to: ["me@example.org"], subject: "Figures", body: "Hello" },
    connections: { mail: connection?.id ?? "" },
  };
  return { session, call };
}

test("the agent hears that its human stopped it, and is not asked again", async () => {
  const { session, call } = await openSession();
  const calling = session.call(call);
  const page = await browser.open(`${service.url}/log/${await findWaiting()}`);
  await browser.submit(`${service.url}/log/${await findWaiting()}/stop`, { csrf: readCsrf(page) });
  const outcome = await calling;
  expect(outcome).toMatchObject({ status: "failed", retryable: false });
  expect(outcome.message).toContain("was stopped by a human before anything was done");
  expect(outcome.hint).toContain("Do not send it again by yourself.");
  expect(session.asked).toHaveLength(1);
  await expect(readdir(sent)).rejects.toThrow("ENOENT");
});

test("a call that its human breaks off at the device is not sent", async () => {
  const { session, call } = await openSession();
  const breaking = new AbortController();
  const calling = session.call({ ...call, signal: breaking.signal });
  const id = await findWaiting();
  breaking.abort();
  await expect(calling).rejects.toThrow();
  const find = async () => (await browser.open(`${service.url}/log/${id}`)).text;
  await expect.poll(find).toContain("The caller went away before this ran.");
  await expect(readdir(sent)).rejects.toThrow("ENOENT");
});
