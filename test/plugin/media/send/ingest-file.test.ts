import { appendFile } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { ingestFile } from "../../../../src/plugin/media/send/ingest-file.ts";
import { readUploadHint, type UploadPlan } from "../../../../src/plugin/media/send/upload-hint.ts";
import { verifies } from "../../../contract/verifies.ts";
import { createMediaFolder, type MediaFolder } from "../media-folder.ts";
import { PNG } from "../media-tree.ts";

const TOKEN = "v1.eyJhY2N0IjoiYTEifQ.c2lnbmF0dXJlLW9mLXRva2Vu";
const KEY = "svc_live_canary_0123456789";

interface Seen {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

let media: MediaFolder;
let server: Server;
let client: SvcClient;
let baseUrl: string;
let seen: Seen[];
let reply: unknown;

beforeEach(async () => {
  media = await createMediaFolder();
  seen = [];
  reply = { s3key: "1/drive/upload/request/9f" };
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return;
    }
    seen.push({ method: request.method, url: request.url, headers: request.headers, body: Buffer.concat(chunks) });
    response.writeHead(201, { "content-type": "application/json" }).end(JSON.stringify(reply));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  client = new SvcClient({ baseUrl, apiKey: KEY });
});

afterEach(async () => {
  await client.close();
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await media.remove();
});

async function prepare(command: (url: string, path: string) => string) {
  const path = await media.write("photo 1.png", PNG);
  const [file] = (await media.inspect(path)).files;
  const hint = `Upload it:\n${command(`${baseUrl}/api/files/ingest`, path)}`;
  const reading = readUploadHint({ hint, baseUrl, reference: path });
  if (!reading.ok || file === undefined) throw new Error(reading.ok ? "no file" : reading.reason);
  return { file, plan: reading.plan, path };
}

const raw = (url: string, path: string) =>
  `curl -sS -X POST "${url}" -H "Authorization: Bearer ${TOKEN}" -H "x-file-name: ..%2Fx" --data-binary "@${path}"`;

describe("uploading by a hint", () => {
  test("sends the raw bytes with the token and without the API key", async () => {
    verifies("ingest.client", "ingest.client-sends-no-key", "files.plugin-runs-no-command");
    const { file, plan } = await prepare(raw);
    expect(await ingestFile(client, media.roots, file, plan)).toBe("1/drive/upload/request/9f");
    expect(seen).toMatchObject([
      {
        method: "POST",
        url: "/api/files/ingest",
        headers: {
          authorization: `Bearer ${TOKEN}`,
          "content-type": "image/png",
          "content-length": String(PNG.length),
          "x-file-name": "photo%201.png",
        },
        body: PNG,
      },
    ]);
    expect(JSON.stringify(seen)).not.toContain(KEY);
    expect(JSON.stringify(seen)).not.toContain(media.folder);
  });

  test("sends a form of one part where the hint does", async () => {
    const { file, plan } = await prepare(
      (url, path) => `curl -X POST "${url}" -H "Authorization: Bearer ${TOKEN}" -F "upload=@${path};type=a/b"`,
    );
    expect(await ingestFile(client, media.roots, file, plan)).toBe("1/drive/upload/request/9f");
    const [{ headers, body } = expect.fail()] = seen;
    expect(headers["content-length"]).toBe(String(body.length));
    const form = await new Response(new Uint8Array(body), {
      headers: { "content-type": String(headers["content-type"]) },
    }).formData();
    expect([...form.keys()]).toEqual(["upload"]);
    const part = form.get("upload");
    if (!(part instanceof File)) return expect.fail("The part is no file.");
    expect([part.name, part.type]).toEqual(["photo 1.png", "image/png"]);
    expect(Buffer.from(await part.arrayBuffer())).toEqual(PNG);
  });

  test("uses a token once, also when the upload failed", async () => {
    const { file, plan } = await prepare(raw);
    await ingestFile(client, media.roots, file, plan);
    await expect(ingestFile(client, media.roots, file, plan)).rejects.toMatchObject({ code: "unsupported" });
    expect(seen).toHaveLength(1);
  });

  test("a file that changed is not uploaded", async () => {
    const { file, plan, path } = await prepare(raw);
    await appendFile(path, "x");
    await expect(ingestFile(client, media.roots, file, plan)).rejects.toMatchObject({
      code: "media_refused",
      serviceCode: "file_changed",
      field: "files[0]",
    });
    expect(seen).toHaveLength(0);
  });

  test("a file above the token's own limit is not uploaded", async () => {
    const { file, plan } = await prepare(raw);
    const small: UploadPlan = { ...plan, maxBytes: PNG.length - 1 };
    await expect(ingestFile(client, media.roots, file, small)).rejects.toMatchObject({
      code: "media_refused",
      serviceCode: "too_large",
      message: `files[0]: the file has ${PNG.length} bytes, and the service takes ${PNG.length - 1}.`,
    });
    expect(seen).toHaveLength(0);
  });

  test.each(["/etc/passwd", "~/x", "file:///x", "https://evil.example/x", "javascript:alert(1)"])(
    "the answer %j is no storage key",
    async (s3key) => {
      reply = { s3key };
      const { file, plan } = await prepare(raw);
      await expect(ingestFile(client, media.roots, file, plan)).rejects.toMatchObject({ code: "bad_response" });
    },
  );
});
