import fc, { type AsyncCommand } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { FLOW_STATUSES, type FlowStatus } from "../../src/wire/flow.ts";
import { type CheckedClient, createCheckedClient } from "./checked-client.ts";

interface Model {
  readonly flows: { id: string; status: FlowStatus }[];
}

let service: TestService;
let client: CheckedClient;
let templates: string[];

beforeAll(async () => {
  service = await startTestService();
  client = await createCheckedClient(service.url);
  const { json } = await client.get("/api/flows/templates", service.apiKey);
  templates = json.templates.map((template: { key: string }) => template.key);
});
afterAll(() => service.close());

type Command = AsyncCommand<Model, null>;

const ENDED: readonly FlowStatus[] = ["completed", "cancelled"];

function expectKept(known: { status: FlowStatus }, status: FlowStatus): void {
  expect(FLOW_STATUSES).toContain(status);
  if (ENDED.includes(known.status)) expect(status, "an ended flow stays ended").toBe(known.status);
  known.status = status;
}

const start = (index: number, input: Record<string, unknown>): Command => ({
  check: ({ flows }) => flows.length < 4,
  toString: () => `start(${index}, ${JSON.stringify(input)})`,
  async run({ flows }) {
    const body = { flowTemplate: templates[index % templates.length], input };
    const { status, json } = await client.post("/api/flows/start", body, { key: service.apiKey });
    expect([200, 400]).toContain(status);
    if (status === 200) flows.push({ id: json.flowId, status: json.flow.flow.status });
  },
});

const move = (index: number, verb: "approve" | "resume" | "cancel", body: object, times: number): Command => ({
  check: ({ flows }) => flows.length > 0,
  toString: () => `${verb}(${index}, ${JSON.stringify(body)}, ${times} times)`,
  async run({ flows }) {
    const flow = flows[index % flows.length];
    if (flow === undefined) return;
    const path = `/api/flows/${flow.id}`;
    const wasEnded = ENDED.includes(flow.status);
    const replies = await Promise.all(
      Array.from({ length: times }, () => client.post(`${path}/${verb}`, body, { key: service.apiKey })),
    );
    const done = replies.filter((reply) => reply.status === 200);
    for (const reply of replies) expect([200, 409]).toContain(reply.status);
    if (wasEnded) expect(done).toEqual([]);
    if (verb === "cancel" && done.length > 0) expect(done[0]?.json.flow.status).toBe("cancelled");
    const seen = await client.get(path, service.apiKey);
    expectKept(flow, seen.json.flow.status);
    if (verb === "cancel" && done.length > 0) expect(flow.status).toBe("cancelled");
  },
});

const look: Command = {
  check: ({ flows }) => flows.length > 0,
  toString: () => "look",
  async run({ flows }) {
    const { json } = await client.get("/api/flows?limit=100", service.apiKey);
    const listed = new Map<string, FlowStatus>(
      json.flows.map((flow: { id: string; status: FlowStatus }) => [flow.id, flow.status]),
    );
    for (const flow of flows) {
      const status = listed.get(flow.id);
      if (status !== undefined) expectKept(flow, status);
    }
  },
};

const inputs = fc.constantFrom<Record<string, unknown>>(
  {},
  { maxResults: 1 },
  { maxResults: 0 },
  { maxResults: 21 },
  { query: "is:any" },
  { notionParent: "Tasks" },
  { notionParent: "Tasks", query: "is:any", maxResults: 20 },
);
const commands = fc.commands(
  [
    fc.tuple(fc.nat(3), inputs).map(([index, input]) => start(index, input)),
    fc
      .tuple(
        fc.nat(3),
        fc.constantFrom("approve" as const, "resume" as const, "cancel" as const),
        fc.constantFrom({}, { stepKey: "nothing" }),
        fc.integer({ min: 1, max: 2 }),
      )
      .map(([index, verb, body, times]) => move(index, verb, body, times)),
    fc.constant(look),
  ],
  { maxCommands: 14, size: "max" },
);

test("any sequence of flow calls stays within the states of the document", { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(commands, (sequence) => fc.asyncModelRun(() => ({ model: { flows: [] }, real: null }), sequence)),
    { numRuns: 12, interruptAfterTimeLimit: 15_000, markInterruptAsFailure: false },
  );
});
