import { afterEach, beforeEach, expect, test } from "vitest";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";

let service: TestService;
let browser: Browser;
let tried: Record<string, unknown>[];
let closed: number;

const choosy: Integration = {
  slug: "choosy",
  name: "Choosy",
  description: "Offers a choice.",
  category: "tests",
  scopes: [],
  actions: [],
  settingsForm: [
    {
      name: "size",
      label: "Size",
      kind: "choice",
      options: [
        { value: "small", label: "Small one" },
        { value: "large", label: "Large one" },
      ],
    },
  ],
  async checkSettings() {},
  async testSettings(settings, signal) {
    signal.throwIfAborted();
    tried.push(settings);
    if (settings.size === "large") {
      throw new ServiceError(422, "integration_misconfigured", "Too large for here.", { extra: { setting: "size" } });
    }
  },
  async close() {
    closed++;
  },
};

beforeEach(async () => {
  tried = [];
  closed = 0;
  service = await startTestService({ integrations: [choosy] });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

async function submit(size: string) {
  const path = `${service.url}/connect/choosy`;
  return browser.submit(path, {
    csrf: readCsrf(await browser.open(path)),
    label: "",
    access: "full",
    "set.size": size,
  });
}

test("a choice is a list in the form, and what is not in it is refused", async () => {
  const page = await browser.open(`${service.url}/connect/choosy`);
  expect(page.text).toMatch(/<select id="set-size" name="set.size">.*<option value="large">Large one<\/option>/s);
  expect((await submit("huge")).text).toMatch(/id="set-size-problem">Choose one/);
  expect((await submit("")).text).toMatch(/id="set-size-problem">This is needed/);
  expect(tried).toEqual([]);
});

test("settings are tried once, when the owner connects, and what failed stands at its field", async () => {
  const page = await submit("large");
  expect(page.text).toMatch(/<option value="large" selected>/);
  expect(page.text).toMatch(/id="set-size-problem">Too large for here/);
  expect(await service.service.connections.list("choosy")).toEqual([]);
  expect((await submit("small")).status).toBe(303);
  expect(tried).toEqual([{ size: "large" }, { size: "small" }]);
  const [connection] = await service.service.connections.list("choosy");
  expect((await browser.open(`${service.url}/connections/${connection?.id}`)).text).toContain("<dd>Small one</dd>");
});

test.each([
  ["checkSettings", () => ({ checkSettings: () => new Promise<never>(() => {}) })],
  ["testSettings", () => ({ testSettings: () => new Promise<never>(() => {}) })],
])(
  "%s that never answers is given up in time, and nothing is connected",
  async (_name, never) => {
    const slow = await startTestService({ integrations: [{ ...choosy, ...never() }] });
    try {
      const own = openBrowser();
      await own.open(await slow.service.signInUrl());
      const path = `${slow.url}/connect/choosy`;
      const csrf = readCsrf(await own.open(path));
      const page = await own.submit(path, { csrf, label: "", access: "full", "set.size": "small" });
      expect(page.text).toContain("Choosy gave no answer in time. Try again.");
      expect(await slow.service.connections.list("choosy")).toEqual([]);
    } finally {
      await slow.close();
    }
  },
  30_000,
);

test("integrations are closed with the service", async () => {
  expect(closed).toBe(0);
  await service.service.close();
  expect(closed).toBe(1);
});
