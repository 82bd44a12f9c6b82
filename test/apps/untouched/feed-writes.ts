import { expect } from "vitest";
import { toFeedId } from "../../../src/apps/feeds/feed-shelf.ts";
import type { Roll } from "../../fixtures/content-files.ts";
import { type startFeeds, writeRss } from "../feeds/start-feeds.ts";
import { type Holdings, leaveOut, pick, type Write } from "./check-write.ts";

const ODD: readonly (readonly [string, string])[] = [
  ["0123456789ab.feed.json", "{ not JSON"],
  ["0123456789ac.feed.json", '{"url":1}'],
  ["readme.md", "x"],
  ["old/0123456789ab.feed.json", "{}"],
  [".trash/1/0123456789ab.feed.json", "{}"],
];

/** Feeds as they are on the disk, with what other programs may have added. */
function rollShelf(roll: Roll, urls: readonly string[]): Holdings {
  const feeds = urls.flatMap((url, index): (readonly [string, string])[] => {
    if (index > 0 && roll(3) === 0) return [];
    const id = toFeedId(url);
    const feed = {
      url,
      title: `Feed ${index}`,
      added: "2026-01-01T00:00:00.000Z",
      note: pick(roll, [undefined, "own"]),
    };
    const stored = { checkedAt: 1, entries: [{ id: `${id}-1`, title: "old", found: feed.added, text: "x" }] };
    const entries = [
      `${id}.entries.json`,
      pick(roll, [JSON.stringify(stored), "{", `${JSON.stringify(stored)}\n`]),
    ] as const;
    return [[`${id}.feed.json`, JSON.stringify(feed, null, roll(3))], ...(roll(2) === 0 ? [entries] : [])];
  });
  return new Map([...feeds, ...ODD.filter(() => roll(2) === 0)]);
}

/** Every way to write into a folder of feeds, which are at the host. */
export function listFeedWrites(host: Awaited<ReturnType<typeof startFeeds>>): Write[] {
  const urls = ["/a", "/b?x=ä", "/c"].map(host.url);
  host.answers.set("/new", { body: writeRss("New", [{ title: "one" }]) });
  const [first = ""] = urls;
  const id = toFeedId(first);
  return [
    {
      title: "subscribe",
      roll(roll) {
        const things = rollShelf(roll, urls);
        return {
          things,
          call: (run) => run("subscribe", { url: host.url("/new") }),
          check({ after, answer }) {
            const isNew = (path: string) => path.startsWith(`${answer.feed_id}.`);
            expect(leaveOut(after, isNew)).toEqual(leaveOut(things, isNew));
            expect([...after.keys()].filter(isNew)).toHaveLength(2);
          },
        };
      },
    },
    {
      title: "unsubscribe",
      roll(roll) {
        const things = rollShelf(roll, urls);
        return {
          things,
          call: (run) => run("unsubscribe", { feed_id: id, url: first }),
          check({ after, answer }) {
            const trash = String(answer.trashed_to).slice(0, -`${id}.feed.json`.length);
            const isNamed = (path: string) => path.startsWith(`${id}.`) || path.startsWith(trash);
            expect(leaveOut(after, isNamed)).toEqual(leaveOut(things, isNamed));
            const own = [...things].filter(([path]) => path.startsWith(`${id}.`));
            const moved = own.map(([path, text]) => [`${trash}${path}`, text]);
            const left = [...after].filter(([path]) => isNamed(path) && !path.endsWith("/"));
            expect(Object.fromEntries(left)).toEqual(Object.fromEntries(moved));
          },
        };
      },
    },
  ];
}
