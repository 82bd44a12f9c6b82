import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc, { type AsyncCommand } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { type CheckedClient, createCheckedClient } from "./checked-client.ts";
import { fuzzIntegration } from "./fuzz-integration.ts";
import { FUZZ_SECONDS, fuzzOptions, whileTimeLasts } from "./fuzz-options.ts";

interface Model {
  /** Apart from the keys of other sequences. */
  readonly prefix: string;
  readonly results: Map<string, { title: string; answer: unknown }>;
  writes: number;
}

let dataDir: string;
let service: TestService;
let client: CheckedClient;
let runs = 0;

async function start(): Promise<void> {
  service = await startTestService({ dataDir, integrations: [fuzzIntegration] });
  client = await createCheckedClient(service.url);
}

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-fuzz-"));
  await start();
  await service.service.connections.add({ integration: "lab", label: "L", settings: {} });
});
afterAll(async () => {
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

type Command = AsyncCommand<Model, null>;

const put = (key: string, title: unknown, confirm: boolean) =>
  client.post(
    "/api/executions",
    { integration_id: "lab", action_id: "put", input: { title }, confirm, idempotency_key: key },
    { key: service.apiKey },
  );

const run = (name: string, title: string, o: { confirm: boolean; times: number }): Command => ({
  check: () => true,
  toString: () => `run(${name}, ${title}, ${JSON.stringify(o)})`,
  async run(model) {
    const key = model.prefix + name;
    const replies = await Promise.all(Array.from({ length: o.times }, () => put(key, title, o.confirm)));
    const [first] = replies;
    const known = model.results.get(key);
    if (known !== undefined && known.title === title) {
      for (const { json } of replies) expect(json).toEqual(known.answer);
    } else if (known !== undefined) {
      for (const reply of replies) expect([reply.status, reply.json.error_code]).toEqual([409, "validation_error"]);
    } else if (!o.confirm) {
      for (const reply of replies) expect([reply.status, reply.json.error_code]).toEqual([409, "policy_blocked"]);
    } else {
      for (const { status, json } of replies) expect([status, json]).toEqual([200, first?.json]);
      model.results.set(key, { title, answer: first?.json });
      model.writes += 1;
    }
  },
});

const invalid = (name: string): Command => ({
  check: (model) => !model.results.has(model.prefix + name),
  toString: () => `invalid(${name})`,
  async run(model) {
    const { status, json } = await put(model.prefix + name, 7, true);
    expect([status, json.error_code]).toEqual([500, "validation_error"]);
  },
});

const restart: Command = {
  check: () => true,
  toString: () => "restart",
  async run() {
    await service.close();
    await start();
  },
};

const name = fc.constantFrom("a", "b", "c");
const commands = fc.commands(
  [
    ...Array.from({ length: 5 }, () =>
      fc
        .record({
          name,
          title: fc.constantFrom("T", "U"),
          confirm: fc.boolean(),
          times: fc.integer({ min: 1, max: 6 }),
        })
        .map(({ name, title, ...o }) => run(name, title, o)),
    ),
    name.map(invalid),
    fc.constant(restart),
  ],
  { maxCommands: 16, size: "max" },
);

test("any sequence of keyed requests and restarts has one effect per key", {
  timeout: 60_000 + FUZZ_SECONDS * 1000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      commands,
      whileTimeLasts(12_000, async (sequence) => {
        runs += 1;
        const before = (await service.effects()).length;
        const model: Model = { prefix: `${runs}-`, results: new Map(), writes: 0 };
        await fc.asyncModelRun(() => ({ model, real: null }), sequence);
        expect(await service.effects()).toHaveLength(before + model.writes);
      }),
    ),
    fuzzOptions({ runs: 25 }),
  );
});
