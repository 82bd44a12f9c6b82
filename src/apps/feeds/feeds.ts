import { createActionDefiner } from "../port/define-action.ts";
import type { Entry, Feed, FeedShelf, StoredFeed } from "./feed-shelf.ts";

/** A subscription, and what is known of its content. */
export interface FeedWithEntries {
  readonly feed: Feed;
  readonly stored: StoredFeed | undefined;
}

/** A subscription that is not there yet. */
export interface NewFeed {
  readonly url: URL;
  /** Of the subscriptions that are there. */
  readonly hosts: readonly string[];
}

/** The feeds of one connection for the length of one call. Every method throws ServiceError for failures it can name. */
export interface FeedReader {
  /** The subscriptions as files. */
  readonly shelf: Pick<FeedShelf, "find" | "read" | "remove" | "restore" | "checkNew">;
  /** Reads the feed first: throws ServiceError 400 or 503 naming `url` when that fails, and keeps nothing. */
  subscribe(url: string, title: string | undefined): Promise<FeedWithEntries>;
  /** What `subscribe` would add. Asks no host: an address may carry what nobody is to be told before it is approved. */
  planSubscribe(url: string): Promise<NewFeed>;
  /** Throws ServiceError 400 naming `url` when that is the address of another feed; then nothing is changed. */
  unsubscribe(id: string, url: string): Promise<{ readonly feed: Feed; readonly trashedTo: string }>;
  /** What `unsubscribe` would end. Refuses as that does. */
  planUnsubscribe(id: string, url: string): Promise<FeedWithEntries>;
  /** All subscriptions as they are known; asks nobody. */
  list(): Promise<FeedWithEntries[]>;
  /** One feed, or all; those that were not asked in the last ten minutes are asked again. What fails keeps its entries. */
  refresh(id: string | undefined): Promise<FeedWithEntries[]>;
  /** The entry of an id, as it is known; asks nobody. Throws ServiceError 404 when there is no such feed. */
  find(entryId: string): Promise<{ readonly feed: Feed; readonly entry: Entry | undefined }>;
}

/** Defines an action on the feeds of the connection it is called with. */
export const defineFeedsAction = createActionDefiner<FeedReader>();
