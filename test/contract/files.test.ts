import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isRecord, type RawReply, send } from "./golden-exchange.ts";
import { type ProbeService, readError, readMember, startProbeService } from "./probe-service.ts";
import { verifies } from "./verifies.ts";

const BYTES = Buffer.from("three plain words\n");
const SHA256 = createHash("sha256").update(BYTES).digest("hex");
const MD5 = createHash("md5").update(BYTES).digest("hex");

const entry = (changes: Record<string, unknown> = {}) => ({
  pointer: "any placeholder at all",
  name: "words.txt",
  mimetype: "text/plain",
  md5: MD5,
  dataBase64: BYTES.toString("base64"),
  ...changes,
});
const field = (s3key: string) => ({ name: "words.txt", mimetype: "text/plain", s3key });

let service: ProbeService;

beforeEach(async () => {
  service = await startProbeService();
});
afterEach(() => service.close());

describe("the files envelope", () => {
  test("fills the field whose s3key equals the pointer", async () => {
    verifies(
      "execute.files",
      "attachment.pointer-equals-s3key",
      "uploadable.pointer",
      "files.envelope-matches-pointer",
      "files.placeholder-is-free",
      "files.provider-gets-bytes",
    );
    for (const pointer of ["any placeholder at all", "1", "/home/somebody/file.txt", "ünïcödé ☂"]) {
      const reply = await service.execute("look_at_file", {
        arguments: { file: field(pointer) },
        files: [entry({ pointer })],
      });
      expect(reply.status, pointer).toBe(200);
      expect(service.probe.calls.at(-1)?.files).toEqual([
        { sha256: SHA256, mimetype: "text/plain", name: "words.txt" },
      ]);
      expect(JSON.stringify(service.probe.calls.at(-1)?.args), "the key is rewritten").not.toContain(`"${pointer}"`);
    }
  });

  test.each(["pointer", "name", "mimetype", "md5", "dataBase64"])("refuses an entry without %s", async (member) => {
    verifies(
      "files.entry-needs-five-strings",
      "attachment.pointer",
      "attachment.name",
      "attachment.mimetype",
      "attachment.md5",
      "attachment.data",
      "execute.status-400-files",
    );
    for (const wrong of [undefined, 7, ""]) {
      const reply = await service.execute("look_at_file", {
        arguments: { file: field("any placeholder at all") },
        files: [entry({ [member]: wrong })],
      });
      expect(reply.status, String(wrong)).toBe(400);
      expect(JSON.stringify(reply.body)).toContain(member);
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("refuses a digest of other bytes, and text that is no base64", async () => {
    verifies("attachment.md5", "attachment.data", "execute.status-400-files");
    const wrong = [
      entry({ md5: createHash("md5").update("other").digest("hex") }),
      entry({ dataBase64: "%%%%" }),
      entry({ md5: "not hex" }),
    ];
    for (const file of wrong) {
      const body = { arguments: { file: field("any placeholder at all") }, files: [file] };
      expect((await service.execute("look_at_file", body)).status).toBe(400);
    }
    for (const files of ["text", {}, [1], null]) {
      const body = { arguments: { file: field("any placeholder at all") }, files };
      expect((await service.execute("look_at_file", body)).status, JSON.stringify(files)).toBe(400);
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("refuses a file-uploadable object that lacks a member", async () => {
    verifies("uploadable.fields");
    const whole: Record<string, string> = field("any placeholder at all");
    for (const member of Object.keys(whole)) {
      const { [member]: _left, ...rest } = whole;
      const reply = await service.execute("look_at_file", { arguments: { file: rest }, files: [entry()] });
      expect(reply.status, member).toBe(400);
    }
    expect(service.probe.calls).toEqual([]);
  });

  test("recovers a reference sent as url or path", async () => {
    verifies("uploadable.url-or-path-recovered");
    for (const member of ["url", "path"]) {
      const { s3key, ...rest } = field("any placeholder at all");
      const reply = await service.execute("look_at_file", {
        arguments: { file: { ...rest, [member]: s3key } },
        files: [entry()],
      });
      expect(reply.status, member).toBe(200);
      expect(service.probe.calls.at(-1)?.files[0]?.sha256).toBe(SHA256);
    }
  });

  test("refuses one file above 25 MB", async () => {
    verifies("limits.file-size");
    const big = Buffer.alloc(25 * 1024 * 1024 + 1);
    const file = entry({ md5: createHash("md5").update(big).digest("hex"), dataBase64: big.toString("base64") });
    const reply = await service.execute("look_at_file", {
      arguments: { file: field("any placeholder at all") },
      files: [file],
    });
    expect(reply.status).toBe(400);
    expect(String(readError(reply).message)).toMatch(/files\[0\].*25 MB/);
    expect(service.probe.calls).toEqual([]);
    const exact = big.subarray(1);
    const fits = entry({ md5: createHash("md5").update(exact).digest("hex"), dataBase64: exact.toString("base64") });
    const body = { arguments: { file: field("any placeholder at all") }, files: [fits] };
    expect((await service.execute("look_at_file", body)).status).toBe(200);
  });

  test("takes 100 MB in one request", async () => {
    verifies("limits.request-files");
    const part = Buffer.alloc(25 * 1024 * 1024);
    const file = { md5: createHash("md5").update(part).digest("hex"), dataBase64: part.toString("base64") };
    const files = [0, 1, 2, 3].map((index) => entry({ ...file, pointer: `p${index}` }));
    const reply = await service.execute("look_at_file", {
      arguments: { file: field("p0"), second: field("p1"), third: field("p2"), fourth: field("p3") },
      files,
    });
    expect(reply.status).toBe(200);
    expect(service.probe.calls.at(-1)?.files).toHaveLength(4);
  });

  test("refuses more than 100 MB in one request by a bare error", async () => {
    verifies("limits.request-files", "execute.status-413");
    const part = Buffer.alloc(21 * 1024 * 1024);
    const file = { md5: createHash("md5").update(part).digest("hex"), dataBase64: part.toString("base64") };
    const files = [0, 1, 2, 3, 4].map((index) => entry({ ...file, pointer: `p${index}` }));
    const reply = await service.execute("look_at_file", { arguments: { file: field("p0") }, files });
    expect(reply.status).toBe(413);
    expect(reply.body).toEqual({ error: expect.stringContaining("100 MB") });
    expect(service.probe.calls).toEqual([]);
  });
});

describe("missing bytes", () => {
  const ask = (from = service) =>
    from.execute("look_at_file", { arguments: { file: field("/home/somebody/words.txt") } });

  test("are reported with a ready-to-run command and its structured twin", async () => {
    verifies(
      "files.missing-bytes",
      "files.missing-bytes-hint",
      "codes.missing-file-bytes",
      "ingest.token-in-hint",
      "decision.hint.curl",
      "decision.hint.structured-twin",
    );
    const reply = await ask();
    expect(reply.status).toBe(400);
    expect(readError(reply).code).toBe("missing_file_bytes");
    const upload = readUpload(reply);
    expect(upload.url).toBe(`${service.url}/api/files/ingest`);
    expect(upload).toMatchObject({ method: "POST", field: "file", maxBytes: 25 * 1024 * 1024 });
    expect(Date.parse(String(upload.expiresAt))).not.toBeNaN();
    const hint = String(readMember(reply, "hint"));
    const commands = hint.split("\n").filter((line) => /^\s*curl /.test(line));
    expect(commands).toHaveLength(1);
    expect(commands[0]).toContain("/home/somebody/words.txt");
    expect(commands[0]).toContain(upload.token);
  });

  test("are taken once by the ingest endpoint, and the storage key completes the call", async () => {
    verifies(
      "ingest.upload",
      "ingest.key-is-usable",
      "ingest.token-single-use",
      "uploadable.storage-key",
      "auth.ingest-token",
      "decision.ingest.bearer",
      "decision.ingest.raw-body",
      "decision.ingest.reply",
    );
    const { token } = readUpload(await ask());
    const ingested = await ingest(token, BYTES.toString());
    expect(ingested.status).toBe(201);
    expect(ingested.body).toMatchObject({
      size: BYTES.length,
      md5: MD5,
      name: expect.any(String),
      mimetype: expect.any(String),
    });
    const s3key = readMember(ingested, "s3key");
    const retry = await service.execute("look_at_file", { arguments: { file: field(String(s3key)) } });
    expect(retry.status).toBe(200);
    expect(service.probe.calls.at(-1)?.files[0]?.sha256).toBe(SHA256);
    expect(service.probe.calls.at(-1)?.args.file).toMatchObject({ s3key });

    const again = await ingest(token, BYTES.toString());
    expect([401, 409]).toContain(again.status);
    expect(again.body).toEqual({ error: expect.any(String) });
  });

  test("are not taken without the token", async () => {
    verifies("ingest.token-required", "decision.ingest.errors");
    const { token } = readUpload(await ask());
    const flipped = token.slice(0, -2) + (token.endsWith("AA") ? "BB" : "AA");
    for (const authorization of [undefined, `Bearer ${service.apiKey}`, `Bearer ${flipped}`, token]) {
      const reply = await send(service.url, {
        method: "POST",
        path: "/api/files/ingest",
        headers: {
          "content-type": "application/octet-stream",
          ...(authorization === undefined ? { "x-svc-api-key": service.apiKey } : { authorization }),
        },
        body: "bytes",
      });
      expect(reply.status, authorization ?? "api key").toBe(401);
      expect(reply.body).toEqual({ error: expect.any(String) });
    }
  });

  test("are not taken by a token past its time", async () => {
    verifies("ingest.token-short-lived", "decision.ingest.token-lifetime");
    let clock = Date.parse("2026-01-05T10:00:00Z");
    const slow = await startProbeService({ now: () => clock });
    try {
      const inTime = readUpload(await ask(slow));
      expect(inTime.expiresAt).toBe("2026-01-05T10:10:00.000Z");
      const late = readUpload(await ask(slow));
      clock += 10 * 60_000 - 1;
      expect((await ingest(inTime.token, "bytes", slow)).status).toBe(201);
      clock += 1;
      expect((await ingest(late.token, "bytes", slow)).status).toBe(401);
    } finally {
      await slow.close();
    }
  });

  test("are bound to what the token was minted for", async () => {
    verifies("decision.ingest.token-bound", "decision.ingest.errors", "limits.file-size");
    const { token } = readUpload(await ask());
    const [version, payload = "", signature] = token.split(".");
    const claims: unknown = JSON.parse(Buffer.from(payload, "base64url").toString());
    expect(Object.values(claims ?? {})).toEqual(
      expect.arrayContaining(["probe_look_at_file", "file", 25 * 1024 * 1024]),
    );
    for (const name of Object.keys(claims ?? {})) {
      const forged = Buffer.from(JSON.stringify({ ...(claims ?? {}), [name]: "other" })).toString("base64url");
      expect((await ingest(`${version}.${forged}.${signature}`, "bytes")).status, name).toBe(401);
    }
    const tooLarge = await ingest(token, "x".repeat(25 * 1024 * 1024 + 1));
    expect(tooLarge.status).toBe(413);
    expect(tooLarge.body).toEqual({ error: expect.any(String) });
  });

  test("may come as one multipart part", async () => {
    verifies("decision.ingest.multipart");
    const { token } = readUpload(await ask());
    const body = [
      "--frame",
      'content-disposition: form-data; name="file"; filename="words.txt"',
      "content-type: text/plain",
      "",
      BYTES.toString(),
      "--frame--",
      "",
    ].join("\r\n");
    const reply = await ingest(token, body, service, "multipart/form-data; boundary=frame");
    expect(reply.status).toBe(201);
    expect(reply.body).toMatchObject({ md5: MD5, size: BYTES.length });
  });

  test("need the files envelope when no ingest secret is set", async () => {
    verifies("ingest.no-secret", "ingest.no-secret-base64-works");
    const plain = await startProbeService({ ingestSecret: null });
    try {
      const reply = await ask(plain);
      expect(readError(reply)).toMatchObject({ code: "missing_file_bytes" });
      expect(readError(reply)).not.toHaveProperty("upload");
      const refused = await ingest("anything", "bytes", plain);
      expect(refused.status).toBe(503);
      expect(refused.body).toEqual({ error: expect.any(String) });
      const body = { arguments: { file: field("p") }, files: [entry({ pointer: "p" })] };
      expect((await plain.execute("look_at_file", body)).status).toBe(200);
    } finally {
      await plain.close();
    }
  });
});

describe("a storage key", () => {
  test("of no upload is refused", async () => {
    verifies("uploadable.storage-key");
    const reply = await service.execute("look_at_file", { arguments: { file: field("acct/tool/request/none") } });
    expect(reply.status).toBe(400);
    expect(service.probe.calls).toEqual([]);
  });
});

/** The structured upload of an error, with the token taken from its header. */
function readUpload(reply: RawReply): Record<string, unknown> & { token: string } {
  const { upload } = readError(reply);
  if (!isRecord(upload) || !isRecord(upload.headers)) throw new Error("The error has no upload.");
  const header = Object.entries(upload.headers).find(([name]) => name.toLowerCase() === "authorization");
  return { ...upload, token: String(header?.[1]).replace("Bearer ", "") };
}

function ingest(token: string, body: string, to = service, type = "application/octet-stream"): Promise<RawReply> {
  return send(to.url, {
    method: "POST",
    path: "/api/files/ingest",
    headers: { authorization: `Bearer ${token}`, "content-type": type },
    body,
  });
}
