import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createPreviewer, createRunner, refusal } from "../run-action.ts";

const integration = createContactsIntegration();
const temp = useTempFolder();
let folder = "";
let preview: ReturnType<typeof createPreviewer>;

const run = (action: string, args: Record<string, unknown>, expectedState?: string) =>
  createRunner(integration, { settings: { folder }, ...(expectedState !== undefined && { expectedState }) })(
    action,
    args,
  );
const write = (uid: string, ...lines: string[]) =>
  ["BEGIN:VCARD", "VERSION:3.0", `UID:${uid}`, ...lines, "END:VCARD", ""].join("\r\n");
const GUS = write(
  "gus",
  "FN:Gus Miller",
  "N:Miller;Gus;;;",
  "EMAIL;TYPE=HOME:gus1@example.org",
  "EMAIL:old@example.org",
  "TEL;TYPE=CELL:+49 30 1",
  "ORG:Example",
  "NOTE:Met at the fair",
);
const OTHER_GUS = write("gus0", "FN:Gus Miller", "N:Miller;Gus;;;", "EMAIL:gus0@example.org");
const gus = { contact_id: "people/gus.vcf", name: "Gus Miller" };
const texts = (effects: readonly { readonly text: string }[]) => effects.map(({ text }) => text);

beforeEach(async () => {
  folder = temp();
  preview = createPreviewer(integration, { settings: { folder } });
  await mkdir(join(folder, "people"));
  await writeFile(join(folder, "people", "gus.vcf"), GUS);
  await writeFile(join(folder, "people", "other.vcf"), OTHER_GUS);
});

it("shows a changed contact field by field, what is taken away, and acts on nothing", async () => {
  const emails = [{ address: "gus1@example.org", type: "home" }, { address: "new@example.org" }];
  const seen = await preview("update_contact", { ...gus, emails, note: "", birthday: "1990-01-31" });
  expect(seen).toMatchObject({
    summary: 'Change 3 fields of "Gus Miller" (gus1@example.org)',
    objects: [
      {
        kind: "contact",
        name: "Gus Miller",
        details: [
          { label: "Address book", value: "people" },
          { label: "Mail addresses", value: "gus1@example.org (home), old@example.org" },
          { label: "Phone numbers", value: "+49 30 1 (cell)" },
          { label: "Organization", value: "Example" },
        ],
      },
    ],
    changes: [
      {
        field: "Mail addresses",
        before: "gus1@example.org (home), old@example.org",
        after: "gus1@example.org (home), new@example.org",
      },
      { field: "Birthday", after: "1990-01-31" },
      { field: "Note", before: "Met at the fair" },
    ],
    undo: { possible: true },
  });
  expect(texts(seen.effects)).toEqual(["Removed: note.", "Gone afterwards: old@example.org."]);
  expect(await readFile(join(folder, "people", "gus.vcf"), "utf8")).toBe(GUS);
  expect((await preview("update_contact", { ...gus, note: "" })).summary).toBe(
    'Remove note of "Gus Miller" (gus1@example.org)',
  );
  expect((await preview("update_contact", { ...gus, new_name: "Gustav" })).summary).toBe(
    'Rename "Gus Miller" (gus1@example.org) to "Gustav"',
  );
  const same = await preview("update_contact", { ...gus, note: "Met at the fair" });
  expect(same).toMatchObject({ summary: 'Leave "Gus Miller" (gus1@example.org) as it is', changes: [] });
});

it("shows which of two of a name is deleted, and that the other one stays", async () => {
  const seen = await preview("delete_contact", gus);
  expect(seen).toMatchObject({
    summary: 'Delete "Gus Miller" (gus1@example.org) from the address book "people"',
    undo: { possible: true },
  });
  expect(seen.changes).toContainEqual({ field: "Note", before: "Met at the fair" });
  expect(texts(seen.effects)).toEqual([
    "It moves to the trash of the folder; nothing is erased.",
    'Another one stays: "Gus Miller" (gus0@example.org).',
  ]);
});

it("says that a copy of a file with several contacts stays", async () => {
  await writeFile(join(folder, "people", "two.vcf"), write("a", "FN:A") + write("b", "FN:B"));
  const { effects } = await preview("delete_contact", { contact_id: "people/two.vcf#a", name: "A" });
  expect(effects.map(({ code }) => code)).toEqual(["keeps_copy", "keeps_rest"]);
});

it("shows a new contact, and one that is like it", async () => {
  const seen = await preview("create_contact", { name: "Gustav", phones: [{ number: "+49301" }] });
  expect(seen).toMatchObject({
    summary: 'Add "Gustav" (+49301) to the address book "people"',
    changes: [
      { field: "Phone numbers", after: "+49301" },
      { field: "Given name", after: "Gustav" },
    ],
    effects: [{ code: "looks_like", text: 'There is already "Gus Miller" (gus1@example.org).' }],
  });
  expect((await preview("create_contact", { name: "Nobody Else" })).effects).toEqual([]);
  expect((await readdir(join(folder, "people"))).sort()).toEqual(["gus.vcf", "other.vcf"]);
});

it("refuses what the run would refuse", async () => {
  const refusedAs = async (action: string, args: Record<string, unknown>) => {
    const [shown, ran] = [await refusal(preview(action, args)), await refusal(run(action, args))];
    expect([shown.status, shown.code, shown.message]).toEqual([ran.status, ran.code, ran.message]);
    return shown.status;
  };
  expect(await refusedAs("delete_contact", { ...gus, name: "Hana" })).toBe(400);
  expect(await refusedAs("update_contact", { ...gus, contact_id: "people/no.vcf", note: "x" })).toBe(404);
  expect(await refusedAs("update_contact", gus)).toBe(400);
  expect(await refusedAs("create_contact", { name: "x", address_book: "none" })).toBe(404);
});

it.each([
  ["update_contact", { ...gus, note: "new" }],
  ["delete_contact", gus],
])("does not %s what became another contact", async (action, args) => {
  const { state } = await preview(action, args);
  const theirs = GUS.replace("fair", "market");
  await writeFile(join(folder, "people", "gus.vcf"), theirs);
  const refused = await refusal(run(action, args, state));
  expect([refused.status, refused.code]).toEqual([412, "state_changed"]);
  expect(await readFile(join(folder, "people", "gus.vcf"), "utf8")).toBe(theirs);
  await run(action, args, (await preview(action, args)).state);
});
