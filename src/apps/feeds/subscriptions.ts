import { z } from "zod";
import { describeFeed, sayEnded } from "./describe-feed.ts";
import { defineFeedsAction } from "./feeds.ts";
import { endKeeps, subscriptionKeeps } from "./feeds-keeps.ts";
import { previewEnd, previewSubscription } from "./preview-feed.ts";

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
  async preview({ url, title }, reader, { connection }) {
    return previewSubscription(await reader.planSubscribe(url), { title, label: connection.label });
  },
  async run({ url, title }, reader) {
    return describeFeed(await reader.subscribe(url, title));
  },
  keeps: subscriptionKeeps,
});

/** `feeds_unsubscribe`. */
export const unsubscribe = defineFeedsAction({
  id: "unsubscribe",
  title: "Unsubscribe from a feed",
  description:
    "Ends the subscription to a feed. It goes to .trash with its entries, from where a human can restore it.",
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
  async preview({ feed_id, url }, reader, { connection }) {
    return previewEnd(await reader.planUnsubscribe(feed_id, url), connection.label);
  },
  async run({ feed_id, url }, reader) {
    const { feed, trashedTo } = await reader.unsubscribe(feed_id, url);
    return sayEnded(feed, trashedTo);
  },
  keeps: endKeeps,
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
