import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { startTestService } from "../../src/testing.ts";
import { answerBy, useWebServers, type WebServer } from "../service/fetch/fake-internet.ts";
import { expectGolden, type RawReply, sendWithKey } from "./golden-exchange.ts";
import { readError, readMember, startProbeService } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

const PDF = "%PDF-1.7\n% a small file\n";
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const UPLOAD = "/api/tools/drive_upload_file/execute";

const serve = useWebServers();
let web: WebServer;
/** A host of the owner, named on the allow-list of the services below. */
let host: string;

beforeEach(async () => {
  web = await serve();
  host = `127.0.0.1:${web.port}`;
  web.handler = answerBy({
    "/march.pdf": (response) => response.end(PDF),
    "/signed?X-Sig=a%2Fb%3D&e=1": (response) => response.end(PDF),
    "/login": (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<!doctype html><title>Sign in</title>"),
    "/post": (response) =>
      response.writeHead(200, { "content-type": "text/html" }).end('<head><meta property="og:image" content="/p.png">'),
    "/p.png": (response) => response.end(PNG),
    "/inside": (response) => response.writeHead(302, { location: "http://127.0.0.1:1/private" }).end(),
  });
});

const file = (reference: string, member = "s3key") => ({
  name: "march.pdf",
  mimetype: "application/pdf",
  [member]: reference,
});

const NOT_A_FILE = {
  ok: false,
  toolName: "drive_upload_file",
  integration: "drive",
  error: { code: "media_url_not_a_file", type: "validation", message: "«string»", retryable: false },
  hint: "«string»",
  canonical: { execution_id: null, status: "blocked", error_code: "validation_error", message: "«string»" },
};
const BLOCKED = { ...NOT_A_FILE, error: { ...NOT_A_FILE.error, code: "media_url_blocked" } };
const SAVED = {
  ok: true,
  result: { path: "march.pdf", mimetype: "application/pdf" },
  canonical: { execution_id: "«string»", status: "succeeded", integration_id: "drive", action_id: "upload_file" },
};

/** Saves a file by URL with the service as its owner started it. */
async function upload(
  argument: Record<string, unknown>,
  o: { allowHosts?: string[]; confirmed?: boolean } = {},
): Promise<{ reply: RawReply; saved: string | undefined; effects: number }> {
  const service = await startTestService({ allowHosts: o.allowHosts ?? [host] });
  try {
    const body = { arguments: { file: argument }, confirmed: o.confirmed ?? true };
    const reply = await sendWithKey(service.url, service.apiKey, { method: "POST", path: UPLOAD, body });
    const saved = await readFile(join(service.dataDir, "drive", "march.pdf"), "utf8").catch(() => undefined);
    return { reply, saved, effects: (await service.effects()).length };
  } finally {
    await service.close();
  }
}

describe("a file by URL", () => {
  test.each(["s3key", "url", "path"])("under %s is fetched and saved", async (member) => {
    verifies("files.url-accepted", "files.url-rehosted", "files.url-raw-bytes");
    const { reply, saved, effects } = await upload(file(`http://${host}/march.pdf`, member));
    expect(reply.status).toBe(200);
    expectGolden(reply.body, SAVED, "body");
    expect([saved, effects]).toEqual([PDF, 1]);
  });

  test("keeps its query", async () => {
    verifies("files.url-query-kept");
    const { reply } = await upload(file(`http://${host}/signed?X-Sig=a%2Fb%3D&e=1`));
    expect(reply.status).toBe(200);
    expect(web.asked).toEqual([`${host} /signed?X-Sig=a%2Fb%3D&e=1`]);
  });

  test("is not fetched before the human approved", async () => {
    const { reply } = await upload(file(`http://${host}/march.pdf`), { confirmed: false });
    expect([reply.status, web.asked]).toEqual([412, []]);
  });

  test("on a private host is refused unless the owner named that host", async () => {
    verifies("files.url-private-refused");
    for (const url of [`http://${host}/march.pdf`, "https://192.168.1.5/a.pdf", "https://localhost/a.pdf"]) {
      const { reply, saved, effects } = await upload(file(url), { allowHosts: [] });
      expect(reply.status, url).toBe(400);
      expectGolden(reply.body, BLOCKED, url);
      expect(readError(reply).invalidFields).toEqual(["arguments.file.s3key"]);
      expect([saved, effects]).toEqual([undefined, 0]);
    }
    expect(web.asked).toEqual([]);
  });

  test("that redirects to another private host is refused", async () => {
    verifies("files.url-private-refused");
    const { reply } = await upload(file(`http://${host}/inside`));
    expect(reply.status).toBe(400);
    expectGolden(reply.body, BLOCKED, "body");
    expect(JSON.stringify(reply.body)).not.toContain("127.0.0.1:1");
  });

  test("that is a page without a preview is not a file", async () => {
    verifies("files.url-not-a-file", "files.url-raw-bytes", "codes.media-url-not-a-file");
    const { reply, saved, effects } = await upload(file(`http://${host}/login`));
    expect(reply.status).toBe(400);
    expectGolden(reply.body, NOT_A_FILE, "body");
    expect([saved, effects]).toEqual([undefined, 0]);
  });

  test("that is a page gives its preview image once", async () => {
    verifies("files.url-preview-image");
    const { reply, saved } = await upload(file(`http://${host}/post`));
    expect(reply.status).toBe(200);
    expectGolden(reply.body, { ok: true, result: { path: "p.png", mimetype: "image/png" } }, "body");
    expect(saved).toBeUndefined();
    expect(web.asked).toEqual([`${host} /post`, `${host} /p.png`]);
  });

  test("reaches the provider as bytes under a storage key", async () => {
    verifies("files.url-rehosted");
    const service = await startProbeService({ allowHosts: [host] });
    try {
      const url = `http://${host}/march.pdf`;
      const reply = await service.execute("look_at_file", { arguments: { file: file(url), second: file(url) } });
      expect(reply.status).toBe(200);
      const [call] = service.probe.calls;
      expect(JSON.stringify(call?.args)).not.toContain(host);
      const sha256 = createHash("sha256").update(PDF).digest("hex");
      const held = { sha256, mimetype: "application/pdf", name: "march.pdf" };
      expect(call?.files).toEqual([held, held]);
      expect(web.asked).toHaveLength(1);
    } finally {
      await service.close();
    }
  });

  test("stands in for files on the canonical endpoint", async () => {
    verifies("canonical.public-url");
    const service = await startTestService({ allowHosts: [host] });
    try {
      const call = (reference: string) =>
        sendWithKey(service.url, service.apiKey, {
          method: "POST",
          path: "/api/executions",
          body: { integration_id: "drive", action_id: "upload_file", input: { file: file(reference) }, confirm: true },
        });
      const done = await call(`http://${host}/march.pdf`);
      expect(done.status).toBe(200);
      expectGolden(done.body, { status: "succeeded", output: { path: "march.pdf" } }, "body");
      expect(await readFile(join(service.dataDir, "drive", "march.pdf"), "utf8")).toBe(PDF);
      const refused = await call("https://10.0.0.7/march.pdf");
      expect(refused.status).toBe(500);
      expectGolden(refused.body, { status: "failed", error_code: "validation_error", message: "«string»" }, "body");
      expect(readMember(refused, "message")).toMatch(/^input\.file\.s3key: /);
    } finally {
      await service.close();
    }
  });

  test("whose host fails now can be tried again", async () => {
    web.handler = (_request, response) => response.writeHead(503).end();
    const { reply } = await upload(file(`http://${host}/march.pdf`));
    expect(reply.status).toBe(503);
    expectGolden(
      reply.body,
      {
        error: { code: "media_url_unavailable", type: "network", retryable: true },
        canonical: { execution_id: null, status: "blocked", error_code: "timeout" },
      },
      "body",
    );
  });
});
