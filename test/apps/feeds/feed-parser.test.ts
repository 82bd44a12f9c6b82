import { expect, it } from "vitest";
import { createFeedParser } from "../../../src/apps/feeds/feed-parser.ts";
import { writeRss } from "./start-feeds.ts";

const { signal } = new AbortController();
const many = Array.from({ length: 6000 }, (_, index) => ({ title: `Entry ${index}`, html: "Hello" }));
const toDocument = (text: string) => ({
  bytes: Buffer.from(text),
  contentType: "application/rss+xml",
  address: "https://example.org/feed",
});

it("reads a large feed while the service goes on, and keeps its first entries", async () => {
  let turns = 0;
  const count = setInterval(() => {
    turns += 1;
  }, 1);
  const feed = await createFeedParser()(toDocument(writeRss("News", many)), signal);
  clearInterval(count);
  expect(turns).toBeGreaterThan(0);
  expect([feed?.title, feed?.entries.length, feed?.entries[0]?.title]).toEqual(["News", 200, "Entry 0"]);
});

it("takes no large document for a feed that is none, and reads the next one", async () => {
  const parse = createFeedParser();
  const deep = `<rss version="2.0"><channel><title>News</title>${"<a>".repeat(200_000)}`;
  const both = [parse(toDocument(deep), signal), parse(toDocument(writeRss("News", many)), signal)];
  expect((await Promise.all(both)).map((feed) => feed?.title)).toEqual([undefined, "News"]);
});

it("stops with its caller", async () => {
  const given = AbortSignal.timeout(1);
  await expect(createFeedParser()(toDocument(writeRss("News", many)), given)).rejects.toThrow("timeout");
});
