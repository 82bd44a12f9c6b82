import { expect, test } from "vitest";
import { playModel } from "./never-approves.ts";

/** `never-approves.long.test.ts` plays a thousand. */

test.each(["owner", "device"] as const)("a model approves nothing where the approver is the %s", async (approvals) => {
  const { waiting, ...done } = await playModel(40, approvals);
  expect(done).toEqual({ ran: [], effects: [] });
  expect(waiting).toBeGreaterThan(1);
});
