import { expect, it } from "vitest";
import { createCallId } from "../../../../src/plugin/runtimes/openclaw/ask/decisions.ts";

it("is the same for the same call of a run, and another for an equal id in another session or run", () => {
  const id = createCallId({ sessionId: "s1" }, "call_0", "r1");
  expect(createCallId({ sessionId: "s1" }, "call_0", "r1")).toBe(id);
  expect(createCallId({ sessionId: "s2" }, "call_0", "r1")).not.toBe(id);
  expect(createCallId({ sessionId: "s1" }, "call_0", "r2")).not.toBe(id);
  expect(createCallId({ sessionKey: "k1" }, "call_0", undefined)).not.toBe(
    createCallId({ sessionKey: "k2" }, "call_0", undefined),
  );
});

it("is another one for each request to the host's HTTP endpoint, which numbers them by time", () => {
  const id = "http-direct-operator-1795181095539";
  const create = () => createCallId({ sessionKey: "main" }, id, undefined);
  expect(create()).not.toBe(create());
});
