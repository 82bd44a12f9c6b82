import { expect, test } from "vitest";
import { z } from "zod";
import { defineTemplate, type StepDefinition } from "../../../src/service/flows/flow-template.ts";
import { planAhead } from "../../../src/service/flows/plan-ahead.ts";

type Steps = readonly StepDefinition<Record<string, unknown>>[];
const put = (key: string, title: (outputs: Readonly<Record<string, unknown>>) => unknown): Steps[number] => ({
  key,
  type: "tool_call",
  app: "lab",
  plan: ({ outputs }) => ({
    toolName: "lab_put",
    calls: [{ key: "1", label: key, arguments: { title: title(outputs) } }],
    collect: ([first]) => first,
  }),
});
const ask = (key: string): Steps[number] => ({ key, type: "approval", show: () => ({ message: "Go on?" }) });
const wait: Steps[number] = { key: "wait", type: "wait", until: () => 0 };

/** What is known at the approval `ask` of the steps after it. */
function plan(...following: Steps) {
  const steps = [ask("ask"), ...following];
  const facts = { key: "t", name: "T", description: "For tests.", connectionFields: { lab: "labId" }, tools: [] };
  const template = defineTemplate({ ...facts, input: z.strictObject({}), steps });
  const state = { flowId: "flw_1", startedAt: 0, input: {}, outputs: { read: "found" }, connections: {} };
  const { calls, unknown } = planAhead({ template, index: 0, state, shown: { message: "Go on?", word: "shown" } });
  return {
    calls: calls.map(({ stepKey, call }) => [stepKey, call.arguments.title]),
    unknown: unknown.map(({ stepKey, missing }) => [stepKey, missing?.code, missing?.text]),
  };
}

test("calls are known by their inputs, earlier outputs and what the approval shows, up to the next approval", () => {
  const shown = put("b", ({ ask: asked }) => z.looseObject({ word: z.string() }).parse(asked).word);
  const found = plan(
    put("a", ({ read }) => read),
    wait,
    shown,
    ask("again"),
    put("c", () => "later"),
  );
  expect(found).toEqual({
    calls: [
      ["a", "found"],
      ["b", "shown"],
    ],
    unknown: [],
  });
});

test("what depends on a step that has not run is said to, and not guessed", () => {
  const text = 'What it does depends on what the step "a" finds.';
  const found = plan(
    put("a", () => "known"),
    put("b", ({ a }) => `after ${a}`),
    put("c", () => "known, too"),
  );
  expect(found.unknown).toEqual([["b", "depends_on_step", text]]);
  expect(found.calls.map(([key]) => key)).toEqual(["a", "c"]);
});

test("a step that fails on what it does not have yet is one of them", () => {
  const needs = put("b", ({ a }) => z.string().parse(a));
  expect(
    plan(
      put("a", () => "x"),
      needs,
    ).unknown,
  ).toEqual([["b", "depends_on_step", expect.stringContaining('"a"')]]);
});

test("a step that cannot be planned is not known", () => {
  const broken = put("a", () => {
    throw new Error("No.");
  });
  expect(plan(broken)).toEqual({
    calls: [],
    unknown: [["a", "not_known", "What it does is not known before the approval."]],
  });
});

test("of reads, of what is skipped and of what no approval covers nothing is said", () => {
  const read = { ...put("a", ({ b }) => b), isRead: true } as const;
  const skipped: Steps[number] = { ...put("b", () => "x"), skip: () => true };
  const uncovered = put("c", () => "x");
  if (uncovered.type !== "tool_call") throw new TypeError();
  const { plan: planned } = uncovered;
  const open: Steps[number] = { ...uncovered, plan: (state) => ({ ...planned(state), isUnapproved: true }) };
  expect(plan(read, skipped, open)).toEqual({ calls: [], unknown: [] });
});
