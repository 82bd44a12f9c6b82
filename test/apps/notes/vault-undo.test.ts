import { appendFile, mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import type { KeptWrite } from "../../../src/apps/port/undo.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createKeeper, createPreviewer, refusal } from "../run-action.ts";
import { describeUndo } from "./check-undo.ts";
import { openVaultUndo } from "./vault-undo-place.ts";

const PLAN = "---\ntitle: Plan\ntags: [house]\n---\none\r\ntwo\n";
const notes = createNotesIntegration();
const temp = useTempFolder();
let vault = "";
let keeper: ReturnType<typeof createKeeper>;

beforeEach(async () => {
  vault = join(temp(), "vault");
  await mkdir(join(vault, "Work"), { recursive: true });
  await writeFile(join(vault, "Work", "Plan.md"), PLAN);
  keeper = createKeeper(notes, { settings: { folder: vault } });
});

const page = { page_id: "Work/Plan.md", title: "Plan" };
const text = (path: string) => readFile(join(vault, path), "utf8");
const run = async (id: string, args: Record<string, unknown>): Promise<KeptWrite> => {
  const { kept } = await keeper.run(id, args);
  if (kept === undefined) throw new Error("kept nothing");
  return kept;
};
const lost = ({ intent }: KeptWrite): KeptWrite => ({ intent, after: undefined });

describeUndo("a vault", openVaultUndo, 60);

describe("the preview of an undo in a vault", () => {
  it("shows what a new page takes with it", async () => {
    const kept = await run("create_page", { title: "New", body: "text", parent: "House/2026" });
    const { preview, raised } = await keeper.plan("create_page", kept);
    expect(preview).toMatchObject({
      summary: 'Take the new page "New" away again from "Test"',
      objects: [{ kind: "page", name: "New" }],
      changes: [{ field: "Text", diff: "@@ -1,1 +0,0 @@\n-text" }],
      effects: [
        { code: "moves_to_trash" },
        { code: "removes_folder", text: expect.stringContaining('The folder "House" was made for it') },
        { code: "removes_folder", text: expect.stringContaining('"House/2026"') },
      ],
      undo: { possible: false, why: "It goes to .trash; a human can bring it back." },
    });
    expect(raised).toEqual({ level: "delete", says: "takes away the page" });
  });

  it("shows the lines and fields that come back", async () => {
    const kept = await run("update_page", { ...page, body: "new\n", tags: ["garden"] });
    const { preview, raised } = await keeper.plan("update_page", kept);
    expect(preview).toMatchObject({
      summary: 'Put "Plan" in "Test" back as it was (1 line gone, 2 new), and 1 field',
      changes: [
        { field: "Text", diff: "@@ -1,1 +1,2 @@\n-new\n+one\n+two" },
        { field: "Tags", before: "garden", after: "house" },
      ],
      effects: [{ code: "replaces" }],
      undo: { possible: false, why: "What the page is now is kept in .trash." },
    });
    expect(raised?.level).toBe("delete");
  });

  it("shows the page that comes back and the folder that is made for it again", async () => {
    const kept = await run("delete_page", page);
    await rm(join(vault, "Work"), { recursive: true });
    const { preview, raised, act } = await keeper.plan("delete_page", kept);
    expect(preview).toMatchObject({
      summary: 'Bring back "Plan" from the trash in "Test"',
      objects: [{ name: "Plan", details: [{ label: "Path", value: "Work/Plan.md" }, {}, {}, {}] }],
      effects: [{ code: "creates_folder", text: 'New folder: "Work".' }],
      undo: { possible: false, why: "The page can be deleted again by hand." },
    });
    expect(raised).toBeUndefined();
    await act();
    expect(await text("Work/Plan.md")).toBe(PLAN);
    expect(await readdir(join(vault, ".trash"))).toEqual([]);
  });

  it("is announced by the write, unless its page is too long", async () => {
    const preview = createPreviewer(notes, { settings: { folder: vault } });
    const long = "\u0001".repeat(950_000);
    await writeFile(join(vault, "Long.md"), long);
    await appendFile(join(vault, "Long.md"), long);
    for (const [id, args, undo] of [
      ["create_page", { title: "New" }, { possible: true }],
      ["create_page", { title: "New", body: "ü".repeat(1_000_000) }, { possible: true }],
      ["create_page", { title: "New", body: "日".repeat(1_000_000) }, { possible: false }],
      ["update_page", { ...page, body: "new" }, { possible: true }],
      ["update_page", { ...page, tags: ["house"] }, { possible: false, why: "It changes nothing." }],
      ["update_page", { page_id: "Long.md", title: "Long", body: "new" }, { possible: false }],
      ["delete_page", { page_id: "Long.md", title: "Long" }, { possible: true }],
    ] as const)
      expect((await preview(id, args)).undo).toMatchObject(undo);
    const kept = await run("update_page", { page_id: "Long.md", title: "Long", body: "new" });
    expect((await refusal(keeper.plan("update_page", kept))).message).toContain("too long to be kept");
    expect((await keeper.settle("update_page", lost(kept)))?.verdict).toBe("happened");
  });
});

describe("an undo in a vault", () => {
  it("keeps what is in a folder that was made, and its permissions", async () => {
    const created = await run("create_page", { title: "New", body: "text", parent: "House/2026" });
    await writeFile(join(vault, "House", "other.txt"), "theirs");
    await (await keeper.plan("create_page", created)).act();
    expect(await readdir(join(vault, "House"))).toEqual(["other.txt"]);
    const changed = await run("update_page", { ...page, append: "three" });
    const { mode } = await stat(join(vault, "Work", "Plan.md"));
    await (await keeper.plan("update_page", changed)).act();
    expect(await text("Work/Plan.md")).toBe(PLAN);
    expect((await stat(join(vault, "Work", "Plan.md"))).mode).toBe(mode);
  });

  it("keeps a text that it replaces in .trash, and nothing where only lines go back", async () => {
    const kept = await run("update_page", { ...page, append: "three" });
    await (await keeper.plan("update_page", kept)).act();
    const files = await readdir(join(vault, ".trash"), { recursive: true });
    expect(files.filter((name) => name.endsWith(".md"))).toHaveLength(1);
    const again = await run("update_page", { ...page, properties: { due: "today" } });
    expect((await keeper.plan("update_page", again)).raised?.level).toBe("delete");
  });

  it("is refused where the account shows another folder by now", async () => {
    const kept = await run("update_page", { ...page, append: "three" });
    const other = createKeeper(notes, { settings: { folder: temp() } });
    expect((await refusal(other.plan("update_page", kept))).code).toBe("undo_unavailable");
    expect((await other.settle("update_page", lost(kept)))?.verdict).toBe("cannot_know");
  });

  it("keeps nothing for a call that changes nothing", async () => {
    expect((await keeper.run("update_page", { ...page, tags: ["house"] })).kept).toBeUndefined();
  });
});

describe("a lost answer in a vault", () => {
  const cut = async (id: string, args: Record<string, unknown>, onKept: () => Promise<void>) => {
    const { kept } = await keeper.run(id, args, { onKept });
    if (kept === undefined) throw new Error("kept nothing");
    return keeper.settle(id, lost(kept));
  };

  it("finds a new page under the next name when its own was taken at the last moment", async () => {
    const found = await cut("create_page", { title: "New", body: "text" }, () => writeFile(join(vault, "New.md"), "x"));
    expect(found).toMatchObject({
      verdict: "happened",
      output: { path: "New (2).md" },
      after: { fileName: "New (2).md" },
    });
  });

  it("finds a new page that was moved, changed or deleted since", async () => {
    const kept = await run("create_page", { title: "New", body: "text" });
    await rename(join(vault, "New.md"), join(vault, "Work", "Moved.md"));
    await appendFile(join(vault, "Work", "Moved.md"), "more");
    const found = await keeper.settle("create_page", lost(kept));
    expect(found).toMatchObject({ verdict: "happened", output: { path: "Work/Moved.md" } });
    await keeper.run("delete_page", { page_id: "Work/Moved.md", title: "New" });
    expect((await keeper.settle("create_page", lost(kept)))?.verdict).toBe("happened");
    await rm(join(vault, ".trash"), { recursive: true });
    expect((await keeper.settle("create_page", lost(kept)))?.verdict).toBe("did_not");
    await writeFile(join(vault, "New.md"), "another");
    expect(await keeper.settle("create_page", lost(kept))).toMatchObject({
      verdict: "cannot_know",
      why: 'Something else is at "New.md" now.',
    });
  });

  it("cannot be known where a part of the vault is not seen, or somebody changed the page", async () => {
    const created = await run("create_page", { title: "New", body: "text" });
    await rm(join(vault, "New.md"));
    await writeFile(join(vault, "Work", "Huge.md"), Buffer.alloc(3 * 1024 * 1024, "x"));
    expect(await keeper.settle("create_page", lost(created))).toMatchObject({
      verdict: "cannot_know",
      why: 'It is not where it should be, and "Work/Huge.md" could not be looked into.',
    });
    const inside = await run("create_page", { title: "New", parent: "House" });
    await rm(join(vault, "House", "New.md"));
    expect(await keeper.settle("create_page", lost(inside))).toMatchObject({
      verdict: "cannot_know",
      why: 'The folder "House" is there now, and the page is not in it.',
    });
    const changed = await run("update_page", { ...page, append: "three" });
    await appendFile(join(vault, "Work", "Plan.md"), "theirs");
    expect((await keeper.settle("update_page", lost(changed)))?.verdict).toBe("cannot_know");
    const removed = await run("delete_page", page);
    await rm(join(vault, ".trash"), { recursive: true });
    expect((await keeper.settle("delete_page", lost(removed)))?.verdict).toBe("cannot_know");
  });
});
