import { afterAll, beforeAll, expect, test } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { createProviderError } from "../../../src/apps/port/provider-failure.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";

const SECRET = "open-sesame-17";
const READ = { level: "read", requiresConfirmation: false, idempotent: true, scopes: [] } as const;

/** Repeats what it was given in every refusal. */
const parrot: Integration = {
  slug: "parrot",
  name: "Parrot",
  description: "Repeats.",
  category: "tests",
  scopes: [],
  settingsForm: [
    { name: "user", label: "User", kind: "text" },
    { name: "password", label: "Password", kind: "secret" },
  ],
  actions: [
    {
      ...READ,
      id: "ask",
      title: "Ask",
      description: "Asks.",
      inputSchema: { type: "object", properties: {} },
      run: async (_args, { connection: { settings } }) => {
        const message = `${settings.user} has no right with ${settings.password}`;
        const error = createProviderError({ kind: "status", status: 400, message }, { app: "Parrot", action: READ });
        throw new ServiceError(error.status, error.code, error.message, { hint: message, details: [message] });
      },
    },
  ],
  async checkSettings() {},
  async testSettings({ password }) {
    throw new ServiceError(422, "integration_misconfigured", `It does not like ${password}.`);
  },
};

let service: TestService;

beforeAll(async () => {
  service = await startTestService({ integrations: [parrot] });
});

afterAll(() => service?.close());

test("a secret that a system repeats in a refusal reaches neither agents nor the log", async () => {
  const settings = { user: "ann", password: SECRET };
  await service.service.connections.add({ integration: "parrot", label: "Parrot", settings });
  const headers = { "x-svc-api-key": service.apiKey, "content-type": "application/json" };
  const body = JSON.stringify({ arguments: {} });
  const answer = await fetch(`${service.url}/api/tools/parrot_ask/execute`, { method: "POST", headers, body });
  const text = await answer.text();
  expect(answer.status).toBe(400);
  expect(JSON.parse(text).error.message).toBe("Parrot answered 400: ann has no right with [hidden]");
  expect(text).not.toContain(SECRET);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const { canonical } = JSON.parse(text) as { canonical: { execution_id: string } };
  const { text: log } = await browser.open(`${service.url}/log/${canonical.execution_id}`);
  expect(log).toContain("ann has no right");
  expect(log).not.toContain(SECRET);
});

test("nor does the page on which it is connected show it in the refusal", async () => {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const path = `${service.url}/connect/parrot`;
  const csrf = readCsrf(await browser.open(path));
  const form = { csrf, label: "", access: "full", "set.user": "ann", "set.password": SECRET };
  const { text: page } = await browser.submit(path, form);
  expect(page).toContain("It does not like [hidden].");
  expect(page).not.toContain(SECRET);
});
