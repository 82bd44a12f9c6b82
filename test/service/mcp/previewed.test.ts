import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createShelf, type Shelf } from "../executions/shelf-app.ts";
import { sendModern } from "./mcp-calls.ts";

/** What a call would do, in the form of an MCP client, and that its yes is for just that. */

let clock: number;
let shelf: Shelf;
let service: TestService;

beforeEach(async () => {
  clock = Date.parse("2026-02-01T08:00:00Z");
  shelf = createShelf();
  service = await startTestService({ integrations: [shelf.integration], now: () => clock });
  await service.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
});
afterEach(() => service.close());

const FILL = { integration_id: "shelf", action_id: "fill", input: { with: "pears" } };
const YES = { approval: { action: "accept", content: { approve: true } } };

async function send(more: object = {}, capabilities: object = { elicitation: { form: {} } }) {
  clock += 60_000;
  const call = { name: "svc.execute", arguments: FILL, capabilities, ...more };
  return (await sendModern(service, "tools/call", call)).json.result;
}

const readForm = (result: { inputRequests: { approval: { params: { message: string } } } }) =>
  result.inputRequests.approval.params.message.split("\n").map((row) => row.replaceAll(/\s+/g, " "));

test("the form begins with it, and a yes runs the call", async () => {
  const asked = await send();
  const rows = readForm(asked);
  expect(rows[1]).toBe("In short │ Put pears into the box, in place of apples");
  expect(rows).toContain("Changes │ Content: apples -> pears");
  const { structuredContent } = await send({ requestState: asked.requestState, inputResponses: YES });
  expect(structuredContent).toMatchObject({ status: "succeeded", output: { filled: "pears" } });
});

test("a yes to what is not so any more runs nothing, and is asked for again", async () => {
  const asked = await send();
  shelf.content = "plums";
  const again = await send({ requestState: asked.requestState, inputResponses: YES });
  expect(shelf.content).toBe("plums");
  expect(readForm(again)).toContain("Changes │ Content: plums -> pears");
  const { structuredContent } = await send({ requestState: again.requestState, inputResponses: YES });
  expect(structuredContent).toMatchObject({ status: "succeeded" });
  expect(shelf.content).toBe("pears");
});

test("a call that cannot work is the answer, and no form is shown", async () => {
  shelf.content = undefined;
  const { structuredContent } = await send();
  expect(structuredContent).toMatchObject({ message: "There is no box." });
});

test("a client without forms has it in the answer", async () => {
  const { structuredContent } = await send({}, {});
  expect(structuredContent.preview.summary).toBe("Put pears into the box, in place of apples");
});
