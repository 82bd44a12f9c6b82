import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type PairStartReply,
  pairExchangeReplySchema,
  pairStartReplySchema,
} from "../../../../src/shared/wire/registration.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { verifies } from "../../../contract/verifies.ts";
import { readStored } from "../../find-store.ts";
import { call, post, type Reply } from "../../http-calls.ts";

const MINUTE = 60_000;

let service: TestService;
let now: number;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  service = await startTestService({ integrations: [], now: () => now });
});
afterEach(() => service.close());

async function start(device?: unknown): Promise<PairStartReply> {
  return pairStartReplySchema.parse((await post(`${service.url}/api/plugin/pair/start`, device)).json);
}
const exchange = (token: string, verifier: unknown): Promise<Reply> =>
  post(`${service.url}/api/plugin/pair/sessions/${token}/exchange`, { verifier });
const poll = (token: string): Promise<Reply> => call(`${service.url}/api/plugin/pair/sessions/${token}`);

describe("start", () => {
  test("needs no key and no body", async () => {
    verifies("pair.start.reply", "pair.start.no-key", "pair.start.body-optional", "pair.start.optional-members");
    const { status, json } = await call(`${service.url}/api/plugin/pair/start`, { method: "POST" });
    expect(status).toBe(200);
    const session = pairStartReplySchema.parse(json);
    expect(session).toMatchObject({ deviceLabel: null, status: "awaiting_approval" });
    expect(session.pairUrl).toBe(`${service.url}/pair/${session.sessionToken}`);
    expect(session.expiresAt).toBe("2026-03-04T10:15:00.000Z");
    expect(session.displayCode).toMatch(/^[A-HJ-NP-Z2-9]{4}-[A-HJ-NP-Z2-9]{4}$/);
    expect(session.verifier).not.toBe(session.sessionToken);
  });

  test.each([
    [{ deviceLabel: "  Kitchen   laptop ", client: "cli" }, "Kitchen laptop"],
    [{ deviceLabel: "x".repeat(200) }, "x".repeat(80)],
    [{ deviceLabel: "Safe\u202Eexe\u0007\nApprove" }, "Safe exe Approve"],
    [{ deviceLabel: " \t " }, null],
    [{ deviceLabel: "ok", more: 1 }, "ok"],
  ])("cleans the label of %j", async (device, label) => {
    verifies("pair.start.client");
    expect((await start(device)).deviceLabel).toBe(label);
  });

  test.each([[{ deviceLabel: 7 }], [{ client: {} }], [{ deviceLabel: null }]])("400 bare: %j", async (device) => {
    verifies("pair.start.bad-request");
    const { status, json } = await post(`${service.url}/api/plugin/pair/start`, device);
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
  });

  test("nobody is refused because others started many", async () => {
    const replies = await Promise.all(Array.from({ length: 120 }, () => post(`${service.url}/api/plugin/pair/start`)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  });
});

describe("exchange", () => {
  test("hands out a working key, once, after the approval", async () => {
    verifies("pair.exchange.reply", "pair.exchange.no-key", "pair.exchange.once", "auth.key-shown-once");
    verifies("pair.approval-needs-human", "decision.pair.statuses");
    const session = await start({ deviceLabel: "Laptop" });
    await service.decide(session.pairUrl);
    expect((await poll(session.sessionToken)).json.status).toBe("approved");
    const { status, json } = await exchange(session.sessionToken, session.verifier);
    expect(status).toBe(200);
    const { apiKey } = pairExchangeReplySchema.parse(json);
    expect(json.session).toMatchObject({ deviceLabel: "Laptop", status: "exchanged" });
    expect((await call(`${service.url}/api/tools`, { key: apiKey })).status).toBe(200);
    const again = await exchange(session.sessionToken, session.verifier);
    expect([again.status, Object.keys(again.json)]).toEqual([409, ["error"]]);
    expect((await poll(session.sessionToken)).json.status).toBe("exchanged");
  });

  test("of twenty at one time exactly one gets the key", async () => {
    const session = await start();
    await service.decide(session.pairUrl);
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => exchange(session.sessionToken, session.verifier)),
    );
    const keys = new Set(replies.flatMap(({ json }) => json.apiKey ?? []));
    expect(keys.size).toBe(1);
    expect(replies.map((reply) => reply.status).sort()).toEqual([200, ...Array(19).fill(409)]);
  });

  test("409 before the approval and after a refusal", async () => {
    verifies("pair.exchange.not-approved", "decision.pair.not-approved-409", "decision.pair.denied");
    const session = await start();
    const early = await exchange(session.sessionToken, session.verifier);
    expect([early.status, Object.keys(early.json)]).toEqual([409, ["error"]]);
    await service.decide(session.pairUrl, "decline");
    const late = await exchange(session.sessionToken, session.verifier);
    expect([late.status, late.json.error]).toEqual([409, expect.stringContaining("denied")]);
    expect((await poll(session.sessionToken)).json.status).toBe("denied");
  });

  test("410 after 15 minutes, also when approved", async () => {
    verifies("pair.exchange.expired", "decision.pair.expired-410", "decision.pair.lifetime");
    const session = await start();
    await service.decide(session.pairUrl);
    now += 15 * MINUTE;
    const { status, json } = await exchange(session.sessionToken, session.verifier);
    expect([status, Object.keys(json)]).toEqual([410, ["error"]]);
    expect((await poll(session.sessionToken)).json.status).toBe("expired");
  });

  test("404 for an unknown session", async () => {
    verifies("pair.exchange.unknown", "decision.pair.unknown-404");
    expect((await exchange("nope", "v")).status).toBe(404);
    expect((await poll("nope")).status).toBe(404);
  });

  test.each([[undefined], [""], [7], [null]])("400 for the verifier %j", async (verifier) => {
    verifies("pair.exchange.verifier-required");
    const session = await start();
    const { status, json } = await exchange(session.sessionToken, verifier);
    expect([status, Object.keys(json)]).toEqual([400, ["error"]]);
  });

  test("a wrong verifier gets nothing, and five of them end the session", async () => {
    verifies("pair.exchange.token-not-sufficient", "decision.pair.wrong-verifier", "decision.pair.five-tries");
    const session = await start();
    await service.decide(session.pairUrl);
    for (let count = 1; count <= 4; count++) {
      expect((await exchange(session.sessionToken, session.sessionToken)).status).toBe(400);
    }
    expect((await poll(session.sessionToken)).json.status).toBe("approved");
    expect((await exchange(session.sessionToken, "wrong")).status).toBe(400);
    expect((await exchange(session.sessionToken, session.verifier)).status).toBe(409);
    expect((await poll(session.sessionToken)).json.status).toBe("denied");
  });
});

test("the poll shows nothing secret", async () => {
  const session = await start({ deviceLabel: "Laptop" });
  const { json } = await poll(session.sessionToken);
  expect(json).toEqual({
    status: "awaiting_approval",
    displayCode: session.displayCode,
    expiresAt: session.expiresAt,
    scopes: {},
  });
});

test("no secret is on the disk", async () => {
  verifies("pair.key-stored-as-hash");
  const session = await start();
  await service.decide(session.pairUrl);
  const { json } = await exchange(session.sessionToken, session.verifier);
  const link = new URL(await service.service.signInUrl()).searchParams.get("token");
  const stored = await readStored(service.dataDir);
  expect(stored).toContain(json.apiKeyId);
  for (const secret of [json.apiKey, session.verifier, session.sessionToken, link]) {
    expect(stored).not.toContain(secret);
  }
});
