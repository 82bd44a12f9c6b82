import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createContactsIntegration } from "../../../src/apps/contacts/contacts-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner } from "../run-action.ts";

const integration = createContactsIntegration();
const temp = useTempFolder();
let run: ReturnType<typeof createRunner>;
const ID = { contact_id: "p/a.vcf" };

/** A card of these lines. */
const card = (version: string, ...lines: string[]) =>
  ["BEGIN:VCARD", `VERSION:${version}`, ...lines, "END:VCARD", ""].join("\r\n");

async function put(text: string | Uint8Array): Promise<void> {
  await mkdir(join(temp(), "p"), { recursive: true });
  await writeFile(join(temp(), "p/a.vcf"), text);
}

beforeEach(() => {
  run = createRunner(integration, { settings: { folder: temp() } });
});

const QP = ";CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:";
const JUERGEN = card("2.1", `N${QP}M=C3=BCller;J=C3=BCrgen;;;`, `FN${QP}J=C3=BCrgen M=C3=BCller`);

/** What people's address books hold, and what is read in it. */
const READ: readonly (readonly [string, string, Record<string, unknown>])[] = [
  ["quoted-printable", JUERGEN, { name: "Jürgen Müller", family_name: "Müller", given_name: "Jürgen" }],
  [
    "soft breaks",
    card("2.1", "FN:A", `NOTE${QP}Zeile eins ist lang =`, "und=0D=0AZeile zwei =C3=A4"),
    { note: "Zeile eins ist lang und\nZeile zwei ä" },
  ],
  ["two notes", card("3.0", "FN:A", "NOTE:first", "NOTE:second"), { note: "first", further: { note: ["second"] } }],
  ["Base64", card("2.1", "FN:A", "NOTE;ENCODING=BASE64;CHARSET=UTF-8:R3LDvMOfZQ=="), { note: "Grüße" }],
  ["two nicknames", card("3.0", "FN:A", "NICKNAME:Jim,Jimmie"), { nickname: "Jim, Jimmie" }],
  [
    "a birthday without a year, as Apple has it",
    card("3.0", "FN:A", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-07-30"),
    { birthday: "--07-30" },
  ],
  [
    "a label",
    card("3.0", "FN:A", "item1.EMAIL:bill@example.org", "item1.X-ABLabel:Rechnung"),
    { emails: [{ address: "bill@example.org", type: "Rechnung" }] },
  ],
  [
    "a label of Apple's own",
    card("3.0", "FN:A", "item1.EMAIL:a@example.org", "item1.X-ABLabel:_$!<Home>!$_"),
    { emails: [{ address: "a@example.org", type: "home" }] },
  ],
  [
    "a preferred address",
    card("4.0", "FN:A", "EMAIL:a@example.org", "EMAIL;PREF=1:b@example.org"),
    { emails: [{ address: "b@example.org" }, { address: "a@example.org" }] },
  ],
];

describe("files of people's address books", () => {
  it.each(READ)("reads %s", async (_, text, expected) => {
    await put(text);
    expect(await run("read_contact", ID)).toMatchObject(expected);
  });

  it("says nothing that is not in a card", async () => {
    await put(card("3.0", "FN:A"));
    const { contact_id: id, name, address_book: book, has_photo: photo, ...rest } = await run("read_contact", ID);
    expect([id, name, typeof book, photo, rest]).toEqual(["p/a.vcf", "A", "string", false, {}]);
    await put(card("3.0", "FN:A", "BDAY:early in May"));
    expect(await run("read_contact", ID)).toMatchObject({ birthday: "early in May" });
  });

  it("reads and keeps UTF-16", async () => {
    const text = `\ufeff${card("3.0", "FN:A", "NOTE:Grüße")}`;
    await put(Buffer.from(text, "utf16le"));
    expect(await run("read_contact", ID)).toMatchObject({ name: "A", note: "Grüße" });
    await run("update_contact", { ...ID, name: "A", note: "ß" });
    const after = await readFile(join(temp(), "p/a.vcf"), "utf16le");
    expect(after).toBe(text.replace("Grüße", "ß").replace("END", "REV:2026-11-20T09:30:00Z\r\nEND"));
  });

  it("finds names in quoted-printable, and tells groups from people", async () => {
    await put(JUERGEN);
    expect((await run("search", { query: "Müller" })).total).toBe(1);
    const group = ["UID:g", "FN:Friends", "X-ADDRESSBOOKSERVER-KIND:group", "X-ADDRESSBOOKSERVER-MEMBER:urn:uuid:u1"];
    await put(card("3.0", "UID:u1", "FN:Ann") + card("3.0", ...group));
    const { contacts } = await run("search", { query: "" });
    expect(contacts.map(({ name, kind }: Record<string, string>) => [name, kind])).toEqual([
      ["Ann", undefined],
      ["Friends", "group"],
    ]);
  });

  it.each([
    [
      "a note of several lines",
      card("2.1", "FN:A", "NOTE;ENCODING=QUOTED-PRINTABLE:Zeile eins =", "und=0D=0AZeile zwei"),
      { note: "neu" },
      card("2.1", "FN:A", "NOTE:neu", "REV:2026-11-20T09:30:00Z"),
    ],
    [
      "one of two notes",
      card("3.0", "FN:A", "NOTE:first", "NOTE:second"),
      { note: "changed" },
      card("3.0", "FN:A", "NOTE:changed", "NOTE:second", "REV:2026-11-20T09:30:00Z"),
    ],
    [
      "one of two addresses",
      card("3.0", "FN:A", "URL:https://one.example/", "URL;TYPE=work:https://two.example/"),
      { website: "https://three.example/" },
      card(
        "3.0",
        "FN:A",
        "URL:https://three.example/",
        "URL;TYPE=work:https://two.example/",
        "REV:2026-11-20T09:30:00Z",
      ),
    ],
    [
      "a birthday of vCard 4",
      card("4.0", "FN:A"),
      { birthday: "--04-12" },
      card("4.0", "FN:A", "BDAY:--0412", "REV:20261120T093000Z"),
    ],
    [
      "a birthday of vCard 3",
      card("3.0", "FN:A", "N:A"),
      { birthday: "--04-12" },
      card("3.0", "FN:A", "N:A", "BDAY;X-APPLE-OMIT-YEAR=1604:1604-04-12", "REV:2026-11-20T09:30:00Z"),
    ],
  ])("changes %s", async (_, text, change, expected) => {
    await put(text);
    await run("update_contact", { ...ID, name: "A", ...change });
    expect(await readFile(join(temp(), "p/a.vcf"), "utf8")).toBe(expected);
  });
});
