import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createAddedIntegration } from "../../../src/apps/port/create-added-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import type { SourceKind } from "../../../src/apps/port/source.ts";
import { compareContents, digestContent, type SourceContent } from "../../../src/apps/port/source-content.ts";
import { type OpenSources, openSources } from "../../../src/service/added/open-sources.ts";
import { createSourceStore } from "../../../src/service/added/source-store.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import type { Store } from "../../../src/service/store/open-store.ts";
import { openStoreOf } from "../find-store.ts";
import { findUsable } from "./find-usable.ts";

let folder: string;
let store: Store;
let sources: OpenSources | undefined;
let installed: readonly Integration[] = [];
const closed: string[] = [];
const logged: string[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-sources-"));
  store = await openStoreOf(folder);
  installed = [];
  closed.length = 0;
  logged.length = 0;
});

afterEach(async () => {
  await sources?.close();
  sources = undefined;
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

const echo: SourceKind = {
  async open(source) {
    if (source.definition === "broken") throw new Error("cannot be read");
    const run = async (action: { id: string }) => `${source.slug}.${action.id}`;
    const integration = createAddedIntegration(source, run);
    const close = async () => void closed.push(`${source.slug} ${source.revision}`);
    return { integration, close: source.definition === "stuck" ? () => new Promise(() => {}) : close };
  },
};

function contentOf(...ids: string[]): SourceContent {
  const facts = { title: "T", description: "D", requiresConfirmation: false, idempotent: true, scopes: [], call: null };
  const inputSchema = { type: "object", properties: {} } as const;
  const actions = ids.map((id) => ({ id, ...facts, level: "read" as const, inputSchema }));
  return { description: "An app.", category: "test", scopes: [], settingsForm: [], actions };
}

async function open(list = createSourceStore(store, Date.now)) {
  sources = await openSources({
    store: list,
    kinds: { mcp: async () => echo, openapi: async () => echo },
    reserved: new Set(["drive"]),
    log: ({ message }) => logged.push(message),
    watchMs: 3_600_000,
    onChange: (added) => {
      installed = added;
    },
    ports: {
      log: () => {},
      now: Date.now,
      allowedHosts: { has: () => false },
      provide: async (_app, settings) => ({ settings, renew: async () => undefined }),
      listConnections: async () => [],
      setConnectionState: async () => {},
      propose: async () => {},
    },
  });
  return { list, sources };
}

const listInstalled = () => installed.map(({ slug, actions }) => `${slug}: ${actions.map(({ id }) => id).join(" ")}`);

test("what is added, changed and removed elsewhere is followed, and what it replaces is closed", async () => {
  const { list, sources } = await open();
  expect(listInstalled()).toEqual([]);

  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  await sources.refresh();
  expect(listInstalled()).toEqual(["clock: now"]);
  const first = (await list.find("clock"))?.revision;

  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now", "zone") });
  await list.put({ slug: "dice", kind: "mcp", name: "Dice", definition: {}, content: contentOf("roll") });
  await sources.refresh();
  expect(listInstalled().sort()).toEqual(["clock: now zone", "dice: roll"]);
  expect(closed).toEqual([`clock ${first}`]);

  expect(await list.remove("clock")).toBe(true);
  expect(await list.remove("clock")).toBe(false);
  await sources.refresh();
  expect(listInstalled()).toEqual(["dice: roll"]);
  expect(closed).toHaveLength(2);
});

test("a source that cannot be opened stands there with the reason and offers nothing; the others work", async () => {
  const list = createSourceStore(store, Date.now);
  await list.put({ slug: "bad", kind: "mcp", name: "Bad", definition: "broken", content: contentOf("x") });
  await list.put({ slug: "odd", kind: "mcp", name: "Odd", definition: {}, content: contentOf("x") });
  await store.updateTable("integration_sources").set({ kind: "newer" }).where("slug", "=", "odd").execute();
  await list.put({ slug: "drive", kind: "mcp", name: "Drive", definition: {}, content: contentOf("x") });
  await list.put({ slug: "good", kind: "mcp", name: "Good", definition: {}, content: contentOf("x") });
  await open();
  expect(listInstalled()).toEqual(["bad: ", "good: x", "odd: "]);
  expect(installed.map(({ stopped }) => stopped?.slice(0, 50))).toEqual([
    "What is stored about it cannot be read. Add it aga",
    undefined,
    "It is of a kind that this version does not know. P",
  ]);
  expect(logged).toEqual([
    expect.stringMatching(
      /^The app "bad" stopped working\. What is stored .*"svc add mcp bad --replace …".*"svc remove bad"\)\.$/,
    ),
    expect.stringMatching(/^The app "drive" is left out: .*"svc remove drive"/),
    expect.stringMatching(/^The app "odd" stopped working\. It is of a kind /),
  ]);
});

test("a source that never closes holds up neither what is followed nor the end, and is named", async () => {
  const { list, sources } = await open();
  await list.put({ slug: "stuck", kind: "mcp", name: "Stuck", definition: "stuck", content: contentOf("x") });
  await sources.refresh();
  await list.remove("stuck");
  // Only the time to close passes at once: the database has timers of its own.
  const start = globalThis.setTimeout;
  const skip = (work: () => void, ms?: number) => start(work, ms === 15_000 ? 0 : ms);
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(skip as typeof setTimeout);
  await sources.refresh().finally(() => timers.mockRestore());
  await expect
    .poll(() => logged)
    .toEqual([
      'The app "stuck" was added.',
      'The app "stuck" was removed.',
      'The app "stuck" has not closed in 15 seconds and is left as it is.',
    ]);
  await list.put({ slug: "good", kind: "mcp", name: "Good", definition: {}, content: contentOf("x") });
  await sources.refresh();
  expect(listInstalled()).toEqual(["good: x"]);
});

test("what goes while the store is away is closed when it is back, and what came is opened once", async () => {
  let isAway = false;
  const list = createSourceStore(store, Date.now);
  const { sources } = await open({
    ...list,
    find: async (slug) => {
      if (isAway && slug === "dice") throw new ServiceError(503, "database_unavailable", "The database is away.");
      return list.find(slug);
    },
  });
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  await sources.refresh();
  const revision = (await list.find("clock"))?.revision;
  await list.remove("clock");
  await list.put({ slug: "bell", kind: "mcp", name: "Bell", definition: {}, content: contentOf("ring") });
  await list.put({ slug: "dice", kind: "mcp", name: "Dice", definition: {}, content: contentOf("roll") });
  isAway = true;
  await sources.refresh();
  expect(listInstalled()).toEqual(["clock: now"]);
  expect(closed).toEqual([`bell ${(await list.find("bell"))?.revision}`]);
  isAway = false;
  await sources.refresh();
  expect(listInstalled().sort()).toEqual(["bell: ring", "dice: roll"]);
  expect(closed.at(-1)).toBe(`clock ${revision}`);
});

test("a change is judged once, however many pages tell of it", async () => {
  const { list } = await open();
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  await list.propose("clock", contentOf("set"));
  const look = async () => {
    const select = vi.spyOn(store, "selectFrom");
    const marks = await list.listMarks();
    const count = select.mock.calls.length;
    select.mockRestore();
    return [marks[0]?.proposal, count];
  };
  expect(await look()).toEqual(["changes", 2]);
  expect(await look()).toEqual(["changes", 1]);
  await list.propose("clock", contentOf("now", "set"));
  expect(await look()).toEqual(["additions", 2]);
});

test("changed actions wait for the owner: what he agreed to stays in use until he accepts", async () => {
  const { list, sources } = await open();
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  await sources.refresh();
  const next = contentOf("now", "set");
  expect(await list.listMarks()).toEqual([{ slug: "clock", kind: "mcp", proposal: "none", isDismissed: false }]);

  expect(await list.propose("clock", contentOf("now"))).toBe(false);
  expect(await list.propose("clock", next)).toBe(true);
  expect(await list.propose("clock", next)).toBe(false);
  await sources.refresh();
  expect(listInstalled()).toEqual(["clock: now"]);
  expect(await list.listMarks()).toMatchObject([{ proposal: "additions" }]);
  expect(await list.propose("clock", contentOf("set"))).toBe(true);
  expect(await list.listMarks()).toMatchObject([{ proposal: "changes" }]);
  expect(await list.propose("clock", contentOf("now"))).toBe(false);
  expect((await findUsable(list, "clock")).proposal).toBeUndefined();
  expect(await list.propose("clock", next)).toBe(true);

  expect(await list.accept("clock", "0".repeat(64))).toBe(false);
  expect(await list.accept("clock", digestContent(next))).toBe(true);
  expect((await findUsable(list, "clock")).proposal).toBeUndefined();
  await sources.refresh();
  expect(listInstalled()).toEqual(["clock: now set"]);
});

test("levels change as they were shown: both of what is used and of what waits for the owner", async () => {
  const list = createSourceStore(store, Date.now);
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  const shown = await findUsable(list, "clock");
  const rule = { level: "delete", setAt: "2026-03-01T10:00:00.000Z", setIn: "dashboard" } as const;
  const levels = [{ pattern: "*", ...rule }];
  expect(await list.propose("clock", contentOf("now", "set"))).toBe(true);
  // Not what was shown.
  expect(await list.setLevels(shown, { levels })).toBe(false);
  expect(await list.setLevels(await findUsable(list, "clock"), { levels })).toBe(true);
  const { content, proposal, revision } = await findUsable(list, "clock");
  const levelsOf = (some: SourceContent | undefined) => some?.actions.map(({ id, level }) => `${id} ${level}`);
  expect(levelsOf(content)).toEqual(["now delete"]);
  expect(levelsOf(proposal?.content)).toEqual(["now delete", "set delete"]);
  expect(revision).not.toBe(shown.revision);

  // Listed by a reader that does not know the levels yet.
  expect(await list.propose("clock", contentOf("now", "set"))).toBe(false);
  expect(await list.accept("clock", proposal?.digest ?? "")).toBe(true);
  expect(levelsOf((await findUsable(list, "clock")).content)).toEqual(["now delete", "set delete"]);
  expect((await findUsable(list, "clock")).levels).toEqual({ trusted: true, levels });

  expect(await list.propose("clock", contentOf("now", "set", "zone"))).toBe(true);
  const both = await findUsable(list, "clock");
  const takesProposal = true;
  expect(await list.setLevels(both, { levels: [{ pattern: "zone", ...rule }] }, { takesProposal })).toBe(true);
  expect(levelsOf((await findUsable(list, "clock")).content)).toEqual(["now read", "set read", "zone delete"]);
  expect((await findUsable(list, "clock")).proposal).toBeUndefined();
  expect(await list.setLevels(both, {}, { takesProposal })).toBe(false);
});

test("an app whose levels cannot be read is not used: they may have been raised", async () => {
  const { list } = await open();
  const definition = { levels: [{ pattern: "*", level: "deadly" }] };
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition, content: contentOf("now") });
  await sources?.refresh();
  expect(listInstalled()).toEqual(["clock: "]);
});

test("a change that cannot be read is none: it is not agreed to, and found again", async () => {
  const { list } = await open();
  await list.put({ slug: "clock", kind: "mcp", name: "Clock", definition: {}, content: contentOf("now") });
  const next = contentOf("now", "set");
  const digest = digestContent(next);
  for (const proposed_content of ["{}", "{", ""]) {
    expect(await list.propose("clock", next)).toBe(true);
    await store.updateTable("integration_sources").set({ proposed_content }).execute();
    expect((await findUsable(list, "clock")).proposal).toBeUndefined();
    expect(await list.listMarks()).toMatchObject([{ proposal: "none" }]);
    expect(await list.accept("clock", digest)).toBe(false);
  }
  expect(await list.propose("clock", next)).toBe(true);
  expect(await list.accept("clock", digest)).toBe(true);
  expect((await findUsable(list, "clock")).content.actions.map(({ id }) => id)).toEqual(["now", "set"]);
});

test("contents are compared by action and fact; the order of keys means nothing", () => {
  const old = contentOf("a", "b", "c");
  const next = contentOf("b", "c", "d");
  const [b, c, d] = next.actions;
  if (b === undefined || c === undefined || d === undefined) throw new Error("three actions");
  const changed = { ...next, actions: [{ ...b, level: "write" as const, title: "New" }, c, d] };
  expect(compareContents(old, changed)).toEqual({
    added: [d],
    removed: ["a"],
    changed: [
      {
        id: "b",
        differences: [
          { path: "title", was: JSON.stringify(b.title), is: '"New"' },
          { path: "level", was: JSON.stringify(b.level), is: '"write"' },
        ],
      },
    ],
  });
  const turned = { ...c, inputSchema: { properties: {}, type: "object" } as const };
  expect(digestContent({ ...next, actions: [b, turned, d] })).toBe(digestContent(next));
  expect(digestContent(changed)).not.toBe(digestContent(next));
});
