import fc from "fast-check";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createPreviewer, createRunner, refusal } from "../../run-action.ts";
import { createImapHand } from "../kit/imap-hand.ts";
import { createAccount } from "../kit/mail-accounts.ts";
import { openProxy, type TestProxy } from "../kit/open-proxy.ts";
import { checkSeenCall, type Subject, seenCalls, writeCall } from "../kit/somebody-else.ts";
import { startDovecot, type TestDovecot } from "../kit/start-dovecot.ts";
import { startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

/** Calls on a mail server that were approved by what somebody saw, and what they are shown. */

// No server files copies of what is sent here.
const integration = createMailIntegration({ sleep: async () => {} });
let dovecot: TestDovecot;
let smtp: TestSmtp;
let line: TestProxy;
let subject: Subject;
const settings = (more: Record<string, unknown> = {}) => ({
  ...createAccount("ana", { dovecot, smtp }),
  ...{ imapHost: `127.0.0.1:${line.port}`, imapSecurity: "plain" },
  ...{ sendPerMinute: 1000, sendPerDay: 100_000 },
  ...more,
});

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
  line = await openProxy(dovecot.port);
  const options = { settings: settings(), now: Date.now };
  subject = {
    other: createImapHand(dovecot, "ana"),
    run: createRunner(integration, options),
    preview: createPreviewer(integration, options),
    runSeen: (expectedState) => createRunner(integration, { ...options, expectedState }),
  };
});
afterAll(async () => {
  await integration.close?.();
  await line?.close();
  await smtp?.close();
  await dovecot?.close();
});
afterEach(async () => {
  line.rule = () => undefined;
  await subject.other.empty();
});

it("acts on nothing that changed since it was shown", async () => {
  const numRuns = Number(process.env.SVC_FILES ?? 60);
  await fc.assert(
    fc.asyncProperty(seenCalls, (call) => checkSeenCall(subject, call)),
    { numRuns },
  );
});

/** Does something on the server before the first command of a kind, or another one of them, is sent on. */
function beforeCommand(command: RegExp, work: () => Promise<unknown>, which = 1): void {
  let seen = 0;
  line.rule = (text) => {
    if (!command.test(text)) return undefined;
    seen += 1;
    return seen === which ? { after: work() } : undefined;
  };
}

describe("a change by somebody else while the call runs", () => {
  it.each([
    ["mark", /UID FETCH/, 1],
    ["mark", /UID FETCH/, 2],
    ["mark", /UID STORE/, 1],
    ["move", /UID FETCH/, 1],
    ["move", /UID FETCH/, 2],
    ["delete", /UID FETCH/, 2],
  ] as const)("%s, before %s number %i, leaves everything as it is", async (action, command, which) => {
    const { other, preview, runSeen } = subject;
    await other.arrive("one", "");
    const [id, args] = await writeCall(subject, { action, as: "read", subjects: ["one"] });
    const { state } = await preview(id, args);
    beforeCommand(command, () => other.toggle("one", "F"), which);
    expect((await refusal(runSeen(state)(id, args))).code).toBe("state_changed");
    expect(await other.list()).toEqual(["INBOX one F"]);
  });

  it("marks the messages that are as they were shown, and says that it did", async () => {
    const { other, preview, runSeen } = subject;
    for (const name of ["one", "two"]) await other.arrive(name, "");
    const [id, args] = await writeCall(subject, { action: "mark", as: "read", subjects: ["one", "two"] });
    const { state } = await preview(id, args);
    beforeCommand(/UID STORE/, () => other.toggle("one", "F"));
    const refused = await refusal(runSeen(state)(id, args));
    expect([refused.code, refused.message]).toEqual([
      "outcome_unknown",
      expect.stringContaining("1 of 2 messages changed"),
    ]);
    expect(await other.list()).toEqual(["INBOX one F", "INBOX two S"]);
  });

  it("says so when a folder was made for it", async () => {
    const { other, preview, runSeen } = subject;
    await other.arrive("one", "");
    const [id, args] = await writeCall(subject, { action: "moveToNew", as: "read", subjects: ["one"] });
    const { state } = await preview(id, args);
    beforeCommand(/CREATE/, () => other.toggle("one", "F"));
    const refused = await refusal(runSeen(state)(id, args));
    expect([refused.code, refused.message]).toEqual([
      "outcome_unknown",
      expect.stringContaining('The new folder "Fresh" changed'),
    ]);
    expect(await other.list()).toEqual(["INBOX one F"]);
  });

  it("moves nothing out of a second folder once that has changed", async () => {
    const { other, preview, runSeen } = subject;
    for (const name of ["one", "two"]) await other.arrive(name, "");
    await other.move("two", "Drafts");
    const ids = await Promise.all(
      ["INBOX", "Drafts"].map(async (folder) => (await subject.run("search", { query: "is:any", folder })).messages[0]),
    );
    const args = { message_ids: ids.map(({ message_id }) => message_id), subjects: ["one", "two"], folder: "Junk" };
    const { state } = await preview("move_message", args);
    beforeCommand(/UID MOVE/, () => other.toggle("two", "F"));
    expect((await refusal(runSeen(state)("move_message", args))).code).toBe("outcome_unknown");
    expect(await other.list()).toEqual(["Drafts two F", "Junk one "]);
  });
});

const message = (extra: Record<string, unknown> = {}) => ({
  to: ["bob@example.org"],
  subject: "S",
  body: "B",
  ...extra,
});

describe("a message to send", () => {
  it("is not sent once the one that it answers was answered, or is gone", async () => {
    const { other, preview, runSeen } = subject;
    await other.arrive("one", "S");
    const [, args] = await writeCall(subject, { action: "send", as: "", subjects: ["one"] });
    const { state } = await preview("send_message", args);
    smtp.taken.length = 0;
    // After the message was read to be answered, and before it is sent.
    beforeCommand(/UID SEARCH/, () => other.toggle("one", "R"));
    expect((await refusal(runSeen(state)("send_message", args))).code).toBe("state_changed");
    await other.erase("one");
    expect((await refusal(runSeen(state)("send_message", args))).status).toBe(404);
    expect(smtp.taken).toEqual([]);
  });

  it("is shown with addresses that nothing was ever sent to or came from", async () => {
    const { preview } = subject;
    await dovecot.deliver("ana", writeMessage({ from: "Cy <cy@example.com>", subject: "Hi" }));
    const sent = writeMessage({ to: "bob@example.org.uk", subject: "x", headers: { Bcc: "Dee <DEE@müller.example>" } });
    await dovecot.deliver("ana", sent.replace("müller", "xn--mller-kva"), { folder: "Sent" });
    const to = ["bob@example.org", "Bob <BOB@example.org.uk>", "cy@example.com", "ana@example.org"];
    const seen = await preview("send_message", message({ to, bcc: ["dee@müller.example", "eve@example.net"] }));
    expect(seen.summary).toBe('Send "S" to bob@example.org and 5 more');
    expect(seen.effects).toEqual([
      ...["bob@example.org", "eve@example.net"].map((address) => ({
        code: "new_address",
        text: `New address: "${address}". Nothing in "Sent" went there, nothing in INBOX came from there.`,
      })),
      { code: "sends_outside", text: expect.stringMatching(/^It goes to 5 addresses outside this mailbox: bob@/) },
      { code: "hidden_copy", text: "The other recipients do not see the 2 hidden copies." },
      { code: "final", text: "Once it is sent, it cannot be taken back." },
      { code: "keeps_copy", text: 'A copy is kept in "Sent".' },
    ]);
  });

  it("is shown without them when the server is slow to search", async () => {
    const { preview } = subject;
    const { promise, resolve } = Promise.withResolvers<void>();
    let searches = 0;
    line.rule = (text) => {
      if (!/UID SEARCH/.test(text)) return undefined;
      searches += 1;
      return searches === 2 ? { after: promise } : undefined;
    };
    const { effects } = await preview("send_message", message({ to: ["eve@example.net"] }));
    resolve();
    expect(effects.map(({ code }) => code)).toEqual(["sends_outside", "final", "keeps_copy"]);
  });

  it("is refused before it is shown where nothing can be sent", async () => {
    const unsent = createPreviewer(integration, { settings: settings({ smtpHost: undefined }), now: Date.now });
    expect((await refusal(unsent("send_message", message()))).code).toBe("integration_misconfigured");
    const none = createPreviewer(integration, { settings: settings({ sendPerDay: 0 }), now: Date.now });
    expect((await refusal(none("send_message", message()))).code).toBe("rate_limit_day");
  });
});

it("shows a hundred messages of a folder by one FETCH", async () => {
  const { run, preview } = subject;
  await dovecot.asClient("ana", async (client) => {
    for (let index = 0; index < 50; index++)
      for (const word of ["one", "two"]) await client.append("INBOX", writeMessage({ subject: `${word} ${index}` }));
  });
  const found: { message_id: string; subject: string }[] = [];
  for (const word of ["one", "two"])
    found.push(...(await run("search", { query: `subject:${word}`, limit: 50 })).messages);
  const meant = { message_ids: found.map((one) => one.message_id), subjects: found.map((one) => one.subject) };
  const sent = line.sent.length;
  const seen = await preview("move_message", { ...meant, folder: "Archive", create_folder: true });
  expect(seen.objectCount).toBe(100);
  const commands = line.sent.slice(sent).join("");
  expect(commands.match(/UID FETCH/g)).toHaveLength(1);
});
