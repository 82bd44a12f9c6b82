import fc, { type AsyncCommand } from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { PairStatus } from "../../src/shared/wire/registration.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { type CheckedClient, createCheckedClient } from "./checked-client.ts";
import { FUZZ_SECONDS, fuzzOptions, whileTimeLasts } from "./fuzz-options.ts";

const LIFETIME_MS = 15 * 60 * 1000;

interface Session {
  readonly token: string;
  readonly verifier: string;
  readonly pairUrl: string;
  readonly startedAt: number;
  status: PairStatus;
  wrong: number;
}

/** What should be true. */
interface Model {
  readonly sessions: Session[];
}

let service: TestService;
let client: CheckedClient;
let time = Date.parse("2026-05-01T00:00:00Z");

beforeAll(async () => {
  service = await startTestService({ now: () => time });
  client = await createCheckedClient(service.url);
});
afterAll(() => service.close());

function statusOf(session: Session): PairStatus {
  const isOpen = session.status === "awaiting_approval" || session.status === "approved";
  return isOpen && time >= session.startedAt + LIFETIME_MS ? "expired" : session.status;
}

type Command = AsyncCommand<Model, null>;

const start = (label: string): Command => ({
  check: (model) => model.sessions.length < 4,
  toString: () => `start(${JSON.stringify(label)})`,
  async run({ sessions }) {
    const { status, json } = await client.post("/api/plugin/pair/start", { deviceLabel: label });
    expect(status).toBe(200);
    const { sessionToken: token, verifier, pairUrl } = json;
    sessions.push({ token, verifier, pairUrl, startedAt: time, status: "awaiting_approval", wrong: 0 });
  },
});

/** A command on one of the sessions. */
const on = (
  index: number,
  name: string,
  run: (session: Session) => Promise<void>,
  isDue = (_: Session) => true,
): Command => {
  const pick = ({ sessions }: Model) => sessions[index % Math.max(1, sessions.length)];
  return {
    check: (model) => {
      const session = pick(model);
      return session !== undefined && isDue(session);
    },
    toString: () => `${name}(${index})`,
    async run(model) {
      const session = pick(model);
      if (session === undefined) return;
      await run(session);
      const seen = await client.get(`/api/plugin/pair/sessions/${session.token}`);
      expect(seen.json.status).toBe(statusOf(session));
    },
  };
};

const exchange = ({ token }: Session, verifier: string) =>
  client.post(`/api/plugin/pair/sessions/${token}/exchange`, { verifier });

const decide = (index: number, decision: "approve" | "decline") =>
  on(
    index,
    decision,
    async (session) => {
      await service.decide(session.pairUrl, decision);
      session.status = decision === "approve" ? "approved" : "denied";
    },
    (session) => statusOf(session) === "awaiting_approval",
  );

const EXCHANGE_STATUS = { awaiting_approval: 409, approved: 200, exchanged: 409, expired: 410, denied: 409 } as const;

const exchangeRight = (index: number) =>
  on(index, "exchange", async (session) => {
    const { status, json } = await exchange(session, session.verifier);
    expect(status).toBe(EXCHANGE_STATUS[statusOf(session)]);
    if (status !== 200) return;
    session.status = "exchanged";
    expect((await client.get("/api/tools?limit=1", json.apiKey)).status).toBe(200);
  });

const exchangeWrong = (index: number, times: number) =>
  on(index, `exchangeWrong x${times}`, async (session) => {
    for (let time = 0; time < times; time += 1) {
      const before = statusOf(session);
      const { status } = await exchange(session, `${session.verifier}x`);
      expect(status).toBe(before === "expired" ? 410 : before === "denied" ? 409 : 400);
      if (status !== 400) continue;
      session.wrong += 1;
      if (session.wrong >= 5 && before !== "exchanged") session.status = "denied";
    }
  });

const wait = (minutes: number): Command => ({
  check: () => true,
  toString: () => `wait(${minutes} min)`,
  run: async () => {
    time += minutes * 60_000;
  },
});

const index = fc.nat(3);
const commands = fc.commands(
  [
    fc.string({ maxLength: 5 }).map(start),
    fc.string({ maxLength: 5 }).map(start),
    index.map((at) => decide(at, "approve")),
    index.map((at) => decide(at, "approve")),
    index.map((at) => decide(at, "decline")),
    index.map(exchangeRight),
    index.map(exchangeRight),
    fc.tuple(index, fc.integer({ min: 1, max: 5 })).map(([at, times]) => exchangeWrong(at, times)),
    fc.constantFrom(1, 5, 14, 15).map(wait),
  ],
  { maxCommands: 30, size: "max" },
);

test("any sequence of pairing steps ends as the model says", { timeout: 60_000 + FUZZ_SECONDS * 1000 }, async () => {
  await fc.assert(
    fc.asyncProperty(
      commands,
      whileTimeLasts(12_000, async (sequence) => {
        // The sessions of the sequence before have expired.
        time += 24 * 60 * 60_000;
        await fc.asyncModelRun(() => ({ model: { sessions: [] }, real: null }), sequence);
      }),
    ),
    fuzzOptions({ runs: 25 }),
  );
});
