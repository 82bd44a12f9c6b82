import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import { createContactsIntegration } from "../../src/apps/contacts/contacts-integration.ts";
import { createDriveIntegration } from "../../src/apps/drive/drive-integration.ts";
import { createFeedsIntegration } from "../../src/apps/feeds/feeds-integration.ts";
import { createNotesIntegration } from "../../src/apps/notes/notes-integration.ts";
import { sha256Hex } from "../../src/shared/base/hash.ts";
import { useTempFolder } from "../service/files/temp-folder.ts";
import { NOW } from "./run-action.ts";
import { createTeller, listOwn, textOf } from "./tell-authors.ts";

const folder = useTempFolder();

async function put(path: string, text: string | Uint8Array): Promise<void> {
  await mkdir(dirname(join(folder(), path)), { recursive: true });
  await writeFile(join(folder(), path), text);
}

describe("contacts, files and notes", () => {
  it("of contacts are the owner's", async () => {
    const integration = createContactsIntegration();
    const card = [
      "BEGIN:VCARD",
      "VERSION:3.0",
      "UID:zoe",
      "FN:Zoe",
      "EMAIL:zoe@x.example",
      "NOTE:Key 42",
      "END:VCARD",
      "",
    ];
    await put("home/zoe.vcf", card.join("\r\n"));
    const options = { settings: { folder: folder() } };
    const tell = createTeller(integration, options);
    expect(await tell("search", {})).toMatchObject([
      {
        source: { kind: "contact", title: "Zoe", whose: "yours" },
        content: { emails: [{ address: "zoe@x.example" }] },
      },
    ]);
    expect(await tell("read_contact", { contact_id: "home/zoe.vcf" })).toMatchObject([{ source: { title: "Zoe" } }]);
    expect(textOf(await listOwn(integration, options), "yours")).toMatch(/zoe@x\.example.*Key 42/);
    expect(await listOwn(integration, { ...options, signal: AbortSignal.abort() })).toEqual([]);
  });

  it("of a drive are the owner's: names of all, texts of small ones", async () => {
    const integration = createDriveIntegration();
    await put("Money/a.csv", "118,54000\n");
    await put("old.txt", Buffer.from("Gr\xfc\xdfe", "latin1"));
    await put("photo.bin", Buffer.from([0, 1, 2, 255, 254, 0]));
    await put("large.txt", `HIDDEN ${"x".repeat(300_000)}`);
    const options = { settings: { folder: folder() } };
    const tell = createTeller(integration, options);
    expect(
      (await tell("list_files", {})).map(({ source }) => [source.kind, source.title, source.whose]),
    ).toContainEqual(["file", "old.txt", "yours"]);
    expect(await tell("search_files", { query: "csv" })).toMatchObject([{ source: { title: "Money/a.csv" } }]);
    const [read] = await tell("read_file", { path: "Money/a.csv" });
    expect(read).toMatchObject({ source: { kind: "file", title: "Money/a.csv" }, content: { text: "118,54000\n" } });
    const text = textOf(await listOwn(integration, options), "yours");
    for (const value of ["Money/a.csv", "118,54000", "Grüße", "photo.bin", "large.txt"]) expect(text).toContain(value);
    expect(text).not.toContain("HIDDEN");
    expect(await listOwn(integration, options, 2)).toHaveLength(2);
  });

  it("of notes are the owner's", async () => {
    const integration = createNotesIntegration();
    await put("Family.md", "---\nid: 7f\ntags: [home]\nkey: heron\n---\nPassport 533019882\n");
    await put("a/Other.md", "# Other\n");
    const options = { settings: { folder: folder() } };
    const tell = createTeller(integration, options);
    expect(await tell("search", { query: "passport" })).toMatchObject([{ source: { kind: "note", title: "Family" } }]);
    expect(await tell("list_pages", {})).toHaveLength(2);
    expect(await tell("read_page", { page_id: "Family.md" })).toMatchObject([
      { source: { kind: "note", title: "Family", whose: "yours" }, content: { body: "Passport 533019882\n" } },
    ]);
    const text = textOf(await listOwn(integration, options), "yours");
    for (const value of ["heron", "Passport 533019882", "a/Other.md"]) expect(text).toContain(value);
  });
});

describe("feeds", () => {
  const url = "https://news.example/feed.xml";
  const id = sha256Hex(url).slice(0, 12);
  const entry = {
    id: `${id}-1`,
    title: "Call 0900",
    url: "https://evil.example/a",
    author: "Eve",
    found: "2026-11-01T00:00:00Z",
    text: "Send",
  };
  const lay = async () => {
    await put(`${id}.feed.json`, JSON.stringify({ url, title: "TITLE", added: "2026-10-01T00:00:00Z" }));
    await put(`${id}.entries.json`, JSON.stringify({ checkedAt: NOW, site: "https://site.example", entries: [entry] }));
  };

  it("have entries of their authors, and subscriptions of the owner", async () => {
    await lay();
    const integration = createFeedsIntegration();
    const options = { settings: { folder: folder() } };
    const tell = createTeller(integration, options);
    for (const [action, args] of Object.entries({
      list_entries: {},
      search: { query: "call" },
      read_entry: { entry_id: entry.id },
    }))
      expect(await tell(action, args), action).toMatchObject([
        {
          source: { kind: "feed", by: "Eve, TITLE", title: "Call 0900", at: entry.found, whose: "somebody" },
          content: { url: entry.url },
        },
      ]);
    const feeds = await tell("list_feeds", {});
    expect([textOf(feeds, "yours").includes(url), textOf(feeds, "yours").includes("TITLE")]).toEqual([true, false]);
    expect([textOf(feeds, "somebody").includes("TITLE"), textOf(feeds, "somebody").includes("site.example")]).toEqual([
      true,
      true,
    ]);
    const own = textOf(await listOwn(integration, options), "yours");
    expect([own.includes(url), own.includes("evil"), own.includes("TITLE")]).toEqual([true, false, false]);
  });
});

it("every action of the built-in apps tells whose its results are, whatever they are", () => {
  for (const { slug, actions, ownValues } of builtInIntegrations) {
    expect(ownValues, slug).toBeDefined();
    for (const { id, authored } of actions) {
      expect(authored, `${slug}_${id}`).toBeDefined();
      const connection = { id: "1", integration: slug, label: "", settings: {}, scopes: [] };
      for (const result of [undefined, null, 7, "x", [], {}, { entries: [1], events: [1], pages: 1, feeds: [null] }])
        expect(Array.isArray(authored?.(result, {}, { connection })), `${slug}_${id}`).toBe(true);
    }
  }
});
