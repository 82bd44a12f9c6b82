import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { describeUndo } from "../notes/check-undo.ts";
import { createKeeper, createPreviewer, NOW, refusal } from "../run-action.ts";
import type { Item, Json } from "./kit/notion-store.ts";
import { startNotion, type TestNotion, TOKEN } from "./kit/start-notion.ts";
import { openNotionUndo } from "./notion-undo-place.ts";

describeUndo("Notion", openNotionUndo, 60);

let notion: TestNotion;
let integration: Integration;
let home: Item;
let clock = NOW;
let keeper: ReturnType<typeof createKeeper>;

beforeEach(async () => {
  notion = await startNotion();
  home = notion.addPage(undefined, "Home");
  integration = createNotesIntegration();
  clock = NOW;
  const settings = { notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id };
  keeper = createKeeper(integration, { settings, now: () => clock });
});
afterEach(async () => {
  await integration.close?.();
  await notion.close();
});

const preview = (id: string, args: Json) =>
  createPreviewer(integration, {
    settings: { notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id },
  })(id, args);
const addPlan = (text = "one\n\ntwo\n\nthree", parent = home, properties: Json = {}) => {
  const page = notion.addPage(parent, "Plan", properties);
  page.text = text;
  return { page, args: { page_id: page.id, title: "Plan" } };
};
const run = async (id: string, args: Json): Promise<KeptWrite> => {
  const { kept } = await keeper.run(id, args);
  if (kept === undefined) throw new Error("kept nothing");
  return kept;
};
const lost = ({ intent }: KeptWrite): KeptWrite => ({ intent, after: undefined });
const undo = async (id: string, kept: KeptWrite) => (await keeper.plan(id, kept)).act();
const blocks = (text: string) => text.split(/\n{2,}/);
const isMarkdown = ({ path, method }: { path: string; method: string }) =>
  method === "PATCH" && path.endsWith("/markdown");

describe("the preview of an undo in Notion", () => {
  it("shows what a new page takes with it, and what stays", async () => {
    const kept = await run("create_page", { title: "New", body: "text", parent: "House/2026" });
    const { preview: shown, raised } = await keeper.plan("create_page", kept);
    expect(shown).toMatchObject({
      summary: 'Take the new page "New" away again from "Test"',
      changes: [{ field: "Text", diff: "@@ -1,1 +0,0 @@\n-text" }],
      effects: [
        { code: "moves_to_trash" },
        { code: "leaves_folder", text: 'The page "House", which was made for it, stays.' },
        { code: "leaves_folder" },
      ],
      undo: { possible: false, why: "It goes to the trash of Notion; a human restores it there." },
    });
    expect(raised?.level).toBe("delete");
  });

  it("shows lines and fields that come back, and that the text is written anew", async () => {
    const { args } = addPlan("```yaml\n# Properties\nstatus: open\n```\n\none\n\ntwo");
    const kept = await run("update_page", { ...args, body: "new", properties: { status: "done" }, new_title: "P" });
    expect((await keeper.plan("update_page", kept)).preview).toMatchObject({
      summary: 'Put "P" in "Test" back as it was (1 line gone, 3 new), and 2 fields',
      changes: [
        { field: "Text" },
        { field: "Title", before: "P", after: "Plan" },
        { field: "Property status", before: "done", after: "open" },
      ],
      effects: [{ code: "replaces" }, { code: "rewrites" }],
    });
  });

  it("shows the page that comes back", async () => {
    const { args } = addPlan();
    const kept = await run("delete_page", args);
    expect((await keeper.plan("delete_page", kept)).preview).toMatchObject({
      summary: 'Bring back "Plan" from the trash in "Test"',
      changes: [{ field: "Text" }],
      undo: { possible: false, why: "The page can be deleted again by hand." },
    });
  });

  it("is announced by the write, with the reason where there will be none", async () => {
    const mention = { type: "mention", mention: { type: "page", page: { id: home.id } }, plain_text: "Plan" };
    const { page, args } = addPlan();
    const possible = { possible: true };
    expect((await preview("create_page", { title: "New" })).undo).toEqual(possible);
    expect((await preview("delete_page", args)).undo).toEqual(possible);
    expect((await preview("update_page", { ...args, append: "x" })).undo).toEqual(possible);
    expect((await preview("update_page", { ...args, body: "x" })).undo).toMatchObject({
      possible: true,
      why: expect.stringContaining("as Markdown"),
    });
    expect((await preview("update_page", { ...args, new_title: "Plan" })).undo).toEqual({
      possible: false,
      why: "It changes nothing.",
    });
    expect((await keeper.run("update_page", { ...args, new_title: "Plan" })).kept).toBeUndefined();
    page.data.properties.title.title = [mention];
    page.unknown.push("block");
    for (const [change, why] of [
      [{ new_title: "New" }, 'The API of Notion does not take the old value of "title" back.'],
      [{ append: "x" }, "Notion does not show the whole text of this page."],
    ] as const) {
      const { undo: shown } = await preview("update_page", { ...args, ...change });
      expect(shown).toMatchObject({ possible: false, why: expect.stringContaining(why) });
      const kept = await run("update_page", { ...args, ...change });
      expect((await refusal(keeper.plan("update_page", kept))).message).toContain(why);
      expect((await keeper.settle("update_page", lost(kept)))?.verdict).toBe("happened");
      page.data.properties.title.title = [mention];
    }
  });
});

describe("an undo in Notion", () => {
  it("takes out the one paragraph that was added, among others of the same text", async () => {
    const { page, args } = addPlan("one\n\ntwo\n\none");
    notion.addPage(page, "Inside");
    const kept = await run("update_page", { ...args, append: "two" });
    await undo("update_page", kept);
    expect(blocks(page.text).slice(0, 3)).toEqual(["one", "two", "one"]);
    expect(page.text).not.toMatch(/one\s+two\s*$|one\s+two\s+</);
    expect(notion.listTitles(page)).toEqual(["Inside"]);
    expect(notion.listWrites().at(-1)?.body.type).toBe("update_content");
  });

  it("empties a page that was empty, and gives back a block of properties that was taken away", async () => {
    const { page, args } = addPlan("");
    await undo("update_page", await run("update_page", { ...args, append: "x", tags: ["a"] }));
    expect(page.text).toBe("");
    page.text = "```yaml\n# Properties\nstatus: open\n```\n\ntext";
    const old = page.text;
    await undo("update_page", await run("update_page", { ...args, properties: { status: null } }));
    expect(page.text).toBe(old);
  });

  it("gives every column its value back", async () => {
    const text = (content: string) => [{ type: "text", text: { content, link: null }, plain_text: content }];
    const old = {
      Points: { type: "number", number: 3 },
      Notes: { type: "rich_text", rich_text: [...text("bold "), ...text("plain")] },
      Stage: { type: "select", select: { name: "Draft" } },
      Tags: { type: "multi_select", multi_select: [{ name: "a" }, { name: "b" }] },
      Done: { type: "checkbox", checkbox: false },
      Due: { type: "date", date: { start: "2026-01-01", end: "2026-01-02", time_zone: null } },
      Site: { type: "url", url: null },
    };
    const columns = Object.fromEntries(Object.entries(old).map(([name, { type }]) => [name, { type, [type]: {} }]));
    const { page, args } = addPlan("", notion.addDatabase(home, "Tasks", columns), structuredClone(old));
    const properties = { Points: 5, Notes: null, Stage: "Final", Done: true, Due: null, Site: "https://example.org" };
    const kept = await run("update_page", { ...args, properties, tags: ["c"] });
    expect(page.data.properties).not.toMatchObject({ Points: { number: 3 } });
    await undo("update_page", kept);
    for (const [name, { type, ...value }] of Object.entries(old))
      expect(page.data.properties[name]).toMatchObject({ type, ...value });
  });

  it("is refused where what a page was in is in the trash, or somebody restored it and deleted it again", async () => {
    const tasks = notion.addPage(home, "Tasks");
    const { page, args } = addPlan("x", tasks);
    const kept = await run("delete_page", args);
    tasks.isInTrash = true;
    expect((await refusal(keeper.plan("delete_page", kept))).message).toContain('"Tasks", is in the trash, too');
    tasks.isInTrash = false;
    notion.store.touch(page);
    notion.store.touch(page);
    expect((await refusal(keeper.plan("delete_page", kept))).message).toContain("changed since it was deleted");
    page.isInTrash = false;
    expect((await refusal(keeper.plan("delete_page", kept))).message).toContain("not in the trash any more");
  });

  it("is half done and not known when its second request fails", async () => {
    const { args } = addPlan();
    const kept = await run("update_page", { ...args, new_title: "P", append: "x" });
    const { act } = await keeper.plan("update_page", kept);
    notion.fail((one) => (isMarkdown(one) ? { status: 400, body: "{}" } : undefined));
    expect((await refusal(act())).code).toBe("outcome_unknown");
  });

  it("finds out by itself how a page was left when it could not be read at once", async () => {
    notion.fail(({ method, path }) => (method === "GET" && path.endsWith("/markdown") ? { status: 500 } : undefined));
    const kept = await run("create_page", { title: "New", body: "text" });
    expect(kept.after).not.toHaveProperty("hash");
    notion.fail(() => undefined);
    await undo("create_page", kept);
    expect(notion.listTitles(home)).toEqual([]);
  });
});

describe("a lost answer in Notion", () => {
  const cut = async (id: string, args: Json) => {
    const { kept, ...done } = await keeper.run(id, args);
    expect(done).toMatchObject({ error: { code: "outcome_unknown" } });
    notion.lose(() => false);
    notion.fail(() => undefined);
    if (kept === undefined) throw new Error("kept nothing");
    return keeper.settle(id, kept);
  };

  it("is found by the page, and taken back all the same", async () => {
    notion.addPage(home, "New").text = "text";
    notion.lose(({ method, path }) => method === "POST" && path === "pages");
    const found = await cut("create_page", { title: "New", body: "text", tags: ["a"] });
    const [, made] = home.children;
    expect(found).toMatchObject({ verdict: "happened", output: { page_id: made?.id, tags: ["a"] } });
    const { page, args } = addPlan();
    const loseChange = () => notion.lose(({ method, path }) => method === "PATCH" && path.startsWith("pages/"));
    loseChange();
    expect(await cut("update_page", { ...args, body: "new" })).toMatchObject({ verdict: "happened" });
    expect(page.text).toBe("new");
    loseChange();
    expect(await cut("delete_page", args)).toMatchObject({ verdict: "happened", output: { deleted: true } });
    expect(page.isInTrash).toBe(true);
  });

  it("did not take effect where a request never arrived", async () => {
    const { args } = addPlan();
    const isLost = () =>
      notion.fail(({ method, path }) => (method !== "GET" && !path.endsWith("query") ? { drop: true } : undefined));
    for (const [id, given] of [
      ["create_page", { title: "New", body: "text" }],
      ["create_page", { title: "New", body: "text", parent: "House/2026" }],
      ["update_page", { ...args, body: "new" }],
      ["delete_page", args],
    ] as const) {
      isLost();
      expect(await cut(id, given), id).toEqual({ verdict: "did_not" });
    }
  });

  it("cannot be known where a part is done, and says which", async () => {
    const { args } = addPlan();
    notion.fail((one) => (isMarkdown(one) ? { drop: true } : undefined));
    expect(await cut("update_page", { ...args, new_title: "P", append: "x" })).toEqual({
      verdict: "cannot_know",
      why: 'The fields of "Plan" are as wanted, and the rest is not.',
    });
    let asked = 0;
    notion.fail(({ method, path }) => {
      if (method === "POST" && path === "pages") asked += 1;
      return asked > 1 ? { drop: true } : undefined;
    });
    expect(await cut("create_page", { title: "New", body: "text", parent: "House" })).toEqual({
      verdict: "cannot_know",
      why: 'The page "House" was made for it, and "New" is not in it.',
    });
  });

  it("cannot be known where more than one page may be it, or it may have been moved", async () => {
    const intent = lost(await run("create_page", { title: "New", body: "text" }));
    const [made] = home.children as [Item];
    const settle = () => keeper.settle("create_page", intent);
    made.text = "theirs";
    expect(await settle()).toMatchObject({ verdict: "cannot_know", why: expect.stringContaining("another text") });
    const other = notion.addPage(home, "New");
    expect(await settle()).toMatchObject({ verdict: "cannot_know", why: expect.stringContaining("Several") });
    made.isInTrash = true;
    other.isInTrash = true;
    expect(await settle()).toEqual({ verdict: "did_not" });
    clock += 11 * 60_000;
    expect(await settle()).toMatchObject({ verdict: "cannot_know", why: expect.stringContaining("moved it") });
    notion.addPage(home, "Renamed");
    expect(await settle()).toMatchObject({ verdict: "cannot_know", why: expect.stringContaining("renamed") });
  });

  it("is not taken back where somebody changed the page before it was looked for", async () => {
    const { page, args } = addPlan();
    const kept = lost(await run("update_page", { ...args, append: "x" }));
    page.data.properties.title.title = [];
    expect(await keeper.settle("update_page", kept)).toEqual({
      verdict: "happened",
      output: expect.objectContaining({ page_id: page.id }),
    });
    expect((await refusal(keeper.plan("update_page", kept))).code).toBe("undo_unavailable");
  });

  it("is no matter of another app: a write that a folder has kept", async () => {
    const kept = { intent: { on: "vault", write: "remove" }, after: undefined };
    expect((await keeper.settle("delete_page", kept))?.verdict).toBe("cannot_know");
    expect((await refusal(keeper.plan("delete_page", kept))).code).toBe("undo_unavailable");
  });
});
