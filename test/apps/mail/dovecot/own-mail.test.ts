import { afterAll, beforeAll, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createRunner } from "../../run-action.ts";
import { createTeller, listOwn, textOf } from "../../tell-authors.ts";
import { PASSWORDS, startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";

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

it("what an account on a server sent is told, by recipients and by its own lines", async () => {
  const settings = {
    address: ADDRESSES.ana,
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    user: "ana",
    password: PASSWORDS.ana,
    ca: dovecot.ca,
  };
  expect(textOf(await listOwn(integration, { settings }), "yours")).toContain(ADDRESSES.ana);
  const run = createRunner(integration, { settings, now: Date.now });
  const to = [`Bob B <${ADDRESSES.bob}>`];
  await run("send_message", { to, cc: [ADDRESSES.ana], subject: "First", body: "Code 42\n\n> Theirs" });
  await run("send_message", { to, subject: "Re: Second", body: "Yes" });
  const own = await listOwn(integration, { settings, now: Date.now });
  const text = textOf(own, "yours");
  for (const value of [`Bob B <${ADDRESSES.bob}>`, "First", "Code 42", "Yes"]) expect(text).toContain(value);
  expect(text).not.toContain("Theirs");
  expect(own.map(({ source }) => source.title ?? source.kind)).toEqual([
    "account",
    ...["Re: Second", "First"],
    ...["Re: Second", "First"],
  ]);
  // A copy of its own that came back could have been sent by anybody.
  const tell = createTeller(integration, { settings });
  expect(await tell("search", { query: "is:any" })).toMatchObject([{ source: { kind: "mail", whose: "somebody" } }]);
  expect(await tell("search", { query: "is:any in:Sent subject:First" })).toMatchObject([
    { source: { kind: "sent mail", whose: "yours" } },
    { source: { kind: "quoted mail", whose: "somebody" } },
  ]);
});
