import { afterEach, expect, it } from "vitest";
import { closeAll, closeLater, openTestSession } from "./open-test-session.ts";
import { type ScriptedService, startScriptedService } from "./scripted-service.ts";

/** A runtime takes files out of a result before the result is cut to size. */

afterEach(closeAll);

const TOOL = { name: "mail_fetch", integration: "mail", description: "Fetches.", inputSchema: { type: "object" } };

async function startService(result: unknown): Promise<ScriptedService> {
  const service = closeLater(await startScriptedService());
  service.offer(TOOL);
  service.answer("/api/actions/mail/fetch", {
    status: 200,
    body: { action_id: "fetch", side_effect_level: "read", requires_confirmation: false, input_schema: {} },
  });
  service.answer("/api/tools/mail_fetch/execute", { status: 200, body: { ok: true, result } });
  return service;
}

it("gets the whole result, however long, and what it leaves is what the outcome holds", async () => {
  const bytes = "A".repeat(5_000_000);
  const service = await startService({ name: "a.bin", dataBase64: bytes });
  const got: unknown[] = [];
  const session = await openTestSession(service, {
    receiveResult: async (result) => {
      got.push(result);
      return { result: { name: "a.bin", saved: true }, notes: ["saved one file"] };
    },
  });
  const outcome = await session.call({ callId: "1", toolName: "mail_fetch", arguments: {} });
  expect(got).toEqual([{ name: "a.bin", dataBase64: bytes }]);
  expect(outcome).toMatchObject({ status: "succeeded", result: { name: "a.bin", saved: true } });
  expect(outcome.notes).toContain("saved one file");
  expect(outcome).not.toHaveProperty("resultRef");
});

it("leaves the result as it is when the receiver fails, and never sees a failure", async () => {
  const service = await startService({ text: "fine" });
  const seen: unknown[] = [];
  const session = await openTestSession(service, {
    receiveResult: async (result) => {
      seen.push(result);
      throw new Error("disk full");
    },
  });
  const first = await session.call({ callId: "1", toolName: "mail_fetch", arguments: {} });
  expect(first).toMatchObject({ status: "succeeded", result: { text: "fine" } });
  service.answer("/api/tools/mail_fetch/execute", {
    status: 500,
    body: { ok: false, error: { code: "execution_failed", message: "broken", retryable: false } },
  });
  const failed = await session.call({ callId: "2", toolName: "mail_fetch", arguments: {} });
  expect(failed.status).toBe("failed");
  expect(seen).toHaveLength(1);
});
