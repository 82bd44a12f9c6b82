import { createHash } from "node:crypto";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startRecordingServer } from "../plugin/client/recording-server.ts";
import { openPluginSession, type PluginSession } from "./plugin-session.ts";
import { type ProbeService, readMember, startProbeService } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

const BYTES = Buffer.from("three plain words\n");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const MD5 = createHash("md5").update(BYTES).digest("hex");

let service: ProbeService;
let plugin: PluginSession;
let path: string;

beforeEach(async () => {
  service = await startProbeService();
  plugin = await openPluginSession(service);
  path = join(plugin.media, "words.txt");
  await writeFile(path, BYTES);
});
afterEach(async () => {
  await plugin.close();
  await service.close();
});

/** A file of any size that takes no room. */
async function makeSparseFile(name: string, size: number): Promise<string> {
  const file = join(plugin.media, name);
  const handle = await open(file, "w");
  await handle.truncate(size);
  await handle.close();
  return file;
}

describe("a local file", () => {
  test("in the media folder reaches the provider, byte for byte", async () => {
    verifies("uploadable.local-path");
    expect((await plugin.call("look_at_file", { file: { s3key: path } })).status).toBe("succeeded");
    expect(service.probe.calls[0]?.files).toMatchObject([
      { sha256: SHA256, mimetype: "text/plain", name: "words.txt" },
    ]);
  });

  test("outside the media folder is refused and nothing is sent", async () => {
    verifies("uploadable.local-path-confined");
    const outcome = await plugin.call("look_at_file", { file: { s3key: "/etc/hostname" } });
    expect(outcome.status).toBe("failed");
    expect(service.probe.calls).toEqual([]);
  });

  test("travels as a files entry with all five strings and the field's own pointer", async () => {
    verifies("attachment.sent-complete", "files.plugin-builds-envelope");
    const schema = service.probe.integration.actions.find((action) => action.id === "look_at_file")?.inputSchema;
    const tool = { integration: "probe", name: "probe_look_at_file", inputSchema: schema, accessLevel: "read" };
    const server = await startRecordingServer(({ method }) => ({ json: method === "GET" ? { tool } : { ok: true } }));
    const session = await openPluginSession({ url: server.url, apiKey: "svc_live_a" }, { mediaRoots: [plugin.media] });
    expect((await session.call("look_at_file", { file: { s3key: path } })).status).toBe("succeeded");
    await session.close();
    await server.close();
    const body: { arguments: { file: { s3key: string } }; files: unknown[] } = JSON.parse(
      server.requests.at(-1)?.body ?? "{}",
    );
    expect(body.files).toEqual([
      {
        pointer: body.arguments.file.s3key,
        name: "words.txt",
        mimetype: "text/plain",
        md5: MD5,
        dataBase64: BYTES.toString("base64"),
      },
    ]);
    expect(body.arguments.file).toMatchObject({ name: "words.txt", mimetype: "text/plain" });
  });

  test("above 25 MB is refused unread", async () => {
    verifies("limits.client-file-size");
    // A terabyte could not be read within the time of a test.
    for (const size of [25 * 1024 * 1024 + 1, 1024 ** 4]) {
      const file = await makeSparseFile(`big-${size}.bin`, size);
      const outcome = await plugin.call("look_at_file", { file: { s3key: file } });
      expect(outcome.status).toBe("failed");
      expect(`${outcome.message} ${outcome.hint}`).toMatch(/25 Mi?B/);
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("of 25 MB exactly is sent", async () => {
    verifies("limits.client-file-size");
    const file = await makeSparseFile("exact.bin", 25 * 1024 * 1024);
    expect((await plugin.call("look_at_file", { file: { s3key: file } })).status).toBe("succeeded");
  });

  test("beside others above 100 MB together is refused unread", async () => {
    verifies("limits.client-request-files");
    const many = await Promise.all(
      [1, 2, 3, 4, 5].map(async (one) => ({ s3key: await makeSparseFile(`part-${one}.bin`, 20 * 1024 * 1024 + one) })),
    );
    const outcome = await plugin.call("look_at_file", { file: { s3key: path }, many });
    expect(outcome.status).toBe("failed");
    expect(`${outcome.message} ${outcome.hint}`).toMatch(/100 Mi?B/);
    expect(service.probe.calls).toEqual([]);
  });
});

describe("missing bytes", () => {
  test("are uploaded by the hint's instruction, once, and the call completes", async () => {
    verifies("ingest.client", "files.plugin-recovers-missing-bytes");
    const session = await openPluginSession(service, { upload: "ingest", mediaRoots: [plugin.media] });
    const outcome = await session.call("look_at_file", { file: { s3key: path } });
    await session.close();
    expect(outcome.status).toBe("succeeded");
    expect(service.probe.calls.map((call) => call.files[0]?.sha256)).toEqual([SHA256]);
  });

  test("are uploaded when the service does not take envelopes", async () => {
    verifies("files.plugin-recovers-missing-bytes");
    const strict = await startProbeService({ fileEnvelopes: false });
    const session = await openPluginSession(strict, { mediaRoots: [plugin.media] });
    const outcome = await session.call("look_at_file", { file: { s3key: path } });
    await session.close();
    await strict.close();
    expect(outcome.status).toBe("succeeded");
    expect(strict.probe.calls.map((call) => call.files[0]?.sha256)).toEqual([SHA256]);
  });

  test("are uploaded without the API key", async () => {
    verifies("ingest.client-sends-no-key");
    const tool = {
      integration: "probe",
      name: "probe_look_at_file",
      accessLevel: "read",
      inputSchema: service.probe.integration.actions.find((action) => action.id === "look_at_file")?.inputSchema,
    };
    const server = await startRecordingServer(({ method, url, body }) => {
      if (method === "GET") return { json: { tool } };
      if (url.startsWith("/api/files/ingest")) return { status: 201, json: { s3key: "stored/1" } };
      if (body.includes("stored/1")) return { json: { ok: true, result: "done" } };
      const upload = {
        url: `${server.url}/api/files/ingest`,
        method: "POST",
        headers: {
          Authorization: "Bearer v1.YWJjZGVmZ2hpamtsbW5vcA.cXJzdHV2d3h5ejAxMjM0NTY3ODk",
          "Content-Type": "application/octet-stream",
        },
        field: "file",
        maxBytes: 1000,
        expiresAt: new Date(Date.now() + 60_000).toISOString(),
      };
      return { status: 400, json: { ok: false, error: { code: "missing_file_bytes", message: "No bytes.", upload } } };
    });
    const key = { url: server.url, apiKey: "svc_live_precious" };
    const session = await openPluginSession(key, { upload: "ingest", mediaRoots: [plugin.media] });
    const outcome = await session.call("look_at_file", { file: { s3key: path } });
    await session.close();
    await server.close();
    expect(outcome, JSON.stringify(outcome)).toMatchObject({ status: "succeeded", result: "done" });
    const uploads = server.requests.filter((request) => request.url.startsWith("/api/files/ingest"));
    expect(uploads).toHaveLength(1);
    expect(uploads[0]?.headers.authorization).toBe("Bearer v1.YWJjZGVmZ2hpamtsbW5vcA.cXJzdHV2d3h5ejAxMjM0NTY3ODk");
    expect(uploads[0]?.body).toBe(BYTES.toString());
    expect(JSON.stringify(uploads[0])).not.toContain("svc_live_precious");
  });
});

describe("references that are not local", () => {
  test("a storage key passes unchanged", async () => {
    verifies("uploadable.storage-key-passed-through");
    const session = await openPluginSession(service, { upload: "ingest", mediaRoots: [plugin.media] });
    const first = await session.call("look_at_file", { file: { s3key: path } });
    await session.close();
    expect(first.status).toBe("succeeded");
    const file = service.probe.calls[0]?.args.file;
    const again = await plugin.call("look_at_file", { file });
    expect(again.status).toBe("succeeded");
    expect(service.probe.calls[1]?.args.file).toEqual(file);
    expect(service.probe.calls[1]?.files[0]?.sha256).toBe(SHA256);
  });

  test("a public HTTPS URL passes unchanged", async () => {
    verifies("uploadable.url-passed-through");
    const schema = service.probe.integration.actions.find((action) => action.id === "look_at_file")?.inputSchema;
    const tool = { integration: "probe", name: "probe_look_at_file", inputSchema: schema, accessLevel: "read" };
    const server = await startRecordingServer(({ method }) => ({ json: method === "GET" ? { tool } : { ok: true } }));
    const session = await openPluginSession({ url: server.url, apiKey: "svc_live_a" });
    const url = "https://files.example.org/a%20b.pdf?signature=abc%2Fdef&x=1#page";
    await session.call("look_at_file", { file: { name: "a b.pdf", mimetype: "application/pdf", s3key: url } });
    await session.close();
    await server.close();
    const body = { status: 0, headers: {}, body: JSON.parse(server.requests.at(-1)?.body ?? "{}") as unknown };
    expect(readMember(body, "arguments")).toEqual({
      file: { name: "a b.pdf", mimetype: "application/pdf", s3key: url },
    });
    expect(readMember(body, "files")).toBeUndefined();
  });
});
