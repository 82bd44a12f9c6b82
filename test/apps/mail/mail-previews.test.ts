import { mkdir, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../src/apps/mail/mail-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createPreviewer, createRunner, holdFile, type RunnerOptions, refusal } from "../run-action.ts";
import { writeMessage } from "./kit/write-message.ts";

/** What a card says of calls that change a mailbox, which is a folder of this machine here. */

const integration = createMailIntegration();
const temp = useTempFolder();
let maildir = "";
const files = { pdf: holdFile("march.pdf", "application/pdf", "%PDF-1.7 figures") };
const ME = "me@example.org";

beforeEach(async () => {
  maildir = join(temp(), "mail");
  for (const name of ["cur", "new", "tmp"]) await mkdir(join(maildir, name), { recursive: true });
});

const options = (more: Partial<RunnerOptions> = {}): RunnerOptions => ({
  files,
  ...more,
  settings: { maildir, address: ME, aliases: ["team@example.org"], ...more.settings },
});
const preview: ReturnType<typeof createPreviewer> = (...call) => createPreviewer(integration, options())(...call);
const runSeen = (expectedState: string) => createRunner(integration, options({ expectedState }));

/** Puts a message where another mail program would; returns its id. */
async function arrive(subject: string, o: { from?: string; flags?: string; date?: string; folder?: string } = {}) {
  const { from = "Anna <anna@example.com>", flags = "", date = "Fri, 20 Nov 2026 09:00:00 +0000", folder = "." } = o;
  const id = `1700000000.M${subject.length}P${(await readdir(join(maildir, "cur"))).length}.other`;
  await mkdir(join(maildir, folder, "cur"), { recursive: true });
  const bytes = writeMessage({ from, subject, headers: { Date: date, "Message-ID": `<${id}@example.com>` } });
  await writeFile(join(maildir, folder, "cur", `${id}:2,${flags}`), bytes);
  return id;
}

const list = async () => (await readdir(maildir, { recursive: true })).map((path) => path.replaceAll("\\", "/")).sort();
const note = (extra: Record<string, unknown> = {}) => ({
  to: ["Anna <anna@example.com>"],
  subject: "March figures",
  body: "Hello.",
  ...extra,
});

describe("the preview of changed messages", () => {
  it("names one message by its subject, sender and date, and what it was", async () => {
    const message = await arrive("Heating", { flags: "F" });
    const before = await list();
    const seen = await preview("mark_message", { message_ids: [message], as: "read" });
    expect(seen).toMatchObject({
      summary: 'Mark "Heating" from "Anna" as read',
      objects: [
        {
          kind: "message",
          name: "Heating",
          details: [
            { label: "From", value: "Anna <anna@example.com>" },
            { label: "Date", value: "2026-11-20 09:00:00 UTC" },
            { label: "Folder", value: "INBOX" },
            { label: "State", value: "unread, flagged" },
          ],
        },
      ],
      objectCount: 1,
      changes: [{ field: "State of 1 message", before: "unread", after: "read" }],
      effects: [],
      undo: { possible: true },
    });
    expect(await list()).toEqual(before);
  });

  it("says what is so already", async () => {
    const ids = [await arrive("a", { flags: "S" }), await arrive("bb")];
    expect((await preview("mark_message", { message_ids: ids, as: "read" })).effects).toContainEqual({
      code: "unchanged",
      text: "1 message is read already.",
    });
    const done = await preview("mark_message", { message_ids: ids.slice(0, 1), as: "read" });
    expect([done.summary, done.undo.why]).toEqual(['Mark "a" from "Anna" as read; it is already', "Nothing changes."]);
  });

  it("counts many, and gathers who wrote them and when", async () => {
    const subjects = Array.from({ length: 12 }, (_, index) => "x".repeat(index + 1));
    const message_ids: string[] = [];
    for (const [index, subject] of subjects.entries())
      message_ids.push(
        await arrive(subject, index < 9 ? {} : { from: "b@example.com", date: "1 Oct 2026 09:00 +0000" }),
      );
    const seen = await preview("move_message", { message_ids, subjects, folder: "Work/2026", create_folder: true });
    expect(seen).toMatchObject({
      summary: 'Move 12 messages in "INBOX" to "Work/2026"',
      objectCount: 12,
      changes: [{ field: "Folder of 12 messages", before: "INBOX", after: "Work/2026" }],
      effects: [
        {
          code: "moves_many",
          text: '12 messages from 2026-10-01 to 2026-11-20, by "Anna" (9), "b@example.com" (3).',
        },
        { code: "creates_folder", text: 'New folder: "Work/2026".' },
      ],
      undo: { possible: true },
    });
    expect(seen.objects).toHaveLength(10);
  });

  it("says where deleted messages are kept, and which folders hide what they get", async () => {
    const meant = { message_ids: [await arrive("Invoice")], subjects: ["Invoice"] };
    expect(await preview("delete_message", meant)).toMatchObject({
      summary: 'Delete "Invoice" from "Anna"; it goes to "Trash"',
      effects: [{ code: "moves_to_trash" }],
      undo: { possible: true, why: 'Until "Trash" is emptied.' },
    });
    const hidden = await preview("move_message", { ...meant, folder: "Junk" });
    expect(hidden.effects.map(({ code }) => code)).toEqual(["hides"]);
  });

  it("stays short for whatever a sender wrote", async () => {
    const subject = `"${"Very long ".repeat(30)}`.trim();
    const message = await arrive(subject, { from: `"${"N".repeat(200)}" <n@example.com>` });
    const meant = { message_ids: [message], subjects: [subject], folder: "F".repeat(150), create_folder: true };
    const { summary } = await preview("move_message", meant);
    expect(summary).toBe(
      `Move "'Very long Very long Very long Very lon…" from "${"N".repeat(23)}…" to "${"F".repeat(23)}…"`,
    );
    expect(summary.length).toBeLessThanOrEqual(120);
  });

  it("refuses what the run would refuse", async () => {
    const meant = { message_ids: [await arrive("Invoice")], subjects: ["Invoice"] };
    const trashed = { message_ids: [await arrive("Gone", { folder: ".Trash" })], subjects: ["Gone"] };
    const calls: [string, Record<string, unknown>, number][] = [
      ["delete_message", { ...meant, subjects: ["Another"] }, 400],
      ["delete_message", trashed, 400],
      ["move_message", { ...meant, folder: "Nowhere" }, 404],
      ["mark_message", { message_ids: ["1.none"], as: "read" }, 404],
    ];
    for (const [action, args, status] of calls) {
      expect((await refusal(preview(action, args))).status).toBe(status);
      expect((await refusal(createRunner(integration, options())(action, args))).status).toBe(status);
    }
  });
});

describe("the preview of a message to send", () => {
  it("names everybody who gets it, and says that it is not sent from a folder", async () => {
    const attachments = [{ name: "march.pdf", mimetype: "application/pdf", s3key: "pdf" }];
    const seen = await preview(
      "send_message",
      note({ cc: ["team@example.org"], bcc: ["eve@example.net"], attachments }),
    );
    expect(seen).toMatchObject({
      summary: 'Send "March figures" to anna@example.com and 2 more, with 1 file',
      objects: [{ kind: "message", name: "March figures", details: [{ label: "From", value: ME }] }],
      changes: [
        { field: "To", after: "Anna <anna@example.com>" },
        { field: "Cc", after: "team@example.org" },
        { field: "Hidden copy (Bcc)", after: "eve@example.net" },
        { field: "Text", after: "Hello." },
        { field: "Files", after: "march.pdf (16 bytes)" },
      ],
      undo: { possible: false, why: "The copies can be deleted." },
    });
    expect(seen.effects).toEqual([
      {
        code: "not_sent",
        text: "This mailbox has no outgoing server: 2 addresses do not get it: anna@example.com, eve@example.net",
      },
      { code: "hidden_copy", text: "The other recipients do not see the hidden copy." },
      { code: "keeps_copy", text: 'A copy is kept in "Sent".' },
    ]);
    expect(await list()).toEqual(["cur", "new", "tmp"]);
  });

  it("names the message that is answered, an answer before, and a writer who is left out", async () => {
    const reply_to_message_id = await arrive("Heating inspection", { flags: "RS" });
    const answer = await preview("send_message", note({ reply_to_message_id }));
    expect(answer.summary).toBe('Send "March figures" to anna@example.com in answer to "Anna"');
    expect(answer.objects[0]?.details).toEqual([
      { label: "From", value: ME },
      { label: "Answers", value: "Heating inspection" },
      { label: "Written by", value: "Anna <anna@example.com>" },
      { label: "Written on", value: "2026-11-20 09:00:00 UTC" },
    ]);
    expect(answer.effects).toContainEqual({ code: "answered", text: "The message was answered before." });
    const astray = await preview("send_message", note({ to: ["eve@example.net"], reply_to_message_id }));
    expect(astray.effects).toContainEqual({
      code: "leaves_out",
      text: '"Anna", whose message it answers, does not get it.',
    });
    expect(answer.effects.map(({ code }) => code)).not.toContain("leaves_out");
  });

  it("says that a draft is not sent", async () => {
    expect(await preview("save_draft", note({ to: [] }))).toMatchObject({
      summary: 'Save a draft: "March figures"; nothing is sent',
      effects: [{ code: "sends_nothing" }],
      undo: { possible: true, why: 'While it stays in "Drafts".' },
    });
  });

  it("shows a long text line by line", async () => {
    const body = "line\n".repeat(500);
    const { changes } = await preview("send_message", note({ body }));
    expect(changes.find(({ field }) => field === "Text")?.diff).toMatch(/^@@ -0,0 \+1,500 @@\n\+line\n/);
  });

  it("refuses what the run would refuse", async () => {
    expect((await refusal(preview("send_message", note({ to: ["nobody"] })))).options.extra).toEqual({
      invalidFields: ["arguments.to[0]"],
    });
    expect((await refusal(preview("send_message", note({ reply_to_message_id: "1.none" })))).status).toBe(404);
    const day = createPreviewer(integration, options({ settings: { maildir, address: ME, sendPerDay: 0 } }));
    expect((await refusal(day("send_message", note()))).code).toBe("rate_limit_day");
    const minute = createPreviewer(integration, options({ settings: { maildir, address: ME, sendPerMinute: 0 } }));
    expect((await minute("send_message", note())).summary).toContain("Send");
  });

  it("is not sent once the message that it answers was answered by somebody else", async () => {
    const id = await arrive("Heating", { flags: "S" });
    const args = note({ reply_to_message_id: id });
    const { state } = await preview("send_message", args);
    const [from, to] = ["S", "RS"].map((flags) => join(maildir, "cur", `${id}:2,${flags}`)) as [string, string];
    await rename(from, to);
    expect((await refusal(runSeen(state)("send_message", args))).code).toBe("state_changed");
    expect((await refusal(runSeen(state)("save_draft", args))).code).toBe("state_changed");
    expect(await list()).toEqual(["cur", `cur/${id}:2,RS`, "new", "tmp"]);
    await rename(to, from);
    await runSeen(state)("send_message", args);
    await rm(from);
    expect((await refusal(runSeen(state)("send_message", args))).status).toBe(404);
  });
});
