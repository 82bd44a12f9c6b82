import fc, { type AsyncCommand } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { FLOW_STATUSES, type FlowStatus } from "../../src/shared/wire/flow.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { type CheckedClient, createCheckedClient } from "./checked-client.ts";
import { FUZZ_SECONDS, fuzzOptions, whileTimeLasts } from "./fuzz-options.ts";

interface Model {
  readonly flows: { id: string; status: FlowStatus; approvals: number }[];
}

let service: TestService;
let client: CheckedClient;

beforeAll(async () => {
  service = await startTestService();
  client = await createCheckedClient(service.url);
  for (const subject of ["First", "Second"]) {
    const body = { to: ["me@localhost"], subject, body: "Please do it." };
    const sent = { arguments: body, confirmed: true };
    const reply = await client.post("/api/tools/mail_send_message/execute", sent, { key: service.apiKey });
    if (reply.status !== 200) throw new Error(reply.text);
  }
});
afterAll(() => service.close());

type Command = AsyncCommand<Model, null>;

const ENDED: readonly FlowStatus[] = ["completed", "cancelled"];

function expectKept(known: { status: FlowStatus }, status: FlowStatus): void {
  expect(FLOW_STATUSES).toContain(status);
  if (ENDED.includes(known.status)) expect(status, "an ended flow stays ended").toBe(known.status);
  known.status = status;
}

const start = (flowTemplate: string, input: Record<string, unknown>): Command => ({
  check: ({ flows }) => flows.length < 3,
  toString: () => `start(${flowTemplate}, ${JSON.stringify(input)})`,
  async run({ flows }) {
    const { status, json } = await client.post("/api/flows/start", { flowTemplate, input }, { key: service.apiKey });
    expect([200, 400]).toContain(status);
    if (status === 200) flows.push({ id: json.flowId, status: json.flow.flow.status, approvals: 0 });
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
    if (verb === "approve") flow.approvals += done.length;
    expect(flow.approvals, "a flow of these templates is approved once").toBeLessThanOrEqual(1);
    if (verb === "approve" && flow.status === "waiting" && flow.approvals === 0) {
      expect(body, "a flow that waits for an approval takes one").toEqual({ stepKey: "nothing" });
    }
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

const starts = fc.constantFrom<[template: string, input: Record<string, unknown>][]>(
  ["mail_unread_summary", {}],
  ["mail_unread_summary", { maxResults: 0 }],
  ["mail_to_notes_tasks", { notionParent: "Tasks", query: "is:any" }],
  ["mail_to_notes_tasks", { notionParent: "Tasks", query: "is:any", maxResults: 20 }],
  ["mail_to_notes_tasks", { query: "is:any" }],
  ["notes_reminder", { text: "Call", delaySeconds: 3600 }],
  ["notes_reminder", { text: "Call", delaySeconds: 1 }],
  ["notes_reminder", { text: "Call" }],
  ["nothing", {}],
);
const commands = fc.commands(
  [
    starts.map(([template, input]) => start(template, input)),
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
  { maxCommands: 20, size: "max" },
);

test("any sequence of flow calls stays within the states of the document", {
  timeout: 60_000 + FUZZ_SECONDS * 1000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      commands,
      whileTimeLasts(12_000, (sequence) => fc.asyncModelRun(() => ({ model: { flows: [] }, real: null }), sequence)),
    ),
    fuzzOptions({ runs: 20 }),
  );
});
