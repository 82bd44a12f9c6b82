import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
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
