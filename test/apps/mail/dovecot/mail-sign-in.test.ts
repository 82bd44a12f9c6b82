import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readStored } from "../../../service/find-store.ts";
import { execute } from "../../../service/http-calls.ts";
import { type Owner, openOwner } from "../../../service/sign-in/owner.ts";
import { startProvider, type TestProvider } from "../../../service/sign-in/start-provider.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

/** A mailbox on a real Dovecot whose users sign in at a provider of its own, from the form to the end of the sign-in. */

const CLIENT = { "client-id": "mail-client", "client-secret": "secret of the mail client" };
const MESSAGE = { to: [ADDRESSES.bob], subject: "Hello", body: "It is me." };

let provider: TestProvider;
let dovecot: TestDovecot;
let smtp: TestSmtp;
let service: TestService;
let owner: Owner;
/** Users who may open Ana's mailbox with a token of their own. */
const guests = new Set<string>();

beforeAll(async () => {
  service = await startTestService();
  const client = {
    client_id: CLIENT["client-id"],
    client_secret: CLIENT["client-secret"],
    redirect_uris: [`${service.url}/signed-in`],
    grant_types: ["authorization_code", "refresh_token"],
  };
  provider = await startProvider({ registers: false, clients: [client], account: "ana" });
  const inspect = async (token: string) => {
    const account = (await provider.inspect(token))?.accountId;
    return account !== undefined && guests.has(account) ? "ana" : account;
  };
  dovecot = await startDovecot({ inspect });
  smtp = await startSmtp(dovecot);
  owner = await openOwner(service);
  await dovecot.deliver("ana", writeMessage({ subject: "one" }));
}, 60_000);

afterAll(async () => {
  await service?.close();
  await smtp?.close();
  await dovecot?.close();
  await provider?.close();
});

const fields = () => ({
  address: ADDRESSES.ana,
  imapHost: `127.0.0.1:${dovecot.tlsPort}`,
  imapSecurity: "tls",
  smtpHost: `127.0.0.1:${smtp.port}`,
  smtpSecurity: "tls",
  signIn: "oauth2",
  issuer: provider.url,
  scopes: "openid email mail",
  ca: dovecot.ca.replaceAll("\n", " "),
});
const findConnection = async () =>
  (await service.service.connections.list("mail")).find(({ settings }) => settings.signIn === "oauth2") ??
  expect.unreachable();
const search = async () =>
  execute(service, "mail_search", { arguments: {}, connectionId: (await findConnection()).id });
const send = async () =>
  execute(service, "mail_send_message", {
    arguments: MESSAGE,
    confirmed: true,
    connectionId: (await findConnection()).id,
  });
const reconnect = async () => {
  const { id } = await findConnection();
  return owner.signIn(`/connections/${id}/reconnect`, fields());
};

test("another account than the address is named when the servers refuse it", async () => {
  provider.account = "bob";
  const end = await owner.signIn("/connect/mail", fields(), CLIENT);
  expect(end).toContain("You signed in as bob@example.org, which is another account than the one you typed.");
  expect(end).toMatch(/id="set-signIn-problem">[^<]*refused the access token/);
  provider.account = "ana";
});

test("the owner signs in with a client of their own, and the mailbox can be searched and sent from", async () => {
  expect(await owner.signIn("/connect/mail", fields())).toBe("/connections?notice=connected");
  expect((await search()).json.result.messages).toHaveLength(1);
  expect((await send()).status).toBe(200);
  expect(smtp.taken).toHaveLength(1);
  const { id } = await findConnection();
  const page = await owner.browser.open(`${service.url}/connections/${id}`);
  expect(page.text).toContain(`<dt>Signed in</dt><dd>ana@example.org at ${new URL(provider.url).host}</dd>`);
  expect(await readStored(service.dataDir)).not.toContain("secret of the mail client");
});

test("a token that has ended is renewed, before a call and in the middle of it", async () => {
  provider.lifetime = 2;
  await reconnect();
  const count = () => provider.grants().filter((grant) => grant === "refresh_token").length;
  const before = count();
  await expect.poll(async () => ((await search()).status === 200 ? count() : 0), { timeout: 10_000 }).toBe(before + 2);
  expect((await send()).status).toBe(200);
  provider.lifetime = 3_600;
  await reconnect();
});

test("a sign-in that was withdrawn at the provider is over until the owner signs in again", async () => {
  await provider.revokeAll();
  smtp.taken.length = 0;
  const ended = await send();
  expect([ended.status, ended.json.error.code]).toEqual([401, "needs_reauth"]);
  expect(smtp.taken).toEqual([]);
  const { id, state } = await findConnection();
  expect(state).toBe("reauth_required");
  const page = await owner.browser.open(`${service.url}/connections/${id}`);
  expect(page.text).toContain(`href="/connections/${id}/reconnect">Sign in again</a>`);
  expect(page.text).toContain("Mail: The sign-in has ended or was withdrawn");
  expect((await search()).json.error.code).toBe("needs_reauth");
  expect(await reconnect()).toBe(`/connections/${id}?notice=reconnected`);
  expect((await search()).status).toBe(200);
});

test("another account that may open the mailbox is connected, and the difference shown", async () => {
  await owner.submit(`/connections/${(await findConnection()).id}/disconnect`, {});
  guests.add("bob");
  provider.account = "bob";
  const end = await owner.signIn("/connect/mail", fields());
  expect(end).toBe(`/connections/${(await findConnection()).id}?notice=other-account`);
  const page = await owner.browser.open(`${service.url}${end}`);
  expect(page.text).toContain("another account than the address you typed");
  expect(page.text).toContain("<dd>bob@example.org at ");
  expect((await search()).status).toBe(200);
});

test("a connection that is given a password instead forgets its sign-in", async () => {
  const { id } = await findConnection();
  const settings = { ...fields(), signIn: "password", password: PASSWORDS.ana };
  expect(await owner.signIn(`/connections/${id}/reconnect`, settings)).toBe(`/connections/${id}?notice=reconnected`);
  const page = await owner.browser.open(`${service.url}/connections/${id}`);
  expect(page.text).not.toContain("<dt>Signed in</dt>");
  expect(await service.service.connections.list("mail")).not.toContainEqual(
    expect.objectContaining({ settings: expect.objectContaining({ signInId: expect.anything() }) }),
  );
});

test.each([
  [
    "google",
    "accounts.google.com",
    { access_type: "offline", prompt: "consent", scope: /^https:\/\/mail\.google\.com\/ / },
  ],
  [
    "microsoft",
    "login.microsoftonline.com",
    {
      prompt: "select_account",
      scope:
        /^offline_access https:\/\/outlook\.office\.com\/IMAP\.AccessAsUser\.All https:\/\/outlook\.office\.com\/SMTP\.Send/,
    },
  ],
])("the owner's own client signs in at %s", async (signIn, host, { scope, ...params }) => {
  const { issuer: _, scopes: __, ...servers } = fields();
  const named = Object.entries({ ...servers, signIn }).map(([name, value]) => [`set.${name}`, value]);
  const asked = await owner.submit("/connect/mail", { label: "", ...Object.fromEntries(named) });
  expect(asked.text).toContain(`<code>${service.url}/signed-in</code>`);
  const [, state = ""] = /name="state" value="([^"]+)"/.exec(asked.text) ?? [];
  const page = await owner.submit("/sign-in/client", { state, ...CLIENT });
  const [, href = ""] = /href="([^"]+)" rel="noreferrer"/.exec(page.text) ?? [];
  const url = new URL(href.replaceAll("&amp;", "&"));
  expect(url.host).toBe(host);
  expect(Object.fromEntries(url.searchParams)).toMatchObject({ ...params, login_hint: ADDRESSES.ana });
  expect(url.searchParams.get("scope")).toMatch(scope);
});
