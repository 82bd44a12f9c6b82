import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseAddress } from "../../../../src/apps/mail/mail-address.ts";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createRunner, refusal } from "../../run-action.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";

/** Address texts that a human and a mail program may read in two ways, with the server that records who gets the message. */

let dovecot: TestDovecot;
let smtp: TestSmtp;
const integration = createMailIntegration();

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await integration.close?.();
  await smtp?.close();
  await dovecot?.close();
});

function send(to: readonly string[]) {
  const servers = { imapHost: `127.0.0.1:${dovecot.tlsPort}`, smtpHost: `127.0.0.1:${smtp.port}`, ca: dovecot.ca };
  const settings = { ...servers, imapSecurity: "tls", smtpSecurity: "tls", address: ADDRESSES.ana, user: "ana" };
  const run = createRunner(integration, {
    files: {},
    now: Date.now,
    settings: { ...settings, password: PASSWORDS.ana },
  });
  return run("send_message", { to, subject: "s", body: "b" });
}

const HOSTILE = [
  "boss@corp.com evil@x.com",
  "a@exa mple.com",
  "evil@x.com(boss@corp.com)",
  "evil@x.com (boss@corp.com)",
  "boss@corp.com <evil@x.com>",
  '"boss@corp.com" <evil@x.com>',
  "boss＠corp.com <evil@x.com>",
  "Boss <boss@corp.com> <evil@x.com>",
  "Boss <boss@corp.com>, evil@x.com",
  "boss@corp.com\u200b",
  "boss@co\u00adrp.com",
  "Boss \u202e<moc.x@live>",
  "=?utf-8?q?boss=40corp.com?= <evil@x.com>",
  "group: boss@corp.com;",
  "(hidden) boss@corp.com",
  "Boss (the real one) <evil@x.com>",
  "<boss@corp.com> evil@x.com",
  "boss@corp.com;evil@x.com",
  "boss@corp.com\r\nRCPT TO:<evil@x.com>",
  "@x.com:boss@corp.com",
  '"boss"@corp.com',
  "boss@corp.com.",
];

test.each(HOSTILE)("is refused, and nobody gets anything: %j", async (text) => {
  smtp.taken.length = 0;
  const error = await refusal(send([text]));
  expect(error).toMatchObject({ status: 400 });
  expect(smtp.taken).toEqual([]);
});

test.each([
  ["ana@example.org", "ana@example.org"],
  ["Ana <ana@example.org>", "ana@example.org"],
  ['"Ana, of Sales" <ana@example.org>', "ana@example.org"],
  ["Zoë Müller-Łukasz <zoe@example.org>", "zoe@example.org"],
  ["<bob@example.org>", "bob@example.org"],
])("what is written in the usual ways is sent: %j", async (text, address) => {
  smtp.taken.length = 0;
  await send([text]);
  expect(smtp.taken.map(({ to }) => to)).toEqual([[address]]);
});

test("whatever is taken goes to the one address that stands in it, for any mixture of names, signs and addresses", async () => {
  const part = fc.constantFrom(
    ...["boss@corp.com", "evil@x.com", "Boss", "<", ">", "(", ")", '"', ",", ";", ":", " ", "\t", "\\", "@"],
    ...["\u200b", "\u202e", "＠", "=?utf-8?q?a?=", "é", "x.com", "<evil@x.com>", "<boss@corp.com>"],
  );
  const taken = new Map<string, string>();
  const text = fc.oneof(
    fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join("")),
    fc.tuple(fc.string({ maxLength: 12 }), part).map(([name, end]) => `${name} ${end}`),
  );
  fc.assert(
    fc.property(text, (given) => {
      const mailbox = parseAddress(given);
      if (mailbox === undefined) return;
      // The only thing in the whole text that looks like an address.
      expect(given.match(/[^\s<>"]+@[^\s<>"]+/g)).toEqual([mailbox.address]);
      taken.set(given, mailbox.address);
    }),
    { numRuns: 20_000, seed: 7 },
  );
  expect(taken.size).toBeGreaterThan(20);
  smtp.taken.length = 0;
  const some = [...taken].slice(0, 20);
  for (const [given] of some) await send([given]);
  // The letters of a domain have no case, and nodemailer writes them small.
  const written = some.map(([, address]) => [address.replace(/@.*$/s, (domain) => domain.toLowerCase())]);
  expect(smtp.taken.map(({ to }) => to)).toEqual(written);
});
