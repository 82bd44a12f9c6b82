import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createFeedsIntegration } from "../../../src/apps/feeds/feeds-integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { readAllowedHosts } from "../../../src/service/fetch/address-rules.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createKeeper, createRunner, NOW, refusal } from "../run-action.ts";
import { startFeeds, writeRss } from "./start-feeds.ts";

const intentSchema = z.object({ feed: z.object({ id: z.string() }) });

/** A write, and whether it is made by a title of its own. */
const writes = fc.record({
  action: fc.constantFrom("subscribe", "unsubscribe"),
  path: fc.constantFrom("/a", "/b", "/c"),
  title: fc.constantFrom(undefined, "Mine"),
});
type Write = typeof writes extends fc.Arbitrary<infer One> ? One : never;

/** Undo and settle of every write of the feeds. States are compared by the bytes of all files outside of the trash. */
export function describeFeedUndo({ runs, seed }: { readonly runs: number; readonly seed: number }): void {
  describe("subscriptions that are taken back", () => {
    const feeds = useFeeds();
    beforeEach(() => feeds.open());
    const check = (property: (write: Write, other: number) => Promise<void>) =>
      fc.assert(
        fc.asyncProperty(writes, fc.nat(7), async (write, other) => {
          await feeds.open();
          await property(write, other);
        }),
        { numRuns: runs, seed },
      );

    it("leave all as it was before", async () => {
      let undone = 0;
      await check(async (write) => {
        const before = await feeds.readAll();
        const { kept, error } = await feeds.keep(write);
        if (error !== undefined || kept === undefined) return expect(await feeds.readAll()).toEqual(before);
        expect(await feeds.readAll()).not.toEqual(before);
        await (await feeds.plan(write, kept)).act();
        expect(await feeds.readAll()).toEqual(before);
        expect((await refusal(feeds.plan(write, kept))).code).toBe("undo_unavailable");
        undone += 1;
      });
      console.log(`feeds, undone: ${undone} of ${runs}`);
      expect(undone).toBeGreaterThan(runs / 4);
    });

    it("stay where somebody else changed them, before the plan or after it", async () => {
      const counts = { before: 0, after: 0 };
      await check(async (write, other) => {
        const { kept, error } = await feeds.keep(write);
        if (error !== undefined || kept === undefined) return;
        const plan = other % 2 === 0 ? await feeds.plan(write, kept) : undefined;
        await feeds.meddle(write, kept, other);
        const meddled = await feeds.readAll();
        const refused = await refusal(plan === undefined ? feeds.plan(write, kept) : plan.act());
        expect(refused.code, refused.message).toBe(plan === undefined ? "undo_unavailable" : "state_changed");
        expect(await feeds.readAll()).toEqual(meddled);
        counts[plan === undefined ? "before" : "after"] += 1;
      });
      console.log(`feeds, refused: ${JSON.stringify(counts)}`);
      expect(Math.min(counts.before, counts.after)).toBeGreaterThan(runs / 12);
    });

    it("are known to have happened or not, when their answer is lost", async () => {
      const counts = { happened: 0, did_not: 0, cannot_know: 0 };
      await check(async (write, other) => {
        const before = await feeds.readAll();
        const isDone = other % 2 === 0;
        const { kept, output } = await feeds.keep(write, isDone ? undefined : lose);
        if (kept === undefined || (isDone && output === undefined)) return;
        const isMeddled = other >= 4;
        if (isMeddled) await feeds.meddle(write, kept, other);
        const found = await feeds.settle(write, kept);
        const verdict = found?.verdict ?? "cannot_know";
        counts[verdict] += 1;
        if (isMeddled) return expect(verdict).not.toBe(isDone ? "did_not" : "happened");
        expect(verdict).toBe(isDone ? "happened" : "did_not");
        if (found?.verdict !== "happened") return;
        expect(output).toEqual(JSON.parse(JSON.stringify(found.output)));
        await (await feeds.plan(write, { intent: kept.intent, after: undefined })).act();
        expect(await feeds.readAll()).toEqual(before);
      });
      console.log(`feeds, settled: ${JSON.stringify(counts)}`);
      expect(Math.min(counts.happened, counts.did_not, counts.cannot_know)).toBeGreaterThan(0);
    });

    it("say what is taken back", async () => {
      const made = { action: "subscribe", path: "/c", title: undefined } as const;
      const { preview, raised } = await feeds.plan(made, (await feeds.keep(made)).kept);
      expect(preview).toMatchObject({
        summary: 'Unsubscribe from "Feed /c" in "Test" (2 entries)',
        effects: [{ code: "moves_to_trash" }],
        undo: { possible: false },
      });
      expect(raised).toEqual({ level: "delete", says: "ends the subscription" });
      const ended = { action: "unsubscribe", path: "/a", title: undefined } as const;
      const back = await feeds.plan(ended, (await feeds.keep(ended)).kept);
      expect(back.preview).toMatchObject({
        summary: 'Bring back the subscription to "Feed /a" in "Test"',
        objects: [{ kind: "feed", name: "Feed /a" }, { kind: "entry" }, { kind: "entry" }],
        effects: [{ code: "fetches" }],
      });
      expect(back.raised).toBeUndefined();
    });
  });
}

function lose(): never {
  throw new Error("The answer is lost.");
}

/** A folder of subscriptions to `/a` and `/b`, opened anew for each run. */
function useFeeds() {
  const temp = useTempFolder();
  let host: Awaited<ReturnType<typeof startFeeds>>;
  let integration: ReturnType<typeof createFeedsIntegration>;
  let folder: string;
  let [opened, now] = [0, NOW];
  beforeAll(async () => {
    host = await startFeeds();
    integration = createFeedsIntegration({ allowed: readAllowedHosts([host.host]) });
    for (const path of ["/a", "/b", "/c"])
      host.answers.set(path, {
        body: writeRss(`Feed ${path}`, [{ title: "one", date: "2026-11-18" }, { title: "two" }]),
      });
  });
  afterAll(() => host.close());
  const parts = () => ({ settings: { folder }, now: () => ++now });
  const list = async () => (await createRunner(integration, parts())("list_feeds", {})).feeds;
  const readAll = async () => {
    const names = (await readdir(folder)).filter((name) => name !== ".trash").sort();
    return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")]));
  };
  const toArgs = async ({ action, path, title }: Write): Promise<Record<string, unknown>> => {
    const url = host.url(path);
    if (action === "subscribe") return { url, ...(title !== undefined && { title }) };
    const found = (await list()).find((feed: { url: string }) => feed.url === url);
    return { feed_id: found?.feed_id ?? "0123456789ab", url };
  };
  return {
    async open() {
      folder = join(temp(), `feeds-${++opened}`);
      await mkdir(folder);
      for (const path of ["/a", "/b"]) await createRunner(integration, parts())("subscribe", { url: host.url(path) });
    },
    readAll,
    async keep(write: Write, onKept?: () => void) {
      const ran = await createKeeper(integration, parts()).run(write.action, await toArgs(write), onKept && { onKept });
      return { output: undefined, error: undefined, ...ran };
    },
    plan: ({ action }: Write, kept: KeptWrite | undefined) =>
      createKeeper(integration, parts()).plan(action, kept ?? expect.fail("not kept")),
    settle: ({ action }: Write, { intent }: KeptWrite) =>
      createKeeper(integration, parts()).settle(action, { intent, after: undefined }),
    /** Somebody else changes a subscription by hand, takes it away, or makes it anew. */
    async meddle({ action, path }: Write, { intent }: KeptWrite, other: number) {
      const { feed } = intentSchema.parse(intent);
      const file = join(folder, `${feed.id}.feed.json`);
      if (action === "subscribe" && other % 4 < 2) await rm(file, { force: true });
      else await writeFile(file, JSON.stringify({ url: host.url(path), title: "By hand", added: "2026-01-01" }));
    },
  };
}
