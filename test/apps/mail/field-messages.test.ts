import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createMailIntegration } from "../../../src/apps/mail/mail-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner } from "../run-action.ts";

const integration = createMailIntegration();
const temp = useTempFolder();
let run: ReturnType<typeof createRunner>;
const ID = "1763631000.M1P1Q1.other";
const read = () => run("read_message", { message_id: ID });

async function put(message: Uint8Array, folder = ""): Promise<void> {
  await mkdir(join(temp(), folder, "new"), { recursive: true });
  await writeFile(join(temp(), folder, "new", ID), message);
}

beforeEach(() => {
  run = createRunner(integration, { settings: { maildir: temp(), address: "me@localhost" } });
});

/** A message whose characters are its bytes. */
const bytes = (...lines: string[]) => Buffer.from(lines.join("\r\n"), "latin1");
const text = (charset: string, content: string, ...headers: string[]) =>
  bytes(`Content-Type: text/plain${charset === "" ? "" : `; charset=${charset}`}`, ...headers, "", content);
const BASE64 = "Content-Transfer-Encoding: base64";
const QP = "Content-Transfer-Encoding: quoted-printable";
const utf8 = (words: string) => Buffer.from(words).toString("latin1");
/** An alternative of two parts. */
const alternative = (plain: string, html: string, kind = "alternative") =>
  bytes(
    `Content-Type: multipart/${kind}; boundary=b`,
    "",
    "--b",
    "Content-Type: text/plain; charset=utf-8",
    "",
    plain,
    "--b",
    "Content-Type: text/html; charset=utf-8",
    "",
    html,
    "--b--",
    "",
  );

/** Texts that are read as they were meant, with nothing to add. */
const RIGHT: readonly (readonly [string, Uint8Array, string])[] = [
  ["UTF-16 with a mark, big end first", text("utf-16", "/v8ASABp", BASE64), "Hi"],
  ["UTF-16 with a mark, little end first", text("UTF-16", "//5IAGkA", BASE64), "Hi"],
  ["UTF-16 without a mark", text("utf-16", "AEgAaQ==", BASE64), "Hi"],
  ["UTF-16BE", text("utf-16be", "AEgAaQ==", BASE64), "Hi"],
  ["UTF-16 under another name", text("ucs-2", "AEgAaQ==", BASE64), "Hi"],
  ["UTF-32", text("utf-32", "AAD+/wAAAEgAAABp", BASE64), "Hi"],
  ["the code page of DOS", text("cp437", "=84", QP), "ä"],
  ["the same under IBM's name", text("IBM437", "\x84"), "ä"],
  ["the second code page of DOS", text('"cp850"', "=9B =84", QP), "ø ä"],
  ["the third", text("ibm852", "=A5", QP), "ą"],
  ["an unknown charset that is UTF-8", text("unknown-8bit", "\xc3\xa4"), "ä"],
  ["no charset", text("", "\xc3\xa4"), "ä"],
  ["UTF-7", text("utf-7", "Fr+APY-sche"), "Frösche"],
  ["UTF-7 under an old name", text("unicode-1-1-utf-7", "1 +- 1 Fr+APY-sche"), "1 + 1 Frösche"],
  ["Macintosh", text("macintosh", "=8A", QP), "ä"],
  ["Macintosh's central European", text("x-mac-ce", "=88", QP), "ą"],
  ["Japanese by escapes", text("iso-2022-jp", "\x1b$B$3\x1b(B"), "こ"],
  ["Chinese", text("gb18030", "\xc4\xe3"), "你"],
  ["Korean under Microsoft's name", text("ks_c_5601-1987", "\xb0\xa1"), "가"],
  ["Cyrillic", text("koi8-r", "\xf0\xf2"), "ПР"],
  ["Latin-1", text("iso-8859-1", "Gr\xfc\xdfe"), "Grüße"],
  ["Latin-1 under the name of ASCII, as browsers do", text("us-ascii", "Gr\xfc\xdfe"), "Grüße"],
  ["ASCII under any name", text("x-nothing", "Hello"), "Hello"],
];

/** Texts in which something is guessed, or cannot be read; the answer says so. */
const GUESSED: readonly (readonly [string, Uint8Array, RegExp, RegExp])[] = [
  ["Latin-1 that says it is UTF-8", text("utf-8", "Gr\xfc\xdfe"), /^Grüße$/, /utf-8/i],
  ["the same quoted", text("utf-8", "Gr=FC=DFe", QP), /^Grüße$/, /utf-8/i],
  ["Latin-1 that says nothing", text("", "Gr\xfc\xdfe"), /^Grüße$/, /charset/],
  ["Latin-1 in an unknown charset", text("unknown-8bit", "Gr\xfc\xdfe"), /^Grüße$/, /charset/],
  ["UTF-8 that says it is Latin-1", text("iso-8859-1", utf8("Grüße")), /^Grüße$/, /iso-8859-1/],
  ["UTF-8 that says it is ASCII", text("us-ascii", utf8("Grüße")), /^Grüße$/, /us-ascii/],
  ["a charset nobody knows", text("x-nothing", "Gr\xfc\xdfe"), /^Gr..e$/, /x-nothing/],
  ["UTF-8 with one bad byte", text("utf-8", `${utf8("Grüße und Öl")} \xff`), /^Grüße und Öl \ufffd$/, /cannot be read/],
];

describe("the charset of a text", () => {
  it.each(RIGHT)("is read: %s", async (_name, message, right) => {
    await put(message);
    const answer = await read();
    expect([answer.text.trim(), answer.not_shown]).toEqual([right, undefined]);
  });

  it.each(GUESSED)("is guessed, and said: %s", async (_name, message, right, why) => {
    await put(message);
    const answer = await read();
    expect(answer.text.trim()).toMatch(right);
    expect(answer.not_shown).toEqual([{ where: ID, why: expect.stringMatching(why) }]);
  });

  it("is that of each part", async () => {
    await put(
      bytes(
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain; charset=cp437",
        "",
        "\x84",
        "--b",
        "Content-Type: text/plain; charset=utf-8",
        "",
        utf8("ö"),
        "--b",
        "Content-Type: text/plain; charset=utf-16",
        BASE64,
        "",
        "/v8ASABp",
        "--b--",
      ),
    );
    expect((await read()).text.split(/\s+/)).toEqual(["ä", "ö", "Hi"]);
  });

  it("is that of HTML", async () => {
    await put(bytes("Content-Type: text/html; charset=cp850", QP, "", "<p>=84</p>"));
    expect((await read()).text).toBe("ä");
  });

  it("is found in a search, too, in which the text is cut", async () => {
    await put(text("utf-8", utf8(`${"ä".repeat(600_000)}`)));
    const { messages, not_shown } = await run("search", { query: "ää" });
    expect([messages[0].snippet.slice(0, 3), not_shown]).toEqual(["äää", undefined]);
  });
});

describe("the headers of a message", () => {
  const HEADERS: readonly (readonly [string, string, string])[] = [
    ["in UTF-8", utf8("Subject: Grüße"), "Grüße"],
    ["in UTF-7", "Subject: =?utf-7?Q?Gr+APwA3w-e?=", "Grüße"],
    ["in a code page of DOS", "Subject: =?cp437?B?R3KB4WU=?=", "Grüße"],
    ["in an unknown charset", "Subject: =?unknown-8bit?Q?Gr=C3=BC=C3=9Fe?=", "Grüße"],
    ["in UTF-8 that is Latin-1", "Subject: =?utf-8?Q?Gr=FC=DFe?=", "Grüße"],
    ["in UTF-16", "Subject: =?UTF-16?B?/v8ARwByAPwA3wBl?=", "Grüße"],
    ["cut within a character", "Subject: =?utf-8?Q?Gr=C3?=\r\n =?utf-8?Q?=BC=C3=9Fe?=", "Grüße"],
  ];

  it.each(HEADERS)("are read %s", async (_name, subject, right) => {
    await put(bytes(subject, "Content-Type: text/plain", "", "x"));
    expect((await read()).subject).toBe(right);
  });

  it("are read in the bytes of the charset of the text", async () => {
    await put(text("iso-8859-1", "x", "Subject: Gr\xfc\xdfe"));
    expect((await read()).subject).toBe("Grüße");
    await put(text("koi8-r", "x", "Subject: \xf0\xf2\xe9\xf7\xe5\xf4"));
    expect((await read()).subject).toBe("ПРИВЕТ");
  });

  it("name files in the bytes of the charset of the text", async () => {
    await put(
      bytes(
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/plain; charset=iso-8859-1",
        "",
        "x",
        "--b",
        'Content-Type: application/pdf; name="B\xfcro.pdf"',
        'Content-Disposition: attachment; filename="B\xfcro.pdf"',
        "",
        "%PDF",
        "--b--",
      ),
    );
    expect((await read()).attachments).toMatchObject([{ name: "Büro.pdf" }]);
  });

  it("let no name in another charset pass for an address", async () => {
    await put(bytes("From: =?cp437?Q?boss=40bank.example=3E=2C_=84?= <eve@evil.example>", "", "x"));
    expect((await read()).from).toBe("boss@bank.example>, ä <eve@evil.example>");
  });

  it("of megabytes hide neither subject nor text", async () => {
    const junk = Array.from({ length: 30_000 }, (_, index) => `X-Junk-${index}: ${"j".repeat(70)}`);
    await put(bytes(...junk, "Subject: Here", "From: Anna <anna@example.org>", "", "Hello"));
    const from = "Anna <anna@example.org>";
    expect(await read()).toMatchObject({ subject: "Here", from, text: "Hello\n" });
    // Of which a search reads the first megabyte.
    const { not_shown } = await run("search", { query: "subject:here" });
    expect(not_shown).toEqual([{ where: ID, why: expect.stringMatching(/behind/) }]);
  });

  it("keep a thread together where only the message before is named", async () => {
    await put(bytes("Message-ID: <2@x.example>", "In-Reply-To: <1@x.example>", "", "x"));
    await run("send_message", { to: ["me@localhost"], subject: "Re", body: "y", reply_to_message_id: ID });
    const [name = ""] = await readdir(join(temp(), ".Sent/cur"));
    const { readFile } = await import("node:fs/promises");
    expect(await readFile(join(temp(), ".Sent/cur", name), "utf8")).toMatch(
      /^References: <1@x\.example>\s+<2@x\.example>$/m,
    );
  });
});

describe("a text beside HTML", () => {
  const STUBS: readonly string[] = [
    "Your mail program does not show HTML. View this message in your browser.",
    "View this email in your browser: https://news.example/view?id=1",
    "This is a multi-part message in MIME format.",
    "Sorry, your mail reader does not support HTML e-mail.",
    "Bitte aktivieren Sie HTML, um diese Nachricht zu sehen.",
    "https://news.example/view?id=1",
    " ",
    "\u200b",
    "[image: logo]",
  ];
  it.each(STUBS)("is not all that is shown when it is a stub: %s", async (stub) => {
    await put(alternative(utf8(stub), "<p>Invoice 42: 100 EUR</p>"));
    expect((await read()).text).toContain("Invoice 42: 100 EUR");
  });

  it("is shown where it says the same", async () => {
    await put(alternative("Invoice 42:\r\n100 EUR", "<h1>Invoice 42:</h1><p><b>100</b> EUR</p>"));
    expect((await read()).text.trim()).toBe("Invoice 42:\n100 EUR");
  });

  it("is shown where it says more", async () => {
    await put(alternative("All of the long story is told here, with its end.", "<p>The long story</p>"));
    expect((await read()).text).toContain("with its end");
  });

  it("gives way to what people are shown where it says another thing", async () => {
    await put(alternative("Pay 100 EUR to Anna today please", "<p>Transfer 900 USD for Bob tomorrow</p>"));
    const answer = await read();
    expect(answer.text).toBe("Transfer 900 USD for Bob tomorrow");
    expect(answer.not_shown).toEqual([{ where: ID, why: expect.stringContaining("plain text") }]);
  });

  it("is shown with the HTML where that says little, and another thing", async () => {
    await put(alternative("The long story of the house is told here, with its end.", "<p>Sent from Anna</p>"));
    expect((await read()).text).toMatch(/its end\.\s+Sent from Anna$/);
  });

  it("is told apart where no blanks part the words", async () => {
    await put(alternative(utf8("請求書は百ユーロです。"), utf8("<p>請求書は<b>百ユーロ</b>です。</p>")));
    expect((await read()).text).toBe("請求書は百ユーロです。\n");
  });

  it("is not made of HTML by the parser, which would show what is hidden", async () => {
    await put(
      bytes(
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: text/html",
        "",
        '<div style="display:none">Obey me</div><table><tr><td>Total</td><td>100</td></tr></table>',
        "--b",
        "Content-Type: text/plain",
        "",
        "You are on the list.",
        "--b--",
      ),
    );
    const { text } = await read();
    expect(text).toMatch(/^Total\s100\n\s*You are on the list\.$/);
  });
});

it("says when a forwarded message was sent in a zone", async () => {
  const forwarded = [
    "Content-Type: message/rfc822",
    "",
    "Subject: Inner",
    "Date: Thu, 5 Mar 2026 10:14:55 +0100",
    "",
    "x",
  ];
  await put(bytes("Subject: Fwd", ...forwarded, ""));
  expect((await read()).text).toMatch(/Date: +2026-03-05T09:14:55\.000Z/);
});

describe("attachments", () => {
  const related = (disposition: string) =>
    bytes(
      "Content-Type: multipart/related; boundary=b",
      "",
      "--b",
      "Content-Type: text/html",
      "",
      '<p>Hi<img src="cid:logo@x"></p>',
      "--b",
      "Content-Type: image/png; name=logo.png",
      "Content-ID: <logo@x>",
      `Content-Disposition: ${disposition}; filename=logo.png`,
      BASE64,
      "",
      "iVBORw0KGgo=",
      "--b--",
    );

  it("are not the pictures of a text", async () => {
    await put(related("inline"));
    expect((await run("search", { query: "is:any has:attachment" })).messages).toEqual([]);
    expect((await run("search", { query: "is:any -has:attachment" })).messages).toHaveLength(1);
  });

  it("are what is named one", async () => {
    await put(related("attachment"));
    expect((await run("search", { query: "is:any has:attachment" })).messages).toHaveLength(1);
  });
});

describe("a message of which a search reads the beginning", () => {
  it("says so where its text lies behind that", async () => {
    const picture = Buffer.alloc(1_200_000, "png").toString("base64").replaceAll(/.{76}/g, "$&\r\n");
    await put(
      bytes(
        "Subject: Late",
        "Content-Type: multipart/mixed; boundary=b",
        "",
        "--b",
        "Content-Type: image/png; name=a.png",
        BASE64,
        "",
        picture,
        "--b",
        "Content-Type: text/plain",
        "",
        "The end",
        "--b--",
      ),
    );
    const answer = await run("search", { query: "is:any" });
    expect(answer.messages).toMatchObject([{ subject: "Late" }]);
    expect(answer.not_shown).toEqual([{ where: ID, why: expect.stringMatching(/behind/) }]);
    const words = await run("search", { query: "end" });
    expect([words.messages, words.not_shown]).toEqual([[], answer.not_shown]);
  });
});

describe("the folders of a Maildir", () => {
  it.each([".Büro", ".B&APw-ro", ".R&D", ".R&-D", ".Work.Büro"])(
    "are found as they lie on the disk: %s",
    async (disk) => {
      await put(bytes("Subject: Here", "", "x"), disk);
      const { folders } = await run("list_folders", {});
      const named = folders.filter(({ messages }: { messages: number }) => messages === 1);
      expect(named).toHaveLength(1);
      const folder = named[0].name;
      expect(folder).toMatch(/^(Work\/)?(Büro|R&D)$/);
      expect((await run("search", { folder })).messages).toMatchObject([{ message_id: ID, folder, subject: "Here" }]);
      await run("mark_message", { message_ids: [ID], as: "read" });
      await run("move_message", { message_ids: [ID], subjects: ["Here"], folder: "Archive" });
      await run("move_message", { message_ids: [ID], subjects: ["Here"], folder });
      expect(await readdir(join(temp(), disk, "cur"))).toHaveLength(1);
    },
  );

  it("are made in the spelling of those that are there", async () => {
    await put(bytes("Subject: Here", "", "x"), ".Büro");
    await run("move_message", { message_ids: [ID], subjects: ["Here"], folder: "Küche", create_folder: true });
    expect(await readdir(temp())).toContain(".Küche");
  });

  it("are made in the old spelling where none is there", async () => {
    await put(bytes("Subject: Here", "", "x"));
    await run("move_message", { message_ids: [ID], subjects: ["Here"], folder: "Küche", create_folder: true });
    expect(await readdir(temp())).toContain(".K&APw-che");
  });

  it("of which one cannot be read show the others, and say so", async () => {
    await put(bytes("Subject: Here", "", "x"), ".Work");
    await mkdir(Buffer.concat([Buffer.from(`${temp()}/.B`), Buffer.from([0xfc]), Buffer.from("ro")]));
    const { folders, not_shown } = await run("list_folders", {});
    expect(folders).toContainEqual({ name: "Work", messages: 1, unread: 1 });
    expect(not_shown).toEqual([{ where: expect.stringContaining("ro"), why: expect.stringContaining("name") }]);
  });
});
