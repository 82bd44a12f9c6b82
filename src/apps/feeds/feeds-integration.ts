import { makeOnce } from "../../shared/base/concurrency.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { Integration } from "../port/integration.ts";
import type { FeedOptions } from "./feed-reader.ts";
import { listEntries, readEntry, searchEntries } from "./read-entries.ts";
import { listFeeds, subscribe, unsubscribe } from "./subscriptions.ts";

const actions = [listFeeds, listEntries, searchEntries, readEntry, subscribe, unsubscribe];

/**
 * Feeds: subscriptions to RSS, Atom, RDF and JSON Feed, kept as files in a folder (setting `folder`, an absolute path). The
 * code that reads feeds is loaded by the first call.
 */
export function createFeedsIntegration(o: FeedOptions = {}): Integration {
  const getReaders = makeOnce(async () => (await import("./feed-reader.ts")).createFeedReaders(o));
  return {
    slug: "feeds",
    name: "Feeds",
    description: "News and blogs by their feeds (RSS, Atom, JSON Feed), with subscriptions in a folder of the service.",
    category: "news",
    scopes: ["feeds.read", "feeds.write"],
    actions: actions.map((action) => action(async (context) => (await getReaders()).open(context))),
    settingsForm: [
      {
        name: "folder",
        label: "Folder of the subscriptions",
        kind: "folder",
        help: "An empty folder: subscriptions and copies of entries are kept there.",
      },
    ],
    async checkSettings(settings) {
      localFolder.read(settings);
    },
    testSettings: (settings) => localFolder.check(settings),
  };
}
