import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, refusal } from "../run-action.ts";

const integration = createContactsIntegration();
const temp = useTempFolder();
let folder = "";
let run: ReturnType<typeof createRunner>;

async function put(path: string, lines: readonly string[]): Promise<void> {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), `${lines.join("\r\n")}\r\n`);
}

async function lines(path: string): Promise<string[]> {
  const text = await readFile(join(folder, path), "utf8");
  return text.split("\r\n").filter((line) => line !== "");
}

beforeEach(() => {
  folder = temp();
  run = createRunner(integration, { settings: { folder } });
});

const PHOTO = [
  "PHOTO;ENCODING=b;TYPE=JPEG:/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAAgGBgcGBQgHBwcJC",
  " QgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL",
];
const ZOE = [
  "BEGIN:VCARD",
  "VERSION:3.0",
  "UID:zoe",
  "FN:Zoë Müller\\, Dr.",
  "N:Müller;Zoë;Anna;Dr.;",
  "item1.EMAIL;type=INTERNET;type=pref:zoe@example.org",
  "item1.X-ABLabel:_$!<Work>!$_",
  "EMAIL;TYPE=HOME:z@home.example",
  "TEL;TYPE=CELL,VOICE:+49 (30) 12 34-567",
  "ADR;TYPE=WORK:;;Main Street 1\\, left;Berlin;;10115;Germany",
  "ORG:Example\\, Inc;Sales",
  "BDAY:19900131",
  "NOTE:first\\nsecond",
  "CATEGORIES:friends,climbing",
  'X-ODD;A="b:c":as it; is\\',
  ...PHOTO,
  "REV:2020-01-01T00:00:00Z",
  "END:VCARD",
];
const TARGET = { contact_id: "home/zoe.vcf", name: "Zoë Müller, Dr." };

describe("contacts_search and contacts_read_contact", () => {
  it("tells all about a contact", async () => {
    await put("home/zoe.vcf", ZOE);
    expect(await run("read_contact", { contact_id: "home/zoe.vcf" })).toEqual({
      contact_id: "home/zoe.vcf",
      address_book: "home",
      name: "Zoë Müller, Dr.",
      organization: "Example, Inc, Sales",
      emails: [
        { address: "zoe@example.org", type: "work" },
        { address: "z@home.example", type: "home" },
      ],
      phones: [{ number: "+49 (30) 12 34-567", type: "cell" }],
      given_name: "Zoë",
      family_name: "Müller",
      note: "first\nsecond",
      uid: "zoe",
      birthday: "1990-01-31",
      addresses: [
        { street: "Main Street 1, left", city: "Berlin", postal_code: "10115", country: "Germany", type: "work" },
      ],
      categories: ["friends", "climbing"],
      has_photo: true,
    });
  });

  it("finds words anywhere and numbers however they are written, names first", async () => {
    await put("home/zoe.vcf", ZOE);
    await put("home/b.vcf", [
      "BEGIN:VCARD",
      "VERSION:4.0",
      "FN:Berta",
      "TEL;VALUE=uri:tel:+49-40-99",
      "NOTE:knows zoë",
      "END:VCARD",
    ]);
    await put("work/old.vcf", ["BEGIN:VCARD", "VERSION:2.1", "N:Old;Carl", "TEL;HOME;VOICE:123", "END:VCARD"]);
    await put("work/bad.vcf", ["no card"]);
    const names = async (args: Record<string, unknown>) =>
      (await run("search", args)).contacts.map(({ name }: { name: string }) => name);
    expect(await names({})).toEqual(["Berta", "Carl Old", "Zoë Müller, Dr."]);
    expect(await names({ query: "ZOË" })).toEqual(["Zoë Müller, Dr.", "Berta"]);
    expect(await names({ query: "climbing main" })).toEqual(["Zoë Müller, Dr."]);
    expect(await names({ query: "+493012" })).toEqual(["Zoë Müller, Dr."]);
    expect(await names({ query: "zoë nobody" })).toEqual([]);
    expect(await names({ address_book: "WORK" })).toEqual(["Carl Old"]);
    expect(await run("search", { limit: 1, offset: 1 })).toMatchObject({
      total: 3,
      next_offset: 2,
      contacts: [{ name: "Carl Old", phones: [{ number: "123", type: "home" }] }],
      not_shown: [{ where: "work/bad.vcf", why: "It is no vCard file that can be read." }],
    });
    expect((await refusal(run("search", { address_book: "none" }))).options.hint).toBe("There are: home, work.");
  });
});

describe("contacts_create_contact", () => {
  it("writes one card that other programs read", async () => {
    const made = await run("create_contact", {
      name: "Ana Example",
      given_name: "Ana",
      family_name: "Example",
      organization: "Co; Ltd",
      emails: [{ address: "ana@example.org", type: "work" }],
      phones: [{ number: "+49 1" }],
      addresses: [{ street: "A 1", city: "B", type: "home" }],
      birthday: "--02-29",
      note: "a\nb",
    });
    expect(made).toMatchObject({ name: "Ana Example", address_book: "personal", birthday: "--02-29" });
    expect(await lines(made.contact_id)).toEqual([
      "BEGIN:VCARD",
      "VERSION:3.0",
      `UID:${made.uid}`,
      "N:Example;Ana;;;",
      "FN:Ana Example",
      "NOTE:a\\nb",
      "ORG:Co\\; Ltd",
      "BDAY;X-APPLE-OMIT-YEAR=1604:1604-02-29",
      "EMAIL;TYPE=WORK:ana@example.org",
      "TEL:+49 1",
      "ADR;TYPE=HOME:;;A 1;B;;;",
      "REV:2026-11-20T09:30:00Z",
      "END:VCARD",
    ]);
    expect(await readdir(join(folder, "personal"))).toEqual([`${made.uid}.vcf`]);
  });

  it("asks which address book is meant where there are several", async () => {
    await put("home/zoe.vcf", ZOE);
    await put("work/zoe.vcf", ZOE);
    const asked = await refusal(run("create_contact", { name: "A" }));
    expect([asked.message, asked.options.hint]).toEqual([
      "arguments.address_book is needed, as there are several address books.",
      "Choose one of: home, work.",
    ]);
    expect(await run("create_contact", { name: "A", address_book: "work" })).toMatchObject({ address_book: "work" });
  });
});

describe("contacts_update_contact", () => {
  it("changes what is named and keeps photo, labels and unknown lines as they stand there", async () => {
    await put("home/zoe.vcf", ZOE);
    const before = await lines("home/zoe.vcf");
    await run("update_contact", {
      ...TARGET,
      title: "Boss",
      emails: [{ address: "zoe@example.org" }, { address: "new@example.org", type: "home" }],
      phones: [{ number: "+49 (30) 12 34-567", type: "cell" }],
    });
    const after = await lines("home/zoe.vcf");
    expect(before.filter((line) => !after.includes(line))).toEqual([
      "EMAIL;TYPE=HOME:z@home.example",
      "REV:2020-01-01T00:00:00Z",
    ]);
    expect(after.filter((line) => !before.includes(line))).toEqual([
      "EMAIL;TYPE=HOME:new@example.org",
      "REV:2026-11-20T09:30:00Z",
      "TITLE:Boss",
    ]);
  });

  it("renames, takes away what is empty, and a label with what it was of", async () => {
    await put("home/zoe.vcf", ZOE);
    const changed = await run("update_contact", {
      ...TARGET,
      new_name: "Zoë Schmidt",
      family_name: "Schmidt",
      organization: "",
      note: "",
      birthday: "",
      emails: [],
      addresses: [],
    });
    expect(changed).toMatchObject({ name: "Zoë Schmidt", has_photo: true });
    const after = await lines("home/zoe.vcf");
    expect(after).toContain("N:Schmidt;Zoë;Anna;Dr.;");
    expect(after.filter((line) => /^(?:item1|EMAIL|ORG|NOTE|BDAY|ADR)/.test(line))).toEqual([]);
    expect(after).toEqual(expect.arrayContaining(PHOTO));
  });

  it("refuses another name and an empty change", async () => {
    await put("home/zoe.vcf", ZOE);
    for (const [args, field] of [
      [{ ...TARGET, name: "Zoë", note: "x" }, "name"],
      [TARGET, "new_name"],
    ] as const)
      expect((await refusal(run("update_contact", args))).options.extra).toEqual({
        invalidFields: [`arguments.${field}`],
      });
    expect(await lines("home/zoe.vcf")).toEqual(ZOE);
  });
});

describe("contacts_delete_contact", () => {
  it("moves a card to the trash, and takes one of several out of its file", async () => {
    await put("home/zoe.vcf", ZOE);
    await put("home/all.vcf", [...ZOE, "BEGIN:VCARD", "VERSION:3.0", "FN:Berta", "END:VCARD"]);
    expect((await refusal(run("delete_contact", { ...TARGET, name: "Berta" }))).status).toBe(400);
    expect((await run("delete_contact", TARGET)).trashed_to).toMatch(/^\.trash\/.*zoe\.vcf$/);
    const { contacts } = await run("search", {});
    const ids = contacts.map(({ contact_id }: { contact_id: string }) => contact_id);
    expect(ids).toEqual([expect.stringMatching(/^home\/all\.vcf#~[0-9a-f]{16}$/), "home/all.vcf#zoe"]);
    await run("delete_contact", { contact_id: ids[0], name: "Berta" });
    expect(await lines("home/all.vcf")).toEqual(ZOE);
  });
});
