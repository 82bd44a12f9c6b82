import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openStoreOf } from "../../find-store.ts";
import { type Browser, openBrowser } from "./browser.ts";

let service: TestService;
let owner: Browser;
beforeAll(async () => {
  service = await startTestService();
  owner = openBrowser();
  await owner.open(await service.service.signInUrl());
});
afterAll(() => service.close());

test("a hundred devices take three pages, newest first, each device once and with its own limits", async () => {
  for (let index = 0; index < 100; index += 1) {
    await service.createKey(`Device ${index}.`, index === 7 ? { levels: ["read"] } : {});
  }
  // Made at one moment, as by a script.
  const store = await openStoreOf(service.dataDir);
  await store
    .updateTable("api_keys")
    .set({ created_at: "2026-01-01T00:00:00.000Z" })
    .where("label", "like", "%0.")
    .execute();
  for (const index of [98, 99]) {
    const at = { created_at: new Date(Date.now() + index).toISOString() };
    await store.updateTable("api_keys").set(at).where("label", "=", `Device ${index}.`).execute();
  }
  await store.destroy();
  const shown: string[] = [];
  const limited: string[] = [];
  let next = "/devices";
  for (let pages = 0; next !== ""; pages += 1) {
    expect(pages).toBeLessThan(3);
    const { status, text } = await owner.open(`${service.url}${next}`);
    expect(status).toBe(200);
    for (const [row] of text.matchAll(/<li><div><strong>[\s\S]*?<\/li>/g)) {
      const name = /<strong>(.*?)<\/strong>/.exec(row)?.[1] ?? "";
      shown.push(name);
      if (!row.includes("May use everything")) limited.push(name);
    }
    next = (/<a href="([^"]+)">Older</.exec(text)?.[1] ?? "").replaceAll("&amp;", "&");
  }
  expect(shown.slice(0, 2)).toEqual(["Device 99.", "Device 98."]);
  expect(new Set(shown).size).toBe(101);
  expect(shown).toHaveLength(101);
  expect(limited).toEqual(["Device 7."]);
  expect((await owner.open(`${service.url}/`)).text).toContain("All 101 devices");
});
