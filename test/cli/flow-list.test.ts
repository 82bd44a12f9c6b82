import { expect, test } from "vitest";
import { formatFlowList } from "../../src/cli/flow-screen.ts";

test("the list of flows shows when each began by the clock of this machine", () => {
  const createdAt = new Date(2026, 2, 4, 10, 15, 7).toISOString();
  const flow = { id: "flw_1", status: "running", name: "Tidy up", createdAt } as const;
  expect(formatFlowList([flow, { ...flow, id: "flw_2", createdAt: null }])).toBe(
    ["flw_1  running    2026-03-04 10:15:07  Tidy up", "flw_2  running      Tidy up"].join("\n"),
  );
});
