import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createActionTools } from "../../../../../src/plugin/runtimes/openclaw/actions/action-tools.ts";
import { readActions, writeActions } from "../../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { planSync } from "../../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import type { RefreshClock } from "../../../../../src/plugin/runtimes/openclaw/actions/refresher.ts";
import { registerRefresh } from "../../../../../src/plugin/runtimes/openclaw/register-parts.ts";
import type { SvcHost } from "../../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { type ActionFacts, createManyApp } from "../many-actions.ts";
import { openSyncKit, type SyncKit } from "../sync-kit.ts";

const HOUR_MS = 60 * 60 * 1_000;
const WRITE = { level: "write", requiresConfirmation: true } as const;
const app = (...actions: (ActionFacts & { readonly id: string })[]) => createManyApp("app", actions);

let kit: SyncKit;
let now: number;
let ticks: (() => void)[];
/** How many looks have asked for a session. */
let opened: number;

const clock: RefreshClock = {
  now: () => now,
  every(_ms, work) {
    ticks.push(work);
    return () => void ticks.splice(ticks.indexOf(work), 1);
  },
};

beforeEach(async () => {
  ticks = [];
  opened = 0;
  kit = await openSyncKit([app({ id: "a" }, { id: "b" }, { id: "c", ...WRITE })]);
  const { next } = await planSync(await kit.host.openAccount(undefined), undefined);
  now = Date.parse(next.checkedAt);
  await writeActions(kit.host.places.actions, next);
});
afterEach(async () => {
  await stop();
  await kit.close();
});

/** A read is tried a few times before the service counts as unreachable. */
const waitFor = (check: () => unknown) => vi.waitFor(check, { timeout: 30_000 });

const service = () => kit.recorded.services.find(({ id }) => id === "svc-refresh");
const stop = async () => service()?.stop?.();
const actions = () => readActions(kit.host.places.actions);
const find = (name: string) => actions()?.actions.find((action) => action.name === name);
const lines = () => kit.recorded.lines.filter((line) => /svc/.test(line));

const tickAll = () => {
  for (const tick of ticks) tick();
};

async function start(): Promise<void> {
  const openAccount: SvcHost["openAccount"] = (context) => {
    opened += 1;
    return kit.host.openAccount(context);
  };
  registerRefresh(kit.api, { ...kit.host, openAccount }, clock);
  await service()?.start();
}

/** Lets the timer fire six hours later and waits until the look is over. */
async function tickLater(): Promise<void> {
  now += 6 * HOUR_MS;
  tickAll();
  await waitFor(() => expect(Date.parse(actions()?.checkedAt ?? "")).toBe(now));
}

it("brings descriptions and schemas of known tools up to date after six hours, without a new agreement", async () => {
  await start();
  await kit.offer(
    app(
      { id: "a", properties: { where: { type: "string" } }, required: ["where"] },
      { id: "b", description: "In other words." },
      { id: "c", ...WRITE },
    ),
  );
  await tickLater();
  expect(find("app_a")?.parameters).toMatchObject({ required: ["where"] });
  expect(find("app_b")?.description).toMatch(/^In other words/);
  expect(createActionTools(kit.host, {}).find(({ name }) => name === "app_a")?.parameters).toMatchObject({
    required: ["where"],
  });
  expect(actions()?.pending).toBeUndefined();
  await waitFor(() => expect(lines().join()).toContain("new descriptions or arguments of 2 action tools"));
});

it("reports what came and went once, and takes neither over", async () => {
  await start();
  const names = actions()?.actions.map(({ name }) => name);
  await kit.offer(app({ id: "a" }, { id: "c", ...WRITE }, { id: "new" }));
  await tickLater();
  expect(actions()?.actions.map(({ name }) => name)).toEqual(names);
  expect(actions()?.pending).toMatchObject({ added: ["app_new"], removed: ["app_b"], changed: [] });
  await tickLater();
  const news = lines().filter((line) => line.includes("openclaw svc sync"));
  expect(news).toEqual([expect.stringContaining("1 new, 1 gone, 0 with another effect")]);
  await kit.offer(app({ id: "a" }, { id: "b" }, { id: "c", ...WRITE }));
  await tickLater();
  expect(actions()?.pending).toBeUndefined();
});

it("withdraws a tool that was a plain read and is not any more, since the host may repeat it", async () => {
  await start();
  await kit.offer(app({ id: "a", ...WRITE }, { id: "b" }, { id: "c", level: "delete", requiresConfirmation: true }));
  await tickLater();
  expect(find("app_a")).toBeUndefined();
  expect(find("app_c")).toMatchObject({ effect: "delete", asksFirst: true });
  expect(actions()?.pending).toMatchObject({ changed: ["app_a", "app_c"], added: [] });
  await tickLater();
  expect(actions()?.pending).toMatchObject({ changed: ["app_a", "app_c"], added: [] });
});

it("looks again at once when a call finds that a tool has changed", async () => {
  await start();
  await waitFor(() => expect(existsSync(kit.host.places.companion)).toBe(true));
  await kit.offer(
    app(
      { id: "a", properties: { where: { type: "string" } }, required: ["where"] },
      { id: "b" },
      { id: "c", ...WRITE },
    ),
  );
  const checkedAt = actions()?.checkedAt;
  await waitFor(async () => {
    const tool = createActionTools(kit.host, {}).find(({ name }) => name === "app_a");
    await tool?.execute(`http-direct-${Math.random()}`, { text: "a" });
    expect(find("app_a")?.parameters).toMatchObject({ required: ["where"] });
  });
  expect(actions()?.checkedAt).toBe(checkedAt);
});

it("changes nothing while the service is down", async () => {
  await start();
  const before = actions();
  await kit.stopService();
  now += 6 * HOUR_MS;
  tickAll();
  await waitFor(() => expect(lines().join()).toContain("could not look for changed tools"));
  expect(actions()).toBe(before);
  await kit.offer(app({ id: "a" }));
});

it("leaves the tools of another account alone, and needs no file", async () => {
  const before = actions();
  if (before === undefined) throw new Error("There is no file.");
  await writeActions(kit.host.places.actions, { ...before, principal: "somebody else" });
  const foreign = actions();
  now += 6 * HOUR_MS;
  await start();
  await kit.offer(app({ id: "other" }));
  // A look starts only when the one before it is over.
  for (const looks of [1, 2, 3]) {
    await waitFor(() => {
      tickAll();
      expect(opened).toBeGreaterThanOrEqual(looks);
    });
  }
  expect(actions()).toBe(foreign);
  rmSync(kit.host.places.actions);
  tickAll();
  await stop();
  expect(actions()).toBeUndefined();
});

it("writes the companion again where it is lost or of an older version", async () => {
  await start();
  const manifest = join(kit.host.places.companion, "openclaw.plugin.json");
  await waitFor(() => expect(existsSync(manifest)).toBe(true));
});

it("stops: no timer is left, and nothing is written after it", async () => {
  await start();
  await stop();
  expect(ticks).toEqual([]);
});

it("stopped while it starts, it does not start; started twice at once, it looks with one timer", async () => {
  registerRefresh(kit.api, kit.host, clock);
  const starting = service()?.start();
  await stop();
  await starting;
  expect(ticks).toEqual([]);
  await Promise.all([service()?.start(), service()?.start()]);
  expect(ticks).toHaveLength(1);
});
