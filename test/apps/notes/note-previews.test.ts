import { renameSync, rmSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import { hashState } from "../../../src/apps/port/preview.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createPreviewer, createRunner, NOW, refusal } from "../run-action.ts";

/** `SVC_FILES=500` takes seconds. */
const RUNS = Number(process.env.SVC_FILES ?? 50);

const notes = createNotesIntegration();
const temp = useTempFolder();
let vault = "";
let preview: ReturnType<typeof createPreviewer>;

const PLAN = "---\ntitle: Plan\ntags: [house, garden]\nstatus: open\n---\none\ntwo\nthree\n";

beforeEach(async () => {
  vault = join(temp(), "vault");
  await mkdir(vault);
  await writeFile(join(vault, "Plan.md"), PLAN);
  preview = createPreviewer(notes, { settings: { folder: vault } });
});

/** Runs an action for which somebody saw this state. */
function runSeen(expectedState: string) {
  return createRunner(notes, { settings: { folder: vault }, expectedState });
}

const page = { page_id: "Plan.md", title: "Plan" };

describe("the preview of notes in a folder", () => {
  it("shows the lines that go and come, and acts on nothing", async () => {
    const seen = await preview("update_page", { ...page, body: "one\n2\nthree\nfour\n" });
    expect(seen).toMatchObject({
      summary: 'Replace text of "Plan" in "Test" (1 line gone, 2 new)',
      objects: [{ kind: "page", name: "Plan" }],
      objectCount: 1,
      changes: [{ field: "Text", diff: "@@ -1,3 +1,4 @@\n one\n-two\n+2\n three\n+four" }],
      effects: [{ code: "replaces" }],
      undo: { possible: true },
    });
    expect(await readFile(join(vault, "Plan.md"), "utf8")).toBe(PLAN);
    expect(await readdir(vault)).toEqual(["Plan.md"]);
  });

  it("shows fields side by side, and what is removed", async () => {
    const args = { ...page, new_title: "The plan", tags: ["house"], properties: { status: null, due: "2026-12-01" } };
    const { changes, summary } = await preview("update_page", args);
    expect(summary).toBe('Change 4 fields of "Plan" in "Test"');
    expect(changes).toEqual([
      { field: "Title", before: "Plan", after: "The plan" },
      { field: "Tags", before: "house, garden", after: "house" },
      { field: "Property status", before: "open" },
      { field: "Property due", after: "2026-12-01" },
    ]);
  });

  it("says what a new page is called and which folders are new", async () => {
    const added = await preview("create_page", { title: "Plan", body: "x", parent: "House/2026" });
    expect(added.effects.map(({ text }) => text)).toEqual(['New folder: "House".', 'New folder: "House/2026".']);
    const second = await preview("create_page", { title: "Plan", body: "x" });
    expect(second.effects).toMatchObject([{ code: "renames" }]);
    expect(second.objects[0]?.details).toContainEqual({ label: "Path", value: "Plan (2).md" });
  });

  it("shows which page is deleted and where it goes", async () => {
    expect(await preview("delete_page", page)).toMatchObject({
      summary: 'Delete the page "Plan" from "Test"',
      changes: [{ field: "Text", diff: "@@ -1,3 +0,0 @@\n-one\n-two\n-three" }],
      undo: { possible: true },
    });
  });

  it("refuses what the run would refuse", async () => {
    const wrong = { page_id: "Plan.md", title: "Another" };
    expect((await refusal(preview("delete_page", wrong))).status).toBe(400);
    expect((await refusal(preview("update_page", { ...page, page_id: "No.md", body: "" }))).status).toBe(404);
    expect((await refusal(preview("create_page", { title: "Plan", if_exists: "error" }))).code).toBe(
      "invalid_field_value",
    );
    expect((await refusal(preview("update_page", { ...page, body: "a", append: "b" }))).status).toBe(400);
  });

  it.each([
    ["update_page", { ...page, body: "new" }],
    ["update_page", { ...page, append: "new" }],
    ["delete_page", page],
  ])("does not run %s %j on a page that became another", async (action, args) => {
    const { state } = await preview(action, args);
    await writeFile(join(vault, "Plan.md"), `${PLAN}by hand\n`);
    const refused = await refusal(runSeen(state)(action, args));
    expect([refused.status, refused.code]).toEqual([412, "state_changed"]);
    expect(await readFile(join(vault, "Plan.md"), "utf8")).toBe(`${PLAN}by hand\n`);
    expect(await readdir(vault)).toEqual(["Plan.md"]);
    const { state: next } = await preview(action, args);
    await runSeen(next)(action, args);
  });

  it.each([
    ["update_page", { ...page, body: "new" }],
    ["update_page", { ...page, append: "new" }],
    ["delete_page", page],
  ])("touches nothing in %s %j when somebody is faster at the last moment", async (action, args) => {
    const { state } = await preview(action, args);
    const text = `${PLAN}by hand\n`;
    // The clock is read between the look at the page and the change.
    const now = () => {
      writeFileSync(join(vault, "Plan.md"), text);
      return NOW;
    };
    const run = createRunner(notes, { settings: { folder: vault }, expectedState: state, now });
    expect((await refusal(run(action, args))).code).toBe("state_changed");
    expect(await readFile(join(vault, "Plan.md"), "utf8")).toBe(text);
    const left = await readdir(vault, { recursive: true, withFileTypes: true });
    expect(left.filter((entry) => entry.isFile()).map(({ name }) => name)).toEqual(["Plan.md"]);
  });

  it("runs on no page that somebody else changed since, and on every other", async () => {
    const counts = { ran: 0, refused: 0 };
    const calls = fc.constantFrom<[string, Record<string, unknown>]>(
      ["update_page", { ...page, body: "new" }],
      ["update_page", { ...page, append: "new" }],
      ["update_page", { ...page, tags: ["x"], properties: { status: "done" } }],
      ["update_page", { ...page, new_title: "Other" }],
      ["delete_page", page],
    );
    const kinds = fc.constantFrom("none", "elsewhere", "text", "front matter", "gone", "another of its name");
    const path = join(vault, "Plan.md");
    await fc.assert(
      fc.asyncProperty(calls, kinds, fc.boolean(), async ([action, args], kind, isMeanwhile) => {
        await rm(vault, { recursive: true });
        await mkdir(vault);
        await writeFile(path, PLAN);
        const { state } = await preview(action, args);
        const touch = () => {
          if (kind === "elsewhere") writeFileSync(join(vault, "Shed.md"), "theirs");
          if (kind === "text") writeFileSync(path, `${PLAN}theirs\n`);
          if (kind === "front matter") writeFileSync(path, PLAN.replace("open", "theirs"));
          if (kind === "gone") rmSync(path, { force: true });
          if (kind === "another of its name") {
            renameSync(path, join(vault, "Moved.md"));
            writeFileSync(path, `---\ntitle: Plan\n---\ntheirs\n`);
          }
        };
        let isTouched = false;
        // The clock is read between the look at the page and the change.
        const now = () => {
          if (!isTouched) touch();
          isTouched = true;
          return NOW;
        };
        if (!isMeanwhile) now();
        const isOther = kind !== "none" && kind !== "elsewhere";
        const runSeen = createRunner(notes, { settings: { folder: vault }, expectedState: state, now });
        const done = await runSeen(action, args).catch((error: unknown) => error);
        const isRefused = done instanceof ServiceError;
        counts[isRefused ? "refused" : "ran"] += 1;
        if (isTouched) expect(isRefused, `${action} ${kind}`).toBe(isOther);
        if (!isRefused) return;
        expect(done.status).toBeLessThan(500);
        const left = await readdir(vault, { recursive: true, withFileTypes: true });
        const theirs = kind === "gone" ? [] : [...(kind === "another of its name" ? ["Moved.md"] : []), "Plan.md"];
        expect(
          left
            .filter((entry) => entry.isFile())
            .map(({ name }) => name)
            .sort(),
        ).toEqual(theirs);
        if (theirs.includes("Plan.md")) expect(await readFile(path, "utf8")).toContain("theirs");
      }),
      { numRuns: RUNS },
    );
    console.log(`pages of a vault: ${JSON.stringify(counts)}`);
    expect(counts.refused).toBeGreaterThan(RUNS / 5);
    expect(counts.ran).toBeGreaterThan(RUNS / 10);
  });

  it("lets a new page take the next name, as it replaces nothing", async () => {
    const args = { title: "New", body: "x" };
    const { state } = await preview("create_page", args);
    await writeFile(join(vault, "New.md"), "by hand");
    expect((await runSeen(state)("create_page", args)).path).toBe("New (2).md");
    expect(await readFile(join(vault, "New.md"), "utf8")).toBe("by hand");
  });

  it("makes the state of what was read alone", async () => {
    const first = await preview("update_page", { ...page, body: "a" });
    const second = await preview("delete_page", page);
    expect(first.state).toBe(second.state);
    expect(first.state).not.toBe(hashState([]));
  });
});
