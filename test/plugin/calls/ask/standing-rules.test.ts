import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  createStandingRules,
  type RuleSubject,
  type StandingRules,
} from "../../../../src/plugin/calls/ask/standing-rules.ts";
import { openStateFile } from "../../../../src/plugin/calls/journal/state-file.ts";
import { closeAll, closeLater, makeFolder } from "../open-test-session.ts";

let folder: string;
const subject: RuleSubject = { principal: "p1", tool: "notes_create_page", connection: "con_1", effect: "write" };
const key = { principal: "p1", tool: "notes_create_page", connection: "con_1" };

beforeEach(async () => {
  folder = await makeFolder();
});
afterEach(closeAll);

/** The rules of the folder as another process opens them. */
async function openRules(): Promise<StandingRules> {
  const state = await openStateFile(folder);
  closeLater({ close: async () => state?.close() });
  return createStandingRules(state, { now: () => 0 });
}

describe.each(["in memory", "in a state file"])("standing rules %s", (place) => {
  const open = async () => (place === "in memory" ? createStandingRules(undefined, { now: () => 0 }) : openRules());

  it("hold for one tool, account and principal, until revoked", async () => {
    const rules = await open();
    expect(rules.allows(subject)).toBe(false);
    expect(await rules.allow(subject)).toBe(true);
    expect(rules.allows(subject)).toBe(true);
    expect(rules.allows({ ...subject, tool: "notes_update_page" })).toBe(false);
    expect(rules.allows({ ...subject, connection: "con_2" })).toBe(false);
    expect(rules.allows({ ...subject, connection: undefined })).toBe(false);
    expect(rules.allows({ ...subject, principal: "p2" })).toBe(false);
    expect(rules.list()).toEqual([{ ...key, addedAt: "1970-01-01T00:00:00.000Z" }]);
    expect(await rules.revoke(key)).toBe(true);
    expect(await rules.revoke(key)).toBe(false);
    expect(rules.allows(subject)).toBe(false);
  });

  it.each(["delete", "admin", "unknown"] as const)(
    "are never given for %s, nor used once a tool became that",
    async (effect) => {
      const rules = await open();
      expect(await rules.allow({ ...subject, effect })).toBe(false);
      await rules.allow(subject);
      expect(rules.allows({ ...subject, effect })).toBe(false);
    },
  );

  it("changed twice at once keep both changes, and are listed once", async () => {
    const rules = await open();
    await rules.allow(subject);
    await rules.allow(subject);
    const other = { ...subject, tool: "notes_update_page" };
    await Promise.all([rules.revoke(key), rules.allow(other), rules.allow(other)]);
    expect(rules.list().map(({ tool }) => tool)).toEqual([other.tool]);
  });

  it("are never given without a known account", async () => {
    expect(await (await open()).allow({ ...subject, connection: undefined })).toBe(false);
  });
});

describe("standing rules of two processes", () => {
  it("hold in the other one and after a restart", async () => {
    await (await openRules()).allow(subject);
    expect((await openRules()).allows(subject)).toBe(true);
  });

  it("taken back in one count in the other at once, and do not come back with the next one", async () => {
    const [here, there] = [await openRules(), await openRules()];
    await here.allow(subject);
    await there.revoke(key);
    expect(here.allows(subject)).toBe(false);
    await here.allow({ ...subject, tool: "notes_update_page" });
    expect((await openRules()).list().map(({ tool }) => tool)).toEqual(["notes_update_page"]);
  });

  it("are not brought back by another one that adds one at the same time", async () => {
    const [here, there] = [await openRules(), await openRules()];
    for (let round = 0; round < 5; round += 1) {
      await here.allow(subject);
      const other = { ...subject, tool: `notes_${round}` };
      await Promise.all([here.revoke(key), there.allow(other)]);
      expect([here.allows(subject), there.allows(subject), here.allows(other)]).toEqual([false, false, true]);
    }
  });
});
