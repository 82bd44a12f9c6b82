import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { type CredentialStore, openCredentialStore } from "../../../src/plugin/pairing/credentials.ts";
import { type PairOptions, type PairProgress, pairDevice } from "../../../src/plugin/pairing/pair.ts";
import { readGoldenObject } from "../../contract/read-golden.ts";
import { verifies } from "../../contract/verifies.ts";
import { type Answer, catchError, type RecordingServer, startRecordingServer } from "../client/recording-server.ts";

const START = Date.UTC(2026, 0, 5, 10, 0, 0);
const MINUTE = 60_000;
let folder: string;
let server: RecordingServer;
let client: SvcClient;
let store: CredentialStore;
let clock: number;
let waits: number[];
let progress: PairProgress[];

/** What the service answers, one entry per request of that kind; the last one stays. */
let script: { start: Answer[]; exchange: Answer[]; status: Answer[]; finalize: Answer[] };

const bare = (status: number, error: string): Answer => ({ status, json: { error } });
const MISSING = bare(404, "no such route");
const WAITING = bare(409, "This session is not approved yet.");
const KEY: Answer = { json: { apiKey: "svc_live_paired", apiKeyId: 17, session: { anything: 1 } } };
const started = (change: Record<string, unknown> = {}): Answer => ({
  json: { ...readGoldenObject("resources/pair-start"), ...change },
});

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-pair-"));
  clock = START;
  waits = [];
  progress = [];
  script = { start: [started()], exchange: [WAITING, KEY], status: [MISSING], finalize: [MISSING] };
  server = await startRecordingServer(({ method, url }) => {
    const kind = url.endsWith("/start")
      ? "start"
      : url.endsWith("/exchange")
        ? "exchange"
        : url.endsWith("/finalize")
          ? "finalize"
          : "status";
    if (kind === "status" && method !== "GET") throw new Error(`unexpected ${method} ${url}`);
    const answers = script[kind];
    return (answers.length > 1 ? answers.shift() : answers[0]) ?? MISSING;
  });
  client = new SvcClient({ baseUrl: server.url, sleep: async () => {} });
  store = openCredentialStore(folder);
});
afterEach(async () => {
  await client.close();
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const pair = (change: Partial<PairOptions> = {}) =>
  pairDevice({
    client,
    credentials: store,
    deviceLabel: "desk",
    clientKind: "cli",
    onProgress: (step) => progress.push(step),
    sleep: async (ms) => {
      waits.push(ms);
      clock += ms;
    },
    now: () => clock,
    ...change,
  });

const lines = () => server.requests.map(({ method, url }) => `${method} ${url.replace("/api/plugin/pair/", "")}`);

describe("pairDevice", () => {
  test("shows link and code, waits for the human, stores the key, then reports", async () => {
    verifies("pair.client-waits-for-human", "pair.client-keeps-verifier", "pair.client-stores-key");
    script.exchange = [WAITING, WAITING, KEY];
    let storedWhenApproved: unknown;
    const credentials = await pair({
      onProgress: (step) => {
        progress.push(step);
        // Read at once: nobody waits for a listener, so an awaited read could end after the pairing has.
        if (step.kind === "approved") storedWhenApproved = JSON.parse(readFileSync(store.path, "utf8"));
      },
    });
    expect(progress).toEqual([
      {
        kind: "started",
        pairUrl: "https://svc.example/pair/st_1",
        displayCode: "ABCD-1234",
        expiresAt: expect.any(String),
      },
      { kind: "waiting", elapsedMs: 0 },
      { kind: "waiting", elapsedMs: 2000 },
      { kind: "approved" },
    ]);
    expect(waits).toEqual([2000, 2000]);
    expect(credentials).toEqual({
      baseUrl: server.url,
      apiKey: "svc_live_paired",
      apiKeyId: "17",
      deviceLabel: "desk",
      pairedAt: "2026-01-05T10:00:04.000Z",
    });
    expect(await store.read()).toEqual(credentials);
    expect(storedWhenApproved).toMatchObject({ credentials });
    expect(await store.readPending()).toBeUndefined();
    expect(JSON.parse(server.requests[0]?.body ?? "")).toEqual({ deviceLabel: "desk", client: "cli" });
    for (const request of server.requests) {
      expect(request.body.includes("v_1")).toBe(request.url.endsWith("/exchange"));
      expect(request.headers).not.toHaveProperty("x-svc-api-key");
    }
    expect(inspect(progress)).not.toContain("v_1");
  });

  test("needs none of the optional members", async () => {
    verifies("pair.client-optional-members");
    script.start = [{ json: readGoldenObject("resources/pair-start-minimal") }];
    const { deviceLabel, clientKind, ...rest } = { deviceLabel: undefined, clientKind: undefined };
    expect(await pair({ deviceLabel, clientKind, ...rest })).not.toHaveProperty("deviceLabel");
    expect(progress[0]).not.toHaveProperty("displayCode");
    expect(waits).toEqual([3000]);
    expect(server.requests[0]?.body).toBe("{}");
  });

  test("keeps the interval of the service within bounds", async () => {
    for (const [pollIntervalMs, wait] of [
      [0, 250],
      [-5, 250],
      [3_600_000, 30_000],
    ] as const) {
      script = { ...script, start: [started({ pollIntervalMs })], exchange: [WAITING, KEY] };
      waits = [];
      await pair();
      expect(waits).toEqual([wait]);
    }
  });

  test("asks for the status where the service has one, and exchanges only when it changes", async () => {
    const state = (status: string): Answer => ({ json: { status } });
    script.exchange = [WAITING, KEY];
    script.status = [state("awaiting_approval"), state("awaiting_approval"), state("approved")];
    await pair();
    expect(lines()).toEqual([
      "POST start",
      "POST sessions/st_1/exchange",
      "GET sessions/st_1",
      "GET sessions/st_1",
      "GET sessions/st_1",
      "POST sessions/st_1/exchange",
    ]);
  });

  test("waits through passing failures of the service", async () => {
    script.exchange = [
      (_request, response) => response.destroy(),
      bare(500, "oops"),
      { status: 429, json: { error: "slow down" }, headers: { "retry-after": "9" } },
      (_request, response) => response.writeHead(502).end("<html>"),
      KEY,
    ];
    expect(await pair()).toMatchObject({ apiKey: "svc_live_paired" });
    expect(waits).toEqual([2000, 2000, 9000, 2000]);
  });

  test.each(["99999999", "86400"])(
    "waits no longer than the session lasts, though told to wait %s s",
    async (seconds) => {
      script.exchange = [{ status: 429, json: { error: "slow down" }, headers: { "retry-after": seconds } }];
      expect(await catchError(() => pair())).toMatchObject({ code: "pairing_failed" });
      expect(waits).toHaveLength(1);
      expect(waits[0]).toBeLessThanOrEqual(15 * 60_000 + 1);
    },
  );

  test("confirms the storing where the service says that it waits for it, after the key is on the disk", async () => {
    const session = { status: "awaiting_local_save" };
    script.exchange = [{ json: { apiKey: "svc_live_paired", apiKeyId: "k", session } }];
    let stored: unknown;
    script.finalize = [{ json: { ok: true } }];
    const answer = server.answer;
    server.answer = (request) => {
      if (request.url.endsWith("/finalize")) stored = store.read();
      return answer(request);
    };
    await pair();
    expect(lines().at(-1)).toBe("POST sessions/st_1/finalize");
    expect(await stored).toMatchObject({ apiKey: "svc_live_paired" });
  });

  test("does not confirm anything otherwise", async () => {
    await pair();
    expect(lines().filter((line) => line.includes("finalize"))).toEqual([]);
  });

  test("makes a link plain before a human sees it, and refuses one that no browser opens", async () => {
    script.start = [started({ pairUrl: "/pair/st_1?x=\u001b[2J", displayCode: "\u001b[31mABCD" })];
    await pair();
    expect(progress[0]).toMatchObject({ kind: "started", pairUrl: `${server.url}/pair/st_1?x=%1B[2J` });
    expect(progress[0]).not.toHaveProperty("displayCode");
    for (const pairUrl of ["javascript:alert(1)", "file:///etc/passwd", "https://["]) {
      script.start = [started({ pairUrl })];
      expect(await catchError(() => pair())).toMatchObject({ code: "pairing_failed", field: "pairUrl" });
    }
  });
});

describe("a pairing that cannot succeed ends with what to do", () => {
  test.each<[string, Answer, string | undefined, string?]>([
    ["declined right after the answer", WAITING, "denied", "The pairing was declined."],
    ["declined, by the words of the answer", bare(409, "This pairing session was declined."), undefined],
    ["declined, by 403", bare(403, "No."), undefined],
    ["expired", bare(410, "This pairing session has expired."), undefined],
    ["expired right after the answer", WAITING, "expired", "The pairing session has expired."],
    ["expired, by status endpoint", bare(400, "No."), "expired"],
    ["unknown", bare(404, "Unknown session."), undefined],
    ["a wrong verifier", bare(400, "The verifier does not match."), undefined],
    ["already exchanged", bare(409, "This session was already exchanged."), undefined],
    ["exchanged right after the answer", WAITING, "exchanged", "Somebody already has the key of this pairing session."],
    ["already exchanged, by status endpoint", bare(400, "No."), "exchanged"],
    ["declined, by status endpoint", bare(400, "No."), "denied"],
    ["any other status", bare(418, "Pairing is switched off here."), undefined],
  ])("%s", async (_name, answer, status, reason = (answer as { json: { error: string } }).json.error) => {
    verifies("pair.client-explains-failure", "decision.plugin-tolerates-other-pair-statuses");
    script.exchange = [answer];
    if (status !== undefined) script.status = [{ json: { status } }];
    const error = await catchError(() => pair());
    expect(error).toMatchObject({ code: "pairing_failed", hint: expect.any(String) });
    expect(error).toHaveProperty("message", expect.stringContaining(reason));
    expect(await store.readPending()).toBeUndefined();
    expect(await store.read()).toBeUndefined();
    expect(inspect(error, { depth: 9 })).not.toMatch(/st_1|v_1/);
  });

  test("nobody approves in time, by the clock of this machine", async () => {
    verifies("pair.client-explains-failure");
    script.start = [started({ expiresAt: new Date(START + MINUTE).toISOString() })];
    script.exchange = [WAITING];
    const error = await catchError(() => pair());
    expect(error).toMatchObject({ code: "pairing_failed" });
    expect(error).toHaveProperty("message", expect.stringContaining("expired"));
    expect(clock - START).toBe(MINUTE + 2000);
  });

  test.each(["2020-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "soon"])(
    "a clock that disagrees with the service (%s) does not end the pairing at once",
    async (expiresAt) => {
      script.start = [started({ expiresAt })];
      script.exchange = [WAITING, WAITING, KEY];
      expect(await pair()).toMatchObject({ apiKey: "svc_live_paired" });
    },
  );

  test("the start itself is refused", async () => {
    script.start = [bare(429, "Too many sessions are waiting.")];
    expect(await catchError(() => pair())).toMatchObject({ code: "service_failure", status: 429, retryable: true });
    script.start = [bare(400, "deviceLabel must be a string")];
    expect(await catchError(() => pair())).toMatchObject({ code: "service_failure", status: 400 });
    expect(progress).toEqual([]);
  });

  test.each([
    ["makes no sense", { json: { apiKeyId: 1 } }],
    ["holds a key that no header can carry", { json: { apiKey: "svc_live_a\nb", apiKeyId: 1 } }],
  ])("the exchange's answer %s", async (_name, answer) => {
    script.exchange = [answer];
    expect(await catchError(() => pair())).toMatchObject({ code: "pairing_failed" });
    expect(await store.read()).toBeUndefined();
  });
});

describe("a pairing that is interrupted", () => {
  const crashing = (change: Partial<CredentialStore>): CredentialStore => ({ ...store, ...change });
  const crash = async () => {
    throw new Error("crash");
  };

  test("is continued with the same session, link and code", async () => {
    script.exchange = [WAITING, WAITING, WAITING, KEY];
    const controller = new AbortController();
    const stop = async () => controller.abort();
    expect(await catchError(() => pair({ signal: controller.signal, sleep: stop }))).toMatchObject({ code: "aborted" });
    expect(await store.readPending()).toMatchObject({ sessionToken: "st_1", verifier: "v_1", baseUrl: server.url });
    progress = [];
    await pair({ deviceLabel: "another label" });
    expect(progress[0]).toMatchObject({ kind: "started", displayCode: "ABCD-1234" });
    expect(lines().filter((line) => line === "POST start")).toHaveLength(1);
    expect(await store.read()).toMatchObject({ apiKey: "svc_live_paired", deviceLabel: "desk" });
  });

  test("has its session on the disk before anybody sees the link", async () => {
    const error = await catchError(() => pair({ credentials: crashing({ writePending: crash }) }));
    expect(String(error)).toContain("crash");
    expect(progress).toEqual([]);
    expect(lines()).toEqual(["POST start"]);
  });

  test("between exchange and storing gets the key again where the service gives it again", async () => {
    script.exchange = [KEY];
    const error = await catchError(() => pair({ credentials: crashing({ write: crash }) }));
    expect(error).toMatchObject({ code: "pairing_failed", hint: expect.stringContaining("dashboard") });
    expect(inspect(error, { depth: 9 })).not.toContain("svc_live_paired");
    expect(progress.map(({ kind }) => kind)).not.toContain("approved");
    expect(await pair()).toMatchObject({ apiKey: "svc_live_paired" });
    expect(lines().filter((line) => line === "POST start")).toHaveLength(1);
  });

  test("between exchange and storing starts anew where the service gives the key only once", async () => {
    script.exchange = [KEY];
    await catchError(() => pair({ credentials: crashing({ write: crash }) }));
    script.exchange = [bare(409, "This session was already exchanged."), WAITING, KEY];
    script.start = [started({ sessionToken: "st_2" })];
    progress = [];
    expect(await pair()).toMatchObject({ apiKey: "svc_live_paired" });
    expect(lines().filter((line) => line === "POST start")).toHaveLength(2);
    expect(progress.filter(({ kind }) => kind === "started")).toHaveLength(1);
  });

  test.each([
    ["is unknown by now", bare(404, "Unknown session.")],
    ["has expired by now", bare(410, "Expired.")],
  ])("starts anew when its session %s", async (_name, answer) => {
    script.exchange = [WAITING];
    const controller = new AbortController();
    await catchError(() => pair({ signal: controller.signal, sleep: async () => controller.abort() }));
    script.exchange = [answer, KEY];
    expect(await pair()).toMatchObject({ apiKey: "svc_live_paired" });
    expect(lines().filter((line) => line === "POST start")).toHaveLength(2);
  });

  test("is not continued when it belongs to another service or is over by its own time", async () => {
    const pending = {
      baseUrl: server.url,
      sessionToken: "st_old",
      verifier: "v_old",
      pairUrl: "https://svc.example/pair/st_old",
      startedAt: new Date(START - MINUTE).toISOString(),
      expiresAt: new Date(START + MINUTE).toISOString(),
    };
    for (const change of [{ baseUrl: "https://other.example" }, { expiresAt: new Date(START).toISOString() }]) {
      await store.writePending({ ...pending, ...change });
      script.exchange = [KEY];
      await pair();
    }
    expect(lines().filter((line) => line.includes("st_old"))).toEqual([]);
  });

  test("takes the key that another process stored for the same session", async () => {
    script.exchange = [bare(409, "This session was already exchanged.")];
    const other = { baseUrl: server.url, apiKey: "svc_live_other", apiKeyId: "9" };
    const credentials = await pair({
      sleep: async () => {
        clock += 250;
        await store.write({ ...other, pairedAt: new Date(clock).toISOString() });
      },
    });
    expect(credentials).toMatchObject(other);
    expect(progress.at(-1)).toEqual({ kind: "approved" });
  });

  test("does not take an older key for it", async () => {
    script.exchange = [bare(409, "This session was already exchanged.")];
    const old = { baseUrl: server.url, apiKey: "svc_live_old", apiKeyId: "9" };
    await store.write({ ...old, pairedAt: new Date(START - MINUTE).toISOString() });
    expect(await catchError(() => pair())).toMatchObject({ code: "pairing_failed" });
    expect(await store.read()).toMatchObject(old);
  });

  test("can be stopped before it starts", async () => {
    expect(await catchError(() => pair({ signal: AbortSignal.abort() }))).toMatchObject({ code: "aborted" });
    expect(server.requests).toEqual([]);
  });
});
