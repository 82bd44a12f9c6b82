import { describe, expect, it } from "vitest";
import { createApprovalRequest, decide } from "../../../../src/plugin/calls/ask/request.ts";

const NOW = Date.parse("2026-11-20T10:00:00Z");
const TTL = 60_000;

function createRequest() {
  return createApprovalRequest(
    {
      tool: "notes_create_page",
      integration: "notes",
      arguments: { title: "Shopping" },
      files: [],
      effect: "write",
      title: "Create a page",
      description: "Creates a page.",
      reason: "It writes.",
      principal: "p1",
    },
    { now: NOW, ttlMs: TTL },
  );
}

describe("decide", () => {
  it("accepts approve, edit and decline for the same id and fingerprint", () => {
    for (const rest of [{ type: "approve" }, { type: "edit", arguments: {} }, { type: "decline", message: "no" }]) {
      const request = createRequest();
      const answer = { ...rest, id: request.id, fingerprint: request.fingerprint };
      expect(decide(request, answer, { now: NOW, spent: new Map() })).toEqual({ accepted: true, decision: answer });
    }
  });

  it("keeps a member of an edit that is called __proto__, so that it is not lost before somebody looks", () => {
    const request = createRequest();
    const typed: Record<string, unknown> = JSON.parse('{"title":"a","__proto__":{"x":1}}');
    const answer = { type: "edit", id: request.id, fingerprint: request.fingerprint, arguments: typed };
    const verdict = decide(request, answer, { now: NOW, spent: new Map() });
    expect(verdict.accepted && verdict.decision.type === "edit" && JSON.stringify(verdict.decision.arguments)).toBe(
      '{"title":"a","__proto__":{"x":1}}',
    );
  });

  const request = createRequest();
  const good = { type: "approve", id: request.id, fingerprint: request.fingerprint };
  it.each([
    ["another id", { ...good, id: createRequest().id }, NOW, "wrong_id"],
    ["another fingerprint", { ...good, fingerprint: "0".repeat(64) }, NOW, "wrong_fingerprint"],
    ["the moment of expiry", good, NOW + TTL, "expired"],
    ["a later moment", good, NOW + TTL + 1, "expired"],
    ["true", true, NOW, "malformed"],
    ["a word", "approve", NOW, "malformed"],
    ["nothing", undefined, NOW, "malformed"],
    ["an unknown type", { ...good, type: "accept" }, NOW, "malformed"],
    ["an edit to a list", { ...good, type: "edit", arguments: [] }, NOW, "malformed"],
    ["an edit without arguments", { ...good, type: "edit" }, NOW, "malformed"],
    ["a clock that is no number", good, Number.NaN, "expired"],
  ])("refuses %s", (_name, answer, now, reason) => {
    expect(decide(request, answer, { now, spent: new Map() })).toMatchObject({ accepted: false, reason });
  });

  it("accepts an answer once", () => {
    const spent = new Map<string, number>();
    expect(decide(request, good, { now: NOW, spent }).accepted).toBe(true);
    expect(decide(request, good, { now: NOW + 1, spent })).toMatchObject({ accepted: false, reason: "replayed" });
  });

  it("forgets spent requests only after they have expired", () => {
    const spent = new Map([["old", NOW]]);
    decide(request, good, { now: NOW, spent });
    expect([...spent.keys()]).toEqual([request.id]);
  });
});
