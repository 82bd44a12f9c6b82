import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { QUICKEST_PERSON_MS } from "../../../src/shared/wire/form-answer.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { sendLegacy, sendModern } from "./mcp-calls.ts";

let clock: number;
let lab: Lab;
let service: TestService;
beforeEach(async () => {
  clock = Date.parse("2026-02-01T08:00:00Z");
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], now: () => clock });
});
afterEach(() => service.close());

const connectLab = () => service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });

const PUT = { integration_id: "lab", action_id: "put", input: { title: "Minutes" } };
const CAN_ASK = { elicitation: { form: {}, url: {} } };
const APPROVED = { approval: { action: "accept", content: { approve: true } } };

/** One try of a call of svc.execute. */
async function tryPut(params: Record<string, unknown> = {}, target = service) {
  const { status, json } = await sendModern(target, "tools/call", {
    name: "svc.execute",
    arguments: PUT,
    capabilities: CAN_ASK,
    ...params,
  });
  return { status, error: json.error, result: json.result };
}

/** A client that answers every question with `answer`. */
async function openClient(answer: (params: Record<string, unknown>) => object | Promise<object>) {
  const client = new Client(
    { name: "test", version: "1" },
    { capabilities: CAN_ASK, versionNegotiation: { mode: "auto" } },
  );
  client.setRequestHandler("elicitation/create", async ({ params }) => answer(params) as never);
  const requestInit = { headers: { "x-svc-api-key": service.apiKey } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/api/mcp`), { requestInit }));
  return client;
}

describe("a write over a client that can ask its human", () => {
  test("is shown to the human and runs once after approval", async () => {
    verifies("decision.mcp-asks-human");
    await connectLab();
    const shown: string[] = [];
    const client = await openClient(({ message }) => {
      shown.push(String(message));
      return { action: "accept", content: { approve: true } };
    });
    const { structuredContent, isError } = await client.callTool({ name: "svc.execute", arguments: PUT });
    await client.close();
    expect(isError).toBe(false);
    expect(structuredContent).toMatchObject({ status: "succeeded", output: { stored: "Minutes" } });
    expect(lab.ran).toEqual(["put"]);
    expect(shown).toHaveLength(1);
    expect(shown[0]).toMatch(/^```\nAction {4}│ Put\n/);
    expect(shown[0]).toContain("title: Minutes");
    expect(shown[0]).toContain("Where does it go?");
    expect(shown[0]).toMatch(/\nApprove\? {2}│ lab_put, write, My lab\n```$/);
  });

  /** Asks about the write, and answers after `tookMs`. */
  const answerAfter = async (tookMs: number, approval: object) => {
    const { result: asked } = await tryPut();
    clock += tookMs;
    return (await tryPut({ requestState: asked.requestState, inputResponses: { approval } })).result;
  };

  test.each([
    ["declined", { action: "decline" }],
    ["dismissed", { action: "cancel" }],
    ["accepted without the tick", { action: "accept", content: { approve: false } }],
  ])("does not run when a person has %s it; sooner than one can read, nobody has", async (_what, approval) => {
    await connectLab();
    const hasty = await answerAfter(QUICKEST_PERSON_MS - 1, approval);
    expect(hasty.structuredContent).toMatchObject({ status: "blocked", approval: { status: "pending" } });
    const result = await answerAfter(QUICKEST_PERSON_MS, approval);
    expect(result.isError).toBe(false);
    expect(result.structuredContent).toMatchObject({ status: "blocked", error_code: "policy_blocked" });
    expect(result.structuredContent.message).toContain("did not approve");
    expect(lab.ran).toEqual([]);
  });

  test.each([
    ["nothing", { action: "accept" }],
    ["null", { action: "accept", content: null }],
    ["an empty form", { action: "accept", content: {} }],
    ["a text", { action: "accept", content: { approve: "true" } }],
    ["another field", { action: "accept", content: { approved: true } }],
    ["a list", { action: "accept", content: [true] }],
    ["an unknown action", { action: "approve", content: { approve: true } }],
  ])("waits for the owner when the client answers with %s, which no person can have given", async (_what, approval) => {
    await connectLab();
    const { structuredContent } = await answerAfter(60_000, approval);
    expect(structuredContent).toMatchObject({ status: "blocked", approval: { status: "pending" } });
    expect(structuredContent.message).not.toContain("did not approve");
    expect(structuredContent.hint).toContain("svc.get_execution");
    expect(lab.ran).toEqual([]);
  });

  test("is asked about in the form of the revision", async () => {
    await connectLab();
    const { status, result } = await tryPut();
    expect(status).toBe(200);
    expect(result).toMatchObject({
      resultType: "input_required",
      requestState: expect.any(String),
      inputRequests: {
        approval: {
          method: "elicitation/create",
          params: { mode: "form", requestedSchema: { properties: { approve: { type: "boolean" } } } },
        },
      },
    });
    expect(result).not.toHaveProperty("content");
  });

  test("is asked about before anything else only when it could run", async () => {
    const missing = await tryPut();
    expect(missing.result.structuredContent).toMatchObject({ error_code: "integration_not_connected" });
    await connectLab();
    const invalid = await tryPut({ arguments: { ...PUT, input: {} } });
    expect(invalid.result.structuredContent).toMatchObject({ error_code: "validation_error" });
  });

  test("is asked about with confirm true as well", async () => {
    await connectLab();
    const { result } = await tryPut({ arguments: { ...PUT, confirm: true } });
    expect(result.resultType).toBe("input_required");
    expect(lab.ran).toEqual([]);
  });
});

describe("an approval", () => {
  test("counts once: whoever sends it again gets the first result", async () => {
    await connectLab();
    const { result: asked } = await tryPut();
    const again = { requestState: asked.requestState, inputResponses: APPROVED };
    const answers = await Promise.all([tryPut(again), tryPut(again), tryPut(again)]);
    answers.push(await tryPut(again));
    const ids = answers.map(({ result }) => result.structuredContent.execution_id);
    expect(new Set(ids).size).toBe(1);
    expect(lab.ran).toEqual(["put"]);
  });

  test("of one call does nothing for the next one", async () => {
    await connectLab();
    for (const _round of [1, 2]) {
      const { result: asked } = await tryPut();
      await tryPut({ requestState: asked.requestState, inputResponses: APPROVED });
    }
    expect(lab.ran).toEqual(["put", "put"]);
  });

  test("counts for the account that was shown: with another default the human is asked again", async () => {
    const { connections } = service.service;
    const first = await connectLab();
    const second = await connections.add({ integration: "lab", label: "Private", settings: {} });
    await connections.update(first.id, { isDefault: true });
    const { result: asked } = await tryPut();
    await connections.update(second.id, { isDefault: true });
    const { result: again } = await tryPut({ requestState: asked.requestState, inputResponses: APPROVED });
    expect(again.resultType).toBe("input_required");
    expect(again.inputRequests.approval.params.message).toContain("Private");
    expect(await service.effects()).toEqual([]);
    await connections.update(first.id, { isDefault: true });
    await tryPut({ requestState: asked.requestState, inputResponses: APPROVED });
    expect((await service.effects()).map(({ connectionId }) => connectionId)).toEqual([first.id]);
  });

  test("without the state of a question is no approval", async () => {
    await connectLab();
    const { result } = await tryPut({ inputResponses: APPROVED });
    expect(result.resultType).toBe("input_required");
    expect(lab.ran).toEqual([]);
  });

  test("does not carry over to other input, another tool, or another caller", async () => {
    await connectLab();
    const { result } = await tryPut();
    const again = { requestState: result.requestState, inputResponses: APPROVED };
    const other = { url: service.url, apiKey: await service.createKey("Other") };
    const tries = [
      await tryPut({ ...again, arguments: { ...PUT, input: { title: "Other" } } }),
      await tryPut({ ...again, arguments: { ...PUT, confirm: true } }),
      await tryPut({ ...again, name: "svc_execute" }),
      await tryPut(again, { ...service, ...other }),
    ];
    for (const { status, error } of tries) {
      expect({ status, code: error?.code }).toEqual({ status: 400, code: -32602 });
    }
    expect(lab.ran).toEqual([]);
  });

  test("is refused when its state was changed or is too old", async () => {
    await connectLab();
    const { result } = await tryPut();
    const [payload = "", signature = ""] = result.requestState.split(".");
    const state = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    const longer = Buffer.from(JSON.stringify({ ...state, expiresAt: state.expiresAt * 2 })).toString("base64url");
    const forged = [
      `${longer}.${signature}`,
      `${payload}.`,
      payload,
      "",
      `${payload}.${signature}.x`,
      `${payload}.AAAA`,
    ];
    for (const requestState of forged) {
      expect((await tryPut({ requestState, inputResponses: APPROVED })).error?.code, requestState).toBe(-32602);
    }
    clock += 16 * 60 * 1000;
    const late = await tryPut({ requestState: result.requestState, inputResponses: APPROVED });
    expect(late.error?.code).toBe(-32602);
    expect(lab.ran).toEqual([]);
  });

  test("still stands after a restart", async () => {
    await connectLab();
    const { result } = await tryPut();
    const { dataDir } = service;
    await service.service.close();
    const next = await startTestService({ dataDir, integrations: [lab.integration], now: () => clock });
    try {
      const again = { requestState: result.requestState, inputResponses: APPROVED };
      const target = { ...next, apiKey: service.apiKey };
      expect((await tryPut(again, target)).result.structuredContent).toMatchObject({ status: "succeeded" });
    } finally {
      await next.close();
    }
  });
});

describe("a client that cannot ask", () => {
  test("because it declares nothing gets the blocked result", async () => {
    await connectLab();
    const { result } = await tryPut({ capabilities: {} });
    expect(result).toMatchObject({ resultType: "complete", isError: false });
    expect(result.structuredContent).toMatchObject({ status: "blocked", error_code: "policy_blocked" });
    expect(result.structuredContent.approval).toMatchObject({ status: "pending" });
  });

  test("because it can only open addresses is given the owner's page", async () => {
    await connectLab();
    const { result } = await tryPut({ capabilities: { elicitation: { url: {} } } });
    expect(result.inputRequests).toMatchObject({ owner: { params: { mode: "url" } } });
    expect(lab.ran).toEqual([]);
  });

  test("because of its revision gets the blocked result", async () => {
    await connectLab();
    const { json } = await sendLegacy(service, "tools/call", { name: "svc.execute", arguments: PUT });
    expect(json.result.structuredContent).toMatchObject({ status: "blocked" });
  });

  test("but says nothing of forms in an empty elicitation can do forms", async () => {
    await connectLab();
    expect((await tryPut({ capabilities: { elicitation: {} } })).result.resultType).toBe("input_required");
  });
});

describe("connecting over a client that opens addresses", () => {
  test("shows the page to the human and goes on when the app is connected", async () => {
    verifies("decision.mcp-asks-human");
    const opened: unknown[] = [];
    const client = await openClient(async (params) => {
      opened.push(params);
      await connectLab();
      return { action: "accept" };
    });
    const { structuredContent } = await client.callTool({
      name: "svc.connect_app",
      arguments: { integration_id: "lab" },
    });
    await client.close();
    expect(opened).toMatchObject([{ mode: "url", url: `${service.url}/connect/lab` }]);
    expect(JSON.stringify(opened)).not.toContain(service.apiKey);
    expect(structuredContent).toMatchObject({ status: "already_connected" });
  });

  test.each([{ action: "accept" }, { action: "decline" }])(
    "looks at the connection, whatever the client says: %j",
    async (answer) => {
      const client = await openClient(() => answer);
      const { structuredContent } = await client.callTool({
        name: "svc.connect_app",
        arguments: { integration_id: "lab" },
      });
      await client.close();
      expect(structuredContent).toMatchObject({ status: "requires_user_action" });
    },
  );

  test("can renew a connection that is healthy", async () => {
    const { id } = await connectLab();
    const opened: unknown[] = [];
    const client = await openClient((params) => {
      opened.push(params.url);
      return { action: "accept" };
    });
    const args = { integration_id: "lab", force_reconnect: true };
    const { structuredContent } = await client.callTool({ name: "svc.connect_app", arguments: args });
    await client.close();
    expect(opened).toEqual([`${service.url}/connections/${id}/reconnect`]);
    expect(structuredContent).toMatchObject({ status: "already_connected" });
  });
});
