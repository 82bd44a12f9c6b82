import { expect, it } from "vitest";
import { readFeed } from "../../../src/apps/feeds/read-feed.ts";

const ADDRESS = "https://example.org/feeds/all.xml";
const read = (document: string | Uint8Array, type = "") =>
  readFeed({ bytes: Buffer.from(document), contentType: type, address: ADDRESS });

const ONE = {
  title: "One & only",
  url: "https://example.org/1",
  author: "Ana",
  published: "2024-01-02T00:00:00.000Z",
  text: "Hello there (https://example.org/x)",
};
const HTML = '<p>Hello <a href="https://example.org/x">there</a></p><script>alert(1)</script>';

it.each([
  [
    "RSS",
    `<rss version="2.0"><channel><title>News</title><link>https://example.org</link><item><title>One &amp; only</title><link>https://example.org/1</link><guid isPermaLink="false">g1</guid><pubDate>Tue, 02 Jan 2024 00:00:00 GMT</pubDate><description>short</description><content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/"><![CDATA[${HTML}]]></content:encoded><dc:creator xmlns:dc="http://purl.org/dc/elements/1.1/">Ana</dc:creator></item></channel></rss>`,
  ],
  [
    "Atom",
    `<feed xmlns="http://www.w3.org/2005/Atom"><title type="html">&lt;b&gt;News&lt;/b&gt;</title><link rel="self" href="/self"/><link href="https://example.org/"/><entry><id>g1</id><title>One &amp; only</title><link href="/1"/><author><name>Ana</name></author><updated>2024-05-01T00:00:00Z</updated><published>2024-01-02T00:00:00Z</published><content type="html"><![CDATA[${HTML}]]></content></entry></feed>`,
  ],
  [
    "RDF",
    `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"><title>News</title><link>https://example.org</link></channel><item rdf:about="https://example.org/1"><title>One &amp; only</title><link>https://example.org/1</link><description><![CDATA[${HTML}]]></description><dc:date>2024-01-02</dc:date><dc:creator>Ana</dc:creator></item></rdf:RDF>`,
  ],
  [
    "JSON Feed",
    JSON.stringify({
      version: "https://jsonfeed.org/version/1.1",
      title: "News",
      home_page_url: "https://example.org",
      items: [
        {
          ...{ id: "g1", title: "One & only", url: "https://example.org/1", content_html: HTML },
          ...{ date_published: "2024-01-02T00:00:00Z", authors: [{ name: "Ana" }] },
        },
        "no entry",
      ],
    }),
  ],
])("reads %s", (_, document) => {
  const { entries, ...feed } = read(document) ?? { entries: [] };
  expect(feed).toEqual({ title: "News", site: "https://example.org/", notes: [] });
  expect(entries).toHaveLength(1);
  expect(entries[0]).toMatchObject(ONE);
});

it("reads what is missing, odd or in another encoding", () => {
  const odd = read(
    Buffer.from(
      '<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0"><channel><item><description>caf\u00e9 &lt;i&gt;au lait&lt;/i&gt;</description><link>javascript:alert(1)</link><pubDate>some day</pubDate></item></channel></rss>',
      "latin1",
    ),
  );
  expect(odd).toEqual({
    title: "example.org",
    site: undefined,
    notes: ["The times of 1 of its entries cannot be read: they stand where they were found."],
    entries: [
      {
        ...{ key: "café au lait", title: "café au lait", text: "café au lait" },
        ...{ url: undefined, author: undefined, published: undefined, enclosures: [] },
      },
    ],
  });
});

it("expands no entities, and takes nothing else for a feed", () => {
  const bomb = Array.from({ length: 20 }, (_, n) => `<!ENTITY e${n + 1} "${`&e${n};`.repeat(10)}">`).join("");
  const document = `<!DOCTYPE rss [<!ENTITY e0 "boom"><!ENTITY f SYSTEM "file:///etc/passwd">${bomb}]><rss version="2.0"><channel><title>&e20; &f;</title><item><title>x</title></item></channel></rss>`;
  expect(JSON.stringify(read(document) ?? "")).not.toMatch(/boom|root:/);
  for (const other of [
    "",
    "{}",
    "[]",
    "null",
    "<html></html>",
    "<rss",
    `<rss><channel>${"<a>".repeat(10_000)}`,
    "[".repeat(10_000),
  ])
    expect(read(other)?.entries ?? []).toEqual([]);
});
