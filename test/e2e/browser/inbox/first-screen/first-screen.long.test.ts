import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../../src/testing.ts";
import { startFeeds, writeRss } from "../../../../apps/feeds/start-feeds.ts";
import { closeAll } from "../../../../plugin/calls/open-test-session.ts";
import { execute } from "../../../../service/http-calls.ts";
import { useDesk } from "../../sign-in/desk.ts";
import type { CardCall } from "./card-call.ts";
import { CALENDAR_CALLS, CONTACT_CALLS } from "./date-calls.ts";
import { DRIVE_CALLS, listFeedCalls, NOTE_CALLS } from "./file-calls.ts";
import { fillAccounts, NOW } from "./fill-accounts.ts";
import { lookInTerminal, lookOnPage } from "./look-at-calls.ts";
import { MAIL_CALLS } from "./mail-calls.ts";

/** Whoever sees only the first screen of a card can name the thing, the change and the consequence. */

const desk = useDesk();
let dataDir: string;
let feeds: Awaited<ReturnType<typeof startFeeds>>;
let calls: readonly CardCall[];

const start = (approvals: "device" | "owner"): Promise<TestService> =>
  startTestService({ dataDir, approvals, allowHosts: [feeds.host], now: () => NOW });

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-first-screen-"));
  feeds = await startFeeds();
  const entries = Array.from({ length: 42 }, (_, at) => ({ title: `Entry ${at + 1}`, date: "2026-11-18" }));
  feeds.answers.set("/garden", { body: writeRss("Garden Weekly", entries) });
  const service = await start("device");
  await fillAccounts(service);
  const subscription = { arguments: { url: feeds.url("/garden") }, confirmed: true };
  const { json } = await execute(service, "feeds_subscribe", subscription);
  await service.close();
  const ofFeeds = listFeedCalls(feeds.host, json.data.feed_id);
  calls = [...MAIL_CALLS, ...CALENDAR_CALLS, ...CONTACT_CALLS, ...DRIVE_CALLS, ...NOTE_CALLS, ...ofFeeds];
});
afterEach(closeAll);
afterAll(async () => {
  await feeds?.close();
  await rm(dataDir, { recursive: true, force: true });
});

test("in a terminal of 80 by 24", async () => {
  expect(await lookInTerminal(desk.keep(await start("device")), calls, () => NOW)).toEqual([]);
});

test("on a phone of 390 by 844", async () => {
  const service = desk.keep(await start("owner"));
  const page = await desk.openPage(service, { colorScheme: "light", width: 390 });
  expect(await lookOnPage(service, calls, page)).toEqual([]);
});
