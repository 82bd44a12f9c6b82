import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import type { RequestBody } from "../../../src/plugin/client/request.ts";
import { verifies } from "../../contract/verifies.ts";
import { catchError, type RecordingServer, startRecordingServer } from "./recording-server.ts";

const KEY = "svc_live_ingest";
const TOKEN = "v1.upload-token-0001.signature-0001";
const body: RequestBody = {
  contentType: "image/png",
  contentLength: 3,
  async *open() {
    yield Buffer.from("abc");
  },
};
let server: RecordingServer;
let client: SvcClient;

beforeEach(async () => {
  server = await startRecordingServer(() => ({ status: 201, json: { s3key: "1/drive/request/9", size: 3 } }));
  client = new SvcClient({ baseUrl: server.url, apiKey: KEY, sleep: async () => {} });
});
afterEach(async () => {
  await client.close();
  await server.close();
});

const upload = (change: { url?: string; method?: "POST" | "PUT"; headers?: Record<string, string> } = {}) =>
  client.ingestFile({
    url: `${server.url}/api/files/ingest`,
    method: "POST",
    headers: { Authorization: `Bearer ${TOKEN}` },
    body,
    ...change,
  });

describe("ingestFile", () => {
  test.each(["POST", "PUT"] as const)("sends the bytes by %s with the token and without the key", async (method) => {
    verifies("ingest.client-sends-no-key");
    expect(await upload({ method })).toEqual({ s3key: "1/drive/request/9", size: 3 });
    expect(server.requests[0]).toMatchObject({ method, url: "/api/files/ingest", body: "abc" });
    expect(server.requests[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      "content-type": "image/png",
      "content-length": "3",
    });
    expect(JSON.stringify(server.requests[0])).not.toContain(KEY);
  });

  test.each([
    { data: { s3key: "9" } },
    { file: { s3key: "9", name: "a.png" } },
    { ok: true, result: { s3key: "9" } },
    { ok: true, result: { file: { key: "9" } } },
    { storage_key: "9" },
  ])("reads the storage key of another service's answer: %j", async (json) => {
    server.answer = () => ({ status: 201, json });
    expect(await upload()).toMatchObject({ s3key: "9" });
  });

  test("keeps a query and a content type that the hint prescribes", async () => {
    await upload({
      url: `${server.url}/api/files/ingest?token=${TOKEN}`,
      headers: { "Content-Type": "application/x" },
    });
    expect(server.requests[0]).toMatchObject({ url: `/api/files/ingest?token=${TOKEN}` });
    expect(server.requests[0]?.headers["content-type"]).toBe("application/x");
  });

  test("refuses another origin, a place outside the base URL, and the key in any form", async () => {
    const port = new URL(server.url).port;
    const requests = [
      { url: "https://evil.example/api/files/ingest" },
      { url: `http://localhost:${port}/api/files/ingest` },
      { url: `http://user@127.0.0.1:${port}/api/files/ingest` },
      { url: "http://127.0.0.1:1/api/files/ingest" },
      { url: "/api/files/ingest" },
      { url: `${server.url}/api/files/ingest?k=${KEY}` },
      { headers: { "X-Svc-Api-Key": "anything" } },
      { headers: { authorization: `Bearer ${KEY}` } },
    ];
    for (const request of requests) {
      expect(await catchError(() => upload(request))).toMatchObject({ code: "media_refused", sent: false });
    }
    expect(server.requests).toEqual([]);
    const nested = new SvcClient({ baseUrl: `${server.url}/team`, apiKey: KEY });
    const url = `${server.url}/api/files/ingest`;
    const error = await catchError(() => nested.ingestFile({ url, method: "POST", headers: {}, body }));
    expect(error).toMatchObject({ code: "media_refused" });
    await nested.close();
  });

  test.each([
    [{ key: "k/1" }, "k/1"],
    [{ storage_key: "k/2" }, "k/2"],
    [{ data: { s3key: "k/3" } }, "k/3"],
  ])("reads the storage key from %j", async (json, s3key) => {
    server.answer = () => ({ json });
    expect(await upload()).toMatchObject({ s3key });
  });

  test.each([
    [401, "service_failure"],
    [409, "service_failure"],
    [413, "service_failure"],
    [503, "service_failure"],
    [302, "bad_response"],
  ])("a refusal by %i is thrown with its status and asks nobody to pair again", async (status, code) => {
    server.answer = () => ({ status, json: { error: "refused" }, headers: { location: "https://evil.example/" } });
    const error = await catchError(() => upload());
    expect(error).toMatchObject({ code, status });
    expect(String((error as { hint?: string }).hint)).not.toMatch(/pair/i);
    expect(server.requests).toHaveLength(1);
  });

  test("an answer without a storage key, or a far too long one, is a bad response", async () => {
    server.answer = () => ({ json: { ok: true } });
    expect(await catchError(() => upload())).toMatchObject({ code: "bad_response" });
    server.answer = () => ({ json: { s3key: "k", pad: "x".repeat(64 * 1024) } });
    expect(await catchError(() => upload())).toMatchObject({ code: "bad_response" });
  });
});
