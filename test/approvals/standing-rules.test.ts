import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openStandingRules, type RuleSubject } from "../../src/approvals/standing-rules.ts";

let folder: string;
let file: string;
const subject: RuleSubject = { principal: "p1", tool: "notes_create_page", connection: "con_1", effect: "write" };

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-rules-"));
  file = join(folder, "always-allow.json");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("openStandingRules", () => {
  it("holds for one tool, account and principal, over a restart, until revoked", async () => {
    const rules = await openStandingRules(file, { now: () => 0 });
    expect(rules.allows(subject)).toBe(false);
    expect(await rules.allow(subject)).toBe(true);
    const again = await openStandingRules(file);
    expect(again.allows(subject)).toBe(true);
    expect(again.allows({ ...subject, tool: "notes_update_page" })).toBe(false);
    expect(again.allows({ ...subject, connection: "con_2" })).toBe(false);
    expect(again.allows({ ...subject, connection: undefined })).toBe(false);
    expect(again.allows({ ...subject, principal: "p2" })).toBe(false);
    expect(again.list()).toHaveLength(1);
    expect(await again.revoke({ principal: "p1", tool: "notes_create_page", connection: "con_1" })).toBe(true);
    expect(again.allows(subject)).toBe(false);
    expect((await openStandingRules(file)).list()).toEqual([]);
  });

  it.each(["delete", "admin", "unknown"] as const)(
    "is never given for %s, nor used once a tool became that",
    async (effect) => {
      const rules = await openStandingRules(file);
      expect(await rules.allow({ ...subject, effect })).toBe(false);
      await rules.allow(subject);
      expect(rules.allows({ ...subject, effect })).toBe(false);
    },
  );

  it("taken back in another process counts here at once, and does not come back with the next one", async () => {
    const here = await openStandingRules(file);
    await here.allow(subject);
    const there = await openStandingRules(file);
    await there.revoke({ ...subject, connection: "con_1" });
    expect(here.allows(subject)).toBe(false);
    await here.allow({ ...subject, tool: "notes_update_page" });
    expect((await openStandingRules(file)).list().map(({ tool }) => tool)).toEqual(["notes_update_page"]);
    await rm(file);
    expect(here.list()).toEqual([]);
  });

  it("changed twice at once keeps both changes", async () => {
    const rules = await openStandingRules(file);
    await rules.allow(subject);
    const other = { ...subject, tool: "notes_update_page" };
    await Promise.all([rules.revoke({ ...subject, connection: "con_1" }), rules.allow(other)]);
    expect(rules.list().map(({ tool }) => tool)).toEqual([other.tool]);
  });

  it("is not brought back by another process that adds one at the same time", async () => {
    const [here, there] = [await openStandingRules(file), await openStandingRules(file)];
    for (let round = 0; round < 5; round += 1) {
      await here.allow(subject);
      const other = { ...subject, tool: `notes_${round}` };
      await Promise.all([here.revoke({ ...subject, connection: "con_1" }), there.allow(other)]);
      expect([here.allows(subject), there.allows(subject), here.allows(other)]).toEqual([false, false, true]);
    }
    expect(await readdir(folder)).toEqual(["always-allow.json"]);
  });

  it("is never given without a known account", async () => {
    const rules = await openStandingRules();
    expect(await rules.allow({ ...subject, connection: undefined })).toBe(false);
  });

  it("allows nothing when its file is damaged, and says so", async () => {
    await writeFile(file, '{"version":1,"rules":[{"principal":"p1"}]}');
    const rules = await openStandingRules(file);
    expect(rules.problem).toContain("damaged");
    expect(rules.allows(subject)).toBe(false);
  });

  it("writes a file only its owner can read", async () => {
    await (await openStandingRules(file)).allow(subject);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(JSON.parse(await readFile(file, "utf8"))).toMatchObject({ version: 1 });
  });
});
