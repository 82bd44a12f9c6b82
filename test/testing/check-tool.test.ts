import { expect, test } from "vitest";
import { createApprovalRequest } from "../../src/plugin/calls/ask/request.ts";
import { type CheckedTool, createScriptedApprover, createToolChecks } from "../../src/testing.ts";

/** The checks must be able to fail: each kind of bad tool fails exactly the check that is about it. */

const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** A tool that keeps every rule, changed by `change`. */
function createTool(change: Partial<Record<keyof CheckedTool, unknown>> = {}): CheckedTool {
  const invoke = async (input: Record<string, unknown>, config: { signal?: AbortSignal } = {}) => {
    if (config.signal?.aborted) throw Object.assign(new Error("stop"), { name: "AbortError" });
    if (input.type !== "tool_call") return "done";
    const isWrong = typeof (input.args as { text: unknown }).text !== "string";
    return {
      tool_call_id: input.id,
      content: isWrong ? "text must be a text" : "done",
      status: isWrong ? "error" : "success",
      artifact: { status: isWrong ? "failed" : "succeeded" },
    };
  };
  return { name: "say", description: "Says.", schema, invoke, ...change } as unknown as CheckedTool;
}

async function findFailures(tool: CheckedTool, countEffects?: () => Promise<number>): Promise<string[]> {
  const failed: string[] = [];
  for (const check of createToolChecks({ tool, countEffects })) await check.run().catch(() => failed.push(check.name));
  return failed;
}

test("a good tool passes", async () => {
  expect(await findFailures(createTool())).toEqual([]);
});

const good = createTool().invoke as unknown as (...args: unknown[]) => Promise<Record<string, unknown>>;
const answering = (change: object) => ({
  invoke: async (...args: unknown[]) => {
    const answer: unknown = await good(...args);
    return typeof answer === "string" ? answer : { ...(answer as object), ...change };
  },
});

test.each<[string, Partial<Record<keyof CheckedTool, unknown>>, string[]]>([
  ["a name with a dot", { name: "a.b" }, ["has a name every model provider accepts"]],
  ["no description", { description: " " }, ["has a description of at most 1,024 characters"]],
  ["a schema that is a list", { schema: { type: "array" } }, ["has an object schema"]],
  ["another call's id", answering({ tool_call_id: "x" }), ["answers a tool call with content and artifact"]],
  [
    "no artifact",
    answering({ artifact: undefined, status: "success" }),
    ["answers a tool call with content and artifact", "explains wrong arguments by field instead of throwing"],
  ],
  [
    "an error without the field",
    answering({ content: "no" }),
    ["explains wrong arguments by field instead of throwing"],
  ],
  ["a deaf ear for signals", { invoke: (input: unknown) => good(input) }, ["rejects an aborted call and does nothing"]],
])("%s is found", async (_what, change, expected) => {
  expect(await findFailures(createTool(change))).toEqual(expected);
});

test("an effect of an aborted call is found", async () => {
  let effects = 0;
  expect(await findFailures(createTool(), async () => effects++)).toEqual(["rejects an aborted call and does nothing"]);
});

test("the scripted approver answers in order and repeats its last answer", async () => {
  const approve = createScriptedApprover(["decline", { edit: { a: 2 } }, "approve"]);
  const subject = { tool: "t", integration: "i", arguments: {}, files: [], effect: "write" as const };
  const texts = { title: "", description: "", reason: "", principal: "p" };
  const request = createApprovalRequest({ ...subject, ...texts }, { now: 0, ttlMs: 1 });
  const ask = async () => (await approve(request, { signal: new AbortController().signal })).type;
  expect([await ask(), await ask(), await ask(), await ask()]).toEqual(["decline", "edit", "approve", "approve"]);
  expect(approve.requests).toHaveLength(4);
  const silent = createScriptedApprover(["stay silent"]);
  await expect(silent(request, { signal: AbortSignal.abort() })).rejects.toMatchObject({ name: "AbortError" });
});
