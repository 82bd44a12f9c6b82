import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { startTokenServer, type TokenServer } from "../../../service/connections/sign-in/kit/start-token-server.ts";
import { readStored } from "../../../service/find-store.ts";
import { type Browser, openBrowser, readCsrf } from "../../../service/http/pages/browser.ts";
import { execute } from "../../../service/http-calls.ts";
import { startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

/** A mailbox whose servers take access tokens only from a sign-in provider, as the service renews them. */

const MESSAGE = { to: [ADDRESSES.bob], subject: "Hello", body: "It is me." };

let dovecot: TestDovecot;
let smtp: TestSmtp;
let provider: TokenServer;
let service: TestService;
let dataDir: string;
let browser: Browser;
let id: string;

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
  provider = await startTokenServer((token) => {
    dovecot.tokens.clear();
    dovecot.tokens.set(token, "ana");
  });
  dataDir = await mkdtemp(join(tmpdir(), "svc-mail-oauth-"));
  await start();
  await dovecot.deliver("ana", writeMessage({ subject: "one" }));
}, 60_000);

afterAll(async () => {
  await service?.close();
  await provider?.close();
  await smtp?.close();
  await dovecot?.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Starts the service, again if it runs: then nothing is signed in any more. */
async function start(): Promise<void> {
  await service?.close();
  service = await startTestService({ dataDir });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
}

beforeEach(() => {
  provider.seen.length = 0;
});

async function connect(more: Record<string, string> = {}, { path = "/connect/mail", code = "code" } = {}) {
  const settings: Record<string, string> = {
    address: ADDRESSES.ana,
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    user: "ana",
    signIn: "oauth2",
    authUrl: "https://provider.test/page",
    tokenUrl: provider.url,
    ca: dovecot.ca.replaceAll("\n", " "),
    ...more,
  };
  const url = `${service.url}${path}`;
  const csrf = readCsrf(await browser.open(url));
  const fields = Object.entries(settings).map(([name, value]) => [`set.${name}`, value] as const);
  const page = await browser.submit(url, { csrf, label: "Ana", ...Object.fromEntries(fields) });
  const [, named] = /name="state" value="([^"]+)"/.exec(page.text) ?? [];
  const client = { "client-id": "mail-client", "client-secret": "mail's secret" };
  const next =
    named === undefined
      ? page
      : await browser.submit(`${service.url}/sign-in/client`, { csrf, state: named, ...client });
  const [, state] = /[?;]state=([\w-]+)/.exec(next.text) ?? [];
  if (state === undefined) return page;
  provider.codes.add(code);
  return browser.open(`${service.url}/signed-in?${new URLSearchParams({ state, code: "code" })}`);
}

const search = (connectionId = id) => execute(service, "mail_search", { arguments: {}, connectionId });
const send = () => execute(service, "mail_send_message", { arguments: MESSAGE, confirmed: true, connectionId: id });
const findConnection = async () =>
  (await service.service.connections.list("mail")).find(({ label }) => label === "Ana");

test("what is missing is named at its field", async () => {
  expect((await connect({ authUrl: "" })).text).toMatch(/id="set-authUrl-problem">[^<]*is needed to sign in/);
  expect((await connect({ tokenUrl: "http://example.org/" })).text).toMatch(
    /id="set-tokenUrl-problem">[^<]*not encrypted/,
  );
  expect((await connect({}, { code: "of nobody" })).text).toContain("Mail: The sign-in has ended or was withdrawn");
});

test("a sign-in connects the mailbox", async () => {
  const answer = await connect({ smtpHost: "127.0.0.1:1" });
  expect(answer.text).toContain('id="set-smtpHost-problem"');
  expect((await connect()).headers.location).toBe("/connections?notice=connected");
  id = (await findConnection())?.id ?? "";
});

test("both servers are signed in to with the access token, and no token is stored readable or shown", async () => {
  expect((await search()).json.result.messages).toHaveLength(1);
  expect((await send()).status).toBe(200);
  expect(smtp.taken).toHaveLength(1);
  expect(provider.seen).toEqual([]);
  expect(await readStored(dataDir)).not.toMatch(/mail's secret|refresh-\d|access-\d/);
  expect((await browser.open(`${service.url}/connections/${id}`)).text).not.toMatch(/refresh-\d|access-\d/);
});

test("a token that the servers refuse is renewed once and the call repeated; a message is sent once", async () => {
  dovecot.tokens.clear();
  smtp.taken.length = 0;
  expect((await send()).status).toBe(200);
  expect(smtp.taken).toHaveLength(1);
  expect(provider.seen).toHaveLength(1);
  await start();
  dovecot.tokens.clear();
  const answers = await Promise.all(Array.from({ length: 5 }, () => search()));
  expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
  expect(provider.seen).toHaveLength(2);
});

test("an ended sign-in stops the calls until the owner signs in again", async () => {
  dovecot.tokens.clear();
  provider.faults.push({ status: 400, body: '{"error":"invalid_grant","error_description":"Withdrawn by Ana."}' });
  const ended = await send();
  expect(ended.status).toBe(401);
  expect(ended.json.error).toMatchObject({
    code: "needs_reauth",
    message: "Mail: The sign-in has ended or was withdrawn: Withdrawn by Ana. (invalid_grant)",
  });
  expect(ended.json.canonical.recommended_next_action).toMatchObject({ input: { force_reconnect: true } });
  expect((await findConnection())?.state).toBe("reauth_required");
  expect((await search()).status).not.toBe(200);
  expect(provider.seen).toHaveLength(1);
  const page = await browser.open(`${service.url}/connections/${id}`);
  expect(page.text).toContain(`href="/connections/${id}/reconnect">Sign in again</a>`);

  const again = await connect({}, { path: `/connections/${id}/reconnect` });
  expect(again.headers.location).toBe(`/connections/${id}?notice=reconnected`);
  expect((await search()).status).toBe(200);
});
