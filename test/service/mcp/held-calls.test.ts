import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MCP_VERSIONS } from "../../../src/service/mcp/protocol.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { decideHeld } from "../approvals/owner.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { callTool, postMcp, sendModern } from "./mcp-calls.ts";

/** Calls of MCP clients whose approval the service holds: no argument and no answer of a client lets one run. */

let lab: Lab;
let service: TestService;
beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });
});
afterEach(() => service.close());

const PUT = { integration_id: "lab", action_id: "put", input: { title: "Minutes" }, confirm: true };
const OPENS = { elicitation: { url: {} } };
const accept = () => ({ action: "accept" }) as const;

type Answer = (params: Record<string, unknown>) => object | Promise<object>;

/** The official client of the newest revision, which answers every question with `answer`. */
async function openClient(answer: Answer, capabilities: object = OPENS) {
  const options = { capabilities, versionNegotiation: { mode: "auto" as const } };
  const client = new Client({ name: "test", version: "1" }, options);
  client.setRequestHandler("elicitation/create", async ({ params }) => answer(params) as never);
  const requestInit = { headers: { "x-svc-api-key": service.apiKey } };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${service.url}/api/mcp`), { requestInit }));
  return client;
}

async function execute(answer: Answer, capabilities?: object) {
  const client = await openClient(answer, capabilities);
  try {
    const { structuredContent, isError } = await client.callTool({ name: "svc.execute", arguments: PUT });
    return {
      isError,
      summary: structuredContent as Record<string, unknown> & { approval: { id: string; url: string } },
    };
  } finally {
    await client.close();
  }
}

describe("a client that opens addresses", () => {
  test("is given the owner's page, and the result once the owner has approved there", async () => {
    const asked: Record<string, unknown>[] = [];
    const { isError, summary } = await execute(async (params) => {
      asked.push(params);
      await decideHeld(service, String(params.url).split("/").at(-1) ?? "", "approve");
      return accept();
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({
      mode: "url",
      message: expect.stringContaining('"Put" waits for the owner'),
      url: expect.stringContaining(`${service.url}/inbox/apr_`),
    });
    expect(isError).toBe(false);
    expect(summary).toMatchObject({ status: "succeeded", output: { stored: "Minutes" } });
    expect(lab.ran).toEqual(["put"]);
  });

  test("hears that the owner declined, with their reason", async () => {
    const { summary } = await execute(async ({ url }) => {
      await decideHeld(service, String(url).split("/").at(-1) ?? "", "decline", { reason: "Not on a Sunday." });
      return accept();
    });
    expect(summary).toMatchObject({
      status: "blocked",
      error_code: "policy_blocked",
      approval: { status: "declined" },
    });
    expect(summary.message).toContain("Not on a Sunday.");
    expect(lab.ran).toEqual([]);
  });

  test.each(["decline", "cancel"])("decides nothing by its answer: after %s the call still waits", async (action) => {
    const { isError, summary } = await execute(() => ({ action }));
    expect(isError).toBe(false);
    expect(summary).toMatchObject({ status: "blocked", approval: { status: "pending" } });
    expect(lab.ran).toEqual([]);
  });

  test("is asked no question that it could answer itself, and an invented answer approves nothing", async () => {
    const both = { elicitation: { form: {}, url: {} } };
    const send = async (more: object) =>
      (await sendModern(service, "tools/call", { name: "svc.execute", arguments: PUT, capabilities: both, ...more }))
        .json;
    const { result: first } = await send({});
    expect(Object.values(first.inputRequests)).toMatchObject([{ params: { mode: "url" } }]);
    const yes = { action: "accept", content: { approve: true } };
    const forged = {
      requestState: first.requestState,
      inputResponses: { approval: yes, owner: { action: "decline" } },
    };
    const { result: second } = await send(forged);
    expect(second.structuredContent).toMatchObject({ status: "blocked", approval: { status: "pending" } });
    expect((await send({ inputResponses: { approval: yes, owner: yes } })).result.resultType).toBe("input_required");
    expect(lab.ran).toEqual([]);
  });
});

describe("any other client", () => {
  test.each(MCP_VERSIONS)(
    "of revision %s gets the link, runs nothing, and fetches the result by id",
    async (version) => {
      const isModern = version === MCP_VERSIONS[0];
      const call = async (name: string, args: object) => {
        const sent = { name, arguments: args };
        const legacy = { jsonrpc: "2.0", id: 1, method: "tools/call", params: sent };
        const { json } = isModern
          ? await sendModern(service, "tools/call", sent)
          : await postMcp(service, legacy, { "mcp-protocol-version": version });
        return json.result.structuredContent;
      };
      const blocked = await call("svc.execute", PUT);
      expect(blocked).toMatchObject({
        status: "blocked",
        error_code: "policy_blocked",
        approval: { status: "pending" },
      });
      const { id, url } = blocked.approval;
      expect(blocked.hint).toContain(url);
      expect(blocked.hint).toContain(`svc.get_execution with execution_id "${id}" and wait 30`);
      expect(await call("svc.execute", PUT)).toMatchObject({ approval: { id } });
      expect(await call("svc.get_execution", { execution_id: id })).toMatchObject({
        status: "blocked",
        approval: { id },
      });
      expect(lab.ran).toEqual([]);
      await decideHeld(service, id, "approve");
      const done = await call("svc.get_execution", { execution_id: id, wait: 30 });
      expect(done).toMatchObject({ status: "succeeded", output: { stored: "Minutes" } });
      expect(lab.ran).toEqual(["put"]);
    },
  );

  test("cannot look at the calls of another key", async () => {
    const { structuredContent } = await callTool(service, "svc.execute", PUT);
    const other = { url: service.url, apiKey: await service.createKey("Other") };
    const answer = await callTool(other, "svc.get_execution", { execution_id: structuredContent.approval.id });
    expect(answer).toMatchObject({ isError: true, structuredContent: { error_code: "execution_not_found" } });
  });
});
