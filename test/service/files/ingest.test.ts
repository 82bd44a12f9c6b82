import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { type BlobStore, createBlobStore } from "../../../src/service/files/blob-store.ts";
import { createIngestTokens, type IngestTokens, writeUploadCommand } from "../../../src/service/files/ingest-tokens.ts";
import { type IngestRequest, receiveIngest } from "../../../src/service/files/receive-ingest.ts";

import type { ServiceError } from "../../../src/service/service-error.ts";
import { refusal } from "../../apps/run-action.ts";
import { verifies } from "../../contract/verifies.ts";
import { IS_WINDOWS } from "../../suites/this-system.ts";
import { inPieces } from "./envelope.ts";
import { useTempFolder } from "./temp-folder.ts";

const MIB = 1024 * 1024;
const folder = useTempFolder();
let now = 0;
let blobs: BlobStore;
let tokens: IngestTokens;
let spent: Set<string>;
const SECRET = Buffer.alloc(32, 7);

function createTokens(secret: string | Uint8Array = SECRET): IngestTokens {
  const spend = async (jti: string) => !spent.has(jti) && spent.add(jti).has(jti);
  return createIngestTokens({ secret, baseUrl: "http://127.0.0.1:1", spend, now: () => now });
}

beforeEach(() => {
  now = 1_000_000;
  spent = new Set();
  blobs = createBlobStore({ dir: folder(), now: () => now });
  tokens = createTokens();
});

const request = { account: "1", tool: "drive_upload_file", field: "file", reference: "/x/photo.png" };

function mintHeader(from = tokens): string {
  return from.mint(request)?.headers.Authorization ?? "";
}

const PNG = Buffer.from("89504e470d0a1a0a0000000d4948445200000001000000010806000000", "hex");
const ingest = (extra: Partial<IngestRequest> & { body?: Uint8Array | string }) => {
  const { body = PNG, ...rest } = extra;
  return receiveIngest({ authorization: mintHeader(), bytes: inPieces(body, 100), ...rest }, { tokens, blobs });
};

describe("ingest tokens", () => {
  it("work once, for the account, tool and field they were minted for", async () => {
    verifies("ingest.token-single-use", "decision.ingest.token-bound");
    const token = mintHeader().slice("Bearer ".length);
    expect(token).toMatch(/^v1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{43}$/);
    expect(await tokens.redeem(token)).toEqual({
      account: "1",
      tool: "drive_upload_file",
      field: "file",
      maxBytes: 25 * MIB,
    });
    expect(await tokens.redeem(token)).toBeUndefined();
  });

  it("are taken whatever the case of the scheme", async () => {
    const authorization = mintHeader().replace("Bearer ", "bearer  ");
    expect((await ingest({ authorization })).size).toBe(PNG.length);
  });

  it("die after ten minutes", async () => {
    verifies("ingest.token-short-lived", "decision.ingest.token-lifetime");
    const [a, b] = [mintHeader().slice(7), mintHeader().slice(7)];
    now += 599_999;
    expect(await tokens.redeem(a)).toBeDefined();
    now += 1;
    expect(await tokens.redeem(b)).toBeUndefined();
  });

  it("are taken however long the path to their field is", async () => {
    for (const field of ["a".repeat(100_000), "\ud800".repeat(5_000), `list${"[0]".repeat(5_000)}`]) {
      const offer = tokens.mint({ ...request, field });
      expect(offer?.field).toBe(field);
      expect(await tokens.redeem(offer?.headers.Authorization?.slice(7) ?? "")).toMatchObject({ account: "1" });
    }
  });

  it("are refused when anything about them was changed, without being spent", async () => {
    const token = mintHeader().slice(7);
    const [version = "", payload = "", signature = ""] = token.split(".");
    const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
    const pack = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const flip = (value: string, at: number) =>
      `${value.slice(0, at)}${value[at] === "A" ? "B" : "A"}${value.slice(at + 1)}`;
    const tampered = [
      "",
      "x",
      "v1..",
      payload,
      `${version}.${payload}`,
      `${token}.`,
      `${token} `,
      `v2.${payload}.${signature}`,
      `${version}.${payload}.${signature}=`,
      `${version}.${payload}=.${signature}`,
      `${version}.${payload}.${signature.slice(1)}`,
      `${version}.${payload}.${"A".repeat(43)}`,
      `${version}.${payload}.${Buffer.from(signature, "base64url").toString("hex")}`,
      ...Array.from({ length: 43 }, (_, at) => `${version}.${payload}.${flip(signature, at)}`),
      ...Array.from({ length: payload.length }, (_, at) => `${version}.${flip(payload, at)}.${signature}`),
      ...[
        { acct: "2" },
        { tool: "x" },
        { field: "y" },
        { maxBytes: 1e12 },
        { exp: 1e15 },
        { jti: "another-id-of-24-letters" },
      ].map((change) => `${version}.${pack({ ...claims, ...change })}.${signature}`),
      mintHeader(createTokens("another secret")).slice(7),
      `v1.${payload}.${"A".repeat(5000)}`,
    ];
    for (const one of tampered) expect(await tokens.redeem(one), one).toBeUndefined();
    expect(spent.size).toBe(0);
    expect(await tokens.redeem(token)).toBeDefined();
  });

  it("are not minted for references no command can name", () => {
    for (const reference of ["", "-", "a\nb", "a\u0000b"])
      expect(tokens.mint({ ...request, reference })).toBeUndefined();
  });
});

describe("receiveIngest", () => {
  it("stores raw bytes under the account of the token", async () => {
    verifies("ingest.upload", "decision.ingest.raw-body", "decision.ingest.reply");
    const receipt = await ingest({
      fileName: "My%20photo%20%E2%9C%93.png",
      contentType: "application/octet-stream",
      contentLength: PNG.length,
    });
    expect(receipt).toEqual({
      s3key: expect.stringMatching(/^1\/drive_upload_file\/request\//),
      name: "My photo ✓.png",
      mimetype: "image/png",
      size: PNG.length,
      md5: createHash("md5").update(PNG).digest("hex"),
    });
    const stored = await blobs.get("1", receipt.s3key);
    expect(stored).toBeDefined();
    expect(await blobs.get("2", receipt.s3key)).toBeUndefined();
  });

  it.each([
    ["photo.png", "application/octet-stream", PNG, "image/png"],
    ["photo.jpg", "image/jpeg", PNG, "image/png"],
    ["notes.md", undefined, "# hi", "text/markdown"],
    ["data.unheardof", "application/x-thing; v=1", "?", "application/x-thing"],
    ["data", "application/octet-stream", "?", "application/octet-stream"],
    ["data", "nonsense", "?", "application/octet-stream"],
    ["data", "application/x-www-form-urlencoded", "?", "application/octet-stream"],
    ["notes.md", "application/x-www-form-urlencoded; charset=utf-8", "# hi", "text/markdown"],
    ["clip.ts", undefined, "const a = 1;\n", "text/plain"],
  ] as const)(
    "judges %s sent as %s by its bytes, then its name, then the header",
    async (fileName, contentType, body, mimetype) => {
      expect((await ingest({ fileName, contentType, body })).mimetype).toBe(mimetype);
    },
  );

  it("cleans names", async () => {
    for (const [fileName, name] of [
      ["..%2F..%2Fetc%2Fpasswd", "passwd"],
      ["a%0Ab%00.txt", "ab.txt"],
      ["%", "%"],
      [undefined, "file"],
    ] as const)
      expect((await ingest({ fileName })).name).toBe(name);
  });

  function multipart(parts: readonly { name: string; filename?: string; type?: string; data: Uint8Array | string }[]) {
    const body = Buffer.concat([
      ...parts.flatMap(({ name, filename, type, data }) => [
        Buffer.from(
          `--b0\r\nContent-Disposition: form-data; name="${name}"${filename === undefined ? "" : `; filename="${filename}"`}\r\n${type === undefined ? "" : `Content-Type: ${type}\r\n`}\r\n`,
        ),
        Buffer.from(data),
        Buffer.from("\r\n"),
      ]),
      Buffer.from("--b0--\r\n"),
    ]);
    return { body, contentType: "multipart/form-data; boundary=b0", contentLength: body.length };
  }

  it("takes one multipart part, whatever its field is called", async () => {
    verifies("decision.ingest.multipart");
    const receipt = await ingest(
      multipart([
        { name: "note", data: "hello" },
        { name: "anything", filename: "dir/pic.png", type: "image/png", data: PNG },
      ]),
    );
    expect(receipt).toMatchObject({ name: "pic.png", mimetype: "image/png", size: PNG.length });
  });

  const bad: [string, Partial<IngestRequest> & { body?: Uint8Array | string }][] = [
    ["no file part", multipart([{ name: "a", data: "x" }])],
    [
      "two file parts",
      multipart([
        { name: "a", filename: "a", data: "x" },
        { name: "b", filename: "b", data: "y" },
      ]),
    ],
    [
      "a cut body",
      { ...multipart([]), body: '--b0\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\nhalf' },
    ],
    ["no boundary", { contentType: "multipart/form-data", body: "x" }],
    ["no frame", { contentType: "multipart/form-data; boundary=b0", body: "x" }],
    ["an empty file", multipart([{ name: "a", filename: "a", data: "" }])],
    ["an empty body", { body: "" }],
  ];
  it.each(bad)("refuses %s with 400, bare, and keeps nothing", async (_name, extra) => {
    const error = await refusal(ingest(extra));
    expect([error.status, error.options.bare]).toEqual([400, true]);
    expect(await readdir(join(folder(), ".tmp"))).toEqual([]);
    expect(await readdir(folder())).toEqual([".tmp"]);
  });

  it.each([
    ["no header", undefined],
    ["another scheme", "Basic abc"],
    ["a wrong token", "Bearer v1.a.b"],
    ["an API key", "Bearer svc_live_abc"],
  ])("answers 401 for %s, always with the same words", async (_name, authorization) => {
    const error = await refusal(receiveIngest({ authorization, bytes: inPieces("x") }, { tokens, blobs }));
    expect([error.status, error.options.bare, error.message]).toEqual([
      401,
      true,
      "The upload token was not accepted. Tokens work once and for ten minutes: repeat the tool call to get a new one.",
    ]);
  });

  it("answers 503 when no secret is configured", async () => {
    const error = await refusal(
      receiveIngest({ authorization: mintHeader(), bytes: inPieces("x") }, { tokens: undefined, blobs }),
    );
    expect([error.status, error.options.bare]).toEqual([503, true]);
  });

  it("answers 413 by the announced length without spending the token, and by counting", async () => {
    const authorization = mintHeader();
    const announced = await refusal(ingest({ authorization, contentLength: 25 * MIB + 1 }));
    expect([announced.status, announced.options.bare, spent.size]).toEqual([413, true, 0]);
    const over = Buffer.alloc(25 * MIB + 1);
    for (const extra of [
      { bytes: inPieces(over, MIB) },
      {
        bytes: inPieces(multipart([{ name: "f", filename: "f", data: over }]).body, MIB),
        contentType: "multipart/form-data; boundary=b0",
      },
    ]) {
      const error = await refusal(ingest(extra));
      expect([error.status, error.options.bare]).toEqual([413, true]);
    }
    expect((await ingest({ bytes: inPieces(Buffer.alloc(25 * MIB), MIB), contentLength: 25 * MIB })).size).toBe(
      25 * MIB,
    );
    expect(await readdir(join(folder(), ".tmp"))).toEqual([]);
  });

  it("lets one of twenty parallel uploads with one token through", async () => {
    verifies("ingest.token-single-use");
    const authorization = mintHeader();
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => ingest({ authorization })));
    expect(results.filter((one) => one.status === "fulfilled")).toHaveLength(1);
    const reasons = results.flatMap((one) => (one.status === "rejected" ? [(one.reason as ServiceError).status] : []));
    expect(reasons).toEqual(Array(19).fill(401));
  });

  it("spends the token even when the upload then fails", async () => {
    const authorization = mintHeader();
    await refusal(ingest({ authorization, body: "" }));
    expect((await refusal(ingest({ authorization }))).status).toBe(401);
  });
});

describe("the upload command", () => {
  const names = [
    "a.png",
    "with space.png",
    "quo'te.png",
    'dou"ble.png',
    "dollar$HOME.png",
    "back`id`tick.png",
    "back\\slash.png",
    "bang!bang.png",
    "semi;colon&and|pipe.png",
    "(paren) {brace} [x]*?.png",
    "#hash.png",
    "-dash.png",
    "日本 – 🎉.png",
    "new'\"$mix`.png",
    "~tilde.png",
    "a,b;type=x.png",
  ];

  it.skipIf(IS_WINDOWS).each(names)("is one shell word for %j, whatever it holds", (name) => {
    const command = writeUploadCommand({ url: "http://127.0.0.1:1/x", headers: { A: "b" }, reference: name });
    const printed = execFileSync("/bin/sh", ["-c", command.replace(/^curl/, "printf '%s\\n'")], {
      env: { PATH: "/usr/bin:/bin", HOME: "/nowhere" },
    }).toString();
    expect(printed.trimEnd().split("\n")).toEqual([
      "-sS",
      "-X",
      "POST",
      "http://127.0.0.1:1/x",
      "-H",
      "A: b",
      "--data-binary",
      `@${name}`,
    ]);
  });
});
