import { describe, expect, it } from "vitest";
import { readFeedTime } from "../../../src/apps/feeds/feed-time.ts";
import { readFeed } from "../../../src/apps/feeds/read-feed.ts";

const ADDRESS = "https://feeds.example/dir/feed.xml";
const SPACES =
  'xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:media="http://search.yahoo.com/mrss/" xmlns:content="http://purl.org/rss/1.0/modules/content/"';
const read = (document: string | Uint8Array, contentType = "") =>
  readFeed({ bytes: Buffer.from(document), contentType, address: ADDRESS })?.entries ?? [];
const rss = (item: string, channel = "") =>
  read(
    `<rss version="2.0" ${SPACES}><channel><link>https://site.example/</link>${channel}<item>${item}</item></channel></rss>`,
  );
const atom = (entry: string, feed = "", attributes = "") =>
  read(
    `<feed xmlns="http://www.w3.org/2005/Atom" ${SPACES} ${attributes}>${feed}<entry><id>1</id>${entry}</entry></feed>`,
  );
const json = (item: object, feed: object = {}) =>
  read(
    JSON.stringify({ version: "https://jsonfeed.org/version/1.1", title: "F", ...feed, items: [{ id: "1", ...item }] }),
  );

describe("texts", () => {
  it.each([
    [
      "of type text",
      atom('<title type="text">A &lt;tr&gt; without &lt;tbody&gt;</title>'),
      { title: "A <tr> without <tbody>" },
    ],
    ["without a type", atom("<title>A &lt;tr&gt; without &lt;tbody&gt;</title>"), { title: "A <tr> without <tbody>" }],
    [
      "of type html",
      atom('<title type="html">A &lt;b&gt;b&lt;/b&gt; &amp;lt;tr&amp;gt;</title>'),
      { title: "A b <tr>" },
    ],
    [
      "of type xhtml",
      atom('<title type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml">A <b>b</b> &lt;tr&gt;</div></title>'),
      { title: "A b <tr>" },
    ],
    [
      "with line breaks",
      atom('<content type="text">line 1\nif (a &lt; b) &lt;x&gt;</content>'),
      { text: "line 1\nif (a < b) <x>" },
    ],
    [
      "in Base64, as types that are no text have it",
      atom('<content type="application/x-note">R3LDvMOfZQ==</content>'),
      { text: "Grüße" },
    ],
    [
      "but not where the bytes are a picture",
      atom('<content type="image/png">iVBORw0KGgoAAAAN</content><summary>A dog</summary>'),
      { text: "A dog" },
    ],
    ["of HTML without a type", atom("<summary>&lt;p&gt;A&lt;/p&gt;&lt;p&gt;B&lt;/p&gt;</summary>"), { text: "A\nB" }],
    ["in a title of RSS", rss("<title>if (a &lt; b) &lt;x&gt;</title>"), { title: "if (a < b) <x>" }],
    ["as HTML in a title of RSS", rss("<title>&lt;i&gt;A&lt;/i&gt; &amp;amp; B</title>"), { title: "A & B" }],
    ["in JSON", json({ title: "A <b>b</b>", content_text: "<p>x</p>" }), { title: "A <b>b</b>", text: "<p>x</p>" }],
    [
      "of a podcast",
      rss("<title>A</title><itunes:summary>About the show</itunes:summary>"),
      { text: "About the show" },
    ],
    [
      "of a podcast, in its title",
      rss("<itunes:title>Show</itunes:title><itunes:subtitle>About</itunes:subtitle>"),
      { title: "Show", text: "About" },
    ],
    [
      "of a video",
      atom("<media:group><media:description>About it</media:description></media:group>"),
      { text: "About it" },
    ],
    [
      "whole before short",
      rss("<description>short</description><content:encoded>&lt;p&gt;whole&lt;/p&gt;</content:encoded>"),
      { text: "whole" },
    ],
    ["of cells", rss("<description>&lt;td&gt;a&lt;/td&gt;&lt;td&gt;b&lt;/td&gt;</description>"), { text: "a\tb" }],
    ["that are hidden", rss('<description>&lt;p style="display:none"&gt;a&lt;/p&gt;b</description>'), { text: "b" }],
  ])("%s", (_, [entry], expected) => {
    expect(entry).toMatchObject(expected);
  });
});

describe("addresses", () => {
  it.each([
    ["a guid", rss("<title>A</title><guid>https://site.example/p/1</guid>"), { url: "https://site.example/p/1" }],
    ["no guid that is none", rss('<guid isPermaLink="false">https://site.example/p/1</guid>'), { url: undefined }],
    [
      "a link of Atom in RSS",
      rss('<title>A</title><atom:link xmlns:atom="http://www.w3.org/2005/Atom" href="/p1" rel="alternate"/>'),
      { url: "https://site.example/p1" },
    ],
    ["no guid that is a word", rss("<guid>word</guid>"), { url: undefined }],
    [
      "xml:base of a feed",
      atom('<link href="p1"/>', "", 'xml:base="https://base.example/blog/"'),
      { url: "https://base.example/blog/p1" },
    ],
    [
      "the document",
      atom('<link href="post-1/"/>', '<link href="https://other.example/"/>'),
      { url: "https://feeds.example/dir/post-1/" },
    ],
    ["the site of RSS", rss("<link>/p1</link>"), { url: "https://site.example/p1" }],
    [
      "links in a text",
      rss('<description>&lt;a href="/a"&gt;here&lt;/a&gt;</description>'),
      { text: "here (https://site.example/a)" },
    ],
    [
      "an enclosure",
      rss('<title>A</title><guid isPermaLink="false">x</guid><enclosure url="https://site.example/ep1.mp3"/>'),
      { enclosures: ["https://site.example/ep1.mp3"] },
    ],
    [
      "an enclosure of Atom",
      atom('<link rel="enclosure" href="e.mp3"/>'),
      { enclosures: ["https://feeds.example/dir/e.mp3"], url: undefined },
    ],
    [
      "media",
      rss('<media:content url="https://site.example/v.mp4"/><media:group><media:content url="/w.mp4"/></media:group>'),
      { enclosures: ["https://site.example/v.mp4", "https://site.example/w.mp4"] },
    ],
    [
      "an attachment of JSON",
      json({ attachments: [{ url: "https://site.example/a", mime_type: "a/b" }] }),
      { enclosures: ["https://site.example/a"] },
    ],
  ])("%s", (_, [entry], expected) => {
    expect(entry).toMatchObject(expected);
  });

  it("of an entry and its text have their own base", () => {
    const [entry] = read(
      `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/a/"><entry xml:base="b/"><id>1</id><link href="c"/><content type="html" xml:base="d/">&lt;a href="e"&gt;x&lt;/a&gt;</content></entry></feed>`,
    );
    expect(entry).toMatchObject({
      url: "https://feeds.example/a/b/c",
      text: "x (https://feeds.example/a/b/d/e)",
    });
  });
});

describe("authors", () => {
  it.each([
    ["of the feed", atom("", "<author><name>Ann</name></author>"), "Ann"],
    [
      "of the entry before the feed",
      atom("<author><name>Bob</name></author>", "<author><name>Ann</name></author>"),
      "Bob",
    ],
    [
      "of the feed that an entry is from",
      atom("<source><author><name>Sue</name></author></source>", "<author><name>Ann</name></author>"),
      "Sue",
    ],
    [
      "several",
      atom("<author><name>A</name></author><author><email>b@site.example</email></author>"),
      "A, b@site.example",
    ],
    ["of a podcast", rss("<itunes:author>Cy</itunes:author>"), "Cy"],
    ["the editor of RSS", rss("<title>A</title>", "<managingEditor>ed@site.example (Ed)</managingEditor>"), "Ed"],
    ["of a JSON feed", json({ content_text: "x" }, { authors: [{ name: "Dee" }] }), "Dee"],
  ])("%s", (_, [entry], author) => {
    expect(entry?.author).toBe(author);
  });
});

describe("times", () => {
  it.each([
    ["Tue, 10 Feb 2026 12:30:00 CET", "2026-02-10T11:30:00"],
    ["Tue, 09 Jun 2026 08:00:00 MEST", "2026-06-09T06:00:00"],
    ["2026-03-05T10:14:55", "2026-03-05T10:14:55"],
    ["2026-03-05 10:14:55", "2026-03-05T10:14:55"],
    ["2026-03-05 10:14:55 +0100", "2026-03-05T09:14:55"],
    ["2026-03-05T10:14:55.123+01:00", "2026-03-05T09:14:55"],
    ["2026-03-05T10:14-0530", "2026-03-05T15:44:00"],
    ["20260305T101455Z", "2026-03-05T10:14:55"],
    ["2026-03-05", "2026-03-05T00:00:00"],
    ["20260305", "2026-03-05T00:00:00"],
    ["2026-03", "2026-03-01T00:00:00"],
    ["2026", "2026-01-01T00:00:00"],
    ["Thu, 01 Jan 2004 19:48:21 GMT", "2004-01-01T19:48:21"],
    ["Thu, 01 Jan 04 19:48:21 EST", "2004-01-02T00:48:21"],
    ["01 Jan 2004 19:48 PDT", "2004-01-02T02:48:00"],
    ["Thu,  5 March 2026 10:00:00 +0000 (UTC)", "2026-03-05T10:00:00"],
    ["Thu, 05-Mar-2026 10:00:00 GMT+0200", "2026-03-05T08:00:00"],
    ["Thu, 31 Dec 2026 24:00:00 UT", "2027-01-01T00:00:00"],
    ["Thu Mar  5 10:00:00 2026", "2026-03-05T10:00:00"],
    ["Mar 5, 2026 1:05 PM", "2026-03-05T13:05:00"],
    ["March 5th, 2026", "2026-03-05T00:00:00"],
    ["Do, 05 Mär 2026 10:00:00 +0100", "2026-03-05T09:00:00"],
    ["5 Mai 2026 12:00 AM", "2026-05-05T00:00:00"],
    ["Tue, 10 Feb 2026 12:30:00 IST", undefined],
    ["Tue, 30 Feb 2026 12:30:00 GMT", undefined],
    ["some day", undefined],
    ["12:30", undefined],
    ["", undefined],
  ])("%j is %s", (written, time) => {
    expect(readFeedTime(written)).toBe(time && `${time}.000Z`);
  });

  it("are those of every module", () => {
    expect(rss("<dcterms:created>2026-01-05T08:00:00Z</dcterms:created>")[0]?.published).toBe(
      "2026-01-05T08:00:00.000Z",
    );
    expect(rss("<dc:date>2026-01-05T08:00:00Z</dc:date>")[0]?.published).toBe("2026-01-05T08:00:00.000Z");
    expect(atom("<updated>2026-01-05T08:00:00Z</updated>")[0]?.published).toBe("2026-01-05T08:00:00.000Z");
  });

  it.each(["1 ", "Jan ", "1:1", "a1 jan", "(", "2026-03-05T10:14:55 ("])("of many %j are read in no time", (piece) => {
    expect(readFeedTime(piece.repeat(100_000))).toBeUndefined();
  });
});

it("reads UTF-8 with a mark, whatever the header says", () => {
  const feed = "\uFEFF<rss version='2.0'><channel><item><title>Café</title></item></channel></rss>";
  expect(read(feed, "text/xml; charset=iso-8859-1")[0]?.title).toBe("Café");
});

it("tells entries apart that a feed calls by one name", () => {
  const item = (n: number) =>
    `<title>${n}</title><link>https://site.example/${n}</link><guid isPermaLink="false">none</guid>`;
  const entries = rss(`${item(1)}</item><item>${item(2)}`);
  expect(new Set(entries.map(({ key }) => key)).size).toBe(2);
  expect(rss(item(1))[0]?.key).toBe("none");
});

describe("what a feed leaves out or guesses is said", () => {
  const item = (more: string) => `<item><title>Caf\u00e9</title>${more}</item>`;
  const notes = (bytes: Uint8Array, contentType = "") => {
    const feed = readFeed({ bytes, contentType, address: ADDRESS });
    return [feed?.entries[0]?.title, feed?.notes];
  };
  const channel = (items: string, declared = "") => `${declared}<rss version="2.0"><channel>${items}</channel></rss>`;

  it.each([
    ["a wrong charset in the header", Buffer.from(channel(item(""))), "text/xml; charset=iso-8859-1", /iso-8859-1/],
    ["no UTF-8", Buffer.from(channel(item("")), "latin1"), "", /utf-8/],
    ["a charset nobody knows", Buffer.from(channel(item("")), "latin1"), "text/xml; charset=x-nothing", /x-nothing/],
    ["a time that cannot be read", Buffer.from(channel(item("<pubDate>soon</pubDate>"))), "", /times of 1/],
    ["too many entries", Buffer.from(channel(item("").repeat(201))), "", /first 200/],
  ])("%s", (_, bytes, contentType, why) => {
    expect(notes(bytes, contentType)).toEqual(["Café", [expect.stringMatching(why)]]);
  });

  it.each([
    ["UTF-16", Buffer.from(`\ufeff${channel(item(""), '<?xml version="1.0" encoding="utf-16"?>')}`, "utf16le"), ""],
    ["Latin-1", Buffer.from(channel(item(""), '<?xml version="1.0" encoding="iso-8859-1"?>'), "latin1"), ""],
    [
      "a code page of DOS",
      Buffer.from(channel(item("")).replace("\u00e9", "\u0082"), "latin1"),
      "text/xml; charset=cp850",
    ],
    ["as many entries as are read", Buffer.from(channel(item("").repeat(200))), ""],
  ])("but not %s", (_, bytes, contentType) => {
    expect(notes(bytes, contentType)).toEqual(["Café", []]);
  });
});
