import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openStoreOf } from "../../find-store.ts";
import { execute, type Reply } from "../../http-calls.ts";
import { createLab } from "../../lab-integration.ts";
import { type Browser, openBrowser } from "./browser.ts";

const HOUR = 60 * 60 * 1000;

let service: TestService;
let browser: Browser;
let now: number;
let connectionId: string;

beforeEach(async () => {
  now = Date.parse("2026-03-04T10:00:00Z");
  service = await startTestService({ integrations: [createLab().integration], now: () => now });
  const { connections } = service.service;
  connectionId = (await connections.add({ integration: "lab", label: "Main lab", settings: {}, isDefault: true })).id;
  await connections.add({ integration: "lab", label: "Other lab", settings: {} });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

const open = (query = ""): Promise<Reply> => browser.open(`${service.url}/log${query}`);
/** Titles of the executions on a page, in order. */
const titles = ({ text }: Reply): string[] =>
  [...text.matchAll(/<a href="\/log\/exe_\w+">([^<]+)<\/a>/g)].map((match) => match[1] ?? "");
const hrefOf = ({ text }: Reply, name: string): string | undefined =>
  new RegExp(`<a href="/log([^"]*)">${name}</a>`).exec(text)?.[1]?.replaceAll("&amp;", "&");

async function fill(): Promise<void> {
  await execute(service, "lab_look", { text: "one" });
  now += HOUR;
  await execute(service, "lab_fail", { how: "gone" });
  now += 24 * HOUR;
  const other = (await service.service.connections.list()).find(({ id }) => id !== connectionId);
  const phone = { url: service.url, apiKey: await service.createKey("Phone") };
  await execute(phone, "lab_put", { arguments: { title: "x" }, confirmed: true, connectionId: other?.id });
}

describe("the execution log", () => {
  test("says so when it is empty", async () => {
    expect((await open()).text).toContain("Nothing was executed yet.");
    expect((await open("?status=failed")).text).toContain("Nothing matches these filters.");
  });

  test("lists what ran, newest first, with connection, device and status", async () => {
    await fill();
    const page = await open();
    expect(titles(page)).toEqual(["Put", "Fail", "Look"]);
    expect(page.text).toContain("Lab, Other lab · Phone");
    expect(page.text).toMatch(/class="tag bad">Failed/);
  });

  test("says what each call was about, and leads to the calls of a flow", async () => {
    await execute(service, "lab_put", { arguments: { title: "A & <b>" }, confirmed: true });
    const store = await openStoreOf(service.dataDir);
    const { id: execution_id } = await store.selectFrom("executions").select("id").executeTakeFirstOrThrow();
    await execute(service, "lab_put", { arguments: { title: "Other" }, confirmed: true });
    await store.insertInto("flow_calls").values({ key: "k", flow_id: "flw_1", execution_id }).execute();
    await store.destroy();
    const { text } = await open("?flow=flw_1");
    expect([...text.matchAll(/<span class="object">([^<]*)/g)].map(([, object]) => object)).toEqual([
      "A &amp; &lt;b&gt;",
    ]);
    expect(text).toContain('<a href="/flows/flw_1">its flow</a>');
    expect(text).toContain('<option value="flw_1" selected>Another flow</option>');
    const one = (await open(`/${execution_id}`)).text;
    expect(one).toContain('<a href="/flows/flw_1">a flow</a>, with <a href="/log?flow=flw_1">');
    expect(one).toMatch(/Asked by<\/dt><dd><a href="\/log\?device=key_\w+">Test device/);
  });

  test("folds the filter away while nothing is chosen", async () => {
    expect((await open()).text).toContain('<details class="fold"><summary>Filter</summary>');
    expect((await open("?status=failed")).text).toContain('<details class="fold" open>');
  });

  test.each([
    ["?status=failed", ["Fail"]],
    ["?status=succeeded", ["Put", "Look"]],
    ["?tool=lab_put", ["Put"]],
    ["?connection=MAIN", ["Fail", "Look"]],
    ["?device=PHONE", ["Put"]],
    ["?device=key_none", []],
    ["?flow=flw_none", []],
    ["?from=2026-03-05", ["Put"]],
    ["?to=2026-03-04", ["Fail", "Look"]],
    ["?from=2026-03-04&to=2026-03-04&status=succeeded", ["Look"]],
    ["?from=2026-03-06", []],
    ["?from=2026-03-05&to=2026-03-05&zone=Pacific/Kiritimati", ["Fail", "Look"]],
    ["?from=2026-03-05&to=2026-03-05&zone=Nowhere", ["Put"]],
    ["?status=nonsense&from=yesterday&tool=&connection=&to=2026-02-31&before=x", ["Put", "Fail", "Look"]],
  ])("filters by %s", async (query, expected) => {
    await fill();
    const { text } = await browser.open(`${service.url}/devices`);
    const phone = /<a href="\/log\?device=(key_\w+)">Log<span class="hidden"> of Phone/.exec(text)?.[1] ?? "";
    expect(titles(await open(query.replace("MAIN", connectionId).replace("PHONE", phone)))).toEqual(expected);
  });

  test("keeps the chosen filters in its form", async () => {
    await fill();
    const { text } = await open("?status=failed&tool=lab_fail&from=2026-03-01");
    expect(text).toContain('<option value="failed" selected>');
    expect(text).toContain('<option value="lab_fail" selected>');
    expect(text).toContain('name="from" type="date" value="2026-03-01"');
  });

  test("pages through everything once, also when many share one moment", async () => {
    for (let count = 0; count < 60; count++) {
      if (count % 20 === 0) now += 1000;
      await execute(service, "lab_look", { text: `number ${count}` });
    }
    const seen: string[] = [];
    let query: string | undefined = "?tool=lab_look";
    for (let pages = 0; query !== undefined; pages++) {
      expect(pages).toBeLessThan(4);
      const page: Reply = await open(query);
      seen.push(...[...page.text.matchAll(/\/log\/(exe_\w+)/g)].map((match) => match[1] ?? ""));
      expect(hrefOf(page, "Newest")).toBe(pages === 0 ? undefined : "?tool=lab_look");
      query = hrefOf(page, "Older");
    }
    expect(seen).toHaveLength(60);
    expect(new Set(seen).size).toBe(60);
  });

  test("shows one execution with arguments and result, escaped", async () => {
    await execute(service, "lab_look", { text: "<script>alert(1)</script>" });
    const id = /\/log\/(exe_\w+)/.exec((await open()).text)?.[1];
    const { text } = await open(`/${id}`);
    expect(text).toContain("lab_look");
    expect(text).toContain("&lt;script&gt;alert(1)");
    expect(text).not.toContain("<script>alert");
    expect(text).toContain("Main lab");
    expect((await open("/exe_unknown")).status).toBe(404);
  });

  test("shows arguments and result as names and values, and behind a fold as they are", async () => {
    const list = Array.from({ length: 300 }, (_, index) => ({ id: `${index} ${"n".repeat(100)}` }));
    await execute(service, "lab_look", { text: "Long", count: 3, list });
    const id = /\/log\/(exe_\w+)/.exec((await open()).text)?.[1];
    const { text } = await open(`/${id}`);
    expect(text).toMatch(/<summary>Arguments: [\d,]+ characters<\/summary><dl><dt>Text<\/dt><dd><span[^>]*>Long</);
    expect(text).toMatch(/<li><dl><dt>Id<\/dt><dd><span class="text">0 n{100}/);
    expect(text).toMatch(/… \d+ more<\/span>/);
    expect(text).toMatch(/<summary>Result as JSON<\/summary><pre class="json"><code>\{\n {2}&quot;args&quot;: \{/);
    expect(text.length).toBeLessThan(120_000);
  });

  test("shows why one failed, and nothing internal", async () => {
    await execute(service, "lab_fail", { how: "crash" });
    const id = /\/log\/(exe_\w+)/.exec((await open()).text)?.[1];
    const { text } = await open(`/${id}`);
    expect(text).toMatch(/class="notice bad">[^<]+</);
    expect(text).not.toContain("key.pem");
  });

  test("still names a device that was revoked", async () => {
    const apiKey = await service.createKey("Lost phone");
    await execute({ url: service.url, apiKey }, "lab_look", { text: "hello" });
    expect((await open()).text).toContain("Lost phone");
    const { text } = await browser.open(`${service.url}/devices`);
    const id = /<strong>Lost phone<\/strong>[\s\S]*?\/devices\/(key_\w+)\/revoke/.exec(text)?.[1];
    const csrf = /name="csrf" value="([^"]+)"/.exec(text)?.[1] ?? "";
    await browser.submit(`${service.url}/devices/${id}/revoke`, { csrf });
    expect((await open()).text).toContain("Lost phone (revoked)");
  });
});
