import { describe, expect, it } from "vitest";
import { parseMessage } from "../../../../../src/service/integrations/mail/parsing/parse-message.ts";

const whole = { text: { from: 0, length: 10_000_000 } };

async function readHtml(html: string): Promise<string> {
  const lines = ["From: ann@site.example", "Content-Type: text/html; charset=utf-8", "", html];
  return (await parseMessage(Buffer.from(lines.join("\r\n")), whole)).message.text;
}

describe("the text of an HTML-only message", () => {
  it.each([
    ["<p>One</p><p>Two &lt;3</p>", "One\nTwo <3"],
    ["<HEAD><title>no</title></head ><style>p > a {}</style>Yes<script>if (a<b) no()</script>!", "Yes!"],
    ["<style>a{}</style>A<STYLE media=x>b{}</STYLE>B<br/>C<br >D", "AB\nC\nD"],
    ["before<style>not closed <b>bold</b>", "beforenot closed bold"],
    ["<header>kept</header> 1 < 2", "kept 1 < 2"],
    ["a <b>b</b> c < d", "a b c < d"],
    ["It&#39;s &rsquo;5&nbsp;&euro;&rsquo; &#x1F600; &amp;lt; &nosuch; &", "It's ’5 €’ 😀 &lt; &nosuch; &"],
    ["<title>x<title>y</title>z</title>", "z"],
  ])("reads %j as %j", async (html, text) => {
    expect(await readHtml(html)).toBe(text);
  });

  it.each(["<", "<style ", "<br ", "</p "])("reads a message of nothing but %j", async (piece) => {
    // Patterns that start again at every piece take minutes for this.
    const line = piece.repeat(Math.floor(70 / piece.length));
    expect(await readHtml(`${line}\r\n`.repeat(4000))).toContain(piece.trim());
  });
});

it("reads the HTML beside a text that is blank", async () => {
  const head = ["From: ann@site.example", "Content-Type: multipart/alternative; boundary=b", ""];
  const parts = [
    "--b",
    "Content-Type: text/plain",
    "",
    " ",
    "--b",
    "Content-Type: text/html",
    "",
    "<p>Here</p>",
    "--b--",
  ];
  const bytes = Buffer.from([...head, ...parts, ""].join("\r\n"));
  expect((await parseMessage(bytes, whole)).message.text).toBe("Here");
});

describe("a message of many lines", () => {
  it("is read up to 100,000 short ones, however many follow", async () => {
    const message = Buffer.from(`Subject: x\r\n\r\nbegin${"\n".repeat(99_990)}near${"\n".repeat(1_000_000)}far`);
    const { subject, text } = (await parseMessage(message, whole)).message;
    expect([subject, text.startsWith("begin"), text.includes("near"), text.includes("far")]).toEqual([
      "x",
      true,
      true,
      false,
    ]);
  });

  it("keeps its attachment whole", async () => {
    const bytes = Buffer.alloc(9_000_000, "svc");
    const lines = bytes.toString("base64").replaceAll(/.{76}/g, "$&\r\n");
    const head = 'Content-Type: application/pdf; name="a.pdf"\r\nContent-Transfer-Encoding: base64';
    const { message, content } = await parseMessage(Buffer.from(`${head}\r\n\r\n${lines}\r\n`), { attachment: 0 });
    expect(message.attachments).toEqual([{ name: "a.pdf", mimetype: "application/pdf", size: bytes.length }]);
    expect(content?.length).toBe(bytes.length);
  });
});
