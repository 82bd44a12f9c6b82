import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { renderOutcome } from "../../../src/plugin/calls/outcome.ts";
import { STATIC_TOOL_NAMES, type StaticToolName } from "../../../src/plugin/calls/static-tools.ts";
import { type ProbeService, startProbeService } from "../../contract/probe-service.ts";
import { verifies } from "../../contract/verifies.ts";
import { findFreePort } from "../../service/free-port.ts";
import { closeAll, closeLater, openTestSession, sayNo, sayYes, type TestSession } from "./open-test-session.ts";

let service: ProbeService;
beforeEach(async () => {
  service = closeLater(await startProbeService());
});
afterEach(closeAll);

let calls = 0;
function run(session: TestSession, name: StaticToolName, args: unknown) {
  const tool = session.staticTools.find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`No static tool ${name}`);
  return tool.run(args, { callId: `s${++calls}` });
}

describe("static tools", () => {
  it("have names, descriptions and closed object schemas", async () => {
    const session = await openTestSession(service);
    expect(session.staticTools.map((tool) => tool.name)).toEqual([...STATIC_TOOL_NAMES]);
    for (const tool of session.staticTools) {
      expect(tool.description.length).toBeLessThanOrEqual(1_024);
      expect(tool.schema).toMatchObject({ type: "object" });
    }
  });

  it("search, describe and call without any list", async () => {
    verifies("tools.search.client");
    const session = await openTestSession(service, { answer: sayYes });
    const found = await run(session, "svc_search_tools", { query: "write text" });
    expect(renderOutcome(found)).toContain("probe_write_text");
    const described = await run(session, "svc_describe_tool", { name: "probe_write_text" });
    expect(described.result).toMatchObject({
      effect: "write",
      asks_for_approval: true,
      arguments: { properties: { text: { type: "string" } } },
    });
    const called = await run(session, "svc_call_tool", { name: "probe_write_text", arguments: { text: "hi" } });
    expect(called).toMatchObject({ status: "succeeded", toolName: "probe_write_text" });
    expect(session.asked).toHaveLength(1);
  });

  it("svc_call_tool takes no way around the human", async () => {
    const session = await openTestSession(service, { answer: sayNo });
    const args = { name: "probe_write_text", arguments: { text: "hi", confirmed: true }, confirmed: true };
    expect((await run(session, "svc_call_tool", args)).status).toBe("declined");
    expect(service.probe.calls).toEqual([]);
  });

  it("svc_call_tool names an account", async () => {
    const second = await service.service.connections.add({ integration: "probe", label: "Second", settings: {} });
    const session = await openTestSession(service, { answer: sayYes });
    const args = { name: "probe_write_text", arguments: { text: "hi" }, connectionId: second.id };
    expect((await run(session, "svc_call_tool", args)).status).toBe("succeeded");
    expect(session.asked[0]?.account).toBe("Second");
    expect(service.probe.calls[0]?.connection).toBe("Second");
  });

  it("svc_call_tool says that the own tools are called by themselves", async () => {
    const session = await openTestSession(service);
    const outcome = await run(session, "svc_call_tool", { name: "svc_approve_flow", arguments: { flow_id: "1" } });
    expect(outcome).toMatchObject({
      status: "failed",
      code: "tool_not_found",
      hint: expect.stringContaining("themselves"),
    });
  });

  it("reads on in a stored result", async () => {
    const session = await openTestSession(service, { maxResultChars: 40 });
    const args = { name: "probe_echo", arguments: { text: "x".repeat(100) } };
    const outcome = await run(session, "svc_call_tool", args);
    const page = await run(session, "svc_read_result", { ref: outcome.resultRef, offset: 40, limit: 10 });
    expect(page.result).toMatchObject({ offset: 40, nextOffset: 50, total: outcome.resultSize });
    const gone = await run(session, "svc_read_result", { ref: "nothing" });
    expect(gone).toMatchObject({ status: "failed", code: "result_not_found" });
  });

  it("explain bad arguments and never throw", async () => {
    const session = await openTestSession(service);
    for (const args of [{}, "no json", null, { query: 5 }]) {
      expect(await run(session, "svc_search_tools", args)).toMatchObject({
        status: "failed",
        code: "invalid_arguments",
      });
    }
    const unknown = await run(session, "svc_describe_tool", { name: "probe_ech" });
    expect(unknown).toMatchObject({ status: "failed", code: "tool_not_found" });
  });

  it("svc_status tells nothing secret", async () => {
    const session = await openTestSession(service);
    await session.catalog.load();
    const outcome = await run(session, "svc_status", {});
    expect(outcome.result).toMatchObject({
      service: service.url,
      paired: true,
      works: true,
      tools: 7,
      apps: ["probe"],
    });
    expect(renderOutcome(outcome)).not.toContain(service.apiKey);
  });

  it("svc_status counts what the service has, whatever was looked up so far", async () => {
    const session = await openTestSession(service);
    await run(session, "svc_describe_tool", { name: "probe_echo" });
    const outcome = await run(session, "svc_status", {});
    expect(outcome.result).toMatchObject({ tools: 7, apps: ["probe"] });
  });

  it("svc_status says that the key is refused, and that the service is away", async () => {
    const session = await openTestSession(service, { key: "svc_live_revoked" });
    const refused = await run(session, "svc_status", {});
    expect(refused.result).toMatchObject({ paired: true, works: false, problem: { code: "unauthorized" } });
    expect(renderOutcome(refused)).not.toContain("svc_live_revoked");
    const nobody = await openTestSession({ url: `http://127.0.0.1:${await findFreePort()}` });
    const away = await run(nobody, "svc_status", {});
    expect(away.result).toMatchObject({ works: false, problem: { code: "unreachable", message: expect.any(String) } });
  });
});
