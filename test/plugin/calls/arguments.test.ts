import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeAll, closeLater, openTestSession } from "./open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "./scripted-service.ts";

/** What happens to arguments between a model and the wire. */

let service: ScriptedService;
const inputSchema = {
  type: "object",
  properties: {
    title: { type: "string" },
    count: { type: "integer", minimum: 1 },
    "odd key": { type: "string" },
    files: { type: "array", items: { type: "string" } },
  },
  required: ["title"],
  additionalProperties: false,
};

const declared = {
  type: "object",
  properties: { files: { type: "array" }, confirm: { type: "boolean" }, arguments: { type: "object" } },
};

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  service.offer(createTool("probe_read", "read", { inputSchema }));
  service.answer("/api/tools/probe_read/execute", { status: 200, body: { ok: true, result: 1 } });
});
afterEach(closeAll);

let calls = 0;
const createCall = (args: unknown) => ({ callId: `c${++calls}`, toolName: "probe_read", arguments: args });
const sent = () => service.executed().map((request) => request.body.arguments);

describe("arguments", () => {
  it("given as JSON text, or nested, are read as the object that was meant", async () => {
    const session = await openTestSession(service);
    for (const args of ['{"title":"a"}', { arguments: { title: "a" } }]) {
      const outcome = await session.call(createCall(args));
      expect(outcome.status).toBe("succeeded");
      expect(outcome.notes).toHaveLength(1);
    }
    expect(sent()).toEqual([{ title: "a" }, { title: "a" }]);
  });

  it("are repaired only where they failed, and the repair is told", async () => {
    const session = await openTestSession(service);
    const outcome = await session.call(createCall({ title: "5", count: "12" }));
    expect(sent()).toEqual([{ title: "5", count: 12 }]);
    expect(outcome.notes.join(" ")).toContain("count");
  });

  it("get renamed keys back under the service's name", async () => {
    const session = await openTestSession(service);
    await session.call(createCall({ title: "a", odd_key: "b" }));
    expect(sent()).toEqual([{ title: "a", "odd key": "b" }]);
  });

  it("keep a reserved name that the tool itself declares", async () => {
    const session = await openTestSession(service);
    await session.call(createCall({ title: "a", files: ["x"], confirmed: true }));
    expect(sent()).toEqual([{ title: "a", files: ["x"] }]);
  });

  it.each([
    ["behind a reference", { $ref: "#/$defs/Args", $defs: { Args: declared } }],
    ["in a part of allOf", { allOf: [{ type: "object" }, declared] }],
    ["in a branch of anyOf", { anyOf: [declared, { type: "object", properties: { id: { type: "string" } } }] }],
  ])("keep reserved names, and arguments called so, that are declared %s", async (_name, schema) => {
    service.offer(createTool("probe_read", "read", { inputSchema: schema }));
    const session = await openTestSession(service);
    await session.call(createCall({ files: ["x"], confirm: true }));
    await session.call(createCall({ arguments: { files: 1 } }));
    expect(sent()).toEqual([{ files: ["x"], confirm: true }, { arguments: { files: 1 } }]);
  });

  it.each(["full", "gemini"] as const)("are not unpacked when any key is the tool's own: %s", async (profile) => {
    const schema = { type: "object", additionalProperties: { type: "object" } };
    service.offer(createTool("probe_read", "read", { inputSchema: schema }));
    const session = await openTestSession(service, { profile });
    await session.call(createCall({ arguments: { title: "a" } }));
    expect(sent()).toEqual([{ arguments: { title: "a" } }]);
  });

  it.each([
    ["a list", [1]],
    ["text that is not JSON", "title=a"],
    ["a number", 5],
    ["a value JSON cannot hold", { title: "a", count: Number.NaN }],
    ["half a character", { title: "\ud800" }],
  ])("that are %s are refused here, and nothing is sent", async (_name, args) => {
    const session = await openTestSession(service);
    const outcome = await session.call(createCall(args));
    expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments" });
    expect(outcome.message).toContain("Nothing was sent");
    expect(sent()).toEqual([]);
  });

  it("that are placeholders are refused with a way to the real value", async () => {
    const session = await openTestSession(service);
    const outcome = await session.call(createCall({ title: "<page title>" }));
    expect(outcome.details?.join(" ")).toContain("title still holds the placeholder <page title>");
    expect(sent()).toEqual([]);
  });
});

describe("a local refusal", () => {
  it("is advice: the same call again is sent, another one is refused again", async () => {
    const session = await openTestSession(service);
    expect((await session.call(createCall({ count: 0 }))).status).toBe("failed");
    expect((await session.call(createCall({ count: -1 }))).status).toBe("failed");
    const outcome = await session.call(createCall({ count: 0 }));
    expect(outcome.status).toBe("succeeded");
    expect(outcome.notes.join(" ")).toContain("the same call was made again");
    expect(sent()).toEqual([{ count: 0 }]);
  });

  it("is final when validation is strict, and absent when it is off", async () => {
    const strict = await openTestSession(service, { validation: "strict" });
    for (let round = 0; round < 3; round += 1) {
      expect((await strict.call(createCall({ count: 0 }))).status).toBe("failed");
    }
    const off = await openTestSession(service, { validation: "off" });
    expect((await off.call(createCall({ count: 0 }))).status).toBe("succeeded");
    expect(sent()).toEqual([{ count: 0 }]);
  });
});
