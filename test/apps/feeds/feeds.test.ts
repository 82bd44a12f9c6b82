import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFeedsIntegration } from "../../../src/apps/feeds/feeds-integration.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, NOW, refusal } from "../run-action.ts";
import { startFeeds, writeRss } from "./start-feeds.ts";

const MINUTE = 60_000;
const temp = useTempFolder();
let host: Awaited<ReturnType<typeof startFeeds>>;
let now: number;
let folder: string;
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  host = await startFeeds();
  now = NOW;
  folder = join(temp(), "feeds");
  await mkdir(folder);
  const integration = createFeedsIntegration({ allowed: readAllowedHosts([host.host]) });
  run = createRunner(integration, { settings: { folder }, now: () => now });
});
afterEach(() => host.close());

const publish = (path: string, ...args: Parameters<typeof writeRss>) =>
  host.answers.set(path, { body: writeRss(...args), headers: { etag: `"${JSON.stringify(args).length}"` } });
const subscribe = (path: string, more = {}) => run("subscribe", { url: host.url(path), ...more });
const listTitles = async (args = {}) =>
  (await run("list_entries", args)).entries.map((one: { title: string }) => one.title);

describe("subscriptions", () => {
  it("are read first, listed, and ended so that they can be found again", async () => {
    publish("/a", "News", [{ title: "one" }, { title: "two" }]);
    const made = await subscribe("/a");
    expect(made).toMatchObject({ title: "News", url: host.url("/a"), entries: 2, site: "https://example.org/" });
    publish("/b", "Blog", []);
    await subscribe("/b", { title: "A blog of mine" });
    const { feeds } = await run("list_feeds", {});
    expect(feeds.map((one: { title: string }) => one.title)).toEqual(["A blog of mine", "News"]);
    const { feed_id, url } = made;
    const wrong = await refusal(run("unsubscribe", { feed_id, url: `${url}x` }));
    expect([wrong.options.extra, wrong.options.hint]).toEqual([{ invalidFields: ["arguments.url"] }, `That is ${url}`]);
    const ended = await run("unsubscribe", { feed_id, url });
    expect(ended).toMatchObject({ title: "News", unsubscribed: true, trashed_to: expect.stringMatching(/^\.trash\//) });
    expect((await run("list_feeds", {})).feeds).toHaveLength(1);
    expect((await readdir(folder)).filter((name) => name.startsWith(made.feed_id))).toEqual([]);
    expect((await refusal(run("unsubscribe", { feed_id, url }))).status).toBe(404);
  });

  it("say what was guessed in them", async () => {
    const body =
      '<rss version="2.0"><channel><title>News</title><item><title>A</title><pubDate>soon</pubDate></item></channel></rss>';
    host.answers.set("/a", { body, headers: {} });
    await subscribe("/a");
    const { not_shown } = await run("list_entries", {});
    expect(not_shown).toEqual([{ where: "News", why: expect.stringContaining("times of 1") }]);
    expect((await run("search", { query: "A" })).not_shown).toEqual(not_shown);
  });

  it("are made once, also when two are asked for at one moment", async () => {
    publish("/a", "News", []);
    const both = await Promise.allSettled([subscribe("/a"), subscribe("/a")]);
    expect(both.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    const error = await refusal(subscribe("/a"));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.url"] }]);
  });

  it("name the feeds of a web page instead of choosing one", async () => {
    const body =
      '<!doctype html><html><head><link rel="alternate" type="application/rss+xml" href="/rss"><link rel="alternate" type="text/html" href="/en"></head></html>';
    host.answers.set("/", { body, headers: { "content-type": "text/html" } });
    const error = await refusal(subscribe("/"));
    expect([error.code, error.options.hint]).toEqual(["media_url_not_a_file", `Its feeds are: ${host.url("/rss")}`]);
    expect(await readdir(folder)).toEqual([]);
  });

  it("reach no address that is not public, nor one without encryption, also by a redirect", async () => {
    const other = await startFeeds();
    host.answers.set("/away", { status: 302, headers: { location: other.url("/a") } });
    for (const [url, code] of [
      ["http://example.org/feed", "media_url_invalid"],
      ["https://192.168.1.5/feed", "media_url_blocked"],
      ["https://localhost/feed", "media_url_blocked"],
      ["https://ana:x@example.org/feed", "media_url_invalid"],
      ["file:///etc/passwd", "media_url_invalid"],
      [host.url("/away"), "media_url_blocked"],
    ] as const) {
      const error = await refusal(run("subscribe", { url }));
      expect([error.code, error.options.extra], url).toEqual([code, { invalidFields: ["arguments.url"] }]);
    }
    expect([other.asked, await readdir(folder)]).toEqual([[], []]);
    await other.close();
  });

  it("take no feed that is too large, compressed, gone or none", async () => {
    host.answers.set("/large", { body: writeRss("x".repeat(5 * 1024 * 1024), []) });
    host.answers.set("/gzip", { body: gzipSync("x"), headers: { "content-encoding": "gzip" } });
    host.answers.set("/gone", { status: 410 });
    host.answers.set("/down", { status: 503 });
    host.answers.set("/text", { body: "hello" });
    const errors = await Promise.all(
      ["/large", "/gzip", "/gone", "/down", "/text"].map((path) => refusal(subscribe(path))),
    );
    const failed = "media_url_failed";
    expect(errors.filter(({ options }) => / file|envelope/.test(options.hint ?? ""))).toEqual([]);
    expect(errors.map(({ code }) => code)).toEqual(["file_too_large", failed, failed, "media_url_unavailable", failed]);
    expect(await readdir(folder)).toEqual([]);
  });
});

describe("entries", () => {
  it("come newest first from all feeds, in pages, and of one day on", async () => {
    publish("/a", "A", [
      { title: "a2", date: "2026-11-18", html: "<p>second</p>" },
      { title: "a1", date: "2026-11-16" },
    ]);
    publish("/b", "B", [{ title: "b1", date: "2026-11-17" }, { title: "undated" }]);
    const { feed_id } = await subscribe("/a");
    await subscribe("/b");
    expect(await listTitles()).toEqual(["undated", "a2", "b1", "a1"]);
    expect(await listTitles({ feed_id, since: "2026-11-17" })).toEqual(["a2"]);
    const page = await run("list_entries", { limit: 1, offset: 1 });
    expect(page).toMatchObject({ total: 4, next_offset: 2 });
    expect(page.entries[0]).toMatchObject({ feed: "A", excerpt: "second", published: "2026-11-18T00:00:00.000Z" });
  });

  it("are asked for again after ten minutes, with the version that is known, and stay when a feed drops them", async () => {
    publish("/a", "A", [{ title: "old", date: "2026-11-16" }]);
    await subscribe("/a");
    await listTitles();
    expect(host.asked).toHaveLength(1);
    now += 11 * MINUTE;
    expect(await listTitles()).toEqual(["old"]);
    expect(host.asked[1]?.headers["if-none-match"]).toMatch(/^"\d+"$/);
    publish("/a", "A", [{ title: "something new", date: "2026-11-20" }]);
    now += 11 * MINUTE;
    expect(await listTitles()).toEqual(["something new", "old"]);
    expect(host.asked).toHaveLength(3);
    expect(Object.keys(host.asked[2]?.headers ?? {})).not.toContain("cookie");
  });

  it("of a feed that fails stay, its problem is told, and the others come", async () => {
    publish("/a", "A", [{ title: "a", date: "2026-11-16" }]);
    publish("/b", "B", [{ title: "b", date: "2026-11-15" }]);
    await subscribe("/a");
    await subscribe("/b");
    host.answers.set("/a", { status: 500 });
    now += 11 * MINUTE;
    const { entries, problems } = await run("list_entries", {});
    expect(entries.map((one: { title: string }) => one.title)).toEqual(["a", "b"]);
    expect(problems).toEqual([
      { feed_id: expect.any(String), feed: "A", problem: expect.stringContaining("HTTP 500") },
    ]);
    expect((await run("list_feeds", {})).feeds[0].problem).toContain("HTTP 500");
    publish("/a", "A", [{ title: "a", date: "2026-11-16" }]);
    now += 11 * MINUTE;
    expect((await run("list_entries", {})).problems).toBeUndefined();
  });

  it("are found by every word, those in titles first", async () => {
    publish("/a", "A", [
      { title: "Weather", html: "A release of Node came out.", date: "2026-11-19" },
      { title: "Node release", html: "Details.", date: "2026-11-16" },
      { title: "Release", html: "Of something else.", date: "2026-11-15" },
    ]);
    await subscribe("/a");
    const { entries, total } = await run("search", { query: "node RELEASE" });
    expect([total, entries.map((one: { title: string }) => one.title)]).toEqual([2, ["Node release", "Weather"]]);
    expect(entries[1].excerpt).toContain("release of Node");
  });

  it("are read as text, in pieces, without what nobody should see", async () => {
    const html = `<h1>Hi</h1><style>p{}</style><script>alert(1)</script><p>${"word ".repeat(100)}</p><img src=x onerror=alert(1)>`;
    publish("/a", "A", [{ title: "one", html }]);
    await subscribe("/a");
    const [{ entry_id }] = (await run("list_entries", {})).entries;
    const part = await run("read_entry", { entry_id, max_chars: 10 });
    expect(part).toMatchObject({ title: "one", text: "Hi\nword wo", next_offset: 10 });
    const rest = await run("read_entry", { entry_id, offset: 10 });
    expect(rest.text).not.toMatch(/alert|onerror|</);
    expect(rest.next_offset).toBeUndefined();
    expect((await refusal(run("read_entry", { entry_id: `${entry_id}0` }))).status).toBe(404);
    expect((await refusal(run("read_entry", { entry_id: "../x" }))).status).toBe(404);
  });
});
