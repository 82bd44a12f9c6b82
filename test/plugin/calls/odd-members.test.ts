import { afterEach, describe, expect, it } from "vitest";
import { closeAll, closeLater, openTestSession, sayYes } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

/** Members of the arguments whose names mean something in JavaScript: what is shown is what is sent. */

afterEach(closeAll);

const TEXT =
  '{"text":"a","__proto__":{"to":"x"},"constructor":1,"list":[{"__proto__":2}],"deep":{"__proto__":{"__proto__":3}}}';

async function openSession(inputSchema: unknown) {
  const service = closeLater(await startScriptedService());
  service.offer(createTool("probe_write", "write", { inputSchema }));
  service.answer("/api/tools/probe_write/execute", { status: 200, body: { ok: true, result: 1 } });
  const session = await openTestSession(service, { answer: sayYes });
  const callTool = session.staticTools.find(({ name }) => name === "svc_call_tool");
  const run = (args: unknown) => callTool?.run({ name: "probe_write", arguments: args }, { callId: "c1" });
  return { service, session, run };
}

describe("an own member called __proto__", () => {
  it.each([
    ["an object", JSON.parse(TEXT) as unknown],
    ["JSON text", TEXT],
  ])("in arguments given as %s is shown and sent, at every depth", async (_form, args) => {
    const { service, session, run } = await openSession({ type: "object", additionalProperties: true });
    expect((await run(args))?.status).toBe("succeeded");
    expect(JSON.stringify(session.asked[0]?.arguments)).toBe(TEXT);
    const [sent] = service.executed();
    expect(JSON.stringify(sent?.body.arguments)).toBe(TEXT);
  });

  it("is named by the check of a tool that knows no such argument, and nothing is sent", async () => {
    const schema = { type: "object", properties: { text: { type: "string" } }, additionalProperties: false };
    const { service, run } = await openSession(schema);
    const outcome = await run(JSON.parse('{"text":"a","__proto__":{"to":"x"}}'));
    expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments" });
    expect(outcome?.details?.join(" ")).toContain("__proto__");
    expect(service.executed()).toEqual([]);
  });
});

it("arguments that are no object are refused with their name", async () => {
  const { run } = await openSession(null);
  const outcome = await run([1]);
  expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments" });
  expect(outcome?.details).toEqual([expect.stringMatching(/^arguments: /)]);
});
