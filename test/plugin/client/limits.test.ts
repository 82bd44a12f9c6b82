import { afterEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { catchError, startRecordingServer } from "./recording-server.ts";

/** Limits that cannot be meant. */

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

const NO_TIMES: readonly unknown[] = [0, -5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, "60000"];
const NO_SIZES: readonly unknown[] = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "16MB"];

describe("a limit that cannot be meant", () => {
  test.each([
    ...NO_TIMES.map((value) => ["timeoutMs", value] as const),
    ...NO_SIZES.map((value) => ["maxReplyBytes", value] as const),
  ])("is refused with the settings of a client: %s %s", async (field, value) => {
    const options = { baseUrl: "https://svc.example", [field]: value };
    const error = await catchError(async () => new SvcClient(options));
    expect(error).toMatchObject({ code: "invalid_config", field, sent: false, hint: expect.any(String) });
  });

  test("is refused with a call, and nothing is sent", async () => {
    const server = await startRecordingServer(() => ({ json: { ok: true } }));
    const client = new SvcClient({ baseUrl: server.url, apiKey: "svc_live_limits" });
    cleanups.push(server.close, () => client.close());
    for (const value of NO_TIMES) {
      const error = await catchError(() => client.executeTool("a", {}, { timeoutMs: value as number }));
      expect(error).toMatchObject({ code: "invalid_config", field: "timeoutMs", sent: false });
    }
    expect(server.requests).toEqual([]);
  });

  test("is none at its bounds", async () => {
    const server = await startRecordingServer(() => ({ json: { ok: true } }));
    const days24 = 24 * 24 * 60 * 60 * 1_000;
    const client = new SvcClient({ baseUrl: server.url, apiKey: "svc_live_limits", timeoutMs: days24 });
    cleanups.push(server.close, () => client.close());
    expect(await client.executeTool("a", {})).toMatchObject({ status: 200 });
    expect(await client.executeTool("a", {}, { timeoutMs: days24 })).toMatchObject({ status: 200 });
  });
});
