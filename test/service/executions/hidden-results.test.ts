import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { hideInResult } from "../../../src/apps/port/hide-secrets.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser } from "../http/pages/browser.ts";

const SECRET = 'K1-4711-xyz "sécret"/value+7';
const PASSWORD = "pass-word-4711";
const base64 = (text: string) => Buffer.from(text).toString("base64");

/** Answers with every form in which a secret can come back. */
const mirror: Integration = {
  slug: "mirror",
  name: "Mirror",
  description: "Shows what it was asked with.",
  category: "tests",
  scopes: [],
  settingsForm: [
    { name: "user", label: "User", kind: "text" },
    { name: "key", label: "Key", kind: "secret" },
    { name: "pin", label: "PIN", kind: "secret" },
    { name: "login", label: "Login", kind: "secret" },
  ],
  actions: [
    {
      level: "read",
      requiresConfirmation: false,
      idempotent: true,
      scopes: [],
      id: "look",
      title: "Look",
      description: "Looks.",
      inputSchema: { type: "object", properties: {} },
      run: async (_args, { connection: { settings } }) => ({
        headers: [{ "x-key": settings.key, login: settings.login }],
        [`${settings.key}`]: { text: JSON.stringify({ deep: settings.key }) },
        url: `https://example.org/?key=${encodeURIComponent(String(settings.key))}&pin=${settings.pin}`,
        form: new URLSearchParams({ key: String(settings.key) }).toString(),
        basic: `Basic ${base64(`${settings.user}:${settings.key}`)}`,
        plain: PASSWORD,
        kept: { user: settings.user, count: 12, none: null, quote: 'a \\"b\\" c' },
      }),
    },
  ],
  async checkSettings() {},
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ integrations: [mirror] });
});

afterAll(() => service?.close());

test("a secret that a system repeats in a result reaches neither agents nor the log, in any form", async () => {
  const login = `Basic ${base64(`ann:${PASSWORD}`)}`;
  const settings = { user: "ann", key: SECRET, pin: "4711", login };
  await service.service.connections.add({ integration: "mirror", label: "Mirror", settings });
  const headers = { "x-svc-api-key": service.apiKey, "content-type": "application/json" };
  const body = JSON.stringify({ arguments: {} });
  const answer = await fetch(`${service.url}/api/tools/mirror_look/execute`, { method: "POST", headers, body });
  const { result, canonical } = (await answer.json()) as { result: unknown; canonical: { execution_id: string } };
  const hidden = {
    headers: [{ "x-key": "[hidden]", login: "[hidden]" }],
    "[hidden]": { text: '{"deep":"[hidden]"}' },
    url: "https://example.org/?key=[hidden]&pin=4711",
    form: "key=[hidden]",
    basic: "Basic [hidden]",
    plain: "[hidden]",
    kept: { user: "ann", count: 12, none: null, quote: 'a \\"b\\" c' },
  };
  expect(result).toEqual(hidden);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const { text: log } = await browser.open(`${service.url}/log/${canonical.execution_id}`);
  expect(log).toContain("x-key");
  expect(log).not.toContain("K1-4711-xyz");
});

describe("what is left as it is", () => {
  const clean = (value: unknown, secrets: Record<string, unknown>) =>
    hideInResult({ value, json: JSON.stringify(value) }, secrets);

  test("a result without secrets is the same value", () => {
    const value = { a: ["b"] };
    expect(clean(value, { key: "nothing-of-this" }).value).toBe(value);
  });

  test("a short secret, a number, and an escape that only looks like one", () => {
    const value = { word: "open", count: 123456789, lines: "a\nbcdefgh", quote: '\\"' };
    expect(clean(value, { a: "open", b: "12345678", c: "nbcdefgh" }).value).toEqual(value);
  });

  test("a deep result is cleaned all the same", () => {
    const depth = 3_000;
    const json = `${'{"a":'.repeat(depth)}"my long secret"${"}".repeat(depth)}`;
    const cleaned = hideInResult({ value: JSON.parse(json), json }, { key: "my long secret" });
    expect(cleaned.json).toBe(json.replace("my long secret", "[hidden]"));
  });

  test("the keys of a key file are secrets, its other members are not", () => {
    const file = JSON.stringify({ type: "service_account", private_key: "-----BEGIN-----\nabc" });
    const value = { type: "service_account", text: "-----BEGIN-----\nabc" };
    expect(clean(value, { file }).value).toEqual({ type: "service_account", text: "[hidden]" });
  });
});
