import { createHash } from "node:crypto";
import { open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { SessionEvent } from "../../../src/plugin/calls/session-events.ts";
import { startProbeService } from "../../contract/probe-service.ts";
import { verifies } from "../../contract/verifies.ts";
import { HAS_LINKS } from "../../suites/this-system.ts";
import { closeAll, closeLater, makeFolder, openTestSession, sayYes, type TestSession } from "./open-test-session.ts";
import { createTool, startScriptedService } from "./scripted-service.ts";

afterEach(closeAll);

const CONTENT = "the bytes of a file\n";
const SHA256 = createHash("sha256").update(CONTENT).digest("hex");
const PNG = Buffer.from(
  "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c636060606000000005000157a2f0450000000049454e44ae426082",
  "hex",
);

async function store(session: TestSession, name = "a.txt", content: string | Buffer = CONTENT): Promise<string> {
  const path = join(session.media, name);
  await writeFile(path, content);
  return path;
}

/** How the uploads began that came before the request. */
function readUploads({ events }: TestSession) {
  return events.filter((event) => event.type === "uploading" && event.way === "ingest" && event.sentBytes === 0);
}

const FILE_TOOL = createTool("probe_store_file", "write", {
  inputSchema: {
    type: "object",
    properties: {
      file: {
        type: "object",
        file_uploadable: true,
        properties: { name: { type: "string" }, mimetype: { type: "string" }, s3key: { type: "string" } },
      },
    },
  },
});

describe("a local file in a write", () => {
  it("travels in the envelope, approved once", async () => {
    verifies("uploadable.local-path", "files.plugin-builds-envelope", "attachment.sent-complete");
    const service = closeLater(await startProbeService());
    const session = await openTestSession(service, { answer: sayYes });
    const path = await store(session);
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome.status).toBe("succeeded");
    expect(service.probe.calls[0]?.files).toEqual([{ sha256: SHA256, mimetype: "text/plain", name: "a.txt" }]);
    expect(session.asked).toHaveLength(1);
    expect(session.events.filter((event) => event.type === "sending")).toHaveLength(1);
  });

  it.each(["envelope", "ingest"] as const)("is reported in bytes as it is sent: %s", async (upload) => {
    const service = closeLater(await startProbeService());
    const session = await openTestSession(service, { answer: sayYes, upload });
    const content = Buffer.alloc(1_500_000, "a line of text\n");
    const path = await store(session, "long.txt", content);
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome.status).toBe("succeeded");
    const told = session.events.flatMap((event) => (event.type === "uploading" ? [event] : []));
    const sent = told.map(({ sentBytes }) => sentBytes);
    expect([sent[0], sent.at(-1)]).toEqual([0, content.length]);
    expect(sent.length).toBeGreaterThan(3);
    expect(sent).toEqual(sent.toSorted((a, b) => a - b));
    for (const event of told) expect(event).toMatchObject({ field: "file", way: upload, totalBytes: content.length });
  });

  it("is shown with the type that is sent, in the arguments too", async () => {
    const service = closeLater(await startProbeService());
    const session = await openTestSession(service, { answer: sayYes });
    const path = await store(session, "notes-without-an-ending");
    await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: { s3key: path } } });
    const [sent] = service.probe.calls[0]?.files ?? [];
    expect(sent).toMatchObject({ mimetype: "text/plain" });
    const [request] = session.asked;
    expect(request?.files).toMatchObject([{ mimetype: "text/plain" }]);
    expect(request?.arguments).toEqual({ file: { name: sent?.name, mimetype: "text/plain", s3key: path } });
  });

  it.each([
    ["when told to ingest", { upload: "ingest" as const }, {}],
    ["when the service takes no envelope", {}, { fileEnvelopes: false }],
  ])("goes through the upload hint %s, approved once", async (_name, settings, options) => {
    verifies("ingest.client", "files.plugin-recovers-missing-bytes", "files.plugin-runs-no-command");
    const service = closeLater(await startProbeService(options));
    const session = await openTestSession(service, { answer: sayYes, ...settings });
    const path = await store(session);
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome.status).toBe("succeeded");
    expect(service.probe.calls.map((call) => call.files)).toEqual([
      [{ sha256: SHA256, mimetype: "text/plain", name: "a.txt" }],
    ]);
    expect(session.asked).toHaveLength(1);
    expect(readUploads(session)).toHaveLength(1);
  });

  it("uploads each of several files once, equal ones together", async () => {
    const service = closeLater(await startProbeService());
    const session = await openTestSession(service, { answer: sayYes, upload: "ingest" });
    const [a, b] = [await store(session), await store(session, "b.png", PNG)];
    const args = { file: a, second: b, third: a };
    const outcome = await session.call({ callId: "1", toolName: "probe_look_at_file", arguments: args });
    expect(outcome.status).toBe("succeeded");
    expect(service.probe.calls[0]?.files.map((file) => file.mimetype)).toEqual([
      "text/plain",
      "image/png",
      "text/plain",
    ]);
    expect(readUploads(session)).toHaveLength(2);
  });

  it("falls back to the envelope when ingest is not configured", async () => {
    const service = closeLater(await startProbeService({ ingestSecret: null }));
    const session = await openTestSession(service, { answer: sayYes, upload: "ingest" });
    const path = await store(session);
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome.status).toBe("succeeded");
    expect(service.probe.calls[0]?.files[0]?.sha256).toBe(SHA256);
  });

  it("never sends the key with an upload", async () => {
    verifies("ingest.client-sends-no-key", "envelope.data-read-when-result-absent");
    const scripted = closeLater(await startScriptedService());
    scripted.offer(FILE_TOOL);
    const session = await openTestSession(scripted, { answer: sayYes, upload: "ingest" });
    const path = await store(session);
    const upload = {
      url: `${scripted.url}/api/files/ingest`,
      method: "POST",
      headers: { authorization: "Bearer v1.aaaaaaaaaaaaaaaa.bbbbbbbbbbbbbbbb" },
      field: "file",
      maxBytes: 1_000_000,
      expiresAt: "2030-01-01T00:00:00Z",
    };
    const error = { code: "missing_file_bytes", message: "No bytes.", type: "validation", retryable: false, upload };
    scripted.answer(
      "/api/tools/probe_store_file/execute",
      { status: 400, body: { ok: false, error, hint: "Upload it." } },
      { status: 200, body: { ok: true, data: { saved: true } } },
    );
    scripted.answer("/api/files/ingest", { status: 201, body: { s3key: "acct/probe/request/1" } });
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome).toMatchObject({ status: "succeeded", result: { saved: true } });
    const [ingested] = scripted.seen.filter((request) => request.path === "/api/files/ingest");
    expect(ingested?.text).toBe(CONTENT);
    expect(JSON.stringify(ingested?.headers)).not.toContain("svc_live_");
    const [first, second] = scripted.executed().map((request) => request.body);
    expect(second).toEqual({
      ...first,
      arguments: { file: { name: "a.txt", mimetype: "text/plain", s3key: "acct/probe/request/1" } },
    });
    expect(second?.confirmed).toBe(true);
  });

  it("gives the key of an uploaded file to no other whose field reads the same", async () => {
    const scripted = closeLater(await startScriptedService());
    const file = { type: "object", file_uploadable: true };
    const inputSchema = { type: "object", properties: { "a.b": file, a: { type: "object", properties: { b: file } } } };
    scripted.offer(createTool("probe_store_file", "write", { inputSchema }));
    const session = await openTestSession(scripted, { answer: sayYes, upload: "ingest" });
    const [one, other] = [await store(session), await store(session, "b.png", PNG)];
    const hint = `curl -T "${one}" -H 'Authorization: Bearer ${"t".repeat(20)}' ${scripted.url}/api/files/ingest`;
    const error = { code: "missing_file_bytes", message: "No bytes.", retryable: false };
    scripted.answer(
      "/api/tools/probe_store_file/execute",
      { status: 400, body: { ok: false, error, hint, missingFields: ["a.b"] } },
      { status: 200, body: { ok: true, result: 1 } },
    );
    scripted.answer("/api/files/ingest", { status: 201, body: { s3key: "key-of-a" } });
    const args = { "a.b": one, a: { b: other } };
    await session.call({ callId: "1", toolName: "probe_store_file", arguments: args });
    expect(scripted.executed()[1]?.body.arguments).toMatchObject({
      "a.b": { s3key: "key-of-a" },
      a: { b: { s3key: other } },
    });
  });

  it("that is given up while the file is uploaded leaves no doubt behind", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(FILE_TOOL);
    const stop = new AbortController();
    const onEvent = ({ type }: SessionEvent) => type === "uploading" && stop.abort();
    const session = await openTestSession(scripted, { answer: sayYes, upload: "ingest", onEvent });
    const path = await store(session);
    const hint = `curl -T "${path}" -H 'Authorization: Bearer ${"t".repeat(20)}' ${scripted.url}/api/files/ingest`;
    const error = { code: "missing_file_bytes", message: "No bytes.", retryable: false };
    scripted.answer(
      "/api/tools/probe_store_file/execute",
      { status: 400, body: { ok: false, error, hint, missingFields: ["file"] } },
      { status: 200, body: { ok: true, result: 1 } },
    );
    const call = { callId: "1", toolName: "probe_store_file", arguments: { file: path } };
    await expect(session.call({ ...call, signal: stop.signal })).rejects.toMatchObject({ name: "AbortError" });
    expect((await session.call(call)).status).toBe("succeeded");
  });

  it("recovers once, not for ever", async () => {
    const scripted = closeLater(await startScriptedService());
    scripted.offer(FILE_TOOL);
    const session = await openTestSession(scripted, { answer: sayYes });
    const path = await store(session);
    const error = { code: "missing_file_bytes", message: "No bytes.", retryable: false };
    scripted.answer("/api/tools/probe_store_file/execute", {
      status: 400,
      body: {
        ok: false,
        error,
        hint: `curl -X POST -H 'Authorization: Bearer ${"t".repeat(20)}' --data-binary @file-1 ${scripted.url}/api/files/ingest`,
      },
    });
    scripted.answer("/api/files/ingest", { status: 201, body: { s3key: "acct/probe/request/1" } });
    const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: path } });
    expect(outcome).toMatchObject({ status: "failed", code: "missing_file_bytes" });
    expect(scripted.executed()).toHaveLength(2);
    expect(scripted.seen.filter((request) => request.path === "/api/files/ingest")).toHaveLength(1);
    expect(JSON.stringify(outcome)).not.toContain("tttt");
  });
});

describe("references that are not local", () => {
  it.each([
    ["a public URL", "https://example.com/a.png", "uploadable.url-passed-through"],
    ["a storage key", "acct/probe/request/42", "uploadable.storage-key-passed-through"],
  ])("%s passes unchanged", async (_name, reference) => {
    verifies("uploadable.url-passed-through", "uploadable.storage-key-passed-through");
    const scripted = closeLater(await startScriptedService());
    scripted.offer(FILE_TOOL);
    scripted.answer("/api/tools/probe_store_file/execute", { status: 200, body: { ok: true, result: 1 } });
    const session = await openTestSession(scripted, { answer: sayYes });
    await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file: { s3key: reference } } });
    const sent = scripted.executed()[0]?.body.arguments as { file: { s3key: string } };
    expect(sent.file.s3key).toBe(reference);
    expect(scripted.executed()[0]?.body.files).toBeUndefined();
  });
});

describe("words where a file belongs", () => {
  it.each(["NO_MEDIA", "none", "the-attachment", { s3key: "attachment_1" }, { s3key: "x", name: "a.txt" }])(
    "%j are refused before anybody is asked",
    async (file) => {
      const service = closeLater(await startProbeService());
      const session = await openTestSession(service, { answer: sayYes });
      const outcome = await session.call({ callId: "1", toolName: "probe_store_file", arguments: { file } });
      expect(outcome).toMatchObject({ status: "failed", code: "invalid_arguments" });
      expect(outcome.details?.join()).toMatch(/^file[:.]/);
      expect(session.asked).toEqual([]);
    },
  );
});

describe("refused files send nothing", () => {
  it("outside the media folder, through a link, or above 25 MB", async () => {
    verifies("uploadable.local-path-confined", "limits.client-file-size");
    const service = closeLater(await startProbeService());
    const session = await openTestSession(service, { answer: sayYes });
    const outside = join(await makeFolder(), "secret.txt");
    await writeFile(outside, "secret");
    const link = join(session.media, "link.txt");
    await symlink(outside, link);
    const big = join(session.media, "big.bin");
    const handle = await open(big, "w");
    await handle.truncate(25 * 1024 * 1024 + 1);
    await handle.close();
    const codes: unknown[] = [];
    for (const [index, file] of [outside, link, big].entries()) {
      const outcome = await session.call({ callId: `${index}`, toolName: "probe_store_file", arguments: { file } });
      expect(outcome).toMatchObject({ status: "failed", retryable: false });
      expect(outcome.message).toContain("Nothing was sent");
      codes.push(outcome.code);
    }
    expect(codes).toEqual(["outside_roots", HAS_LINKS ? "symlink" : "not_found", "too_large"]);
    expect(session.asked).toEqual([]);
    expect(session.events.some((event) => event.type === "sending")).toBe(false);
  });
});
