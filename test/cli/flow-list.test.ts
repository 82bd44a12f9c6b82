import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { createFlowScreen, formatFlowList, formatTemplates } from "../../src/cli/flow-screen.ts";
import { createTerminal } from "../../src/cli/terminal.ts";

test("the list of flows shows when each began by the clock of this machine", () => {
  const createdAt = new Date(2026, 2, 4, 10, 15, 7).toISOString();
  const flow = { id: "flw_1", status: "running", name: "Tidy up", createdAt, startedOn: "mail", startedBy: "Bills" };
  const second = { id: "flw_2", status: "running", name: "Tidy up", createdAt: null, triggerType: "manual" };
  expect(formatFlowList([flow, second])).toBe(
    [
      "flw_1  running    2026-03-04 10:15:07  Tidy up  started on new mail by Bills",
      "flw_2  running      Tidy up  started by hand",
    ].join("\n"),
  );
});

test("the list tells waiting flows apart", () => {
  const flow = {
    id: "flw_1",
    status: "waiting",
    name: "Tidy up",
    createdAt: null,
    triggerType: "agent",
    startedBy: "Lap\u001b[2Jtop",
  };
  const wait = { since: new Date(2026, 2, 4, 10, 15, 7).toISOString(), about: "Invoice, Quote" };
  const first = { ...flow, waitingFor: { ...wait, message: 'Approve to create 2 pages in "Tasks".' } };
  const second = { ...flow, id: "flw_2", waitingFor: { ...wait, message: "Goes on by itself.", about: "" } };
  expect(formatFlowList([first, second])).toBe(
    [
      "flw_1  waiting      Tidy up  started by Lap\\u001b[2Jtop",
      '    Approve to create 2 pages in "Tasks". Since 2026-03-04 10:15:07.',
      "    Invoice, Quote",
      "flw_2  waiting      Tidy up  started by Lap\\u001b[2Jtop",
      "    Goes on by itself. Since 2026-03-04 10:15:07.",
    ].join("\n"),
  );
});

test("the list of templates says what each takes", () => {
  const stdout = new PassThrough() as unknown as NodeJS.WriteStream;
  const terminal = createTerminal({ stdout, stderr: stdout, env: {}, json: false });
  const properties = {
    folder: { type: "string", title: "Folder", description: "Such as\u001b[2J Tasks." },
    most: { type: "integer", default: 5 },
    at: { type: "string", format: "date-time" },
    odd: 7,
  };
  const inputSchema = { type: "object", properties, required: ["folder"] };
  expect(formatTemplates(terminal, [{ key: "tidy", name: "Tidy up", description: "Tidies.", inputSchema }])).toBe(
    [
      "tidy  Tidy up",
      "  Tidies.",
      "    folder (required, string)  Folder  Such as\\u001b[2J Tasks.",
      "    most (integer, default 5)",
      "    at (date-time)",
      "    odd",
    ].join("\n"),
  );
  expect(formatTemplates(terminal, [{ key: "old", inputSchema: { properties: [] } }])).toBe("old  \n  ");
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
