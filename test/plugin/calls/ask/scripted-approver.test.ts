import { describe, expect, test } from "vitest";
import { createApprovalRequest } from "../../../../src/plugin/calls/ask/request.ts";
import { createScriptedApprover, type ScriptedAnswer } from "../../../../src/plugin/calls/ask/scripted-approver.ts";

const request = createApprovalRequest(
  {
    tool: "notes_create_page",
    integration: "notes",
    arguments: { title: "Plan" },
    files: [],
    effect: "write",
    title: "Create page",
    description: "",
    reason: "It writes.",
    principal: "p",
  },
  { now: 0, ttlMs: 60_000 },
);
const { signal } = new AbortController();

describe("a scripted approver", () => {
  test("gives one answer after the other, the last one again, and none approves nothing", async () => {
    const approve = createScriptedApprover(["decline", { edit: { title: "Other" } }, "always"]);
    const answers = [];
    for (let call = 1; call <= 4; call += 1) answers.push(await approve(request, { signal }));
    expect(answers.map(({ type }) => type)).toEqual(["decline", "edit", "approve", "approve"]);
    expect(approve.requests).toHaveLength(4);
    expect(await createScriptedApprover([])(request, { signal })).toMatchObject({ type: "decline" });
  });

  test.each(["declined", "reject", "Decline", "stay-silent", "", true, 1, null, {}])("refuses the slip %j", (slip) => {
    const script = [slip as unknown as ScriptedAnswer];
    expect(() => createScriptedApprover(script)).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});
