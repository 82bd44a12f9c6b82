import { describe, expect, test } from "vitest";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { type Catalog, createCatalog, selectCatalog } from "../../../src/service/catalog/catalog.ts";
import { createLab } from "../lab-integration.ts";

const { integration: lab } = createLab();

function app(slug: string, actions: readonly [id: string, level: Action["level"], description: string][]): Integration {
  const [model] = lab.actions;
  if (model === undefined) throw new Error("The lab has no actions.");
  return {
    ...lab,
    slug,
    name: slug,
    description: `Works with ${slug}.`,
    actions: actions.map(([id, level, description]) => ({ ...model, id, level, description, title: id })),
  };
}

const catalog = createCatalog([
  app("mail", [
    ["send_message", "write", "Sends a message to somebody."],
    ["search_messages", "read", "Finds messages by words, sender or date."],
    ["mark_message", "write", "Marks a message as read or unread."],
  ]),
  app("drive", [
    ["upload_file", "write", "Stores a file in a folder."],
    ["list_files", "read", "Lists files and folders."],
    ["delete_file", "delete", "Moves a file to the trash."],
  ]),
]);
const names = (query: string) => catalog.search(query).map((entry) => entry.toolName);

describe("search", () => {
  test.each([
    ["drive_upload_file", "drive_upload_file"],
    ["upload", "drive_upload_file"],
    ["uplod file", "drive_upload_file"],
    ["send email message to my boss", "mail_send_message"],
    ["find mails from a sender", "mail_search_messages"],
    ["what files are in the folder, list them", "drive_list_files"],
    ["put into the trash", "drive_delete_file"],
    ["MARK UNREAD", "mail_mark_message"],
  ])("%s finds %s first", (query, tool) => {
    expect(names(query)[0]).toBe(tool);
  });

  test("what cannot be called yet counts less, unless it is named or alone", () => {
    const two = createCatalog([
      app("mail", [["send_message", "write", "Sends a message to somebody."]]),
      app("chat", [
        ["send_mail_message", "write", "Sends a mail message to somebody by mail."],
        ["start_meeting", "write", "Starts a meeting."],
      ]),
    ]);
    const search = (query: string, connected?: ReadonlySet<string>) =>
      two.search(query, undefined, connected).map((entry) => entry.toolName);
    const connected = new Set(["mail"]);
    expect(search("send a mail message")[0]).toBe("chat_send_mail_message");
    expect(search("send a mail message", connected)).toEqual(["mail_send_message", "chat_send_mail_message"]);
    expect(search("chat_send_mail_message", connected)[0]).toBe("chat_send_mail_message");
    expect(search("meeting", connected)).toEqual(["chat_start_meeting"]);
  });

  test.each(["zzzz", "the of and", "", "   ", "___", "💥"])("%j finds nothing", (query) => {
    expect(names(query)).toEqual([]);
  });

  test("a word that is longer than any name of a tool is left out instead of being compared with all of them", () => {
    // A table over the square of this length does not fit into memory.
    const long = "qwertzuiop".repeat(50_000);
    expect(names(long)).toEqual([]);
    expect(names(`upload ${long}`)).toEqual(names("upload"));
    expect(catalog.suggest(long)).toEqual([]);
  });

  test("stays inside one integration", () => {
    expect(catalog.search("file message", "mail").every((entry) => entry.integration.slug === "mail")).toBe(true);
  });
});

test("suggestions are at most three, reads first", () => {
  const suggested = catalog.suggest("drive_remove_files");
  expect(suggested.length).toBeLessThanOrEqual(3);
  expect(suggested[0]?.toolName).toBe("drive_list_files");
  expect(catalog.suggest("zzzz")).toEqual([]);
});

test.each([
  ["mail_send_mesage", "mail_send_message"],
  ["mailsendmessage", "mail_send_message"],
  ["drive_deletefile", "drive_delete_file"],
  ["drive_uplaod_file", "drive_upload_file"],
])("suggestions for %s hold %s, though reads come first", (asked, right) => {
  const suggested = catalog.suggest(asked);
  expect(suggested.map(({ toolName }) => toolName)).toContain(right);
  const levels = suggested.map(({ action }) => action.level === "read");
  expect(levels).toEqual([...levels].sort().reverse());
});

test("suggestions of one app are found by the action's own name", () => {
  expect(catalog.suggest("send_mesage", "mail").map(({ action }) => action.id)).toContain("send_message");
  expect(catalog.suggest("deletefile", "mail").some(({ integration }) => integration.slug !== "mail")).toBe(false);
});

test("a wrong name is found again among thousands of tools", () => {
  const many = Array.from({ length: 12_000 }, (_, at): [string, Action["level"], string] => [
    `act_on_thing_${at}`,
    "write",
    "Acts.",
  ]);
  const large = createCatalog([app("big", many)]);
  expect(large.suggest("bigactonthing1234").map(({ toolName }) => toolName)).toContain("big_act_on_thing_1234");
});

describe("a part of a catalog", () => {
  const apps = Array.from({ length: 10 }, (_, at) => app(`app-${at}`, [["send_file", "write", "Sends a file."]]));
  const whole = createCatalog(apps);
  /** Of the apps from the `from`th on, with another confirmation. */
  const take = (of: Catalog, from: number) =>
    selectCatalog(
      of,
      of.integrations.filter(({ slug }) => slug >= `app-${from}`),
      of.entries
        .filter(({ integration }) => integration.slug >= `app-${from}`)
        .map((entry) => ({ ...entry, ruled: "allow" as const })),
    );
  const ruled = (part: Catalog) => part.search("send a file").map(({ toolName, ruled }) => [toolName, ruled]);

  // One shares the index of the whole, the other has its own.
  test.each([
    ["large", 1],
    ["small", 9],
  ])("that is %s finds its own entries, as they are there, and nothing else", (_, from) => {
    const part = take(whole, from);
    const own = Array.from({ length: 10 - from }, (_unused, at) => [`app-${from + at}_send_file`, "allow"]);
    expect(ruled(part)).toEqual(own);
    expect(part.search("app-0 send")).toHaveLength(own.length);
    expect(
      part.searchAll("app-0_send_file").some((one) => one.kind === "action" && one.entry === whole.entries[0]),
    ).toBe(false);
    expect(part.searchIntegrations("app").map(({ slug }) => slug)).not.toContain("app-0");
    expect(part.suggest("app0_send_fil").map(({ toolName }) => toolName)).not.toContain("app-0_send_file");
    expect(ruled(take(part, 9))).toEqual([["app-9_send_file", "allow"]]);
  });
});

describe("looser spellings", () => {
  const twins = createCatalog([
    app("tw-in", [["look_up", "read", ""]]),
    app("twin", [
      ["look", "read", ""],
      ["lo_ok", "write", ""],
    ]),
    app("only-one", [["do_it", "read", ""]]),
  ]);

  test("never hide an id that is there exactly", () => {
    for (const slug of ["twin", "tw-in"]) expect(twins.findIntegration(slug)?.slug).toBe(slug);
    for (const id of ["look", "lo_ok"]) expect(twins.findAction("twin", id)?.action.id).toBe(id);
    expect(twins.findAction("tw-in", "look_up")?.toolName).toBe("tw-in_look_up");
  });

  test("mean nothing where they could mean several", () => {
    for (const spelling of ["TWIN", "tw_in", "t win"]) expect(twins.findIntegration(spelling)).toBeUndefined();
    expect(twins.findAction("twin", "LOOK")).toBeUndefined();
  });

  test("mean the only one they can", () => {
    for (const spelling of ["Only One", "onlyone", "ONLY_ONE"]) {
      expect(twins.findIntegration(spelling)?.slug).toBe("only-one");
      expect(twins.findAction(spelling, "Do-It")?.action.id).toBe("do_it");
    }
  });
});

test("names are exact and unique", () => {
  expect(catalog.find("drive_upload_file")?.action.id).toBe("upload_file");
  expect(catalog.find("DRIVE_UPLOAD_FILE")).toBeUndefined();
  expect(catalog.find("__proto__")).toBeUndefined();
  const twice: Integration[] = [app("a", [["b_c", "read", ""]]), app("a_b", [["c", "read", ""]])];
  expect(() => createCatalog(twice)).toThrow(/one tool name/);
});
