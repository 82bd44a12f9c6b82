import { randomBytes } from "node:crypto";
import PostalMime from "postal-mime";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../../src/apps/mail/mail-integration.ts";
import { createRunner, holdFile, refusal } from "../../run-action.ts";
import { PASSWORDS, startDovecot, type TestDovecot, type TestUser } from "../kit/start-dovecot.ts";
import { ADDRESSES, startSmtp, type TestSmtp } from "../kit/start-smtp.ts";
import { writeMessage } from "../kit/write-message.ts";

let dovecot: TestDovecot;
let smtp: TestSmtp;
const integration = createMailIntegration();
const pdf = holdFile("march.pdf", "application/pdf", "%PDF-1.7 figures");
const photo = holdFile("photo.jpg", "image/jpeg", randomBytes(300_000));

beforeAll(async () => {
  dovecot = await startDovecot();
  smtp = await startSmtp(dovecot);
});
afterAll(async () => {
  await integration.close?.();
  await smtp?.close();
  await dovecot?.close();
});
beforeEach(async () => {
  smtp.taken.length = 0;
});
afterEach(async () => {
  smtp.faults = {};
  await dovecot.empty("ana");
  await dovecot.empty("bob");
});

function createSettings(user: TestUser, extra: Record<string, unknown> = {}) {
  return {
    address: ADDRESSES[user],
    name: user === "ana" ? "Ana A" : "Bob B",
    imapHost: `127.0.0.1:${dovecot.tlsPort}`,
    imapSecurity: "tls",
    smtpHost: `127.0.0.1:${smtp.port}`,
    smtpSecurity: "tls",
    user,
    password: PASSWORDS[user],
    ca: dovecot.ca,
    ...extra,
  };
}
const as = (
  user: TestUser,
  o: Partial<Parameters<typeof createRunner>[1]> & { extra?: Record<string, unknown> } = {},
) =>
  createRunner(integration, {
    files: { pdf, photo },
    now: Date.now,
    ...o,
    settings: createSettings(user, o.extra),
  });
const message = (extra: Record<string, unknown> = {}) => ({
  to: [ADDRESSES.bob],
  subject: "Figures",
  body: "Hello,\n\nsee attached.",
  ...extra,
});
const subjects = (answer: { messages: { subject: string }[] }) => answer.messages.map(({ subject }) => subject);
const only = (answer: { messages: { message_id: string }[] }) => {
  expect(answer.messages).toHaveLength(1);
  return answer.messages[0]?.message_id ?? "";
};

describe("sending", () => {
  it("sends five with attachments that arrive byte for byte, and files each once", async () => {
    const ana = as("ana");
    for (const number of [1, 2, 3, 4, 5]) {
      const attachments = [
        { name: "Zahlen März.pdf", mimetype: "application/pdf", s3key: "pdf" },
        { name: "photo.jpg", mimetype: "image/jpeg", s3key: "photo" },
      ];
      const sent = await ana("send_message", message({ subject: `Grüße ${number} 🎉`, attachments }));
      expect(sent).toMatchObject({ folder: "Sent", delivered_to: [ADDRESSES.bob], not_delivered_to: [] });
      expect(sent.note).toBeUndefined();
      const kept = await ana("read_message", { message_id: sent.message_id });
      expect(kept).toMatchObject({ subject: `Grüße ${number} 🎉`, unread: false, folder: "Sent" });
    }
    expect(smtp.taken).toHaveLength(5);
    expect((await dovecot.list("ana", "Sent")).map(({ flags }) => flags)).toEqual(Array(5).fill(["\\Seen"]));
    const kept: { name: string; bytes: Buffer }[] = [];
    const bob = as("bob", {
      async keepFile({ name }, stream) {
        const pieces: Uint8Array[] = [];
        for await (const piece of stream) pieces.push(piece);
        kept.push({ name, bytes: Buffer.concat(pieces) });
        return { s3key: `kept/${name}`, size: Buffer.concat(pieces).length };
      },
    });
    const unread = await bob("search", {});
    expect(subjects(unread)).toEqual([5, 4, 3, 2, 1].map((number) => `Grüße ${number} 🎉`));
    expect(unread.messages[0]).toMatchObject({ from: "Ana A <ana@example.org>", unread: true });
    expect(unread.messages[0].attachments).toEqual(["Zahlen März.pdf", "photo.jpg"]);
    const { message_id } = unread.messages[0];
    for (const [index, file] of [pdf, photo].entries()) {
      const got = await bob("get_attachment", { message_id, index });
      expect(got).toMatchObject({ size: file.size, sha256: file.sha256, file: { s3key: `kept/${got.name}` } });
    }
    expect(kept.map(({ bytes }) => holdFile("", "", bytes).sha256)).toEqual([pdf.sha256, photo.sha256]);
  });

  it("keeps Bcc from everybody but the sender's own copy", async () => {
    await as("ana")("send_message", message({ bcc: ["eve@example.org"] }));
    expect(smtp.taken[0]?.to).toEqual([ADDRESSES.bob, "eve@example.org"]);
    expect(smtp.taken[0]?.source).not.toContain("eve@");
    const [copy] = await dovecot.list("ana", "Sent");
    expect(copy?.source).toMatch(/^Bcc: eve@example\.org\r$/m);
    expect(copy?.source.replaceAll("\r\n", "")).not.toMatch(/[\r\n]/);
  });

  it("keeps a thread together", async () => {
    await dovecot.deliver(
      "ana",
      writeMessage({ subject: "Q", headers: { "Message-ID": "<q@example.com>", References: "<p@example.com>" } }),
    );
    const ana = as("ana");
    const reply_to_message_id = only(await ana("search", {}));
    await ana("send_message", message({ subject: "Re: Q", reply_to_message_id }));
    const { headers } = await PostalMime.parse(smtp.taken[0]?.source ?? "");
    const read = (key: string) => headers.find((header) => header.key === key)?.value;
    expect([read("in-reply-to"), read("references")]).toEqual(["<q@example.com>", "<p@example.com> <q@example.com>"]);
  });

  it("names the recipients the server refused, and sends to the others", async () => {
    smtp.faults = { recipients: { "nobody@example.org": "550 5.1.1 no such user" } };
    const sent = await as("ana")("send_message", message({ to: [ADDRESSES.bob, "nobody@example.org"] }));
    expect(sent).toMatchObject({ delivered_to: [ADDRESSES.bob], not_delivered_to: ["nobody@example.org"] });
    expect(sent.note).toContain("nobody@example.org: 550");
    expect(smtp.taken[0]?.to).toEqual([ADDRESSES.bob]);
  });

  const refusals: [string, TestSmtp["faults"], [number, string, boolean]][] = [
    [
      "unknown recipient",
      { recipients: { [ADDRESSES.bob]: "550 5.1.1 no such user" } },
      [400, "recipient_refused", false],
    ],
    [
      "recipient later",
      { recipients: { [ADDRESSES.bob]: "451 4.7.1 greylisted" } },
      [503, "provider_unavailable", true],
    ],
    ["sender refused", { sender: "550 5.7.1 not yours" }, [422, "message_refused", false]],
    ["busy", { sender: "451 4.3.0 come back" }, [503, "provider_unavailable", true]],
    ["too many", { sender: "450 4.7.0 too many messages" }, [429, "rate_limited", true]],
    ["spam", { message: "554 5.7.1 spam" }, [422, "message_refused", false]],
    ["too large", { message: "552 5.3.4 too big" }, [413, "message_too_large", false]],
    ["full", { message: "552 5.2.2 over quota" }, [422, "mailbox_full", false]],
    ["not now", { message: "451 4.3.0 try later" }, [503, "provider_unavailable", true]],
    ["cut inside the message", { cut: "inside" }, [503, "provider_unavailable", true]],
    ["cut after the message", { cut: "after" }, [500, "outcome_unknown", false]],
    ["babble after the message", { babble: true }, [500, "outcome_unknown", false]],
  ];
  it.each(refusals)("%s", async (_name, faults, [status, code, retryable]) => {
    smtp.faults = faults;
    const big = holdFile("big.bin", "application/octet-stream", randomBytes(4_000_000));
    const attachments = [{ name: "big.bin", mimetype: "application/octet-stream", s3key: "big" }];
    const error = await refusal(as("ana")("send_message", message({ attachments }), { big }));
    expect([error.status, error.code, error.options.retryable ?? false]).toEqual([status, code, retryable]);
    expect(error.options.hint ?? "retry-after").toBeTruthy();
    expect(smtp.taken).toHaveLength(code === "outcome_unknown" ? 1 : 0);
    expect(await dovecot.list("ana", "Sent")).toEqual([]);
  });

  it("names the recipient's argument when the server refuses it", async () => {
    smtp.faults = { recipients: { "x@example.org": "550 no", "y@example.org": "550 no" } };
    const error = await refusal(as("ana")("send_message", message({ to: ["x@example.org"], cc: ["y@example.org"] })));
    expect(error.options.extra).toEqual({ invalidFields: ["arguments.to[0]", "arguments.cc[0]"] });
  });

  it("says before sending that the server takes no message of that size", async () => {
    const small = await startSmtp(dovecot, { options: { size: 100_000 } });
    try {
      const ana = as("ana", { extra: { smtpHost: `127.0.0.1:${small.port}` } });
      const attachments = [{ name: "photo.jpg", mimetype: "image/jpeg", s3key: "photo" }];
      const error = await refusal(ana("send_message", message({ attachments })));
      expect([error.status, error.code]).toEqual([413, "message_too_large"]);
      expect(small.taken).toEqual([]);
    } finally {
      await small.close();
    }
  });

  it("was sent although it could not be filed, and says so", async () => {
    const tight = await startDovecot({ quota: 20 });
    try {
      const extra = { imapHost: `127.0.0.1:${tight.tlsPort}`, ca: tight.ca + dovecot.ca };
      const attachments = [{ name: "photo.jpg", mimetype: "image/jpeg", s3key: "photo" }];
      const ana = as("ana", { extra });
      const sent = await ana("send_message", message({ attachments }));
      expect(sent).toMatchObject({ message_id: null, delivered_to: [ADDRESSES.bob] });
      expect(sent.note).toMatch(/was sent, but its copy could not be filed.*no space left/);
      expect(smtp.taken).toHaveLength(1);
      const full = await refusal(ana("save_draft", message({ attachments })));
      expect([full.status, full.code]).toEqual([422, "mailbox_full"]);
    } finally {
      await tight.close();
    }
  });

  it("counts what it sent in the mailbox, also after a restart", async () => {
    await as("ana", { extra: { sendPerMinute: 2 } })("send_message", message());
    await as("ana", { extra: { sendPerMinute: 2 } })("send_message", message());
    const results = await Promise.allSettled(
      [1, 2].map(() => as("ana", { extra: { sendPerMinute: 3 } })("send_message", message())),
    );
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    const error = await refusal(as("ana", { extra: { sendPerMinute: 2 } })("send_message", message()));
    expect([error.status, error.code]).toEqual([429, "rate_limit"]);
    expect(smtp.taken).toHaveLength(3);
  });

  it("sends nothing from an account without an outgoing server", async () => {
    const error = await refusal(as("ana", { extra: { smtpHost: undefined } })("send_message", message()));
    expect([error.status, error.options.extra]).toEqual([422, { setting: "smtpHost" }]);
  });
});

describe("searching", () => {
  beforeEach(async () => {
    const at = (day: string) => new Date(`2026-11-${day}T12:00:00Z`);
    await dovecot.deliver("ana", writeMessage({ subject: "Trip to Rome", text: "The café is booked." }), {
      at: at("01"),
    });
    await dovecot.deliver(
      "ana",
      writeMessage({
        from: "bob@example.org",
        subject: "Invoice 17",
        text: "Please pay.",
        headers: { Cc: "team@example.org" },
      }),
      { at: at("05"), flags: ["\\Seen"] },
    );
    await dovecot.deliver(
      "ana",
      writeMessage({
        from: "shop@example.com",
        subject: "Rome offers",
        attachments: [{ name: "prices.csv", mimetype: "text/csv", bytes: Buffer.from("a,b") }],
      }),
      { at: at("10"), flags: ["\\Flagged"] },
    );
  });
  const [rome, invoice, offers] = ["Trip to Rome", "Invoice 17", "Rome offers"];
  const cases: [string, string[]][] = [
    ["", [offers, rome]],
    ["is:unread", [offers, rome]],
    ["is:read", [invoice]],
    ["is:any", [offers, invoice, rome]],
    ["is:flagged", [offers]],
    ["-is:flagged is:any", [invoice, rome]],
    ["from:anna", [rome]],
    ["from:ANNA@example.com", [rome]],
    ["from:example -from:bob", [offers, rome]],
    ["from:example from:bob", [invoice]],
    ["-from:bob -subject:offers", [rome]],
    ["cc:team", [invoice]],
    ["subject:rome", [offers, rome]],
    ['subject:"trip to rome"', [rome]],
    ["rome -from:shop", [rome]],
    ["-rome", [invoice]],
    ["has:attachment", [offers]],
    ["-has:attachment", [invoice, rome]],
    ["after:2026-11-05", [offers, invoice]],
    ["after:2026/11/5 before:2026-11-10", [invoice]],
    ["before:2026-11-05", [rome]],
    ["-after:2026-11-05", [rome]],
    ["before:2126-11-05", [offers, invoice, rome]],
    ["after:2126-11-05", []],
    ["cafe\u0301 booked", [rome]],
    ['"please pay"', [invoice]],
    ['"quote \\" and {5}"', []],
    ["nothing:here", []],
    ["in:Sent", []],
    ["in:archive", []],
  ];
  it.each(cases)("%j finds %j", async (query, wanted) => {
    expect(subjects(await as("ana")("search", { query }))).toEqual(wanted);
  });

  it("says that there is more, and shows how a message begins", async () => {
    const found = await as("ana")("search", { query: "is:any", limit: 2 });
    expect(found).toMatchObject({ more: true, folder: "INBOX" });
    expect(found.messages[1]).toMatchObject({
      snippet: "Please pay.",
      received: "2026-11-05T12:00:00.000Z",
      flagged: false,
    });
    expect(await as("ana")("search", { query: "is:any", limit: 3 })).toMatchObject({ more: false });
  });

  it("answers 404 for a folder that is not there", async () => {
    const error = await refusal(as("ana")("search", { folder: "Nope" }));
    expect([error.status, error.code]).toEqual([404, "not_found"]);
    expect(error.options.hint).toContain("INBOX");
  });

  it("knows the names of attachments behind a large one", async () => {
    const bytes = randomBytes(600_000);
    const attachments = ["one.bin", "two.bin"].map((name) => ({ name, mimetype: "application/octet-stream", bytes }));
    await dovecot.deliver("ana", writeMessage({ subject: "Large", attachments }));
    const { messages } = await as("ana")("search", { query: "subject:large" });
    expect(messages[0].attachments).toEqual(["one.bin", "two.bin"]);
  });
});

describe("reading and changing", () => {
  it("leaves a message unread, and turns HTML into text", async () => {
    await dovecot.deliver(
      "ana",
      writeMessage({ subject: "H", html: "<style>p{}</style><p>Hello <b>you</b> &amp; me</p>" }),
    );
    const ana = as("ana");
    const message_id = only(await ana("search", {}));
    expect(await ana("read_message", { message_id })).toMatchObject({ text: "Hello you & me", unread: true });
    expect(only(await ana("search", {}))).toBe(message_id);
    expect((await dovecot.list("ana"))[0]?.flags).toEqual([]);
  });

  it("marks several messages, also over folders", async () => {
    await dovecot.deliver("ana", writeMessage({ subject: "one" }));
    await dovecot.deliver("ana", writeMessage({ subject: "two" }), { folder: "Sent" });
    const ana = as("ana");
    const message_ids = [only(await ana("search", {})), only(await ana("search", { query: "is:any in:sent" }))];
    expect(await ana("mark_message", { message_ids, as: "flagged" })).toEqual({
      messages: [
        { message_id: message_ids[0], folder: "INBOX", unread: true, flagged: true },
        { message_id: message_ids[1], folder: "Sent", unread: true, flagged: true },
      ],
    });
    await ana("mark_message", { message_ids, as: "unflagged" });
    await ana("mark_message", { message_ids, as: "read" });
    expect((await dovecot.list("ana", "Sent"))[0]?.flags).toEqual(["\\Seen"]);
    const error = await refusal(ana("mark_message", { message_ids: [...message_ids, "none"], as: "unread" }));
    expect([error.status, error.code, error.options.type]).toEqual([404, "not_found", "provider"]);
    expect((await dovecot.list("ana"))[0]?.flags).toEqual(["\\Seen"]);
  });

  it("moves into folders that it makes, and tells the new ids", async () => {
    await dovecot.deliver("ana", writeMessage({ subject: "one" }));
    await dovecot.deliver("ana", writeMessage({ subject: "two" }));
    const ana = as("ana");
    const found = await ana("search", {});
    const message_ids = found.messages.map((one: { message_id: string }) => one.message_id);
    expect(
      await refusal(ana("move_message", { message_ids, subjects: ["two", "one"], folder: "Work/Über" })),
    ).toMatchObject({ status: 404 });
    const moved = await ana("move_message", {
      message_ids,
      subjects: ["two", "one"],
      folder: "Work/Über",
      create_folder: true,
    });
    expect(moved.messages.map((one: { folder: string }) => one.folder)).toEqual(["Work/Über", "Work/Über"]);
    expect(subjects(await ana("search", { folder: "work/über" }))).toEqual(["two", "one"]);
    const { message_id } = moved.messages[0];
    expect(await ana("read_message", { message_id })).toMatchObject({ folder: "Work/Über", subject: "two" });
    expect((await refusal(ana("read_message", { message_id: message_ids[0] }))).status).toBe(404);
    const listed = (await ana("list_folders", {})).folders;
    expect(listed[0]).toEqual({ name: "INBOX", messages: 0, unread: 0 });
    expect(listed).toContainEqual({ name: "Work/Über", messages: 2, unread: 2 });
    await ana("move_message", { message_ids: [message_id], subjects: ["two"], folder: "archive" });
    expect(await dovecot.list("ana", "Archive")).toHaveLength(1);
  });

  it.each(["a//b", "a\nb", "../x", "a%b", "/abs"])("refuses the folder name %j", async (folder) => {
    await dovecot.deliver("ana", writeMessage({ subject: "one" }));
    const ana = as("ana");
    const message_ids = [only(await ana("search", {}))];
    const error = await refusal(ana("move_message", { message_ids, subjects: ["one"], folder, create_folder: true }));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.folder"] }]);
  });

  it("deletes into Trash, once", async () => {
    await dovecot.deliver("ana", writeMessage({ subject: "one" }));
    const ana = as("ana");
    const { messages } = await ana("delete_message", {
      message_ids: [only(await ana("search", {}))],
      subjects: ["one"],
    });
    expect(messages[0]).toMatchObject({ folder: "Trash" });
    expect(await dovecot.list("ana", "Trash")).toHaveLength(1);
    expect(
      (await refusal(ana("delete_message", { message_ids: [messages[0].message_id], subjects: ["one"] }))).status,
    ).toBe(400);
  });

  it("moves nothing when a subject is not the one that a search shows", async () => {
    const encoded = "=?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n =?utf-8?q?_aus_Wien?=";
    await dovecot.deliver("ana", writeMessage({ subject: encoded }));
    await dovecot.deliver("ana", writeMessage({ subject: "two" }), { folder: "Sent" });
    const ana = as("ana");
    const message_ids = [only(await ana("search", {})), only(await ana("search", { query: "is:any in:sent" }))];
    for (const subjects of [
      ["Grüße aus Wien", "one"],
      ["two", "Grüße aus Wien"],
    ]) {
      const error = await refusal(ana("delete_message", { message_ids, subjects }));
      expect([error.status, error.code]).toEqual([400, "invalid_field_value"]);
    }
    expect(await dovecot.list("ana", "Trash")).toHaveLength(0);
    await ana("delete_message", { message_ids, subjects: ["Grüße aus Wien", "two"] });
    expect(await dovecot.list("ana", "Trash")).toHaveLength(2);
  });

  it("saves a draft that other programs take for one", async () => {
    const attachments = [{ name: "march.pdf", mimetype: "application/pdf", s3key: "pdf" }];
    const saved = await as("ana")("save_draft", message({ to: [], bcc: ["eve@example.org"], attachments }));
    expect(saved).toMatchObject({ folder: "Drafts", to: [], attachments: [{ sha256: pdf.sha256 }] });
    const [draft] = await dovecot.list("ana", "Drafts");
    expect(draft?.flags).toEqual(["\\Draft", "\\Seen"]);
    expect(draft?.source).toMatch(/^Bcc: eve/m);
    expect(await as("ana")("read_message", { message_id: saved.message_id })).toMatchObject({ subject: "Figures" });
    expect(smtp.taken).toEqual([]);
  });

  it("does not take a message for another one when the folder was made anew", async () => {
    const ana = as("ana");
    await dovecot.asClient("ana", (client) => client.mailboxCreate("Work/Sub"));
    await dovecot.asClient("ana", (client) => client.mailboxCreate("Work"));
    await dovecot.deliver("ana", writeMessage({ subject: "old" }), { folder: "Work" });
    const message_id = only(await ana("search", { folder: "Work" }));
    await dovecot.asClient("ana", (client) => client.mailboxDelete("Work"));
    expect((await refusal(ana("read_message", { message_id }))).status).toBe(404);
    await dovecot.asClient("ana", (client) => client.mailboxCreate("Work"));
    await dovecot.deliver("ana", writeMessage({ subject: "new" }), { folder: "Work" });
    const fresh = only(await ana("search", { folder: "Work" }));
    expect(fresh.split(".").at(-1)).toBe(message_id.split(".").at(-1));
    expect(fresh).not.toBe(message_id);
    expect((await refusal(ana("read_message", { message_id }))).status).toBe(404);
  });

  it("keeps two accounts apart", async () => {
    await dovecot.deliver("ana", writeMessage({ subject: "for ana" }));
    await dovecot.deliver("bob", writeMessage({ subject: "for bob" }));
    const [ana, bob] = [as("ana"), as("bob")];
    const answers = await Promise.all([1, 2, 3].flatMap(() => [ana("search", {}), bob("search", {})]));
    expect(answers.flatMap(subjects)).toEqual(["for ana", "for bob", "for ana", "for bob", "for ana", "for bob"]);
    const id = only(await ana("search", {}));
    expect((await refusal(bob("read_message", { message_id: id }))).status).toBe(404);
  });
});
