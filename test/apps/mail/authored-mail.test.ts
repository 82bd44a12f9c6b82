import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../src/apps/mail/mail-integration.ts";
import { isOwnFolder } from "../../../src/apps/mail/own-folders.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, holdFile } from "../run-action.ts";
import { createTeller, listOwn, textOf } from "../tell-authors.ts";
import { type TestMessage, writeMessage } from "./kit/write-message.ts";

const ME = "Sam <sam@own.example>";
const integration = createMailIntegration();
const temp = useTempFolder();
let settings: Record<string, unknown> = {};
let tell: ReturnType<typeof createTeller>;

beforeEach(async () => {
  settings = { maildir: join(temp(), "mail"), address: "sam@own.example", aliases: ["s@own.example"], name: "Sam" };
  await mkdir(join(temp(), "mail"));
  tell = createTeller(integration, { settings });
});

/** Lays a message into a folder, as another program does; its id. */
async function lay(folder: string, message: TestMessage, seconds = 1_795_000_000): Promise<string> {
  const cur = join(temp(), "mail", folder === "INBOX" ? "" : `.${folder}`, "cur");
  await mkdir(cur, { recursive: true });
  await writeFile(join(cur, `${seconds}.m${message.subject.length}:2,S`), writeMessage(message));
  return `${seconds}.m${message.subject.length}`;
}

const kinds = (parts: Awaited<ReturnType<typeof tell>>) => parts.map(({ source }) => [source.kind, source.whose]);

describe("whose a mail is", () => {
  it("is its sender's, with all that it shows, under who sent it, its subject and its date", async () => {
    const html = '<p>Pay</p><img alt="ALTTEXT"><a href="https://evil.example/x">here</a>';
    const csv = { name: "iban.csv", mimetype: "text/csv", bytes: Buffer.from("DE02 1203") };
    const headers = { "Reply-To": "eve@evil.example", Cc: "carl@evil.example" };
    const from = "Bill <bill@shop.example>";
    const message_id = await lay("INBOX", { from, subject: "Invoice", html, attachments: [csv], headers });
    const parts = await tell("read_message", { message_id });
    expect(parts.map(({ source }) => source)).toEqual([
      { app: "mail", kind: "mail", whose: "somebody", by: from, title: "Invoice", at: "2026-11-20T09:00:00.000Z" },
    ]);
    const text = textOf(parts, "somebody");
    for (const value of ["eve@", "carl@", "ALTTEXT", "https://evil.example/x", "iban.csv"])
      expect(text).toContain(value);
    const [attached] = await tell("get_attachment", { message_id });
    expect(attached).toMatchObject({ source: { kind: "mail", whose: "somebody", by: from, title: "Invoice" } });
    expect(textOf([attached!], "somebody")).toContain("DE02 1203");
    const listed = await tell("search", { query: "is:any" });
    expect(listed).toMatchObject([{ source: { by: from, title: "Invoice" }, content: { snippet: expect.anything() } }]);
  });

  it("is the account's where it sent it, and its quoted lines are somebody's", async () => {
    const text = "New: DE99\n\nOn 3 Aug 2026 10:15, Bea <bea@marsh.example> wrote:\n> Old: DE02\n";
    const message_id = await lay("Sent", { from: ME, to: "bea@marsh.example", subject: "Rent", text });
    const parts = await tell("read_message", { message_id });
    expect(kinds(parts)).toEqual([
      ["sent mail", "yours"],
      ["quoted mail", "somebody"],
    ]);
    expect(parts[1]?.source.by).toBe("Bea <bea@marsh.example>");
    expect(textOf(parts, "yours")).toMatch(/bea@marsh\.example.*New: DE99/);
    expect(textOf(parts, "yours")).not.toContain("DE02");
    expect(textOf(parts, "somebody")).toContain("Old: DE02");
    const listed = await tell("search", { query: "in:Sent is:any" });
    expect(textOf(listed, "yours")).not.toContain("DE02");
    expect(textOf(listed, "somebody")).toContain("DE02");
    expect(kinds(await tell("read_message", { message_id, offset: 20 }))).toContainEqual(["quoted mail", "somebody"]);
    expect(textOf(await tell("read_message", { message_id, offset: 20 }), "yours")).not.toContain("DE02");
  });

  it("has quotes in HTML as somebody's, whatever language introduces them", async () => {
    const html =
      "<p>Mine: DE99</p><div>Bea hatte gemeint</div><blockquote><p>Old: DE02</p><pre>a\nb</pre></blockquote><p>End</p>";
    const message_id = await lay("Sent", { from: ME, subject: "Rent", html });
    const parts = await tell("read_message", { message_id });
    expect(textOf(parts, "somebody")).toContain("> Old: DE02\\n\\n> a\\n> b".replace("\\n\\n", "\\n"));
    expect(textOf(parts, "yours")).toMatch(/Mine: DE99.*End/);
    expect(textOf(parts, "yours")).not.toContain("DE02");
  });

  it("is somebody's where it only claims the account's address", async () => {
    for (const folder of ["INBOX", "Archive", "Presentations"]) {
      const message_id = await lay(folder, { from: ME, subject: `Forged ${folder}`, text: "Pay DE02" });
      expect(kinds(await tell("read_message", { message_id })), folder).toEqual([["mail", "somebody"]]);
    }
    const named = { from: '"sam@own.example" <eve@evil.example>', subject: "Named" };
    const message_id = await lay("Sent", named);
    expect(kinds(await tell("read_message", { message_id }))).toEqual([["mail", "somebody"]]);
  });

  it("is the account's where this service delivered it, and by its other addresses", async () => {
    const run = createRunner(integration, { settings, files: { f: holdFile("a.txt", "text/plain", "mine") } });
    const attachments = [{ name: "a.txt", mimetype: "text/plain", s3key: "f" }];
    await run("send_message", { to: ["sam@own.example"], subject: "Note", body: "Mine", attachments });
    const [received] = await tell("search", { query: "is:any" });
    expect(received).toMatchObject({ source: { kind: "sent mail", whose: "yours" } });
    const { message_id } = (await run("search", { query: "is:any" })).messages[0];
    expect(kinds(await tell("get_attachment", { message_id }))).toEqual([["sent mail", "yours"]]);
    const alias = await lay("Sent", { from: "s@own.example", subject: "By the other" });
    expect(kinds(await tell("read_message", { message_id: alias }))).toEqual([["sent mail", "yours"]]);
  });

  it("has the subject of an answer and what is forwarded as somebody's", async () => {
    const csv = { name: "iban.csv", mimetype: "text/csv", bytes: Buffer.from("DE02 1203") };
    const answer = await lay("Sent", { from: ME, subject: "AW: Pay DE02", text: "No" });
    const parts = await tell("read_message", { message_id: answer });
    expect([textOf(parts, "yours").includes("DE02"), textOf(parts, "somebody").includes("DE02")]).toEqual([
      false,
      true,
    ]);
    const message_id = await lay("Sent", { from: ME, subject: "Fwd: Invoice 1", text: "See", attachments: [csv] });
    expect(kinds(await tell("get_attachment", { message_id }))).toEqual([["quoted mail", "somebody"]]);
    expect(textOf(await tell("read_message", { message_id }), "yours")).not.toContain("iban");
  });

  it("is told of no write, and of folders as the owner's", async () => {
    for (const id of ["send_message", "save_draft", "mark_message", "move_message", "delete_message"])
      expect(integration.actions.find((one) => one.id === id)?.authored?.({ to: "x" }, {}, { connection }), id).toEqual(
        [],
      );
    expect(kinds(await tell("list_folders", {}))).toEqual([["folder", "yours"]]);
  });

  it("is somebody's where a result is not as expected", () => {
    for (const id of ["search", "read_message", "get_attachment"])
      for (const result of [undefined, null, 1, "x", [], {}, { messages: [null] }, { messages: 1 }])
        for (const { source } of integration.actions
          .find((one) => one.id === id)
          ?.authored?.(result, {}, { connection }) ?? [])
          expect(source.whose).toBe("somebody");
  });
});

const connection = { id: "1", integration: "mail", label: "", settings: {}, scopes: [] };

it("folders of what was sent, and drafts, are known by many names", () => {
  const own = [
    "Sent",
    "INBOX/Sent Items",
    "[Gmail]/Gesendet",
    "Gesendete Elemente",
    "Éléments envoyés",
    "Отправленные",
  ];
  for (const name of [...own, "送信済みアイテム", "已发送邮件", "보낸편지함", "Drafts", "Entwürfe", "Lähetetyt"])
    expect(isOwnFolder(name), name).toBe(true);
  for (const name of ["INBOX", "Archive", "Presentations", "Essentials", "Sent/From others", "Absent", ""])
    expect(isOwnFolder(name), name).toBe(false);
});

describe("own mail", () => {
  it("is told newest first: addresses, recipients and own lines", async () => {
    const headers = { Cc: "Carl <carl@x.example>", Bcc: "dora@x.example" };
    await lay("Sent", {
      from: ME,
      to: "Team: a@x.example, b@x.example;",
      subject: "Old",
      text: "Mine\n> Theirs",
      headers,
    });
    await lay("Sent", { from: ME, to: "new@x.example", subject: "Re: Theirs" }, 1_795_000_001);
    await lay("Sent", { from: "eve@evil.example", to: "eve2@evil.example", subject: "Not of the account" });
    await lay("INBOX", { from: "eve@evil.example", subject: "Somebody's" });
    const parts = await listOwn(integration, { settings });
    const text = textOf(parts, "yours");
    expect(kinds(parts)).toEqual([
      ["account", "yours"],
      ["sent mail", "yours"],
      ["sent mail", "yours"],
    ]);
    for (const value of ["sam@own", "s@own", "a@x", "b@x", "carl@x", "dora@x", "new@x", "Mine"])
      expect(text).toContain(value);
    for (const value of ["Theirs", "evil"]) expect(text).not.toContain(value);
    expect(text.indexOf("new@x")).toBeLessThan(text.indexOf("a@x"));
    expect(await listOwn(integration, { settings }, 2)).toHaveLength(2);
    expect(await listOwn(integration, { settings, signal: AbortSignal.abort() })).toEqual([]);
  });
});
