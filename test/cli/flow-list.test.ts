import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createFlowScreen, formatFlowList } from "../../src/cli/flow-screen.ts";
import { createTerminal } from "../../src/cli/terminal.ts";

test("the list of flows shows when each began by the clock of this machine", () => {
  const createdAt = new Date(2026, 2, 4, 10, 15, 7).toISOString();
  const flow = { id: "flw_1", status: "running", name: "Tidy up", createdAt } as const;
  expect(formatFlowList([flow, { ...flow, id: "flw_2", createdAt: null }])).toBe(
    ["flw_1  running    2026-03-04 10:15:07  Tidy up", "flw_2  running      Tidy up"].join("\n"),
  );
});

test("why a step failed is shown, whatever the service calls that state", () => {
  const stdout = new PassThrough() as unknown as NodeJS.WriteStream;
  const terminal = createTerminal({ stdout, stderr: stdout, env: {}, json: false });
  const step = {
    stepKey: "fetch",
    stepIndex: 0,
    stepType: "tool_call",
    status: "error",
    error: { message: "No mail." },
  };
  createFlowScreen(terminal, stdout)({ flow: { id: "f1", status: "failed" }, steps: [step] });
  expect(String(stdout.read())).toMatch(/fetch +error: No mail\./);
});
