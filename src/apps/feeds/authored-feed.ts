import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";

const { yours, somebody } = createAuthors("feeds");

const text = z.string().optional().catch(undefined);
const entrySchema = z.looseObject({ feed: text, title: text, author: text, published: text, found: text });
const entriesSchema = z.looseObject({ entries: z.array(z.unknown()).catch([]) });
const feedSchema = z.looseObject({ feed_id: text, url: text, added: text, title: text });
const feedsSchema = z.looseObject({ feeds: z.array(z.unknown()).catch([]) });

/** An entry is of whoever writes the feed. */
export function tellEntry(result: unknown): AuthoredPart[] {
  const { feed, title, author, published, found } = entrySchema.safeParse(result).data ?? {};
  const by = [author, feed].filter(Boolean).join(", ");
  return [somebody("feed", result, { by, title, at: published ?? found })];
}

/** The entries of a list. */
export function tellEntries(result: unknown): AuthoredPart[] {
  return (entriesSchema.safeParse(result).data?.entries ?? []).flatMap(tellEntry);
}

/** That a feed is subscribed to is the owner's; its title and all else it says itself. */
function tellFeed(result: unknown): AuthoredPart[] {
  const { feed_id, url, added, ...said } = feedSchema.safeParse(result).data ?? {};
  return [yours("subscription", { feed_id, url, added }, { title: said.title, at: added }), ...tellNewFeed(said)];
}

/** The subscriptions of a list. */
export function tellFeeds(result: unknown): AuthoredPart[] {
  return (feedsSchema.safeParse(result).data?.feeds ?? []).flatMap(tellFeed);
}

/** What a feed says of itself, also where it was just subscribed to: its address is an argument. */
export function tellNewFeed(result: unknown): AuthoredPart[] {
  const { feed_id: _id, url: _url, added: _added, ...said } = feedSchema.safeParse(result).data ?? {};
  return [somebody("feed", said, { by: said.title, title: said.title })];
}
