import fc, { type AsyncCommand } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { type CheckedClient, createCheckedClient } from "./checked-client.ts";
import { fuzzIntegration } from "./fuzz-integration.ts";
import { FUZZ_SECONDS, fuzzOptions, whileTimeLasts } from "./fuzz-options.ts";

const LIFETIME_MS = 10 * 60 * 1000;

interface Token {
  readonly headers: Record<string, string>;
  readonly mintedAt: number;
  isSpent: boolean;
}

interface Model {
  readonly tokens: Token[];
  readonly files: string[];
}

let service: TestService;
let client: CheckedClient;
let time = Date.parse("2026-05-01T00:00:00Z");

beforeAll(async () => {
  service = await startTestService({ now: () => time, integrations: [fuzzIntegration] });
  await service.service.connections.add({ integration: "lab", label: "L", settings: {} });
  client = await createCheckedClient(service.url);
});
afterAll(() => service.close());

type Command = AsyncCommand<Model, null>;

const put = (s3key: string) =>
  client.post(
    "/api/tools/lab_put/execute",
    { arguments: { title: "T", file: { name: "a.txt", mimetype: "text/plain", s3key } }, confirmed: true },
    { key: service.apiKey },
  );

const mint: Command = {
  check: ({ tokens }) => tokens.length < 4,
  toString: () => "mint",
  async run({ tokens }) {
    const { status, json } = await put("/somewhere/a.txt");
    expect([status, json.error.code]).toEqual([400, "missing_file_bytes"]);
    tokens.push({ headers: json.error.upload.headers, mintedAt: time, isSpent: false });
  },
};

const upload = (index: number, bytes: Buffer): Command => ({
  check: ({ tokens }) => tokens.length > 0,
  toString: () => `upload(${index}, ${bytes.length} bytes)`,
  async run({ tokens, files }) {
    const token = tokens[index % tokens.length];
    if (token === undefined) return;
    const isGood = !token.isSpent && time < token.mintedAt + LIFETIME_MS;
    const { status, json } = await client.post("/api/files/ingest", bytes, { headers: token.headers });
    expect(status).toBe(isGood ? (bytes.length === 0 ? 400 : 201) : 401);
    if (isGood) token.isSpent = true;
    if (status === 201) files.push(json.s3key);
    if (status === 201) expect(json.size).toBe(bytes.length);
  },
});

const use = (index: number): Command => ({
  check: ({ files }) => files.length > 0,
  toString: () => `use(${index})`,
  async run({ files }) {
    expect((await put(files[index % files.length] ?? "")).status).toBe(200);
  },
});

const wait = (minutes: number): Command => ({
  check: () => true,
  toString: () => `wait(${minutes} min)`,
  run: async () => {
    time += minutes * 60_000;
  },
});

const commands = fc.commands(
  [
    fc.constant(mint),
    fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 50 })).map(([index, bytes]) => upload(index, Buffer.from(bytes))),
    fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 50 })).map(([index, bytes]) => upload(index, Buffer.from(bytes))),
    fc.nat(3).map(use),
    fc.constantFrom(1, 5, 10).map(wait),
  ],
  { maxCommands: 30, size: "max" },
);

test("any sequence of uploads ends as the model says", { timeout: 60_000 + FUZZ_SECONDS * 1000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      commands,
      whileTimeLasts(10_000, (sequence) =>
        fc.asyncModelRun(() => ({ model: { tokens: [], files: [] }, real: null }), sequence),
      ),
    ),
    fuzzOptions({ runs: 30 }),
  );
});
