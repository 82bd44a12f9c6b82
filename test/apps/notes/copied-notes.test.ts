import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, refusal } from "../run-action.ts";

const temp = useTempFolder();
let vault = "";
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  vault = join(temp(), "vault");
  await mkdir(vault);
  run = createRunner(createNotesIntegration(), { settings: { folder: vault } });
});

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(vault, path)), { recursive: true });
  await writeFile(join(vault, path), text);
}

const page = (id: string, title: string) => `---\nid: ${id}\ntitle: ${title}\n---\ntext\n`;

async function addresses(args: Record<string, unknown> = {}): Promise<Record<string, string>> {
  const { pages } = await run("list_pages", args);
  return Object.fromEntries(pages.map((one: { title: string; page_id: string }) => [one.title, one.page_id]));
}

describe("pages with one id", () => {
  beforeEach(async () => {
    await put("a.md", page("x", "Original"));
    await put("sub/b copy.md", page("x", "Copy"));
    await put("c.md", page("y", "Other"));
  });

  it("have addresses of their own, also in the list of one folder", async () => {
    expect(await addresses()).toEqual({ Original: "a.md", Copy: "sub/b copy.md", Other: "y" });
    expect(await addresses({ parent: "sub" })).toEqual({ Copy: "sub/b copy.md" });
    const { pages } = await run("search", { query: "text" });
    expect(pages.map((one: { page_id: string }) => one.page_id).sort()).toEqual(["a.md", "sub/b copy.md", "y"]);
  });

  it("are never deleted or changed in place of each other", async () => {
    await run("delete_page", { page_id: (await addresses()).Copy, title: "Copy" });
    expect(await readFile(join(vault, "a.md"), "utf8")).toBe(page("x", "Original"));
    expect(await readdir(join(vault, "sub"))).toEqual([]);
    expect((await addresses()).Original).toBe("x");
    await run("update_page", { page_id: "x", title: "Original", append: "more" });
    expect(await readFile(join(vault, "a.md"), "utf8")).toBe(`${page("x", "Original")}more\n`);
  });

  it("are refused by their id, whatever is asked for", async () => {
    for (const [action, args] of [
      ["read_page", {}],
      ["update_page", { title: "Copy", append: "x" }],
      ["delete_page", { title: "Copy" }],
    ] as const) {
      const error = await refusal(run(action, { page_id: "x", ...args }));
      expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.page_id"] }]);
      expect(error.message).toContain('"a.md" and "sub/b copy.md"');
    }
    expect(await readdir(vault)).toEqual(["a.md", "c.md", "sub"]);
  });

  it("do not lend their id to one in the trash", async () => {
    const { trashed_to } = await run("delete_page", { page_id: "c.md", title: "Other" });
    await put("d.md", page("y", "Other again"));
    const parent = dirname(trashed_to);
    expect(await addresses({ parent })).toEqual({ Other: trashed_to });
    expect((await addresses())["Other again"]).toBe("y");
  });
});

it("takes an id that looks like a path for none", async () => {
  await put("a.md", page("b.md", "A"));
  await put("b.md", page("1", "B"));
  expect(await addresses()).toEqual({ A: "a.md", B: "1" });
});

it("refuses a change of a page with another title than the one shown", async () => {
  await put("a.md", page("x", "Now\u00a0 new"));
  for (const action of ["update_page", "delete_page"]) {
    const change = action === "update_page" ? { append: "x" } : {};
    const error = await refusal(run(action, { page_id: "x", title: "Before", ...change }));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.title"] }]);
    expect(error.message).toContain('"Now new"');
  }
  expect(await readFile(join(vault, "a.md"), "utf8")).toBe(page("x", "Now\u00a0 new"));
  expect(await run("update_page", { page_id: "x", title: "Now new", append: "x" })).toMatchObject({ page_id: "x" });
});

it("says which pages a list leaves out, or cannot read whole", async () => {
  await put("broken.md", "---\n: [\n---\ntext");
  await put("latin.md", Buffer.from([0x66, 0xfc, 0x72]));
  await put("large.md", Buffer.alloc(2 * 1024 * 1024 + 1, "x"));
  await put("fine.md", "text");
  await symlink(join(temp(), "elsewhere.md"), join(vault, "link.md"));
  for (const args of [{}, { tag: "none" }]) {
    const { not_shown } = await run("list_pages", args);
    expect(not_shown.map(({ where }: { where: string }) => where).sort()).toEqual([
      "broken.md",
      "large.md",
      "latin.md",
      "link.md",
    ]);
  }
  expect((await run("search", { query: "text" })).not_shown).toHaveLength(4);
  expect(await run("read_page", { page_id: "broken.md" })).toMatchObject({
    not_shown: [{ where: "broken.md", why: expect.any(String) }],
  });
  expect((await run("read_page", { page_id: "fine.md" })).not_shown).toBeUndefined();
});
