import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PASSWORDS, startDovecot, type TestDovecot } from "../../../apps/mail/kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../../../apps/mail/kit/start-smtp.ts";
import { connectClient, type TestClient } from "../../../plugin/runtimes/mcp/mcp-client.ts";
import { startSvc } from "../../run-svc.ts";
import type { WatchedProcess } from "../../watch-process.ts";
import { findBarriers, launchChromium, measureOverflow, openWindow, signIn } from "../chromium.ts";

/** From nothing to mail that an MCP client sends: all on a phone of 390 pixels but two commands, each step counted. */

let browser: Browser;
let page: Page;
let dovecot: TestDovecot;
let smtp: TestSmtp;
let home: string;
let serving: WatchedProcess;
let client: TestClient | undefined;
const counted = { commands: 0, presses: 0, fields: 0 };

beforeAll(async () => {
  browser = await launchChromium();
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
  home = await mkdtemp(join(tmpdir(), "svc-first-day-"));
  page = await openWindow(browser, { colorScheme: "light", width: 390 });
});

afterAll(async () => {
  await client?.close();
  serving?.kill("SIGTERM");
  await serving?.done;
  await browser?.close();
  await smtp?.close();
  await dovecot?.close();
  await rm(home, { recursive: true, force: true });
});

/** Starts a command as a person types it. */
function type(...args: string[]): WatchedProcess {
  counted.commands += 1;
  return startSvc(args, "", { HOME: home, SVC_HOME: "", APPDATA: "", NODE_EXTRA_CA_CERTS: "" });
}

async function press(what: Locator): Promise<void> {
  counted.presses += 1;
  await what.click();
}

async function fill(label: string, text: string): Promise<void> {
  counted.fields += 1;
  await page.getByLabel(label, { exact: true }).fill(text);
}

const button = (name: string) => page.getByRole("button", { name, exact: true });
const link = (name: string) => page.getByRole("link", { name, exact: true });

/** The form for a mail server that no provider is known for. */
async function connectMail(): Promise<void> {
  await press(link("Connect mail"));
  await press(link("Type everything yourself"));
  const folded = page.locator("details.more:not([open]) > summary");
  while ((await folded.count()) > 0) await press(folded.first());
  await fill("Name", "Ana");
  await fill("Mail address", ADDRESSES.ana);
  await fill("Incoming server (IMAP)", `127.0.0.1:${dovecot.tlsPort}`);
  await page.getByLabel("Encryption to the incoming server").selectOption("TLS");
  await fill("Outgoing server (SMTP)", `127.0.0.1:${smtp.port}`);
  await page.getByLabel("Encryption to the outgoing server").selectOption("TLS");
  await fill("User name", "ana");
  await page.getByLabel("Password or access token").fill(PASSWORDS.ana);
  await page.getByLabel("Certificate of your own authority").fill(dovecot.ca);
  counted.fields += 4;
  await press(button("Connect Mail"));
  await page.waitForURL("**/connections?notice=connected");
}

/** `svc install`, the approval of the device, and the client that starts what its file then says. */
async function installClient(url: string): Promise<TestClient> {
  const installing = type("install", "--client", "cursor", "--base-url", url);
  const [, approval = ""] = await installing.waitFor(/approve the device: (\S+)/);
  await page.goto(approval);
  await press(button("Approve device"));
  expect((await installing.done).code, installing.output()).toBe(0);
  const { svc } = JSON.parse(await readFile(join(home, ".cursor/mcp.json"), "utf8")).mcpServers;
  return connectClient({ command: svc.command, args: svc.args, env: { HOME: home, ...svc.env } });
}

test("a new owner connects mail on a phone and approves what a client sends", async () => {
  const begun = performance.now();
  serving = type("serve", "--port", "0", "--data", join(home, "data"));
  const [, signInUrl = ""] = await serving.waitFor(/Sign in: (\S+)/);
  await signIn(page, signInUrl);
  counted.presses += 1;
  const dashboard = page.url();
  await page.getByRole("heading", { name: "First steps" }).waitFor();
  expect([...(await findBarriers(page)), await measureOverflow(page)]).toEqual([0]);

  await connectMail();
  client = await installClient(new URL(signInUrl).origin);
  const message = { to: [ADDRESSES.bob], subject: "Hello", body: "Sent by a client." };
  const told: string[] = [];
  const call = { name: "mail_send_message", arguments: message };
  const made = client.call("svc_call_tool", call, { onprogress: ({ message: text = "" }) => told.push(text) });
  await expect.poll(() => told.at(-1)).toContain("/inbox/");
  expect(await dovecot.list("bob")).toEqual([]);
  await page.goto(told.at(-1)?.split(": ").at(-1) ?? "");
  expect(await page.locator("main").textContent()).toContain(ADDRESSES.bob);
  expect([...(await findBarriers(page)), await measureOverflow(page)]).toEqual([0]);
  await press(button("Approve"));
  expect(await made, client.stderr()).toMatchObject({ status: "succeeded" });
  await expect
    .poll(async () => (await dovecot.list("bob")).map(({ source }) => source).join())
    .toContain("Subject: Hello");

  await page.goto(dashboard);
  expect(await page.locator("main").textContent()).toMatch(/Connect mail\s*Done/);
  const { commands, presses, fields } = counted;
  const seconds = Math.round((performance.now() - begun) / 1000);
  console.log(`first day: ${commands} commands, ${presses} presses, ${fields} fields; the machine took ${seconds} s`);
}, 120_000);
