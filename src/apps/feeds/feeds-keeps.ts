import { z } from "zod";
import { chooseTrashFolder } from "../../service/files/write-file.ts";
import { ServiceError } from "../../service/service-error.ts";
import { createKeeps } from "../port/define-action.ts";
import { quoteName, refuseChanged } from "../port/preview.ts";
import { cannotKnow, refuseUndo, type Verdict } from "../port/undo.ts";
import { describeFeed, sayEnded } from "./describe-feed.ts";
import { feedSchema, isSameFeed, toName } from "./feed-shelf.ts";
import type { FeedReader } from "./feeds.ts";
import { previewEnd, previewReturn } from "./preview-feed.ts";

/** The files say it all: a subscription holds the moment at which it was made. */
const afterSchema = z.object({});

/** Ends a new subscription again. */
export const subscriptionKeeps = createKeeps({
  intent: z.object({ feed: feedSchema }),
  after: afterSchema,
  async undo({ intent: { feed } }, { shelf }: FeedReader, { connection: { label }, now }) {
    const found = await shelf.find(feed.id);
    if (found === undefined) throw refuseUndo(`${quoteName(feed.title, 80)} is not subscribed to any more.`);
    if (!isSameFeed(found, feed))
      throw refuseUndo(`the subscription to ${quoteName(feed.title, 80)} was changed since.`);
    const draft = previewEnd({ feed, stored: await shelf.read(feed) }, label);
    const why = "It can be subscribed to again.";
    return {
      draft: { ...draft, undo: { possible: false, why } },
      raised: { level: "delete", says: "ends the subscription" },
      async act() {
        const trashed = await shelf.remove(feed, chooseTrashFolder([], now())).catch((error: unknown) => {
          throw error instanceof ServiceError && error.status === 404 ? refuseChanged() : error;
        });
        return sayEnded(feed, trashed);
      },
    };
  },
  async settle({ intent: { feed } }, { shelf }): Promise<Verdict> {
    const [found, stored] = [await shelf.find(feed.id), await shelf.read(feed)];
    if (found === undefined && stored === undefined) return { verdict: "did_not" };
    if (isSameFeed(found, feed)) return { verdict: "happened", output: describeFeed({ feed, stored }), after: {} };
    const url = quoteName(feed.url, 80);
    const why = found ? `There is another subscription to ${url} by now.` : `Only entries of ${url} are there.`;
    return cannotKnow(why);
  },
});

/** Moves a subscription that was ended back out of the trash. */
export const endKeeps = createKeeps({
  intent: z.object({ feed: feedSchema, trashFolder: z.array(z.string()) }),
  after: afterSchema,
  async undo({ intent: { feed, trashFolder } }, { shelf }: FeedReader, { connection: { label } }) {
    const name = quoteName(feed.title, 80);
    const left = await shelf.find(feed.id, trashFolder);
    if (left === undefined) throw refuseUndo(`the subscription to ${name} is no longer in .trash.`);
    if (!isSameFeed(left, feed)) throw refuseUndo(`the subscription to ${name} was changed since.`);
    if ((await shelf.find(feed.id)) !== undefined) throw refuseUndo(`${name} is subscribed to again.`);
    await shelf.checkNew(feed.url).catch((error: unknown) => {
      const isFull = error instanceof ServiceError && error.status === 400;
      throw isFull ? refuseUndo("there are as many subscriptions as there can be.") : error;
    });
    return {
      draft: previewReturn({ feed, stored: await shelf.read(feed, trashFolder) }, label),
      async act() {
        await shelf.restore(feed, trashFolder);
        return describeFeed({ feed, stored: await shelf.read(feed) });
      },
    };
  },
  async settle({ intent: { feed, trashFolder } }, { shelf }): Promise<Verdict> {
    const [found, left] = [await shelf.find(feed.id), await shelf.find(feed.id, trashFolder)];
    if (left === undefined && isSameFeed(found, feed)) return { verdict: "did_not" };
    // Nobody else knows this place of the trash.
    if (left !== undefined) {
      const trashed = [...trashFolder, toName(feed.id)].join("/");
      return { verdict: "happened", output: sayEnded(feed, trashed), after: {} };
    }
    return cannotKnow(`The subscription to ${quoteName(feed.title, 80)} was changed since.`);
  },
});
