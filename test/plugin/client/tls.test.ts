import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SvcClient } from "../../../src/plugin/client/client.ts";
import { describeFailure } from "../../../src/plugin/client/failure.ts";
import { checkServiceAt, isAway } from "../../../src/plugin/pairing/check-service.ts";
import { diagnoseService } from "../../../src/plugin/runtimes/openclaw/doctor/diagnose.ts";
import { explainPairing } from "../../../src/plugin/runtimes/openclaw/setup/find-key.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { makeCertificate } from "../../apps/mail/kit/start-dovecot.ts";

const request = { label: "GET /api/tools", origin: "https://svc.example", timeoutMs: 1, secrets: [] };

test.each([
  ["DEPTH_ZERO_SELF_SIGNED_CERT", /does not trust.*NODE_EXTRA_CA_CERTS/],
  ["SELF_SIGNED_CERT_IN_CHAIN", /does not trust.*NODE_EXTRA_CA_CERTS/],
  ["UNABLE_TO_VERIFY_LEAF_SIGNATURE", /does not trust.*NODE_EXTRA_CA_CERTS/],
  ["UNABLE_TO_GET_ISSUER_CERT_LOCALLY", /does not trust.*NODE_EXTRA_CA_CERTS/],
  ["CERT_HAS_EXPIRED", /out of date, or the clock/],
  ["CERT_NOT_YET_VALID", /out of date, or the clock/],
  ["ERR_TLS_CERT_ALTNAME_INVALID", /for another name/],
  ["ERR_SSL_WRONG_VERSION_NUMBER", /without TLS.*http:\/\//],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", /handshake failed/],
])("%s has its own next step, and nothing was sent", (code, hint) => {
  const error = Object.assign(new Error(code), { code });
  const told = describeFailure(error, request, { started: false, bodyError: undefined });
  expect(told).toMatchObject({ code: "unreachable", sent: false, hint: expect.stringMatching(hint) });
  expect(isAway(told)).toBe(false);
});

test("a refused connection is no matter of certificates", () => {
  const error = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
  const told = describeFailure(error, request, { started: false, bodyError: undefined });
  expect(told.hint).toBe("Check the base URL and that the service is running.");
  expect(isAway(told)).toBe(true);
});

describe("a service behind a certificate of its own", () => {
  let folder: string;
  let server: ReturnType<typeof createServer>;
  let plain: TestService;
  let baseUrl: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "svc-tls-"));
    server = createServer(makeCertificate(folder), (_, response) => response.end("{}"));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    baseUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    plain = await startTestService();
  });
  afterAll(async () => {
    server.close();
    await plain.close();
    await rm(folder, { recursive: true });
  });

  test("is not called absent by the status, and the way to trust it is named", async () => {
    const check = await checkServiceAt({ baseUrl, apiKey: "svc_live_x" });
    const [finding] = diagnoseService(check, { pair: "openclaw svc pair" });
    expect(finding?.text).toMatch(/does not work: Could not connect.*DEPTH_ZERO_SELF_SIGNED_CERT/);
    expect(finding?.fix).toContain("NODE_EXTRA_CA_CERTS");
  });

  test("is not called absent by the pairing", async () => {
    const client = new SvcClient({ baseUrl });
    const failed = await client.getServerCard().catch((error: unknown) => error);
    await client.close();
    expect(explainPairing(failed, baseUrl)).toMatchObject({
      message: expect.stringMatching(/^Could not connect.*NODE_EXTRA_CA_CERTS/),
    });
  });

  test("https at a port that speaks plain HTTP is told as that", async () => {
    const check = await checkServiceAt({ baseUrl: plain.url.replace("http:", "https:") });
    const [finding] = diagnoseService(check, { pair: "openclaw svc pair" });
    expect(finding?.fix).toContain("without TLS");
  });
});
