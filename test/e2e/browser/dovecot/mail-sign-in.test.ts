import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startDovecot, type TestDovecot } from "../../../apps/mail/kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../../../apps/mail/kit/start-smtp.ts";
import { writeMessage } from "../../../apps/mail/kit/write-message.ts";
import { createFakeInternet, useWebServers } from "../../../service/fetch/fake-internet.ts";
import { execute } from "../../../service/http-calls.ts";
import { startProvider, type TestProvider } from "../../../service/sign-in/start-provider.ts";
import { findBarriers, LOOKS, launchChromium, measureOverflow, openWindow, signIn } from "../chromium.ts";

/** A person connects a mailbox from its address on, signs in at the provider, and does so again when that is over. */

const CONFIG = `<clientConfig version="1.1"><emailProvider id="example.org">
<incomingServer type="imap"><hostname>imap.example.org</hostname><port>993</port><socketType>SSL</socketType><authentication>OAuth2</authentication></incomingServer>
<outgoingServer type="smtp"><hostname>smtp.example.org</hostname><port>465</port><socketType>SSL</socketType></outgoingServer>
</emailProvider></clientConfig>`;
const MESSAGE = { to: [ADDRESSES.bob], subject: "Hello", body: "It is me." };

const startWeb = useWebServers();
const internet = createFakeInternet();
const dns = { resolveSrv: async () => [], resolveMx: async () => [], cancel() {} };

let browser: Browser;
let provider: TestProvider;
let dovecot: TestDovecot;
let smtp: TestSmtp;
let service: TestService;
let page: Page;

beforeAll(async () => {
  browser = await launchChromium();
  const mail = createMailIntegration({ lookup: { network: internet.network, dns } });
  service = await startTestService({ integrations: [mail] });
  const client = {
    client_id: "mail-client",
    client_secret: "secret of the mail client",
    redirect_uris: [`${service.url}/signed-in`],
    grant_types: ["authorization_code", "refresh_token"],
  };
  provider = await startProvider({ registers: false, clients: [client], account: "ana" });
  dovecot = await startDovecot({ inspect: async (token) => (await provider.inspect(token))?.accountId });
  smtp = await startSmtp(dovecot);
  await dovecot.deliver("ana", writeMessage({ subject: "one" }));
  page = await openWindow(browser, { colorScheme: "light", width: 1280 });
  await signIn(page, await service.service.signInUrl());
}, 60_000);

afterAll(async () => {
  await browser?.close();
  await service?.close();
  await smtp?.close();
  await dovecot?.close();
  await provider?.close();
});

/** The page is fit for everybody, in each look. */
async function checkLooks(): Promise<void> {
  for (const { colorScheme, width } of LOOKS) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    expect(await findBarriers(page)).toEqual([]);
    expect(await measureOverflow(page)).toBe(0);
  }
}

const find = async () => (await service.service.connections.list("mail")).at(-1) ?? expect.unreachable();
const search = async () => execute(service, "mail_search", { arguments: {}, connectionId: (await find()).id });
const send = async () =>
  execute(service, "mail_send_message", { arguments: MESSAGE, confirmed: true, connectionId: (await find()).id });

test("the form follows from the address, and the owner signs in at the provider", async () => {
  const web = await startWeb();
  web.handler = (_request, response) => response.end(CONFIG);
  internet.names.set("autoconfig.example.org", [["93.184.215.14"]]);
  internet.places.set("93.184.215.14", web.port);
  await page.goto(`${service.url}/connect/mail`);
  await checkLooks();
  await page.getByLabel("Mail address").fill(ADDRESSES.ana);
  await page.keyboard.press("Enter");
  await page.getByText("These are the servers that example.org names.").waitFor();
  expect(await page.getByLabel("Incoming server (IMAP)").inputValue()).toBe("imap.example.org");
  expect(await page.getByLabel("Sign in with").inputValue()).toBe("oauth2");
  await checkLooks();

  await page.getByLabel("Incoming server (IMAP)").fill(`127.0.0.1:${dovecot.tlsPort}`);
  await page.getByLabel("Outgoing server (SMTP)").fill(`127.0.0.1:${smtp.port}`);
  await page.getByText("Encryption", { exact: true }).click();
  await page.getByLabel("Encryption to the incoming server").selectOption("TLS");
  await page.getByLabel("Encryption to the outgoing server").selectOption("TLS");
  await page.getByLabel("Certificate of your own authority").fill(dovecot.ca);
  await page.getByRole("button", { name: "Connect Mail" }).click();
  await page.getByRole("alert").getByRole("link", { name: "Issuer" }).click();
  await page.getByLabel("Issuer").fill(provider.url);
  await page.getByLabel("Scopes").fill("openid email mail");
  await page.getByRole("button", { name: "Connect Mail" }).click();

  await page.getByText(`${service.url}/signed-in`).waitFor();
  await checkLooks();
  await page.getByLabel("Client id").fill("mail-client");
  await page.getByLabel("Client secret").fill("secret of the mail client");
  await page.getByRole("button", { name: "Go on" }).click();
  const link = page.getByRole("link", { name: /^Continue at/ });
  const asked = new URL((await link.getAttribute("href")) ?? "").searchParams;
  expect([asked.get("login_hint"), asked.get("scope")]).toEqual([ADDRESSES.ana, "openid email mail offline_access"]);
  await checkLooks();
  await link.click();
  await page.getByText("Connected. Agents can use it").waitFor();
  expect((await find()).label).toBe(ADDRESSES.ana);
  await page.getByRole("link", { name: ADDRESSES.ana }).click();
  await page.getByText(`${ADDRESSES.ana} at 127.0.0.1`).waitFor();
  await checkLooks();
  expect((await search()).json.result.messages).toHaveLength(1);
  expect((await send()).status).toBe(200);
}, 120_000);

test("a token that has ended is renewed, and a sign-in that was withdrawn asks for another one", async () => {
  const signInAgain = async () => {
    await page.goto(`${service.url}/connections/${(await find()).id}/reconnect`);
    await page.getByRole("button", { name: "Reconnect" }).click();
    await page.getByRole("link", { name: /^Continue at/ }).click();
    await page.getByText("Reconnected. Calls that were refused can be repeated.").waitFor();
  };
  provider.lifetime = 2;
  await signInAgain();
  const count = () => provider.grants().filter((grant) => grant === "refresh_token").length;
  const before = count();
  await expect.poll(async () => ((await search()).status === 200 ? count() : 0)).toBeGreaterThan(before + 1);
  provider.lifetime = 3_600;

  await provider.revokeAll();
  expect((await send()).json.error.code).toBe("needs_reauth");
  await page.goto(`${service.url}/connections`);
  await page.getByText("Sign-in needed").waitFor();
  await page.getByRole("link", { name: ADDRESSES.ana }).click();
  await page.getByText("The sign-in has ended or was withdrawn").waitFor();
  await checkLooks();
  await signInAgain();
  expect((await search()).status).toBe(200);
  expect((await send()).status).toBe(200);
}, 120_000);
