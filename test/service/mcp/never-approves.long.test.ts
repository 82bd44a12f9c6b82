import { expect, test } from "vitest";
import { playModel } from "./never-approves.ts";

test.each(["owner", "device"] as const)("a thousand models approve nothing, approver: %s", async (approvals) => {
  const { waiting, ...done } = await playModel(1_000, approvals);
  expect(done).toEqual({ ran: [], effects: [] });
  expect(waiting).toBeGreaterThan(10);
});
