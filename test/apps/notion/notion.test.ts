import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { createRunner, refusal } from "../run-action.ts";
import type { Item, Json } from "./kit/notion-store.ts";
import { startNotion, type TestNotion, TOKEN } from "./kit/start-notion.ts";

let notion: TestNotion;
let integration: Integration;
let home: Item;
let run: ReturnType<typeof createRunner>;
let waits: number[];

const settings = (more: Record<string, unknown> = {}) => ({
  notionToken: TOKEN,
  notionUrl: notion.url,
  notionParent: home.id,
  ...more,
});
const facts = ({ status, code, options }: Awaited<ReturnType<typeof refusal>>) => [
  status,
  code,
  options.retryable ?? false,
];
const titles = (found: Json) => found.pages.map((page: Json) => page.title);
const PAGE = {
  page_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
  path: expect.stringMatching(/^https:\/\/www\.notion\.so\/[0-9a-f]{32}$/),
};

beforeEach(async () => {
  notion = await startNotion();
  home = notion.addPage(undefined, "Home");
  waits = [];
  integration = createNotesIntegration({ wait: async (ms) => void waits.push(ms) });
  run = createRunner(integration, { settings: settings() });
});
afterEach(async () => {
  await integration.close?.();
  await notion.close();
});

describe("notes_create_page in Notion", () => {
  it("creates a page in one request, and gives what the vault gives", async () => {
    const page = await run("create_page", {
      title: "Call",
      body: "- [ ] ask\n\n<!-- mark-1 -->",
      parent: "Tasks",
      tags: ["home"],
      properties: { status: "open" },
    });
    const [tasks] = home.children;
    expect(page).toEqual({ ...PAGE, title: "Call", parent: tasks?.id, tags: ["home"], modified: expect.any(String) });
    expect(notion.listWrites().map(({ method, path }) => `${method} ${path}`)).toEqual(["POST pages", "POST pages"]);
    expect(await run("read_page", { page_id: page.path })).toEqual({
      ...page,
      properties: { status: "open" },
      body: "- [ ] ask\n\n<!-- mark-1 -->\n",
    });
    expect(tasks?.children[0]?.text).toBe(
      "```yaml\n# Properties\ntags:\n  - home\nstatus: open\n```\n\n- [ ] ask\n\n\\<!-- mark-1 -->",
    );
  });

  it("makes missing pages on the way once, and finds them by title, id or address", async () => {
    await run("create_page", { title: "a", parent: "Projects/2026" });
    await Promise.all(["b", "c", "d"].map((title) => run("create_page", { title, parent: "Projects/2026" })));
    const [projects] = home.children;
    const [year] = projects?.children ?? [];
    expect([notion.listTitles(home), notion.listTitles(projects as Item)]).toEqual([["Projects"], ["2026"]]);
    await run("create_page", { title: "e", parent: year?.id });
    await run("create_page", {
      title: "f",
      parent: `https://www.notion.so/team/2026-${year?.id.replaceAll("-", "")}?pvs=4`,
    });
    expect(notion.listTitles(year as Item)).toEqual(["a", "b", "c", "d", "e", "f"]);
  });

  it("uses the columns of a database, and keeps what it has no column for", async () => {
    const status = { type: "status", status: { options: [{ name: "Open" }, { name: "Done" }] } };
    const tasks = notion.addDatabase(home, "Tasks", {
      Tags: { type: "multi_select", multi_select: { options: [] } },
      Status: status,
      Points: { type: "number", number: {} },
      Due: { type: "date", date: {} },
      Link: { type: "url", url: {} },
      Notes: { type: "rich_text", rich_text: {} },
      Ready: { type: "checkbox", checkbox: {} },
    });
    const properties = {
      status: "open",
      points: 3,
      Due: "2026-12-01",
      link: "https://example.org",
      notes: "n",
      ready: true,
    };
    const page = await run("create_page", {
      title: "Row",
      parent: "Tasks",
      tags: ["a", "b"],
      properties: { ...properties, other: "kept" },
    });
    expect(page).toMatchObject({ parent: tasks.id, tags: ["a", "b"] });
    expect(await run("read_page", { page_id: page.page_id })).toMatchObject({
      tags: ["a", "b"],
      properties: {
        Status: "Open",
        Points: 3,
        Due: "2026-12-01",
        Link: "https://example.org",
        Notes: "n",
        Ready: true,
        other: "kept",
      },
    });
    const odd = await run("create_page", {
      title: "Odd",
      parent: tasks.id,
      tags: ["a,b"],
      properties: { status: "unknown", points: "many" },
    });
    expect(await run("read_page", { page_id: odd.page_id })).toMatchObject({
      tags: ["a,b"],
      properties: { status: "unknown", points: "many" },
    });
    expect(titles(await run("list_pages", { parent: "Tasks", tag: "b" }))).toEqual(["Row"]);
  });

  it("refuses text that is longer than a request, before anything is written", async () => {
    for (const [id, args, field] of [
      ["create_page", { title: "x", body: "- ä\n".repeat(99_000) }, "body"],
      ["update_page", { page_id: home.id, title: "Home", append: "- x\n".repeat(99_000) }, "append"],
      ["update_page", { page_id: home.id, title: "Home", body: "- x\n".repeat(99_000) }, "body"],
    ] as const)
      expect((await refusal(run(id, args))).options.extra).toEqual({ invalidFields: [`arguments.${field}`] });
    expect(notion.listWrites()).toEqual([]);
    await run("update_page", { page_id: home.id, title: "Home", append: "- x\n".repeat(97_000) });
  });

  it("refuses an equal title when it is told to, and a place that it cannot make", async () => {
    await run("create_page", { title: "Same" });
    await run("create_page", { title: "Same" });
    const taken = await refusal(run("create_page", { title: "Same", if_exists: "error" }));
    expect([taken.status, taken.options.extra]).toEqual([400, { invalidFields: ["arguments.title"] }]);
    const loose = createRunner(integration, { settings: settings({ notionParent: undefined }) });
    expect((await refusal(loose("create_page", { title: "x" }))).options.extra).toEqual({
      invalidFields: ["arguments.parent"],
    });
    const nowhere = await refusal(loose("create_page", { title: "x", parent: "Nowhere" }));
    expect([nowhere.status, nowhere.options.hint]).toEqual([404, expect.stringContaining("Share a page")]);
    expect((await loose("create_page", { title: "x", parent: "Home" })).parent).toBe(home.id);
    expect((await refusal(run("create_page", { title: "x", parent: "a/../b" }))).status).toBe(400);
  });
});

describe("finding pages in Notion", () => {
  it("lists through all pages of an answer, the last changed first, and leaves out what is in the trash", async () => {
    const pages = Array.from({ length: 230 }, (_, index) => notion.addPage(home, `Page ${index}`));
    for (const page of pages.slice(0, 3)) page.isInTrash = true;
    const first = await run("list_pages", { limit: 200 });
    expect(first).toMatchObject({ total: 228, next_offset: 200 });
    expect(first.pages[0]).toMatchObject({ ...PAGE, title: "Page 229", parent: home.id });
    expect((await run("list_pages", { offset: 200 })).pages).toHaveLength(28);
    expect(await run("list_pages", { parent: home.id, limit: 1 })).toMatchObject({ total: 227 });
    expect(notion.asked.filter(({ path }) => path === "search").map(({ body }) => body.page_size)).toEqual(
      Array(6).fill(100),
    );
  });

  it("says that it did not look at more than a thousand", async () => {
    for (let index = 0; index < 1001; index += 1) notion.addPage(home, `Page ${index}`);
    expect(await run("list_pages", { parent: home.id, limit: 1 })).toMatchObject({
      total: 1000,
      note: expect.stringContaining("1000"),
    });
  });

  it("searches titles everywhere, and text in a parent, also of pages that Notion's search does not know yet", async () => {
    notion.indexes(false);
    await run("create_page", {
      title: "Plan",
      body: "about a budget\n\n<!-- flow_1--001 -->",
      parent: "Tasks",
      tags: ["work"],
    });
    notion.addPage(home, "Budget 2026");
    const everywhere = await run("search", { query: "Budget" });
    expect([titles(everywhere), everywhere.note]).toEqual([["Budget 2026"], expect.stringContaining("Only titles")]);
    const inside = await run("search", { query: "flow_1--001", parent: "Tasks", limit: 1 });
    expect(inside).toMatchObject({
      total: 1,
      pages: [{ title: "Plan", tags: ["work"], snippet: expect.stringContaining("budget") }],
    });
    expect((await run("search", { query: "nothing", parent: "Tasks" })).total).toBe(0);
    expect((await run("search", { query: "budget", parent: "Tasks", tag: "work" })).total).toBe(1);
    expect((await run("search", { query: "budget", parent: "Tasks", tag: "home" })).total).toBe(0);
  });

  it("looks into the newest pages first, and says when it did not look into all", async () => {
    for (let index = 0; index < 120; index += 1) notion.addPage(home, `Page ${index}`).text = `text ${index}`;
    const newest = await run("search", { query: "text 119", parent: home.id, limit: 1 });
    expect([titles(newest), newest.note]).toEqual([["Page 119"], expect.stringContaining("newest")]);
    expect(notion.asked.filter(({ path }) => path.endsWith("/markdown")).length).toBeLessThan(10);
    expect(await run("search", { query: "text 5", parent: home.id, limit: 50 })).toMatchObject({
      total: 19,
      note: expect.any(String),
    });
  });

  it("reads a long page in parts", async () => {
    const page = notion.addPage(home, "Long");
    page.text = Array.from({ length: 350 }, (_, index) => `line ${index}`).join("\n\n");
    const whole = (await run("read_page", { page_id: page.id, max_chars: 200_000 })).body;
    expect(whole.split("\n\n")).toHaveLength(350);
    notion.asked.length = 0;
    let body = "";
    for (let offset: number | undefined = 0; offset !== undefined; ) {
      const part: Json = await run("read_page", { page_id: page.id, offset, max_chars: 500 });
      if (offset === 0) expect(notion.asked).toHaveLength(2);
      body += part.body;
      offset = part.next_offset;
    }
    expect(body).toBe(whole);
  });

  it("names no block as the place of a page", async () => {
    const column = notion.addBlock(home, { type: "column", column: {} });
    const page = notion.addPage(column, "In a column");
    expect((await run("read_page", { page_id: page.id })).parent).toBe("");
  });

  it("shows what Markdown cannot hold", async () => {
    const page = notion.addPage(home, "Mixed");
    page.text = `before\n\n<video src="https://example.org/v"></video>\n\n<unknown url="https://www.notion.so/x" alt="ai_block"/>`;
    notion.addPage(page, "Inner");
    const { body } = await run("read_page", { page_id: page.id });
    expect(body).toMatch(
      /^before\n\n<video .*\n\n<unknown .* alt="ai_block"\/>\n\n<page url="[^"]+\w{32}">Inner<\/page>\n$/,
    );
  });
});

describe("changing pages in Notion", () => {
  it("adds text at the end, and changes title, tags and properties", async () => {
    const { page_id } = await run("create_page", {
      title: "Old",
      body: "first",
      tags: ["a"],
      properties: { status: "open", due: "soon" },
    });
    const changed = await run("update_page", {
      page_id,
      title: "Old",
      append: "second",
      new_title: "New",
      tags: ["b"],
      properties: { status: "done", due: null },
    });
    expect(changed).toMatchObject({ page_id, title: "New", tags: ["b"] });
    expect(await run("read_page", { page_id })).toMatchObject({
      body: "first\n\nsecond\n",
      title: "New",
      tags: ["b"],
      properties: { status: "done" },
    });
    const none = await run("update_page", { page_id, title: "New", tags: [], properties: { status: null } });
    expect(none.tags).toEqual([]);
    expect(home.children[0]?.text).toBe("first\n\nsecond");
  });

  it("changes columns of a database", async () => {
    notion.addDatabase(home, "Tasks", {
      Tags: { type: "multi_select", multi_select: {} },
      Points: { type: "number", number: {} },
    });
    const { page_id } = await run("create_page", {
      title: "Row",
      parent: "Tasks",
      tags: ["a"],
      properties: { points: "many" },
    });
    expect(await run("update_page", { page_id, title: "Row", tags: ["b"], properties: { points: 5 } })).toMatchObject({
      tags: ["b"],
    });
    expect((await run("read_page", { page_id })).properties).toEqual({ Points: 5 });
    await run("update_page", { page_id, title: "Row", properties: { points: null } });
    expect((await run("read_page", { page_id })).properties).toEqual({ Points: null });
  });

  it("replaces text; what is inside the page as a page of its own stays", async () => {
    const { page_id } = await run("create_page", {
      title: "P",
      body: "old\n\n- list\n  - deep",
      properties: { k: "v" },
    });
    notion.addPage(home.children[0], "Inner");
    await run("update_page", { page_id, title: "P", body: "new" });
    expect(await run("read_page", { page_id })).toMatchObject({
      body: expect.stringMatching(/^<page url=".*">Inner<\/page>\n\nnew\n$/),
      properties: { k: "v" },
    });
  });

  it("moves a page inside the page to where the new text names it, and never deletes one", async () => {
    const inner = notion.addPage(home, "Inner");
    const old = (await run("read_page", { page_id: home.id })).body;
    await run("update_page", { page_id: home.id, title: "Home", body: `first\n\n${old}\nlast` });
    expect(home.text).toBe(`first\n\n${old}\nlast`);
    await run("update_page", { page_id: home.id, title: "Home", body: "" });
    expect([home.text, inner.isInTrash]).toEqual([old.trim(), false]);
    expect(JSON.stringify(notion.listWrites())).not.toContain("allow_deleting_content");
  });

  it.each([
    ["columns, file", `keep\n\n<columns>\n</columns>\n\n<file src="x">n</file>`, []],
    ["ai block", `<unknown url="https://www.notion.so/x" alt="ai_block"/>`, ["3c90c3cc-0d44-4b50-8888-8dd25736052a"]],
    ["image", `![a](https://prod-files-secure.s3.amazonaws.com/a?X-Amz-Signature=1)`, []],
    ["blocks that Notion left out", "text", ["3c90c3cc-0d44-4b50-8888-8dd25736052a"]],
  ])("does not replace what Markdown cannot hold: %s", async (kinds, text, unknown) => {
    const page = notion.addPage(home, "Mixed");
    page.text = text;
    page.unknown.push(...unknown);
    const error = await refusal(run("update_page", { page_id: page.id, title: "Mixed", body: "new" }));
    expect([error.status, error.message]).toEqual([400, expect.stringContaining(`cannot hold: ${kinds}.`)]);
    expect(notion.listWrites()).toEqual([]);
    page.unknown.length = 0;
    page.text = `\`\`\`html\n${text}\n\`\`\``;
    await run("update_page", { page_id: page.id, title: "Mixed", body: "new" });
  });

  it("loses no text when it fails in the middle, and says that it was begun", async () => {
    const { page_id } = await run("create_page", { title: "P", body: "one\n\ntwo" });
    notion.fail(({ method, path }) => (method === "PATCH" && path.endsWith("/markdown") ? { status: 503 } : undefined));
    const error = await refusal(run("update_page", { page_id, title: "P", new_title: "Q", body: "new" }));
    expect([...facts(error), error.message]).toEqual([
      500,
      "outcome_unknown",
      false,
      expect.stringContaining("begun and not finished"),
    ]);
    expect(await run("read_page", { page_id })).toMatchObject({ title: "Q", body: "one\n\ntwo\n" });
  });

  it("loses none of many simultaneous additions", async () => {
    const { page_id } = await run("create_page", { title: "Log" });
    await Promise.all(
      Array.from({ length: 10 }, (_, index) =>
        run("update_page", { page_id, title: "Log", append: `line ${index}`, properties: { [`p${index}`]: index } }),
      ),
    );
    const { body, properties } = await run("read_page", { page_id });
    expect([body.trim().split("\n\n").length, Object.keys(properties).length]).toEqual([10, 10]);
  });

  it("moves a page to the trash, where no action finds it any more", async () => {
    const { page_id, path } = await run("create_page", { title: "Gone" });
    expect(await run("delete_page", { page_id: path, title: "Gone" })).toMatchObject({
      page_id,
      deleted: true,
      trashed_to: path,
    });
    for (const [id, args] of [
      ["read_page", {}],
      ["update_page", { title: "Gone", append: "x" }],
      ["delete_page", { title: "Gone" }],
    ] as const) {
      const error = await refusal(run(id, { page_id, ...args }));
      expect([error.status, error.code, error.message]).toEqual([404, "not_found", expect.stringContaining("trash")]);
    }
    expect((await refusal(run("create_page", { title: "x", parent: page_id }))).status).toBe(404);
    expect(titles(await run("list_pages", {}))).toEqual(["Home"]);
    expect((await refusal(run("read_page", { page_id: "Budget.md" }))).options.extra).toEqual({
      invalidFields: ["arguments.page_id"],
    });
  });
});

describe("Notion's limits and failures", () => {
  const busy = (seconds: number, status = 429) => ({
    status,
    headers: { "retry-after": String(seconds) },
    body: '{"object":"error","code":"rate_limited","message":"Slow down."}',
  });

  it("waits a moment for its place, and passes longer waits on", async () => {
    let left = 2;
    notion.fail(() => (left-- > 0 ? busy(1) : undefined));
    expect((await run("list_pages", {})).total).toBe(1);
    expect(waits).toEqual([1000, 1000]);
    for (const status of [429, 529]) {
      notion.fail(() => busy(9, status));
      const error = await refusal(run("create_page", { title: "x", parent: home.id }));
      expect([...facts(error), error.options.retryAfterSeconds]).toEqual([
        status === 429 ? 429 : 503,
        expect.any(String),
        true,
        9,
      ]);
    }
    notion.fail(() => busy(1));
    expect(facts(await refusal(run("list_pages", {})))).toEqual([429, "rate_limited", true]);
    expect(notion.listTitles(home)).toEqual([]);
  });

  it("waits longer in the middle of a change", async () => {
    const { page_id } = await run("create_page", { title: "Long" });
    let left = 1;
    notion.fail(({ method, path }) =>
      method === "PATCH" && path.endsWith("/markdown") && left-- > 0 ? busy(20) : undefined,
    );
    await run("update_page", { page_id, title: "Long", new_title: "Longer", append: "more" });
    expect([waits, notion.listTitles(home)]).toEqual([[20_000], ["Longer"]]);
    expect((await run("read_page", { page_id })).body).toBe("more\n");
  });

  it("a look-up that fails before a write leaves no doubt about it", async () => {
    for (const answer of [{ status: 500 }, { drop: true as const }, { body: "{" }]) {
      notion.fail(({ method }) => (method === "GET" ? answer : undefined));
      const error = await refusal(run("create_page", { title: "x", parent: home.id }));
      expect(["provider_unavailable", "provider_error"]).toContain(error.code);
    }
    expect(notion.listWrites()).toEqual([]);
  });

  it("a write of which Notion says that it gave up after a minute may have been done", async () => {
    const body = JSON.stringify({ object: "error", status: 503, code: "service_unavailable", message: "Timed out." });
    notion.fail(({ method }) => (method === "POST" ? { status: 503, body } : undefined));
    expect(facts(await refusal(run("create_page", { title: "x" })))).toEqual([500, "outcome_unknown", false]);
    expect(facts(await refusal(run("search", { query: "x" })))).toEqual([503, "provider_unavailable", true]);
  });

  it("a token that is unknown or has expired is a 401, and never shown", async () => {
    const stale = createRunner(integration, { settings: settings({ notionToken: "ntn_expired_token" }) });
    for (const [id, args] of [
      ["search", { query: "x" }],
      ["create_page", { title: "x" }],
    ] as const)
      expect(facts(await refusal(stale(id, args)))).toEqual([401, "needs_reauth", false]);
    notion.fail(() => ({ status: 400, body: JSON.stringify({ message: `bad ${TOKEN}` }) }));
    const error = await refusal(run("search", { query: "x" }));
    expect([error.status, error.message]).toEqual([400, "Notion answered 400: bad [hidden]"]);
  });

  it("sends the version, the token and nothing to anywhere else", async () => {
    await run("list_pages", {});
    expect(notion.asked[0]?.headers).toMatchObject({
      authorization: `Bearer ${TOKEN}`,
      "notion-version": "2026-03-11",
    });
    notion.fail(() => ({ status: 302, headers: { location: "http://127.0.0.1:1/" } }));
    expect((await refusal(run("list_pages", {}))).code).toBe("provider_error");
  });

  it("gives up when it is told to, also while it waits for its turn", async () => {
    const stop = new AbortController();
    const stopped = createRunner(integration, { settings: settings(), signal: stop.signal });
    notion.fail(() => {
      stop.abort(new Error("enough"));
      return { hang: true };
    });
    const both = [stopped("create_page", { title: "x" }), stopped("create_page", { title: "y" })];
    expect((await Promise.allSettled(both)).map((one) => one.status)).toEqual(["rejected", "rejected"]);
  });
});

describe("settings", () => {
  const check = (more: Record<string, unknown>) => integration.checkSettings(settings(more));
  const attempt = (more: Record<string, unknown>) =>
    integration.testSettings?.(settings(more), AbortSignal.timeout(5000)) as Promise<void>;
  const setting = async (promise: Promise<unknown>) => {
    const error = await refusal(promise);
    return [error.status, error.options.extra?.setting];
  };

  it("are a folder or a token, not both", async () => {
    await check({});
    expect(await setting(check({ folder: "/tmp" }))).toEqual([422, "folder"]);
    expect(await setting(integration.checkSettings({}))).toEqual([422, "folder"]);
  });

  it.each([
    ["notionToken", { notionToken: "two words" }],
    ["notionParent", { notionParent: "Tasks" }],
    ["notionUrl", { notionUrl: "http://notion.example.org" }],
    ["notionUrl", { notionUrl: "https://notion.example.org/v1" }],
    ["notionUrl", { notionUrl: "ftp://127.0.0.1" }],
  ])("refuse a wrong %s", async (name, more) => {
    expect(await setting(check(more))).toEqual([422, name]);
  });

  it("reach no private address by a public-looking way", async () => {
    const guarded = createRunner(integration, { settings: settings({ notionUrl: "https://192.168.0.1" }) });
    const error = await refusal(guarded("list_pages", {}));
    expect([...facts(error), error.message]).toEqual([
      503,
      "provider_unavailable",
      true,
      expect.stringContaining("--allow-host"),
    ]);
  });

  it("are tried when the app is connected", async () => {
    const database = notion.addDatabase(home, "Tasks", {});
    await attempt({});
    await attempt({ notionParent: database.id });
    await attempt({ notionParent: database.parent?.id });
    expect(await setting(attempt({ notionToken: "wrong" }))).toEqual([422, "notionToken"]);
    expect(await setting(attempt({ notionParent: "0".repeat(32) }))).toEqual([422, "notionParent"]);
    await notion.stop();
    expect(await setting(attempt({}))).toEqual([422, "notionUrl"]);
  });
});
