import { exactTime } from "../../shared/base/text.ts";
import type { PreviewObject } from "../../shared/wire/preview.ts";
import { changeValue, type PreviewDraft, quoteName } from "../port/preview.ts";
import type { Feed } from "./feed-shelf.ts";
import type { FeedWithEntries, NewFeed } from "./feeds.ts";

/** Most entries that are named, beside the feed. */
const MAX_NAMED = 9;

/** The preview of a subscription; `label` is the name of the connection, `title` the one that the caller gives. */
export function previewSubscription(
  { url, hosts }: NewFeed,
  { title, label }: { readonly title: string | undefined; readonly label: string },
): PreviewDraft {
  const { host } = url;
  const known = hosts.includes(host) ? "" : ", a host without any feed here so far";
  const first = `The service fetches this address from ${quoteName(host, 80)}${known}, and again whenever feeds are read.`;
  return {
    summary: `Subscribe to the feed at ${quoteName(host, 50)} in ${quoteName(label, 24)}`,
    objects: [{ kind: "feed", name: host, details: [{ label: "Address", value: url.href }] }],
    changes: changeValue("Title", undefined, title),
    effects: [{ code: "fetches", text: first }],
    undo: { possible: true, why: "The host has been asked by then." },
    seen: seeNewFeed(url),
  };
}

/** The preview of the end of a subscription. */
export function previewEnd({ feed, stored }: FeedWithEntries, label: string): PreviewDraft {
  const entries = stored?.entries ?? [];
  const count = `${entries.length} ${entries.length === 1 ? "entry" : "entries"}`;
  const named = entries.slice(0, MAX_NAMED).map(({ title, published = "" }): PreviewObject => {
    return {
      kind: "entry",
      name: title,
      details: published === "" ? [] : [{ label: "Published", value: sayTime(published) }],
    };
  });
  const details = [
    { label: "Address", value: feed.url },
    { label: "Subscribed", value: exactTime(feed.added) },
    { label: "Entries", value: String(entries.length) },
  ];
  return {
    summary: `Unsubscribe from ${quoteName(feed.title)} in ${quoteName(label, 24)} (${count})`,
    objects: [{ kind: "feed", name: feed.title, details }, ...named],
    objectCount: 1 + entries.length,
    effects: [
      {
        code: "moves_to_trash",
        text: `It moves to .trash in the folder of the feeds, with the kept copies of its ${count}.`,
      },
    ],
    undo: { possible: true },
    seen: seeFeed(feed),
  };
}

function sayTime(text: string): string {
  return Number.isNaN(Date.parse(text)) ? text : exactTime(new Date(text).toISOString());
}

/** The preview of a subscription that comes back from the trash. */
export function previewReturn({ feed, stored }: FeedWithEntries, label: string): PreviewDraft {
  const draft = previewEnd({ feed, stored }, label);
  const text = "The service fetches its address again whenever feeds are read.";
  return {
    ...draft,
    summary: `Bring back the subscription to ${quoteName(feed.title)} in ${quoteName(label, 24)}`,
    effects: [{ code: "fetches", text }],
    undo: { possible: false, why: "It can be unsubscribed from again." },
    seen: ["in the trash", seeFeed(feed)],
  };
}

/** What a new subscription depends on: that there is none of this address yet. */
export function seeNewFeed(url: URL): unknown {
  return [url.href, "not subscribed"];
}

/** All of a subscription; entries are copies, and come and go by themselves. */
export function seeFeed({ id, url, title, added }: Feed): unknown {
  return [id, url, title, added];
}
