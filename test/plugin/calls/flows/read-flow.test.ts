import { expect, test } from "vitest";
import { showFlow } from "../../../../src/plugin/calls/flows/read-flow.ts";
import type { FlowView } from "../../../../src/shared/wire/flow.ts";

function decided(output: unknown, status = "cancelled"): FlowView {
  const step = { stepKey: "approve", stepIndex: 0, stepType: "approval", status: "skipped", output };
  return { flow: { id: "flw_1", status, currentStep: "approve" }, steps: [step] };
}

test("a model reads who declined a flow, and why", () => {
  const refusal = { approved: false, declinedBy: "Ada\u202e", reason: "Not in May", pages: [{ title: "Secret" }] };
  const shown = showFlow(decided(refusal));
  expect(shown).toMatchObject({ status: "cancelled", declined: { reason: "Not in May" } });
  expect(JSON.stringify(shown)).not.toMatch(/\u202e|Secret/);
  expect(showFlow(decided({ ...refusal, reason: null }))).toMatchObject({ declined: { reason: "" } });
});

test("a flow that was cancelled in another way says nothing of it", () => {
  expect(showFlow(decided({ approved: false }))).not.toHaveProperty("declined");
  expect(showFlow(decided({ declinedBy: "Ada" }, "running"))).not.toHaveProperty("declined");
});
