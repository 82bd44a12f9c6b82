import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createFeedsIntegration } from "../../../src/apps/feeds/feeds-integration.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createPreviewer, createRunner, NOW, refusal } from "../run-action.ts";
import { startFeeds, writeRss } from "./start-feeds.ts";

/** `SVC_FILES=500` takes a minute. */
const RUNS = Number(process.env.SVC_FILES ?? 50);
const temp = useTempFolder();
let host: Awaited<ReturnType<typeof startFeeds>>;
let folder: string;
let integration: ReturnType<typeof createFeedsIntegration>;
let opened = 0;

beforeEach(async () => {
  host = await startFeeds();
  integration = createFeedsIntegration({ allowed: readAllowedHosts([host.host]) });
  host.answers.set("/a", { body: writeRss("News", [{ title: "one", date: "2026-11-18" }, { title: "two" }]) });
  await open();
});
afterEach(() => host.close());

const open = async () => {
  folder = join(temp(), `feeds-${++opened}`);
  await mkdir(folder);
};
const preview = (action: string, args: Record<string, unknown>) =>
  createPreviewer(integration, { settings: { folder } })(action, args);
const run = (action: string, args: Record<string, unknown>, expectedState?: string) =>
  createRunner(integration, { settings: { folder }, ...(expectedState && { expectedState }) })(action, args);

describe("the preview of a subscription", () => {
  it("names the host, and asks it nothing", async () => {
    const shown = await preview("subscribe", { url: host.url("/a?q=secret"), title: "Mine" });
    expect(shown).toMatchObject({
      summary: `Subscribe to the feed at "${host.host}" in "Test"`,
      objects: [{ kind: "feed", name: host.host, details: [{ label: "Address", value: host.url("/a?q=secret") }] }],
      changes: [{ field: "Title", after: "Mine" }],
      effects: [{ code: "fetches", text: expect.stringContaining("a host without any feed here so far") }],
    });
    expect([host.asked, await readdir(folder)]).toEqual([[], []]);
    await run("subscribe", { url: host.url("/a") });
    const next = await preview("subscribe", { url: host.url("/b") });
    expect(next.effects[0]?.text).not.toContain("so far");
  });

  it("refuses what an address itself says, and one that is subscribed to", async () => {
    await run("subscribe", { url: host.url("/a") });
    for (const url of [
      ...["http://example.org/feed", "https://192.168.1.5/feed", "https://localhost/feed", "file:///etc/passwd"],
      ...["https://ana:x@example.org/feed", "https://example.org:22/feed", host.url("/a")],
    ]) {
      const [before, after] = [await refusal(preview("subscribe", { url })), await refusal(run("subscribe", { url }))];
      expect([before.status, before.code, before.message], url).toEqual([after.status, after.code, after.message]);
    }
  });

  it("says how many entries are forgotten when it ends", async () => {
    const { feed_id, url } = await run("subscribe", { url: host.url("/a") });
    const shown = await preview("unsubscribe", { feed_id, url });
    expect(shown).toMatchObject({
      summary: 'Unsubscribe from "News" in "Test" (2 entries)',
      objects: [{ kind: "feed", name: "News" }, { kind: "entry", name: "one" }, { name: "two" }],
      objectCount: 3,
      effects: [{ code: "moves_to_trash", text: expect.stringContaining("2 entries") }],
      undo: { possible: true },
    });
    expect((await refusal(preview("unsubscribe", { feed_id, url: `${url}x` }))).status).toBe(400);
    expect((await refusal(preview("unsubscribe", { feed_id: "0123456789ab", url }))).status).toBe(404);
    expect(await readdir(folder)).toHaveLength(2);
    await run("unsubscribe", { feed_id, url }, shown.state);
    expect(await readdir(folder)).toEqual([".trash"]);
  });

  it("holds when it runs: what somebody else did meanwhile stays", async () => {
    const counts = { same: 0, refused: 0 };
    const kinds = fc.constantFrom("none", "renamed", "gone", "made anew", "read");
    await fc.assert(
      fc.asyncProperty(fc.constantFrom("subscribe", "unsubscribe"), kinds, async (action, kind) => {
        await open();
        const url = host.url("/a");
        const other = await run("subscribe", { url });
        const [feed_id, file] = [other.feed_id, join(folder, `${other.feed_id}.feed.json`)];
        if (action === "subscribe") await run("unsubscribe", { feed_id, url });
        const args = action === "subscribe" ? { url } : { feed_id, url };
        const { state } = await preview(action, args);
        if (kind === "read") await run("list_entries", {});
        else if (kind !== "none" && action === "subscribe") await run("subscribe", { url });
        else if (kind === "renamed") await writeFile(file, (await readFile(file, "utf8")).replace("News", "Olds"));
        else if (kind === "gone") await rename(file, join(folder, "elsewhere"));
        else if (kind === "made anew") {
          await run("unsubscribe", { feed_id, url });
          await run("subscribe", { url, title: "Another" });
        }
        const before = await snapshot();
        const done = await run(action, args, state).catch((error: unknown) => error);
        const isSame = kind === "none" || kind === "read";
        counts[isSame ? "same" : "refused"] += 1;
        expect(done instanceof ServiceError, `${action} ${kind}`).toBe(!isSame);
        if (!isSame) expect(await snapshot()).toEqual(before);
      }),
      { numRuns: RUNS },
    );
    console.log(`subscriptions: ${JSON.stringify(counts)}`);
    expect(counts.refused).toBeGreaterThan(RUNS / 5);
  });

  /** What the folder holds, without the trash. */
  const snapshot = async () => {
    const names = (await readdir(folder)).filter((name) => name !== ".trash").sort();
    return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]));
  };

  it("ends no subscription that becomes another at the last moment", async () => {
    const { feed_id, url } = await run("subscribe", { url: host.url("/a") });
    const file = join(folder, `${feed_id}.feed.json`);
    const { state } = await preview("unsubscribe", { feed_id, url });
    await writeFile(file, JSON.stringify({ url, title: "By hand", added: new Date(NOW).toISOString() }));
    expect((await refusal(run("unsubscribe", { feed_id, url }, state))).code).toBe("state_changed");
    expect(await readFile(file, "utf8")).toContain("By hand");
  });
});
