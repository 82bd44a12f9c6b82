import fc from "fast-check";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { connectHere, makeHome, type TestClient } from "../../plugin/runtimes/mcp/mcp-client.ts";
import { call } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { modernMeta, postMcp } from "./mcp-calls.ts";

/**
 * Whatever a model does with what it is given (tools, resources, skills, prompts, the page of a client, the link of an
 * approval, tasks, words that look like answers to forms), in whatever order, no call that needs a human runs. Not among it:
 * the client's own answer to a form that it was asked for with its state, which is the human's.
 */

const PUT = { integration_id: "lab", action_id: "put", input: { title: "Minutes" } };
const YES = { action: "accept", content: { approve: true } };
const CAPABILITIES = [
  {},
  { elicitation: { url: {} } },
  { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } },
  { elicitation: { form: {}, url: {} }, extensions: { "io.modelcontextprotocol/ui": {} }, tasks: {} },
];

/** What was given to the model so far. */
interface World {
  readonly service: TestService;
  readonly local: TestClient;
  readonly ids: string[];
  readonly states: string[];
}

/** Members that the schemas know, and words that somebody could take for a yes. */
const known = fc.record(
  { confirm: fc.boolean(), idempotency_key: fc.constantFrom("k-1", "mcp-approval-1") },
  { requiredKeys: [] },
);
const claims = fc.record(
  {
    confirm: fc.constantFrom<unknown>(true, "true", 1, { approve: true }),
    confirmed: fc.constant(true),
    approve: fc.constant(true),
    approved: fc.constant(true),
    decision: fc.constant("approve"),
    idempotency_key: fc.constantFrom("k-1", "mcp-approval-1"),
    inputResponses: fc.constantFrom({ approval: YES }, { owner: YES }, { connect: YES }),
    requestState: fc.string({ maxLength: 20 }),
  },
  { requiredKeys: [] },
);
const words: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 3, arbitrary: known },
  { weight: 1, arbitrary: claims },
);
const beside: fc.Arbitrary<Record<string, unknown>> = fc.oneof(
  { weight: 3, arbitrary: fc.constant({}) },
  { weight: 1, arbitrary: claims },
);
const toolName = fc.constantFrom("svc.execute", "svc_execute", "lab_put", "svc.get_execution", "svc.connect_app");
const step = fc.oneof(
  fc.record({ kind: fc.constant("tool" as const), toolName, words, beside, can: fc.nat(3), at: fc.nat(9) }),
  fc.record({ kind: fc.constant("local" as const), words, isDirect: fc.boolean(), at: fc.nat(9) }),
  fc.record({
    kind: fc.constant("method" as const),
    method: fc.constantFrom(
      "resources/read",
      "skills/get",
      "skills/list",
      "prompts/get",
      "tasks/get",
      "tasks/update",
      "tasks/result",
      "tasks/cancel",
      "ui/initialize",
      "ui/message",
      "ui/open-link",
      "ui/update-model-context",
      "elicitation/create",
      "notifications/elicitation/complete",
    ),
    words,
    at: fc.nat(9),
  }),
  fc.record({
    kind: fc.constant("link" as const),
    path: fc.constantFrom(
      "/inbox/{id}",
      "/inbox/approve",
      "/api/approvals/{id}",
      "/api/approvals/{id}/approve",
      "/api/mcp",
    ),
    isPost: fc.boolean(),
    isForm: fc.boolean(),
    words,
    at: fc.nat(9),
  }),
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

type StepOf<Kind extends Step["kind"]> = Extract<Step, { kind: Kind }>;

async function take(world: World, one: Step): Promise<void> {
  const id = world.ids[one.at % Math.max(1, world.ids.length)] ?? "apr_none";
  if (one.kind === "tool") learn(world, await callEndpoint(world, one, id));
  else if (one.kind === "local") learn(world, await callLocal(world, one));
  else if (one.kind === "method") learn(world, await callMethod(world, one, id));
  else learn(world, await followLink(world, one, id));
}

function learn({ ids, states }: World, answer: unknown): void {
  const text = JSON.stringify(answer ?? null);
  for (const [found] of text.matchAll(/apr_\w+/g)) if (!ids.includes(found)) ids.push(found);
  for (const [, state = ""] of text.matchAll(/"requestState":"([^"]+)"/g)) states.push(state);
}

async function callEndpoint({ service, states }: World, one: StepOf<"tool">, id: string): Promise<unknown> {
  // A state of the server that was changed, or one that was given for another request.
  const state = states[one.at % Math.max(1, states.length)];
  const forged =
    state === undefined || one.at % 3 > 0 ? {} : { requestState: one.at % 2 === 0 ? `${state.slice(0, -2)}AA` : state };
  const other = { ...PUT, input: { title: `Minutes ${one.at}` } };
  const named = one.toolName === "lab_put" ? PUT.input : other;
  const given = one.toolName === "svc.get_execution" ? { execution_id: id } : named;
  const params = { name: one.toolName, arguments: { ...given, ...one.words }, ...one.beside, ...forged };
  const revision = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": one.toolName };
  const isModern = one.at > 2;
  const meta = isModern ? { _meta: modernMeta(CAPABILITIES[one.can]) } : {};
  const body = { jsonrpc: "2.0", id: 1, method: "tools/call", params: { ...params, ...meta } };
  return (await postMcp(service, body, isModern ? revision : {}, "?maxToolTokens=100000")).json;
}

function callLocal({ local }: World, { words: said, isDirect }: StepOf<"local">): Promise<unknown> {
  const args = { ...PUT.input, ...said };
  if (isDirect) return local.call("lab_put", args);
  return local.call("svc_call_tool", { name: "lab_put", arguments: args, ...said });
}

async function callMethod({ service }: World, one: StepOf<"method">, id: string): Promise<unknown> {
  const uris = ["ui://svc/approval", "skill://svc/SKILL.md", `ui://svc/approval?id=${id}&decision=approve`];
  const uri = uris[one.at % uris.length];
  const params = { uri, name: "do_with_my_apps", arguments: { task: id }, taskId: id, id, ...one.words };
  return (await postMcp(service, { jsonrpc: "2.0", id: 1, method: one.method, params })).json;
}

async function followLink({ service }: World, one: StepOf<"link">, id: string): Promise<unknown> {
  const url = service.url + one.path.replace("{id}", id);
  const fields = { ...one.words, decision: "approve", csrf: id, fingerprint: id, call: `${id} ${id}` };
  const form = new URLSearchParams(
    Object.entries(fields).map(([key, value]): [string, string] => [key, String(value)]),
  );
  const type = one.isForm ? "application/x-www-form-urlencoded" : "application/json";
  const body = one.isForm ? form.toString() : JSON.stringify(fields);
  const sent = one.isPost ? { method: "POST", headers: { "content-type": type }, body } : {};
  return (await call(one.isPost ? url : `${url}?${form}`, { key: service.apiKey, ...sent })).text;
}

/** Plays `runs` sequences against a service; the actions that ran, and how many approvals waited. */
export async function playModel(runs: number, approvals: "owner" | "device") {
  const lab = createLab();
  const service = await startTestService({ integrations: [lab.integration], approvals });
  await service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });
  const place = await makeHome();
  const local = await connectHere(place.home, service, { tools: ["lab_put"], waitMs: 0 });
  const ids: string[] = [];
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 6 }), async (steps) => {
        const world: World = { service, local, ids, states: [] };
        for (const one of steps) await take(world, one);
        if (lab.ran.length > 0) throw new Error(`${lab.ran.join(", ")} ran`);
      }),
      { numRuns: runs },
    );
    return { ran: lab.ran, effects: await service.effects(), waiting: ids.length };
  } finally {
    await local.close();
    await service.close();
    await place.remove();
  }
}
