/** The thread in which one large feed is read. */
import { parentPort, workerData } from "node:worker_threads";
import { type FeedDocument, readFeed } from "./read-feed.ts";

const document: FeedDocument = workerData;
parentPort?.postMessage(readFeed(document));
