import { z } from "zod";
import { defineFeedsAction, type FeedWithEntries } from "./feeds.ts";

/** `feeds_subscribe`. */
export const subscribe = defineFeedsAction({
  id: "subscribe",
  title: "Subscribe to a feed",
  description:
    "Subscribes to a feed (RSS, Atom, RDF or JSON Feed) at a public https address. It is read first; of a web page, the answer names its feeds.",
  level: "write",
  scopes: ["feeds.write"],
  arguments: z.strictObject({
    url: z.string().min(1).max(2000).describe('Address of the feed, for example "https://example.org/feed.xml".'),
    title: z.string().trim().min(1).max(200).optional().describe("Name to show; default is the feed's own title."),
  }),
  examples: [{ url: "https://example.org/feed.xml" }],
  askBefore: ["Which feed is subscribed to?"],
  async run({ url, title }, reader) {
    return describeFeed(await reader.subscribe(url, title));
  },
});

/** `feeds_unsubscribe`. */
export const unsubscribe = defineFeedsAction({
  id: "unsubscribe",
  title: "Unsubscribe from a feed",
  description: "Ends the subscription to a feed. Its entries are forgotten; a human finds the subscription in .trash.",
  level: "delete",
  scopes: ["feeds.write"],
  arguments: z.strictObject({
    feed_id: z.string().min(1).describe("feed_id of an answer of list_feeds."),
    url: z
      .string()
      .min(1)
      .max(2000)
      .describe("Address of the feed, as an answer of list_feeds said, so that whoever approves sees which one it is."),
  }),
  examples: [{ feed_id: "3f2a9c01d4e5", url: "https://example.org/feed.xml" }],
  askBefore: ["Which feed is no longer read?"],
  async run({ feed_id, url }, reader) {
    const { feed, trashedTo } = await reader.unsubscribe(feed_id, url);
    return { feed_id, title: feed.title, url: feed.url, unsubscribed: true, trashed_to: trashedTo };
  },
});

/** `feeds_list_feeds`. */
export const listFeeds = defineFeedsAction({
  id: "list_feeds",
  title: "List feeds",
  description: "Lists the feeds that are subscribed to, and which of them could not be read.",
  level: "read",
  scopes: ["feeds.read"],
  arguments: z.strictObject({}),
  examples: [{}],
  async run(_, reader) {
    return { feeds: (await reader.list()).map(describeFeed) };
  },
});

function describeFeed({ feed: { id, title, url, added }, stored }: FeedWithEntries) {
  return {
    ...{ feed_id: id, title, url, added },
    ...(stored === undefined
      ? {}
      : {
          site: stored.site,
          entries: stored.entries.length,
          checked: new Date(stored.checkedAt).toISOString(),
          problem: stored.problem,
        }),
  };
}
