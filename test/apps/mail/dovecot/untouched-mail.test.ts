import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { checkWrite } from "../../untouched/check-write.ts";
import { MAIL_WRITES, openImapAccount } from "../../untouched/mail-writes.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";

/** Mailboxes of each write. `SVC_FILES=10000` is a matter of hours. */
const FILES = Number(process.env.SVC_FILES ?? 20);
const integration = createMailIntegration({ sleep: async () => {} });
let dovecot: TestDovecot;
let smtp: TestSmtp;

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await integration.close?.();
  await smtp?.close();
  await dovecot?.close();
});

it("leaves every message as it is that a write does not name", { timeout: 36_000_000 }, async () => {
  const settings = {
    address: ADDRESSES.ana,
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    sendPerMinute: 100_000,
    sendPerDay: 1_000_000,
    user: "ana",
    password: PASSWORDS.ana,
    ca: dovecot.ca,
  };
  await dovecot.asClient("ana", async (client) => {
    const account = openImapAccount(client, settings);
    for (const write of MAIL_WRITES) await checkWrite(write, { integration, account, files: FILES });
  });
  expect(smtp.taken).toHaveLength(FILES);
});
