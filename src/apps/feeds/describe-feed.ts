import type { Feed } from "./feed-shelf.ts";
import type { FeedWithEntries } from "./feeds.ts";

/** A subscription as the actions show it. */
export function describeFeed({ feed: { id, title, url, added }, stored }: FeedWithEntries) {
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

/** What the end of a subscription is answered with. */
export function sayEnded({ id, title, url }: Feed, trashedTo: string) {
  return { feed_id: id, title, url, unsubscribed: true, trashed_to: trashedTo };
}
