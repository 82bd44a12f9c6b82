import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../src/apps/notes/notes-integration.ts";
import { joinPage, splitPage } from "../../src/apps/notes/page-text.ts";
import { useTempFolder } from "../service/files/temp-folder.ts";
import { createRunner, NOW, refusal } from "./run-action.ts";

const notesIntegration = createNotesIntegration();
const temp = useTempFolder();
let vault = "";
let run: ReturnType<typeof createRunner>;

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(vault, path)), { recursive: true });
  await writeFile(join(vault, path), text);
}

beforeEach(async () => {
  vault = join(temp(), "vault");
  await mkdir(vault);
  run = createRunner(notesIntegration, { settings: { folder: vault } });
});

const OBSIDIAN = `---
# kept by hand
zeta: 1
title: Budget
aliases: [b, "c d"]
tags:
  - money
nested: { a: 1 }
---
# Budget

Numbers for the *year*.
`;

describe("notes_create_page", () => {
  it("writes front matter and text that other programs read", async () => {
    const page = await run("create_page", {
      title: "Call: the plumber?",
      body: "- [ ] ask",
      parent: "Tasks/Home",
      tags: ["home"],
      properties: { status: "open" },
    });
    expect(page).toMatchObject({
      path: "Tasks/Home/Call the plumber.md",
      title: "Call: the plumber?",
      parent: "Tasks/Home",
      tags: ["home"],
    });
    const now = new Date(NOW).toISOString();
    expect(await readFile(join(vault, page.path), "utf8")).toBe(
      `---\nid: ${page.page_id}\ntitle: "Call: the plumber?"\ntags:\n  - home\ncreated: ${now}\nupdated: ${now}\nstatus: open\n---\n- [ ] ask\n`,
    );
  });

  it("reads, changes and removes a page whose name begins with a tilde", async () => {
    const { path } = await run("create_page", { title: "~draft$ of mine", parent: "~old" });
    expect(path).toBe("~old/~draft$ of mine.md");
    expect(await run("read_page", { page_id: path })).toMatchObject({ path });
    await run("delete_page", { page_id: path, title: "~draft$ of mine" });
    expect(await readdir(join(vault, "~old"))).toEqual([]);
  });

  it("gives equal titles numbered files unless told to refuse", async () => {
    const first = await run("create_page", { title: "Same" });
    const second = await run("create_page", { title: "Same" });
    expect([first.path, second.path]).toEqual(["Same.md", "Same (2).md"]);
    expect(first.page_id).not.toBe(second.page_id);
    const error = await refusal(run("create_page", { title: "Same", if_exists: "error" }));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.title"] }]);
  });

  it.each([
    ["..", "Untitled.md"],
    ["a/b\\c", "a b c.md"],
    ["💡".repeat(150), `${"💡".repeat(60)}.md`],
  ])("turns the title %j into a safe file name", async (title, name) => {
    const page = await run("create_page", { title });
    expect(page.title).toBe(title);
    expect(page.path.startsWith(name.slice(0, 6))).toBe(true);
    expect(Buffer.byteLength(page.path)).toBeLessThanOrEqual(255);
    expect(await readdir(vault)).toEqual([page.path]);
  });

  it("writes no front matter that is too long to be read again", async () => {
    const fill = (name: string) => ({ [name]: "x".repeat(15_000) });
    const over = await refusal(run("create_page", { title: "big", properties: { ...fill("a"), ...fill("b") } }));
    expect([over.status, over.message]).toEqual([400, "arguments.properties are more than 16 KB."]);
    expect(await readdir(vault)).toEqual([]);
    const { page_id } = await run("create_page", { title: "grows", properties: fill("a") });
    for (const name of ["b", "c", "d"]) await run("update_page", { page_id, title: "grows", properties: fill(name) });
    const full = await refusal(run("update_page", { page_id, title: "grows", properties: fill("e") }));
    expect([full.status, full.message]).toEqual([
      400,
      "arguments.properties would make the front matter longer than 64 KB.",
    ]);
    expect(Object.keys((await run("read_page", { page_id })).properties)).toContain("d");
  });

  it("refuses places outside and properties with a meaning of their own", async () => {
    for (const [args, field] of [
      [{ title: "x", parent: "../out" }, "parent"],
      [{ title: "x", parent: "/abs" }, "parent"],
      [{ title: "x", parent: ".trash" }, "parent"],
      [{ title: "x", properties: { id: "mine" } }, "properties.id"],
    ] as const)
      expect((await refusal(run("create_page", args))).options.extra).toEqual({
        invalidFields: [`arguments.${field}`],
      });
    expect((await refusal(run("create_page", { title: "a\nb" }))).code).toBe("invalid_arguments");
    expect(await readdir(vault)).toEqual([]);
  });
});

describe("finding pages", () => {
  beforeEach(async () => {
    await put("Money/Budget.md", OBSIDIAN);
    await put("Ideas.md", "No front matter, but a budget idea and a café.");
    await put(".obsidian/app.md", "budget");
    await put("broken.md", "---\n: [\n---\nbudget text");
    await put("picture.png", "budget");
  });

  it("ranks the title first and shows where it matched", async () => {
    const { pages, total } = await run("search", { query: "Budget" });
    expect(total).toBe(3);
    expect(pages[0]).toMatchObject({ page_id: "Money/Budget.md", title: "Budget", tags: ["money"] });
    expect(pages.map((one: { snippet: string }) => /budget/i.test(one.snippet))).toEqual([true, true, true]);
    expect(
      (await run("search", { query: "cafe\u0301 idea" })).pages.map((one: { title: string }) => one.title),
    ).toEqual(["Ideas"]);
    expect((await run("search", { query: "budget", tag: "money" })).total).toBe(1);
    expect((await run("search", { query: "budget", parent: "Money" })).total).toBe(1);
    expect((await run("search", { query: "budget nothing" })).total).toBe(0);
  });

  it("lists and reads, also pages whose front matter is broken", async () => {
    expect((await run("list_pages", {})).total).toBe(3);
    expect(await run("list_pages", { limit: 2 })).toMatchObject({ total: 3, next_offset: 2 });
    expect(await run("read_page", { page_id: "Money/Budget.md" })).toMatchObject({
      properties: { zeta: 1, aliases: ["b", "c d"] },
      body: "# Budget\n\nNumbers for the *year*.\n",
    });
    expect(await run("read_page", { page_id: "broken.md" })).toMatchObject({
      body: "budget text",
      front_matter_problem: expect.any(String),
    });
    expect(await run("read_page", { page_id: "Money/Budget.md", max_chars: 8 })).toMatchObject({
      body: "# Budget",
      next_offset: 8,
    });
  });

  it("knows pages by id wherever they are", async () => {
    const { page_id, path } = await run("create_page", { title: "Known", parent: "deep/er" });
    expect((await run("read_page", { page_id })).path).toBe(path);
    for (const missing of ["no-such-id", "none.md"]) {
      const error = await refusal(run("read_page", { page_id: missing }));
      expect([error.status, error.code, error.options.type]).toEqual([404, "not_found", "provider"]);
    }
  });

  it("stays inside the vault", async () => {
    await writeFile(join(temp(), "secret.md"), "secret");
    await symlink(join(temp(), "secret.md"), join(vault, "link.md"));
    await symlink(temp(), join(vault, "out"));
    expect((await run("search", { query: "secret" })).total).toBe(0);
    for (const page_id of ["link.md", "out/secret.md", "../secret.md"]) {
      expect((await refusal(run("read_page", { page_id }))).status).toBe(400);
      expect((await refusal(run("update_page", { page_id, title: "x", append: "x" }))).status).toBe(400);
      expect((await refusal(run("delete_page", { page_id, title: "x" }))).status, page_id).toBeLessThan(500);
    }
    expect(await readFile(join(temp(), "secret.md"), "utf8")).toBe("secret");
  });
});

describe("notes_update_page", () => {
  it("keeps unknown front matter, its order, comments and style", async () => {
    await put("b.md", OBSIDIAN);
    await run("update_page", {
      page_id: "b.md",
      title: "Budget",
      append: "More.",
      properties: { status: "done", nested: null },
    });
    expect(await readFile(join(vault, "b.md"), "utf8")).toBe(
      `${OBSIDIAN.replace("nested: { a: 1 }", "status: done")}More.\n`,
    );
  });

  it("leaves the front matter byte for byte when only the text changes", async () => {
    const front = "---\r\nkey:   'x'   # odd spacing\r\n---\r\n";
    await put("b.md", `${front}old`);
    await run("update_page", { page_id: "b.md", title: "b", body: "new" });
    expect(await readFile(join(vault, "b.md"), "utf8")).toBe(`${front}new`);
  });

  it("adds front matter to a page without", async () => {
    await put("plain.md", "text\n");
    expect(
      await run("update_page", { page_id: "plain.md", title: "plain", new_title: "Named", tags: ["t"] }),
    ).toMatchObject({
      title: "Named",
      tags: ["t"],
    });
    expect(await readFile(join(vault, "plain.md"), "utf8")).toBe("---\ntitle: Named\ntags:\n  - t\n---\ntext\n");
  });

  it("moves the time forward where the page keeps one", async () => {
    const { page_id, path } = await run("create_page", { title: "Timed" });
    const later = createRunner(notesIntegration, { settings: { folder: vault }, now: () => NOW + 60_000 });
    await later("update_page", { page_id, title: "Timed", append: "x" });
    expect(await readFile(join(vault, path), "utf8")).toContain(`updated: ${new Date(NOW + 60_000).toISOString()}`);
  });

  it("loses none of many simultaneous additions", async () => {
    await put("log.md", "");
    await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        run("update_page", { page_id: "log.md", title: "log", append: `line ${n}` }),
      ),
    );
    expect((await readFile(join(vault, "log.md"), "utf8")).trim().split("\n")).toHaveLength(20);
  });

  it("answers 500 provider_error, naming the page, when its front matter cannot be read", async () => {
    const latin1 = Buffer.from([0x66, 0xfc, 0x72]);
    const broken = "---\n: [\n---\ntext";
    await put("broken.md", broken);
    await put("latin.md", latin1);
    for (const page_id of ["broken.md", "latin.md"]) {
      const error = await refusal(run("update_page", { page_id, title: page_id.slice(0, -3), append: "x" }));
      expect([error.status, error.code]).toEqual([500, "provider_error"]);
      expect(error.options.hint).toContain(page_id);
    }
    expect(await readFile(join(vault, "broken.md"), "utf8")).toBe(broken);
    expect(await readFile(join(vault, "latin.md"))).toEqual(latin1);
  });

  it("refuses a change that says nothing or two things", async () => {
    await put("b.md", "x");
    expect((await refusal(run("update_page", { page_id: "b.md", title: "b" }))).status).toBe(400);
    expect(
      (await refusal(run("update_page", { page_id: "b.md", title: "b", body: "a", append: "b" }))).options.extra,
    ).toEqual({
      invalidFields: ["arguments.append"],
    });
  });
});

describe("notes_delete_page", () => {
  it("moves the file to .trash", async () => {
    await put("a/b.md", "text");
    const gone = await run("delete_page", { page_id: "a/b.md", title: "b" });
    expect(gone).toMatchObject({ deleted: true, trashed_to: expect.stringMatching(/^\.trash\/.*\/a\/b\.md$/) });
    expect(await readFile(join(vault, gone.trashed_to), "utf8")).toBe("text");
    expect((await refusal(run("delete_page", { page_id: gone.trashed_to, title: "b" }))).status).toBe(400);
    expect((await run("list_pages", {})).total).toBe(0);
  });
});

describe("front matter", () => {
  it.each([
    "",
    "text",
    "---\na: 1\n---\nbody",
    "---\n---\nbody",
    "---\na: 1\n---",
    "---\nno end",
    "--- \r\na: 1\r\n---\r\nbody",
    "text\n---\nnot front\n---\n",
    "---\na: |\n  ---x\n---\n---\n",
  ])("%j survives being taken apart", (text) => {
    expect(joinPage(splitPage(text))).toBe(text);
  });

  it("is not fooled by an alias bomb", async () => {
    const bomb = `---\na: &a [x,x,x,x,x,x,x,x,x]\n${"bcdefgh"
      .split("")
      .map((key, n) => `${key}: &${key} [${Array(9).fill(`*${"abcdefg"[n]}`).join(",")}]`)
      .join("\n")}\n---\ntext`;
    await put("bomb.md", bomb);
    expect((await run("read_page", { page_id: "bomb.md" })).front_matter_problem).toBeTruthy();
  });
});

describe("titles that are names of devices under Windows", () => {
  it.each(["CON", "aux", "COM1", "nul.", "Lpt9"])(
    "%s is kept as a title and gives another file name",
    async (title) => {
      const page = (await run("create_page", { title, body: "See." })) as { title: string; path: string };
      expect(page.title).toBe(title);
      expect(page.path).toBe(`${title.replace(".", "")}_.md`);
    },
  );
});
