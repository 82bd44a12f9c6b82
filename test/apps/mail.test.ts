import { mkdir, readdir, readFile, rename, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import PostalMime from "postal-mime";
import { beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../src/apps/mail/mail-integration.ts";
import { fromDiskName, toFolderParts } from "../../src/apps/mail/maildir-names.ts";
import { useTempFolder } from "../service/files/temp-folder.ts";
import { expectMode } from "../suites/this-system.ts";
import { createRunner, holdFile, NOW, type RunnerOptions, refusal } from "./run-action.ts";

const mailIntegration = createMailIntegration();
const temp = useTempFolder();
let maildir = "";
let run: ReturnType<typeof createRunner>;

const pdf = holdFile("march.pdf", "application/pdf", "%PDF-1.7 figures");
const ME = "me@localhost";

function createMailRunner(options: Partial<RunnerOptions> & { settings?: Record<string, unknown> } = {}) {
  return createRunner(mailIntegration, {
    files: { pdf },
    ...options,
    settings: { maildir, address: ME, ...options.settings },
  });
}

beforeEach(async () => {
  maildir = join(temp(), "mail");
  await mkdir(maildir);
  run = createMailRunner();
});

/** Puts a message where another mail program would. */
async function arrive(seconds: number, headers: Record<string, string>, body: string, flags?: string): Promise<string> {
  const id = `${seconds}.M0P9Q1.other`;
  const box = flags === undefined ? "new" : "cur";
  await mkdir(join(maildir, box), { recursive: true });
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
  await writeFile(join(maildir, box, flags === undefined ? id : `${id}:2,${flags}`), `${head.join("")}\n${body}`);
  return id;
}

const day = (text: string) => Date.parse(text) / 1000;
const ids = (answer: { messages: { message_id: string }[] }) => answer.messages.map((one) => one.message_id);
const note = (extra: Record<string, unknown> = {}) => ({
  to: ["anna@example.org"],
  subject: "March figures",
  body: "Hello,\n\nsee attached.",
  ...extra,
});
const attached = { attachments: [{ name: "Zahlen März.pdf", mimetype: "application/pdf", s3key: "pdf" }] };

describe("mail_send_message", () => {
  it("files a message that other programs read under Sent, marked as seen", async () => {
    const sent = await run(
      "send_message",
      note({ cc: ["Bob B <bob@example.org>"], bcc: ["eve@example.org"], subject: "Grüße 🎉", ...attached }),
    );
    expect(sent).toMatchObject({
      folder: "Sent",
      from: ME,
      to: ["anna@example.org"],
      cc: ["bob@example.org"],
      bcc: ["eve@example.org"],
      delivered_to: [],
    });
    expect(sent.not_delivered_to).toEqual(["anna@example.org", "bob@example.org", "eve@example.org"]);
    expect(sent.note).toContain("not sent over the network");
    expect(sent.attachments).toEqual([
      { name: "Zahlen März.pdf", mimetype: "application/pdf", size: pdf.size, sha256: pdf.sha256 },
    ]);
    const [name] = await readdir(join(maildir, ".Sent/cur"));
    expect(name).toBe(`${sent.message_id}:2,S`);
    const raw = await readFile(join(maildir, ".Sent/cur", name ?? ""));
    expect(raw.includes("\r")).toBe(false);
    expectMode(join(maildir, ".Sent/cur", name ?? ""), 0o600);
    const message = await PostalMime.parse(raw);
    expect(message).toMatchObject({
      subject: "Grüße 🎉",
      from: { address: ME },
      messageId: sent.message_id_header,
      date: new Date(NOW).toISOString().replace(".000", ".000"),
    });
    expect(message.bcc?.[0]?.address).toBe("eve@example.org");
    expect(message.text?.trim()).toBe("Hello,\n\nsee attached.");
    expect(Buffer.from(message.attachments[0]?.content as ArrayBuffer).toString()).toBe("%PDF-1.7 figures");
    expect(message.attachments[0]?.filename).toBe("Zahlen März.pdf");
    expect(await readdir(join(maildir, ".Sent/tmp"))).toEqual([]);
  });

  it("delivers to the mailbox's own addresses, unread and without Bcc", async () => {
    const own = createMailRunner({ settings: { aliases: ["team@example.org"], name: "Me" } });
    const sent = await own("send_message", note({ to: ["TEAM@example.org", "x@example.org"], bcc: [ME] }));
    expect(sent).toMatchObject({ delivered_to: ["TEAM@example.org", ME], not_delivered_to: ["x@example.org"] });
    const { messages } = await own("search", {});
    expect(messages).toHaveLength(1);
    expect(messages[0]).toMatchObject({ unread: true, from: `Me <${ME}>` });
    const [file] = await readdir(join(maildir, "new"));
    expect(await readFile(join(maildir, "new", file ?? ""), "utf8")).not.toMatch(/^bcc:/im);
  });

  const injections: [string, Record<string, unknown>, string][] = [
    ["subject line", { subject: "a\r\nBcc: x@example.org" }, "subject"],
    ["subject LF", { subject: "a\nb" }, "subject"],
    ["subject NUL", { subject: "a\u0000" }, "subject"],
    ["recipient line", { to: ["a@b.org\nBcc: x@example.org"] }, "to.0"],
  ];
  it.each(injections)("refuses header injection: %s", async (_name, extra, path) => {
    const error = await refusal(run("send_message", note(extra)));
    expect([error.status, error.code]).toEqual([400, "invalid_arguments"]);
    expect(error.options.details?.join()).toContain(path);
    expect(await readdir(maildir)).toEqual([]);
  });

  it.each([
    [{ to: ["a@b.org, c@d.org"] }, "to[0]"],
    [{ to: ["a@b.org", "nobody"] }, "to[1]"],
    [{ cc: ["Group: a@b.org, c@d.org;"] }, "cc[0]"],
    [{ bcc: ["<@>"] }, "bcc[0]"],
    [{ attachments: [{ name: "x", mimetype: "text/plain\nX: y", s3key: "pdf" }] }, "attachments[0].mimetype"],
  ])("names the field of %j", async (extra, field) => {
    const error = await refusal(run("send_message", note(extra)));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: [`arguments.${field}`] }]);
    expect(await readdir(maildir)).toEqual([]);
  });

  it("keeps a thread together", async () => {
    const id = await arrive(
      day("2026-11-19"),
      { From: "anna@example.org", Subject: "Q", "Message-ID": "<q@example.org>", References: "<p@example.org>" },
      "?",
    );
    await run("send_message", note({ reply_to_message_id: id }));
    const [file] = await readdir(join(maildir, ".Sent/cur"));
    const raw = await readFile(join(maildir, ".Sent/cur", file ?? ""), "utf8");
    expect(raw).toMatch(/^In-Reply-To: <q@example.org>$/m);
    expect(raw).toMatch(/^References: <p@example.org> <q@example.org>$/m);
  });

  it("answers 429 with Retry-After above the minute's limit, and sends again later", async () => {
    let now = NOW;
    const limited = createMailRunner({ settings: { sendPerMinute: 2 }, now: () => now });
    await limited("send_message", note());
    now += 20_000;
    await limited("send_message", note());
    const error = await refusal(limited("send_message", note()));
    expect([error.status, error.code, error.options.retryable, error.options.retryAfterSeconds]).toEqual([
      429,
      "rate_limit",
      true,
      40,
    ]);
    now += 40_001;
    await limited("send_message", note());
  });

  it("answers 429, not retryable, above the day's limit, also after a restart and in parallel", async () => {
    const limited = createMailRunner({ settings: { sendPerDay: 3 } });
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => limited("send_message", note())));
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(3);
    const error = await refusal(createMailRunner({ settings: { sendPerDay: 3 } })("send_message", note()));
    expect([error.status, error.code, error.options.retryable, error.options.retryAfterSeconds]).toEqual([
      429,
      "rate_limit_day",
      false,
      86_400,
    ]);
    expect(await readdir(join(maildir, ".Sent/cur"))).toHaveLength(3);
  });
});

describe("mail_search", () => {
  beforeEach(async () => {
    await arrive(
      day("2026-11-01"),
      { From: "Anna <anna@example.org>", To: ME, Subject: "Trip to Rome" },
      "The café is booked.",
    );
    await arrive(
      day("2026-11-05"),
      { From: "bob@example.org", To: ME, Cc: "team@example.org", Subject: "Invoice 17" },
      "Please pay.",
      "S",
    );
    await arrive(
      day("2026-11-10"),
      { From: "shop@example.com", To: ME, Subject: "Rome offers", "Content-Type": 'multipart/mixed; boundary="b"' },
      '--b\n\nhello\n--b\nContent-Type: text/csv\nContent-Disposition: attachment; filename="prices.csv"\n\na,b\n--b--\n',
      "F",
    );
  });

  const cases: [string, number[]][] = [
    ["", [10, 1]],
    ["is:unread", [10, 1]],
    ["is:read", [5]],
    ["is:any", [10, 5, 1]],
    ["is:flagged", [10]],
    ["-is:flagged is:any", [5, 1]],
    ["from:anna", [1]],
    ["from:ANNA@example.org", [1]],
    ["to:me@localhost", [10, 5, 1]],
    ["cc:team", [5]],
    ["subject:rome", [10, 1]],
    ['subject:"trip to rome"', [1]],
    ["rome -from:shop", [1]],
    ["has:attachment", [10]],
    ["-has:attachment", [5, 1]],
    ["after:2026-11-05", [10, 5]],
    ["after:2026/11/5 before:2026-11-10", [5]],
    ["before:2026-11-05", [1]],
    ["cafe\u0301 booked", [1]],
    ['"please pay"', [5]],
    ["nothing:here", []],
    ["in:Sent", []],
  ];
  it.each(cases)("%j finds the messages of days %j", async (query, days) => {
    const found = ids(await run("search", { query }));
    expect(found).toEqual(days.map((one) => `${day(`2026-11-${String(one).padStart(2, "0")}`)}.M0P9Q1.other`));
  });

  it("looks for unread messages when no query is given", async () => {
    expect(ids(await run("search", {}))).toHaveLength(2);
  });

  it.each([
    ...["label:x", "older_than:2d", "has:drive", "is:important", "after:yesterday", "before:2026-02-30"],
    ...["from:ann OR from:bob", "(ann bob)", "subject:(a b)", "{from:ann from:bob}", "is:unread AND ann", "from:me"],
  ])("refuses %j and says what it knows", async (query) => {
    const error = await refusal(run("search", { query }));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.query"] }]);
    expect(error.options.hint).toBeTruthy();
  });

  it("says that there is more", async () => {
    expect(await run("search", { query: "is:any", limit: 2 })).toMatchObject({ more: true });
    expect(await run("search", { query: "is:any", limit: 3 })).toMatchObject({ more: false });
  });

  it("is not stopped by a message it cannot read", async () => {
    await writeFile(
      join(maildir, "new", "1.M0P1.bad"),
      `${"Content-Type: multipart/mixed; boundary=a\n\n--a\n".repeat(100)}`,
    );
    expect(ids(await run("search", { query: "is:any", limit: 50 })).length).toBeGreaterThanOrEqual(3);
  });

  it("answers 404 for a folder that is not there", async () => {
    expect(await refusal(run("search", { folder: "Nope" }))).toMatchObject({ status: 404, code: "not_found" });
  });
});

describe("reading mail", () => {
  it("returns headers, text and attachments without marking the message", async () => {
    const { message_id } = await run("send_message", note({ to: [ME], ...attached }));
    const [inbox] = ids(await run("search", {}));
    expect(inbox).not.toBe(message_id);
    const message = await run("read_message", { message_id: inbox });
    expect(message).toMatchObject({
      subject: "March figures",
      unread: true,
      attachments: [{ index: 0, name: "Zahlen März.pdf", mimetype: "application/pdf", size: pdf.size }],
    });
    expect(message.text.trim()).toBe("Hello,\n\nsee attached.");
    expect(await run("read_message", { message_id: inbox, max_chars: 5 })).toMatchObject({
      text: "Hello",
      next_offset: 5,
    });
    expect(ids(await run("search", {}))).toEqual([inbox]);
  });

  it("knows no argument that would change the mailbox", async () => {
    const id = await arrive(day("2026-11-01"), { Subject: "x" }, "y");
    expect(await refusal(run("read_message", { message_id: id, mark_read: true }))).toMatchObject({
      status: 400,
      code: "invalid_arguments",
      options: { details: [expect.stringContaining("mark_read")] },
    });
    expect(await run("read_message", { message_id: id })).toMatchObject({ unread: true });
    expect(await readdir(join(maildir, "new"))).toEqual([id]);
  });

  it("marks many messages at once, also while another program marks them", async () => {
    const many = await Promise.all(
      Array.from({ length: 40 }, (_, index) => arrive(day("2026-11-01") + index, { Subject: "x" }, "y", "")),
    );
    const mark = (as: string) => run("mark_message", { message_ids: many, as });
    const answers = await Promise.all([mark("read"), mark("flagged")]);
    for (const { messages } of answers) expect(ids({ messages })).toEqual(many);
    expect((await readdir(join(maildir, "cur"))).sort()).toEqual(many.map((id) => `${id}:2,FS`));
  });

  it("reads HTML-only messages as text", async () => {
    const id = await arrive(
      day("2026-11-01"),
      { Subject: "x", "Content-Type": "text/html; charset=utf-8" },
      "<style>p{}</style><p>Hello <b>you</b> &amp; me</p><script>alert(1)</script>",
    );
    expect((await run("read_message", { message_id: id })).text).toBe("Hello you & me");
  });

  it("hands attachments on as files where it can, and shows text", async () => {
    const keepFile: RunnerOptions["keepFile"] = async (file, bytes) => {
      let size = 0;
      for await (const piece of bytes) size += piece.length;
      return { s3key: `kept/${file.name}`, size };
    };
    const keeping = createMailRunner({ keepFile });
    const csv = holdFile("p.csv", "text/csv", "a,b\n1,2\n");
    await keeping(
      "send_message",
      note({ to: [ME], attachments: [...attached.attachments, { name: "p.csv", mimetype: "text/csv", s3key: "csv" }] }),
      { pdf, csv },
    );
    const [message_id] = ids(await run("search", {}));
    const first = await keeping("get_attachment", { message_id });
    expect(first).toMatchObject({
      name: "Zahlen März.pdf",
      size: pdf.size,
      sha256: pdf.sha256,
      file: { name: "Zahlen März.pdf", mimetype: "application/pdf", s3key: "kept/Zahlen März.pdf" },
    });
    expect(await keeping("get_attachment", { message_id, index: 1 })).toMatchObject({
      text: "a,b\n1,2\n",
      sha256: csv.sha256,
    });
    expect((await run("get_attachment", { message_id })).file).toBeUndefined();
    expect(await refusal(keeping("get_attachment", { message_id, index: 2 }))).toMatchObject({
      status: 404,
      code: "not_found",
    });
  });

  it("refuses a message that is larger than any that is read, as a mail server's is", async () => {
    const id = await arrive(day("2026-11-01"), { Subject: "Huge" }, "y");
    await truncate(join(maildir, "new", id), 160_000_000);
    for (const action of ["read_message", "get_attachment"]) {
      const error = await refusal(run(action, { message_id: id }));
      expect([error.status, error.code, error.options.hint]).toEqual([
        413,
        "message_too_large",
        "Open it with a mail program.",
      ]);
      expect(error.message).toBe(`The message "${id}" has 160000000 bytes; at most 144 MB are read.`);
    }
    expect(ids(await run("search", {}))).toEqual([id]);
  });

  it("answers 404 not_found of the provider for an unknown message", async () => {
    for (const message_id of ["none", "../../x", "a/b"]) {
      const error = await refusal(run("read_message", { message_id }));
      expect([error.status, error.code, error.options.type]).toEqual([404, "not_found", "provider"]);
    }
  });
});

describe("changing mail", () => {
  let first = "";
  let second = "";
  beforeEach(async () => {
    first = await arrive(day("2026-11-01"), { Subject: "one" }, "1");
    second = await arrive(day("2026-11-02"), { Subject: "two" }, "2", "FS");
  });

  it("marks, keeping the other flags in order", async () => {
    expect(await run("mark_message", { message_ids: [first, second], as: "flagged" })).toEqual({
      messages: [
        { message_id: first, folder: "INBOX", unread: true, flagged: true },
        { message_id: second, folder: "INBOX", unread: false, flagged: true },
      ],
    });
    await run("mark_message", { message_ids: [second], as: "unread" });
    await run("mark_message", { message_ids: [second], as: "unread" });
    expect((await readdir(join(maildir, "cur"))).sort()).toEqual([`${first}:2,F`, `${second}:2,F`]);
    expect(await readdir(join(maildir, "new"))).toEqual([]);
  });

  it("changes nothing when one of several is missing", async () => {
    expect((await refusal(run("mark_message", { message_ids: [first, "none"], as: "read" }))).status).toBe(404);
    expect(await readdir(join(maildir, "new"))).toEqual([first]);
  });

  it("moves to standard folders at once, to new ones when told to", async () => {
    expect(
      (await run("move_message", { message_ids: [first], subjects: ["one"], folder: "archive" })).messages[0].folder,
    ).toBe("Archive");
    expect(
      await refusal(run("move_message", { message_ids: [first], subjects: ["one"], folder: "Work/Über" })),
    ).toMatchObject({
      status: 404,
    });
    await run("move_message", { message_ids: [first], subjects: ["one"], folder: "Work/Über", create_folder: true });
    expect(await readdir(join(maildir, ".Work.&ANw-ber/cur"))).toEqual([`${first}:2,`]);
    expect((await run("read_message", { message_id: first })).folder).toBe("Work/Über");
    expect((await run("list_folders", {})).folders).toContainEqual({ name: "Work/Über", messages: 1, unread: 1 });
    await run("move_message", { message_ids: [first], subjects: ["one"], folder: "INBOX" });
    expect((await run("read_message", { message_id: first })).folder).toBe("INBOX");
  });

  it.each(["../x", "a.b", "/abs", "a//b", "a\\b", "a\nb"])("refuses the folder name %j", async (folder) => {
    const error = await refusal(
      run("move_message", { message_ids: [first], subjects: ["one"], folder, create_folder: true }),
    );
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.folder"] }]);
  });

  it("deletes into Trash, once", async () => {
    expect(await run("delete_message", { message_ids: [second], subjects: ["two"] })).toMatchObject({
      deleted: true,
      messages: [{ folder: "Trash", message_id: second }],
    });
    expect(await readdir(join(maildir, ".Trash/cur"))).toEqual([`${second}:2,FS`]);
    expect((await refusal(run("delete_message", { message_ids: [second], subjects: ["two"] }))).status).toBe(400);
  });

  it("changes neither of two messages in files of one name, and never puts one over the other", async () => {
    await run("move_message", { message_ids: [first], subjects: ["one"], folder: "Archive" });
    const [name = ""] = await readdir(join(maildir, ".Archive/cur"));
    await writeFile(join(maildir, "cur", name), "Subject: one\n\nanother");
    const meant = { message_ids: [first], subjects: ["one"] };
    for (const [id, args] of [
      ["move_message", { ...meant, folder: "INBOX" }],
      ["delete_message", meant],
      ["mark_message", { message_ids: [first], as: "flagged" }],
    ] as const) {
      const error = await refusal(run(id, args));
      expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.message_ids"] }]);
      expect(error.message).toContain('"INBOX" and "Archive"');
    }
    expect((await readdir(join(maildir, "cur"))).sort()).toEqual([name, `${second}:2,FS`]);
    expect(await readdir(join(maildir, ".Archive/cur"))).toEqual([name]);
    expect((await run("read_message", { message_id: first })).folder).toBe("INBOX");
  });
});

describe("the subjects of messages that are moved or deleted", () => {
  const refuse = async (name: string, args: Record<string, unknown>) => {
    const error = await refusal(run(name, args));
    return [error.status, error.options.extra, error.message];
  };

  it.each([
    ["delete_message", {}],
    ["move_message", { folder: "Archive" }],
  ])("%s moves nothing when one differs", async (name, more) => {
    const one = await arrive(day("2026-11-01"), { Subject: "Invoice 12" }, "1");
    const two = await arrive(day("2026-11-02"), { Subject: "Lunch" }, "2");
    const args = { message_ids: [one, two], ...more };
    expect(await refuse(name, { ...args, subjects: ["Invoice 12", "Invoice 13"] })).toEqual([
      400,
      { invalidFields: ["arguments.subjects.1"] },
      `arguments.subjects.1 is not the subject of message ${two}, which is "Lunch".`,
    ]);
    expect((await refuse(name, { ...args, subjects: ["Lunch", "Invoice 12"] }))[0]).toBe(400);
    expect(await refuse(name, { ...args, subjects: ["Invoice 12"] })).toEqual([
      400,
      { invalidFields: ["arguments.subjects"] },
      "arguments.subjects has 1 subjects for 2 messages.",
    ]);
    expect(await readdir(join(maildir, "new"))).toEqual([one, two]);
    expect((await run(name, { ...args, subjects: ["Invoice 12", "Lunch"] })).messages).toHaveLength(2);
    expect(await readdir(join(maildir, "new"))).toEqual([]);
  });

  it("are those that a search shows: encoded, folded, very long, none at all", async () => {
    await arrive(day("2026-11-01"), { Subject: "=?utf-8?q?Gr=C3=BC=C3=9Fe?=\n =?utf-8?q?_aus_Wien?=" }, "1");
    await arrive(day("2026-11-02"), { Subject: "word ".repeat(500) }, "2");
    await arrive(day("2026-11-03"), { From: "a@example.org" }, "3");
    await arrive(day("2026-11-04"), { Subject: "with a large part" }, "x".repeat(2_000_000));
    const { messages } = await run("search", {});
    const shown = messages.map(({ subject }: { subject: string }) => subject);
    expect(shown).toEqual(["with a large part", "", expect.stringMatching(/^(word )+.*…$/), "Grüße aus Wien"]);
    const moved = await run("move_message", { message_ids: ids({ messages }), subjects: shown, folder: "Archive" });
    expect(moved.messages).toHaveLength(4);
  });
});

describe("settings of a mailbox", () => {
  it("names the setting that is wrong", async () => {
    await writeFile(join(temp(), "file"), "");
    for (const [settings, setting] of [
      [{ address: ME }, "imapHost"],
      [{ maildir: join(temp(), "file"), address: ME }, "maildir"],
      [{ maildir }, "address"],
      [{ maildir, address: "me" }, "address"],
      [{ maildir, address: "Me <me@localhost>" }, "address"],
      [{ maildir, address: ME, aliases: ["x"] }, "aliases"],
      [{ maildir, address: ME, sendPerDay: -1 }, "sendPerDay"],
      [{ maildir, address: ME, name: "a\nb" }, "name"],
    ] as const) {
      const error = await refusal(mailIntegration.checkSettings(settings));
      expect([error.status, error.code, error.options.extra]).toEqual([422, "integration_misconfigured", { setting }]);
    }
    await mailIntegration.checkSettings({ maildir, address: ME });
  });

  it("answers 503, retryable, while the mailbox is away", async () => {
    await rename(maildir, `${maildir}-away`);
    for (const [id, args] of [
      ["search", {}],
      ["send_message", note()],
    ] as const)
      expect(await refusal(run(id, args))).toMatchObject({ status: 503, options: { retryable: true } });
  });

  it("an empty folder is an empty mailbox", async () => {
    expect(await run("search", {})).toMatchObject({ messages: [], folder: "INBOX" });
    expect((await run("list_folders", {})).folders[0]).toEqual({ name: "INBOX", messages: 0, unread: 0 });
  });
});

describe("folder names on the disk", () => {
  it.each(["Sent", "Work/2026", "Entwürfe", "日本語", "A & B", "🎉/x", "~peter"])("%j comes back", (name) => {
    const [disk = ""] = toFolderParts(name, "folder");
    expect(disk).toMatch(/^\.[\x20-\x7e]+$/);
    expect(fromDiskName(disk)).toBe(name);
  });

  it("writes the example of RFC 3501", () => {
    expect(toFolderParts("~peter/mail/台北/日本語", "folder")).toEqual([".~peter.mail.&U,BTFw-.&ZeVnLIqe-"]);
  });
});

describe("the catalogue entry", () => {
  it("describes every argument and marks writes", () => {
    for (const action of mailIntegration.actions) {
      expect(action.requiresConfirmation, action.id).toBe(action.level !== "read");
      expect(action.inputSchema).toMatchObject({ type: "object", additionalProperties: false });
      for (const [name, property] of Object.entries(
        action.inputSchema.properties as Record<string, { description?: string }>,
      ))
        expect(property.description, `${action.id}.${name}`).toBeTruthy();
    }
  });
});

describe("the settings of a connection", () => {
  const problem = (work: Promise<void>) =>
    work.then(
      () => "taken",
      (error: Error) => error.message,
    );

  it("name a server or a folder", async () => {
    expect(await problem(mailIntegration.checkSettings({ address: ME }))).toBe(
      'Setting "imapHost" is needed, or else a mailbox folder.',
    );
  });

  it("name a folder that is empty or holds a mailbox, and no other one", async () => {
    const test = () =>
      problem(mailIntegration.testSettings?.({ address: ME, maildir }, AbortSignal.timeout(5000)) ?? Promise.resolve());
    expect(await test()).toBe("taken");
    await mkdir(join(maildir, ".Sent"));
    expect(await test()).toBe("taken");
    await writeFile(join(maildir, "passwd"), "");
    expect(await test()).toMatch(/^Setting "maildir" names a folder that holds other things/);
    await mkdir(join(maildir, "new"));
    expect(await test()).toBe("taken");
  });
});

describe("flags behind the separators of other disks", () => {
  it.each([":", ";", "!"])("%s is read, and marking keeps the id", async (separator) => {
    await mkdir(join(maildir, "cur"), { recursive: true });
    await writeFile(join(maildir, "cur", `1763631000.M0P9Q1.other${separator}2,F`), "Subject: Seen\n\nSee.");
    const { messages } = (await run("search", {})) as {
      messages: { message_id: string; unread: boolean }[];
    };
    expect(messages).toMatchObject([{ message_id: "1763631000.M0P9Q1.other", unread: true }]);
    await run("mark_message", { message_ids: ["1763631000.M0P9Q1.other"], as: "read" });
    expect(await readdir(join(maildir, "cur"))).toEqual(["1763631000.M0P9Q1.other:2,FS"]);
  });
});
