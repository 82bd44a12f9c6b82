import { once } from "node:events";
import { createServer } from "node:net";
import { afterEach, expect, test } from "vitest";
import { explainImapSignIn } from "../../../src/apps/mail/server/mail-failure.ts";
import { trySmtp } from "../../../src/apps/mail/server/send-by-smtp.ts";
import { readServerSettings } from "../../../src/apps/mail/server/server-settings.ts";
import { ServiceError } from "../../../src/service/service-error.ts";

/** How refusals of real providers, as their documents give them, are told to the owner. */

const closers: (() => void)[] = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});

const settings = (more: Readonly<Record<string, string>>) =>
  readServerSettings(
    { address: "ana@example.org", imapHost: "imap.example.org", password: "s3cret", ...more },
    undefined,
  );

/** The error that the IMAP library makes of a refusal. */
const refusal = (responseText: string, more: object = {}) =>
  Object.assign(new Error("Command failed"), { authenticationFailed: true, responseText, ...more });

/** An SMTP server that answers each line by the first rule that fits. */
async function startSmtp(rules: readonly (readonly [RegExp, string])[]) {
  const lines: string[] = [];
  const server = createServer((socket) => {
    socket.write("220 test\r\n");
    let rest = "";
    socket.on("data", (data) => {
      rest += data;
      const parts = rest.split("\r\n");
      rest = parts.pop() ?? "";
      for (const line of parts) {
        lines.push(line);
        const [, answer = "250 ok"] = rules.find(([rule]) => rule.test(line)) ?? [];
        socket.write(`${answer.replaceAll("\n", "\r\n")}\r\n`);
      }
    });
    socket.on("error", () => {});
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  closers.push(() => server.close());
  const address = server.address();
  const host = `127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return { lines, smtp: { smtpHost: host, smtpSecurity: "plain", signIn: "token" } };
}

async function explainSmtp(more: Readonly<Record<string, string>>): Promise<ServiceError> {
  const { smtp, ...rest } = settings(more);
  if (smtp === undefined) return expect.unreachable();
  const error = await trySmtp({ ...rest, smtp }, AbortSignal.timeout(10_000)).catch((reason: unknown) => reason);
  return error instanceof ServiceError ? error : expect.unreachable(String(error));
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const decode = (line: string | undefined) => Buffer.from(line?.split(" ")[2] ?? "", "base64").toString();

test.each([
  [
    { imapHost: "imap.gmail.com" },
    refusal("Application-specific password required: https://support.google.com/accounts/answer/185833 (Failure)"),
    "Google wants an app password, not the password of the account: https://myaccount.google.com/apppasswords",
  ],
  [{ imapHost: "imap.mail.me.com" }, refusal("Authentication Failed"), "iCloud wants an app password"],
  [{ imapHost: "imap.mail.yahoo.com" }, refusal("LOGIN Invalid credentials"), "Yahoo wants an app password"],
  [{ imapHost: "outlook.office365.com" }, refusal("LOGIN failed."), 'choose "Sign in at Microsoft"'],
  [
    { imapHost: "outlook.office365.com" },
    refusal("Authentication unsuccessful, basic authentication is disabled."),
    'choose "Sign in at Microsoft"',
  ],
  [
    { signIn: "microsoft", imapHost: "outlook.office365.com" },
    refusal("Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant."),
    "The settings of the account have to allow IMAP and SMTP first.",
  ],
  [{}, refusal("Please use an app password."), "Make an app password in the settings of the account"],
  [
    {},
    refusal("IMAP access is disabled for this account."),
    "The settings of the account have to allow IMAP and SMTP first.",
  ],
  [
    { signIn: "google", imapHost: "imap.gmail.com" },
    refusal("Invalid credentials (Failure)", {
      oauthError: { status: "400", schemes: "Bearer", scope: "https://mail.google.com/" },
    }),
    "refused the access token: Invalid credentials (Failure) (400, it wants the scope https://mail.google.com/).",
  ],
  [
    { signIn: "oauth2" },
    Object.assign(new Error("Unsupported authentication mechanism"), {}),
    "refused the access token: it offers neither XOAUTH2 nor OAUTHBEARER.",
  ],
])("an IMAP refusal says what to do: %j", (more, error, expected) => {
  const explained = explainImapSignIn(error, settings(more));
  expect([explained?.status, explained?.code]).toEqual([401, "needs_reauth"]);
  expect(explained?.message).toContain(expected);
  expect(explained?.message).not.toContain("s3cret");
});

test("what an SMTP server says of an access token is decoded, and the token is sent once", async () => {
  const { lines, smtp } = await startSmtp([
    [/^EHLO/, "250-test\n250 AUTH PLAIN XOAUTH2 OAUTHBEARER"],
    [/^AUTH XOAUTH2/, `334 ${encode({ status: "400", schemes: "Bearer", scope: "https://mail.google.com/" })}`],
    [/^$/, "535-5.7.8 Username and Password not accepted.\n535 5.7.8 See the help"],
  ]);
  const { message } = await explainSmtp(smtp);
  expect(message).toContain("(400, it wants the scope https://mail.google.com/)");
  expect(lines.filter((line) => line.startsWith("AUTH"))).toHaveLength(1);
  expect(decode(lines[1])).toBe("user=ana@example.org\u0001auth=Bearer s3cret\u0001\u0001");
});

test("a server that offers OAUTHBEARER only is signed in to with it", async () => {
  const { lines, smtp } = await startSmtp([
    [/^EHLO/, "250-test\n250 AUTH PLAIN OAUTHBEARER"],
    [/^AUTH OAUTHBEARER/, `334 ${encode({ status: "invalid_token", scope: "mail" })}`],
    [/^AQ==$/, "535 5.7.8 no"],
  ]);
  expect((await explainSmtp(smtp)).message).toContain("(invalid_token, it wants the scope mail)");
  expect(decode(lines[1])).toBe("n,a=ana@example.org,\u0001auth=Bearer s3cret\u0001\u0001");
  expect(lines[2]).toBe("AQ==");
});

test("a server that is busy is asked again later instead of a new sign-in", async () => {
  const { smtp } = await startSmtp([
    [/^EHLO/, "250-test\n250 AUTH XOAUTH2"],
    [/^AUTH/, "454 4.7.0 Temporary authentication failure"],
  ]);
  expect(await explainSmtp(smtp)).toMatchObject({ status: 503, code: "provider_unavailable" });
});
