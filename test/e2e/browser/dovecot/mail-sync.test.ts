import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { sendToAna } from "../../../apps/mail/kit/mail-accounts.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../../../apps/mail/kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../../../apps/mail/kit/start-smtp.ts";
import { findBarriers, launchChromium, measureOverflow, openWindow, signIn } from "../chromium.ts";

let browser: Browser;
let dovecot: TestDovecot;
let smtp: TestSmtp;
let service: TestService;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
  service = await startTestService();
  page = await openWindow(browser, { colorScheme: "light", width: 390 });
  await signIn(page, await service.service.signInUrl());
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
  await smtp?.close();
  await dovecot?.close();
});

/** Fills the form as an owner who has his provider's help page beside it. */
async function connect(user: "ana" | "bob", password: string): Promise<void> {
  await page.goto(`${service.url}/connect/mail`);
  await page.getByRole("link", { name: "Type everything yourself" }).click();
  const folded = page.locator("details.more:not([open]) > summary");
  while ((await folded.count()) > 0) await folded.first().click();
  await page.getByLabel("Name", { exact: true }).fill(`Mail of ${user}`);
  await page.getByLabel("Mail address").fill(ADDRESSES[user]);
  await page.getByLabel("Incoming server (IMAP)").fill(`127.0.0.1:${dovecot.tlsPort}`);
  await page.getByLabel("Encryption to the incoming server").selectOption("TLS");
  await page.getByLabel("Outgoing server (SMTP)").fill(`127.0.0.1:${smtp.port}`);
  await page.getByLabel("Encryption to the outgoing server").selectOption("TLS");
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password or access token").fill(password);
  await page.getByLabel("Certificate of your own authority").fill(dovecot.ca);
  await page.getByRole("button", { name: "Connect Mail" }).click();
}

test("accounts are connected in the form, which says what is wrong, and the sync is approved in the browser", async () => {
  await connect("ana", "not it");
  await page.getByRole("alert").getByText("refused user and password").waitFor();
  expect(await page.getByLabel("Encryption to the incoming server").inputValue()).toBe("tls");
  expect(await findBarriers(page)).toEqual([]);
  expect(await measureOverflow(page)).toBe(0);
  for (const user of ["ana", "bob"] as const) {
    await connect(user, PASSWORDS[user]);
    await page.waitForURL("**/connections?notice=connected");
  }
  const [, ana, bob] = await service.service.connections.list("mail");
  await sendToAna(service, { bob: bob?.id ?? "" }, ["Quote for the terrace", "Invoice 7"]);
  const client = new SvcClient({ baseUrl: service.url, apiKey: service.apiKey });
  const input = { notionParent: "Tasks", mailConnectionId: ana?.id };
  const { flowId } = await client.startFlow({ flowTemplate: "mail_to_notes_tasks", input, triggerType: "agent" });
  await client.close();
  await page.goto(`${service.url}/flows/${flowId}`);
  await page.getByText("Approve to create 2 task pages").waitFor();
  await page.getByText("Quote for the terrace").first().waitFor();
  const folder = join(service.dataDir, "notes", "Tasks");
  const list = () => readdir(folder).catch(() => []);
  expect(await list()).toEqual([]);
  await page.getByRole("button", { name: "Approve" }).click();
  await page.getByText(/^Approved\. The flow /).waitFor();
  await expect.poll(list, { timeout: 30_000 }).toHaveLength(2);
  const texts = await Promise.all((await list()).map((name) => readFile(join(folder, name), "utf8")));
  expect(texts.join("\n")).toContain("From: bob@example.org");
}, 120_000);
