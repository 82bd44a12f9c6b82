import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createPreviewer, createRunner, refusal } from "../run-action.ts";
import type { Item, Json } from "./kit/notion-store.ts";
import { startNotion, type TestNotion, TOKEN } from "./kit/start-notion.ts";

/** `SVC_FILES=500` takes a minute. */
const RUNS = Number(process.env.SVC_FILES ?? 50);
let notion: TestNotion;
let integration: Integration;
let home: Item;

beforeEach(async () => {
  notion = await startNotion();
  home = notion.addPage(undefined, "Home");
  integration = createNotesIntegration();
});
afterEach(async () => {
  await integration.close?.();
  await notion.close();
});

const settings = () => ({ notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id });
const preview = (action: string, args: Json) => createPreviewer(integration, { settings: settings() })(action, args);
const run = (action: string, args: Json, expectedState?: string) =>
  createRunner(integration, { settings: settings(), ...(expectedState && { expectedState }) })(action, args);
const addPlan = (text = "one\n\ntwo\n\nthree") => {
  const page = notion.addPage(home, "Plan");
  page.text = text;
  return { page, args: { page_id: page.id, title: "Plan" } };
};

describe("the preview of a page in Notion", () => {
  it("names the place of a new page, and the pages that are made on the way", async () => {
    notion.addPage(home, "Tasks");
    const shown = await preview("create_page", { title: "Call", body: "- [ ] ask", parent: "Tasks/2026" });
    expect(shown).toMatchObject({
      summary: 'Create the page "Call" in "Test" (1 line)',
      objects: [{ kind: "page", name: "Call", details: [{ label: "Path", value: "Tasks/2026/Call" }, {}] }],
      changes: [{ field: "Text", diff: "@@ -0,0 +1,1 @@\n+- [ ] ask" }],
      effects: [{ code: "creates_folder", text: 'New folder: "Tasks/2026".' }],
    });
    expect(notion.listWrites()).toEqual([]);
  });

  it("shows the lines and fields that change", async () => {
    const { args } = addPlan("```yaml\n# Properties\nstatus: open\n```\n\none\n\ntwo");
    const change = { ...args, body: "one\n\n2", tags: ["house"], properties: { status: null, due: "2026-12-01" } };
    expect(await preview("update_page", change)).toMatchObject({
      summary: 'Replace text of "Plan" in "Test" (1 line gone, 1 new), and 3 fields',
      changes: [
        { field: "Text", diff: "@@ -1,3 +1,3 @@\n one\n \n-two\n+2" },
        { field: "Tags", after: "house" },
        { field: "Property status", before: "open" },
        { field: "Property due", after: "2026-12-01" },
      ],
      effects: [{ code: "replaces" }],
      undo: { possible: true, why: expect.stringContaining("Markdown") },
    });
    expect((await preview("update_page", { ...args, append: "three" })).summary).toBe(
      'Add 2 lines to "Plan" in "Test"',
    );
    expect(notion.listWrites()).toEqual([]);
  });

  it("takes columns of a database by their own names", async () => {
    const tasks = notion.addDatabase(home, "Tasks", { Points: { type: "number", number: {} } });
    const row = notion.addPage(tasks, "Row", { Points: { type: "number", number: 3 } });
    const { changes } = await preview("update_page", { page_id: row.id, title: "Row", properties: { points: 5 } });
    expect(changes).toEqual([{ field: "Property Points", before: "3", after: "5" }]);
  });

  it("says what goes to the trash with a page", async () => {
    const { page, args } = addPlan();
    notion.addPage(page, "Inside");
    expect(await preview("delete_page", args)).toMatchObject({
      summary: 'Delete the page "Plan" from "Test"',
      effects: [{ code: "moves_to_trash" }, { code: "moves_many", text: 'With it goes the page inside it: "Inside".' }],
    });
  });

  it("refuses what the change refuses", async () => {
    const { args } = addPlan('one\n\n<unknown url="x" alt="embed"/>');
    for (const [action, given] of [
      ["update_page", { ...args, body: "new" }],
      ["update_page", { ...args, title: "Another", append: "x" }],
      ["update_page", { ...args, append: "- x\n".repeat(150_000) }],
      ["delete_page", { page_id: "0".repeat(32), title: "x" }],
      ["create_page", { title: "Plan", if_exists: "error" }],
      ["create_page", { title: "x", parent: "0".repeat(32) }],
    ] as const) {
      const [before, after] = [await refusal(preview(action, given)), await refusal(run(action, given))];
      expect([before.status, before.code, before.message]).toEqual([after.status, after.code, after.message]);
    }
  });

  it("is the same while nobody changes anything, also where Notion signs addresses anew", async () => {
    const signed = (key: number) => `![a](https://s3.example.org/a.png?X-Amz-Signature=${key}&x=1)`;
    const { page, args } = addPlan(signed(1));
    const first = await preview("delete_page", args);
    page.text = signed(2);
    expect((await preview("update_page", { ...args, append: "x" })).state).toBe(first.state);
    page.text = signed(2).replace("a.png", "b.png");
    expect((await preview("delete_page", args)).state).not.toBe(first.state);
  });

  it("holds when it runs: what somebody else did meanwhile stays", async () => {
    const counts = { same: 0, refused: 0 };
    const calls = fc.constantFrom<[string, Json]>(
      ["update_page", { body: "new" }],
      ["update_page", { append: "new" }],
      ["update_page", { tags: ["x"], properties: { a: 1 } }],
      ["delete_page", {}],
      ["create_page", { title: "New", parent: "Tasks/2026" }],
    );
    // The time says the minute only: a second change in one leaves it as it was.
    const kinds = fc.constantFrom("none", "text", "text at once", "title", "trash", "elsewhere", "place");
    await fc.assert(
      fc.asyncProperty(calls, kinds, async ([action, given], kind) => {
        home = notion.addPage(undefined, "Home");
        const { page, args } = addPlan();
        const call = action === "create_page" ? given : { ...args, ...given };
        const { state } = await preview(action, call);
        const { edited } = page;
        if (kind === "text" || kind === "text at once") page.text = "theirs";
        if (kind === "title") await run("update_page", { ...args, new_title: "Theirs" });
        if (kind === "trash") page.isInTrash = true;
        if (kind === "elsewhere") notion.addPage(home, "Other");
        if (kind === "place") notion.addPage(notion.addPage(home, "Tasks"), "2026");
        if (kind === "text") notion.store.touch(page);
        else if (kind === "text at once") page.edited = edited;
        const writes = notion.listWrites().length;
        const done = await run(action, call, state).catch((error: unknown) => error);
        const touches = action === "create_page" ? ["place"] : ["text", "text at once", "title", "trash"];
        const isSame = !touches.includes(kind);
        counts[isSame ? "same" : "refused"] += 1;
        expect(done instanceof ServiceError, `${action} ${kind}`).toBe(!isSame);
        if (!isSame) expect(notion.listWrites()).toHaveLength(writes);
      }),
      { numRuns: RUNS },
    );
    console.log(`pages of Notion: ${JSON.stringify(counts)}`);
    expect(counts.refused).toBeGreaterThan(RUNS / 5);
  });
});
