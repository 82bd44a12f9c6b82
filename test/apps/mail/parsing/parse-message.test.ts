import { describe, expect, it } from "vitest";
import { parseMessage } from "../../../../src/apps/mail/parsing/parse-message.ts";

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
    ["before<style>not closed <b>bold</b>", "before"],
    ["<header>kept</header> 1 < 2", "kept\n1 < 2"],
    ["a <b>b</b> c < d", "a b c < d"],
    ["It&#39;s &rsquo;5&nbsp;&euro;&rsquo; &#x1F600; &amp;lt; &nosuch; &", "It's ’5 €’ 😀 &lt; &nosuch; &"],
    ["<title>x<title>y</title>z</title>", "z"],
  ])("reads %j as %j", async (html, text) => {
    expect(await readHtml(html)).toBe(text);
  });

  it.each([
    ['<a href="https://pay.example/in?a=1&amp;b=2">Pay here</a>!', "Pay here (https://pay.example/in?a=1&b=2)!"],
    ["<A class=x HREF='https://evil.example'>https://bank.example</A>", "https://bank.example (https://evil.example/)"],
    ["<a href=mailto:ann@site.example?subject=Hi>Write</a>", "Write (mailto:ann@site.example?subject=Hi)"],
    ['<a href="https://x.example/"><div>Pay</div></a>now', "Pay (https://x.example/)\nnow"],
    ['See <a href="https://x.example/"><img src="cid:1"></a>', "See (https://x.example/)"],
    ['<a href="https://x.example/a">not closed <b>bold</b>', "not closed bold (https://x.example/a)"],
    [
      '<a href="https://x.example/1">One <a href="https://x.example/2">Two</a> end',
      "One (https://x.example/1) Two (https://x.example/2) end",
    ],
    [
      '<a href="https://bаnk.example/">https://bаnk.example/</a>',
      "https://bаnk.example/ (https://xn--bnk-6cd.example/)",
    ],
    ['<a title="href=https://bank.example" href="https://evil.example">Pay</a>', "Pay (https://evil.example/)"],
    ['<a href="https://evil.example" href="https://bank.example">Pay</a>', "Pay (https://evil.example/)"],
    ['<a href="ht&#10;tps:&#x2f;/evil.example/\ta\u202eb">Pay</a>', "Pay (https://evil.example/a%E2%80%AEb)"],
    ['<a href="https://bank.example>@evil.example/">Pay</a>', "Pay (https://bank.example%3E@evil.example/)"],
  ])("reads the link %j as %j", async (html, text) => {
    expect(await readHtml(html)).toBe(text);
  });

  it.each([
    ['<a href="https://x.example/a?b">https://x.example/a?b</a>', "https://x.example/a?b"],
    ['<a href="https://x.example/"><b>https://x.example</b></a>', "https://x.example"],
    ['<a href="https://x.example/Köln"> https://x.example/Köln</a>', "https://x.example/Köln"],
    ['<a href="mailto:ann@site.example">ann@site.example</a>', "ann@site.example"],
    ['<a href="javascript:alert(1)">A</a><a href="data:text/html,x">B</a><a href="file:///etc">C</a>', "ABC"],
    ['<a name="top"></a><a href="#top">Up</a> <a href="/in">In</a> <a>plain</a></a>', "Up In plain"],
    ["<abbr href='https://x.example'>A</abbr><address>B</address>", "A\nB"],
  ])("adds no address to %j", async (html, text) => {
    expect(await readHtml(html)).toBe(text);
  });

  it("cuts the address of a link", async () => {
    const text = await readHtml(`<a href="https://x.example/${"ab".repeat(20_000)}">Pay</a> end`);
    expect(text).toMatch(/^Pay \(https:\/\/x\.example\/(ab)+…\) end$/);
    expect(text.length).toBeLessThan(2100);
  });

  it.each(["<", "<style ", "<br ", "</p ", '<a href="', '<a href=">"'])(
    "reads a message of nothing but %j",
    async (piece) => {
      // Patterns that start again at every piece take minutes for this.
      const line = piece.repeat(Math.floor(70 / piece.length));
      expect(await readHtml(`${line}\r\n`.repeat(4000))).toContain(piece.trim());
    },
  );
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
