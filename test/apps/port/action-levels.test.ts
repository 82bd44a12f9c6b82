import { expect, test } from "vitest";
import {
  applyLevels,
  judgeLevel,
  type LevelPolicy,
  listUnmatched,
  parseLevelRule,
} from "../../../src/apps/port/action-levels.ts";
import { digestContent, type SourceContent, type StoredAction } from "../../../src/apps/port/source-content.ts";

/** Levels of single actions and of patterns, over what an app says of itself. */

const SET = { setAt: "2026-03-01T10:00:00.000Z", setIn: "command" } as const;

function ruleOf(text: string) {
  const rule = parseLevelRule(text, SET);
  if (rule === undefined) throw new Error(`${text} is no rule.`);
  return rule;
}

function contentOf(marks: Readonly<Record<string, StoredAction["own"]>>): SourceContent {
  const facts = { title: "T", description: "D", scopes: [], inputSchema: { type: "object" }, call: null };
  const unmarked = { level: "write", requiresConfirmation: true, idempotent: false } as const;
  const actions = Object.entries(marks).map(([id, own]) => ({ id, ...facts, ...unmarked, own }));
  return { description: "", category: "mcp", scopes: [], settingsForm: [], actions };
}

const WIKI = contentOf({
  search_pages: { level: "read", idempotent: false },
  delete_page: { level: "write", idempotent: true },
  put_page: { idempotent: false },
});

function levelsOf(policy: LevelPolicy, content = WIKI) {
  return Object.fromEntries(applyLevels(content, policy).actions.map(({ id, level }) => [id, level]));
}

test("without rules the app's own marks count when it is trusted, and every action is a write when it is not", () => {
  expect(levelsOf({ trusted: true })).toEqual({ search_pages: "read", delete_page: "write", put_page: "write" });
  expect(levelsOf({ trusted: false })).toEqual({ search_pages: "write", delete_page: "write", put_page: "write" });
});

test("a rule counts over the app's own mark, trusted or not; the last one that matches holds", () => {
  const levels = ["*=admin", "search_*=read", "*_page=delete", "put_page=write"].map(ruleOf);
  const expected = { search_pages: "read", delete_page: "delete", put_page: "write" };
  expect(levelsOf({ trusted: true, levels })).toEqual(expected);
  expect(levelsOf({ trusted: false, levels })).toEqual(expected);
  expect(levelsOf({ trusted: false, levels: levels.toReversed() }).search_pages).toBe("admin");
});

test("what a level decides follows it: whether a human is asked, and whether a call may be repeated", () => {
  const facts = (policy: LevelPolicy) =>
    applyLevels(WIKI, policy).actions.map((action) => [action.requiresConfirmation, action.idempotent]);
  expect(facts({ trusted: true })).toEqual([
    [false, true],
    [true, true],
    [true, false],
  ]);
  // Of a read that the owner calls a write, nobody knows that.
  const levels = ["search_*=write", "put_*=read"].map(ruleOf);
  expect(facts({ trusted: true, levels })).toEqual([
    [true, false],
    [true, true],
    [false, true],
  ]);
  expect(facts({ trusted: false })[1]).toEqual([true, false]);
});

test("levels can be decided again: the app's own word is kept beside them, and changes no digest", () => {
  const raised = applyLevels(WIKI, { trusted: false, levels: [ruleOf("*=admin")] });
  expect(levelsOf({ trusted: true }, raised)).toEqual(levelsOf({ trusted: true }));
  const unsaid = contentOf({ search_pages: undefined, delete_page: undefined, put_page: undefined });
  expect(digestContent(applyLevels(WIKI, { trusted: false }))).toBe(
    digestContent(applyLevels(unsaid, { trusted: false })),
  );
  expect(digestContent(raised)).not.toBe(digestContent(applyLevels(WIKI, { trusted: false })));
});

test("each level says where it comes from", () => {
  const policy = { trusted: true, levels: [ruleOf("put_*=delete")] };
  expect(WIKI.actions.map((action) => judgeLevel(action, policy).from)).toEqual(["mark", "mark", "rule"]);
  expect(WIKI.actions.map((action) => judgeLevel(action, { trusted: true }).from)).toEqual(["mark", "mark", "default"]);
});

test.each([
  ["search_pages", true],
  ["search", false],
  ["*", true],
  ["*pages*", true],
  ["s*_*s", true],
  ["search_pages*search_pages", false],
  ["*es*es", false],
  ["Search_*", false],
  [`${"*s".repeat(31)}x`, false],
])("the pattern %s matches search_pages: %s", (pattern, isMatch) => {
  expect(listUnmatched([ruleOf(`${pattern}=read`)], { actions: WIKI.actions.slice(0, 1) })).toHaveLength(
    isMatch ? 0 : 1,
  );
});

test.each(["", "=read", "search_*", "search_*=", "search_*=reed", "a=read=write", "a b=read", "(a+)+=read"])(
  "%j is no rule",
  (text) => {
    expect(parseLevelRule(text, SET)).toBeUndefined();
  },
);
