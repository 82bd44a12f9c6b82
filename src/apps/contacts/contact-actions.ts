import { z } from "zod";
import { refuseValue } from "../../service/service-error.ts";
import { keepsItems } from "../collections/kept-item.ts";
import { anyEmptied, deletesWhen, judgeReplacing } from "../port/raised-levels.ts";
import { defineContactsAction } from "./address-books.ts";

const line = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^[^\r\n]*$/, "must be one line");
const type = line(50)
  .regex(/^[A-Za-z0-9-]*$/, "must be one word")
  .optional()
  .describe('What it is for, for example "home", "work" or "cell".');
const emails = z
  .array(
    z.strictObject({
      address: line(320)
        .min(3)
        .meta({ examples: ["ana@example.org"] }),
      type,
    }),
  )
  .max(50)
  .optional()
  .describe("All mail addresses; they replace the present ones.");
const phones = z
  .array(
    z.strictObject({
      number: line(100)
        .min(2)
        .meta({ examples: ["+49 30 1234567"] }),
      type,
    }),
  )
  .max(50)
  .optional()
  .describe("All telephone numbers; they replace the present ones.");
const addresses = z
  .array(
    z.strictObject({
      street: line(300).optional().describe("Street and number."),
      city: line(200).optional(),
      region: line(200).optional(),
      postal_code: line(50).optional(),
      country: line(200).optional(),
      type,
    }),
  )
  .max(20)
  .optional()
  .describe("All postal addresses; they replace the present ones.");

const fields = {
  given_name: line(200).optional().describe("Given name."),
  family_name: line(200).optional().describe("Family name."),
  nickname: line(200).optional().describe("Nickname."),
  organization: line(300).optional().describe("Company or other organization."),
  title: line(300).optional().describe("Job title."),
  birthday: z
    .string()
    .regex(/^(?:(?:\d{4}|-)-\d\d-\d\d)?$/, "must be like 1990-01-31, or --01-31 without the year")
    .optional()
    .describe("Birthday: 1990-01-31, or --01-31 without the year."),
  note: z.string().max(20_000).optional().describe("Further text."),
  website: line(500).optional().describe("Address of a web page."),
  emails,
  phones,
  addresses,
};

/** Mail addresses and numbers come under the names that people use for them. */
function toChange<
  Given extends {
    emails?: { address: string; type?: string | undefined }[] | undefined;
    phones?: { number: string; type?: string | undefined }[] | undefined;
  },
>({ emails: mails, phones: numbers, ...rest }: Given) {
  return {
    ...rest,
    emails: mails?.map((one) => ({ value: one.address, type: one.type })),
    phones: numbers?.map((one) => ({ value: one.number, type: one.type })),
  };
}

const contactId = z.string().min(1).max(500).describe("contact_id of an earlier answer.");
const presentName = line(500).describe(
  "Name that the contact has now, as an earlier answer said, so that whoever approves sees whose it is.",
);

/** `contacts_search`. */
export const searchContacts = defineContactsAction({
  id: "search",
  title: "Search contacts",
  description:
    "Finds contacts by words in name, nickname, organization, title, mail and postal addresses, telephone numbers, note and categories. Every word must occur; case does not matter. Best match first. Without words it lists all by name.",
  level: "read",
  scopes: ["contacts.read"],
  arguments: z.strictObject({
    query: z.string().max(200).default("").describe('Words to look for, for example "ana example".'),
    address_book: z.string().min(1).max(300).optional().describe("Only this address book, by name. Default: all."),
    offset: z.int().min(0).max(100_000).default(0).describe("How many to skip; see next_offset of the answer."),
    limit: z.int().min(1).max(200).default(20).describe("Most contacts in one answer."),
  }),
  examples: [{ query: "ana" }, { query: "", limit: 100 }],
  run: ({ address_book: addressBook, ...o }, books) => books.search({ ...o, addressBook }),
});

/** `contacts_read_contact`. */
export const readContact = defineContactsAction({
  id: "read_contact",
  title: "Read a contact",
  description: "All about one contact, and whether there is a photo.",
  level: "read",
  scopes: ["contacts.read"],
  arguments: z.strictObject({ contact_id: contactId }),
  examples: [{ contact_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.vcf" }],
  run: ({ contact_id }, books) => books.read(contact_id),
});

/** `contacts_create_contact`. */
export const createContact = defineContactsAction({
  id: "create_contact",
  title: "Create a contact",
  description: "Creates a contact.",
  level: "write",
  scopes: ["contacts.write"],
  arguments: z.strictObject({
    name: line(500).min(1).describe("Whole name, as it is shown."),
    ...fields,
    address_book: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe("Address book, by name. Needed where there are several; the refusal names them."),
  }),
  examples: [
    { name: "Ana Example", given_name: "Ana", family_name: "Example", emails: [{ address: "ana@example.org" }] },
  ],
  askBefore: ["Which contact is put into which address book?"],
  preview: ({ address_book, name, ...contact }, books) =>
    books.previewCreate({ name, ...toChange(contact) }, address_book),
  run: ({ address_book, name, ...contact }, books) => books.create({ name, ...toChange(contact) }, address_book),
  keeps: keepsItems,
});

/** `contacts_update_contact`. */
export const updateContact = defineContactsAction({
  id: "update_contact",
  title: "Change a contact",
  description:
    "Changes a contact. What is not named stays, also the photo and what this service does not know. An empty text or list is taken away.",
  level: "write",
  raises: [deletesWhen("empties fields of the contact", anyEmptied(...Object.keys(fields)))],
  scopes: ["contacts.write"],
  arguments: z.strictObject({
    contact_id: contactId,
    name: presentName,
    new_name: line(500).min(1).optional().describe("New whole name, as it is shown."),
    ...fields,
  }),
  examples: [
    {
      contact_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.vcf",
      name: "Ana Example",
      phones: [{ number: "+49 30 1234567", type: "cell" }],
    },
  ],
  askBefore: ["Which contact is changed, and to what?"],
  async judge({ contact_id, name: _name, new_name: name, ...wanted }, books) {
    return judgeReplacing(await books.read(contact_id), { name, ...wanted });
  },
  preview: async ({ contact_id, name, ...given }, books) =>
    books.previewChange({ contactId: contact_id, name }, readChange(given)),
  run: async ({ contact_id, name, ...given }, books) =>
    books.change({ contactId: contact_id, name }, readChange(given)),
  keeps: keepsItems,
});

function readChange({ new_name, ...given }: Parameters<typeof toChange>[0] & { new_name?: string | undefined }) {
  const change = { ...toChange(given), name: new_name };
  if (Object.values(change).every((one) => one === undefined))
    throw refuseValue("new_name", "or another change is needed.", "Send what is to be changed.");
  return change;
}

/** `contacts_delete_contact`. */
export const deleteContact = defineContactsAction({
  id: "delete_contact",
  title: "Delete a contact",
  description:
    "Deletes a contact. In a folder it goes to .trash, from where a human can restore it; on a server it is gone.",
  level: "delete",
  scopes: ["contacts.write"],
  arguments: z.strictObject({ contact_id: contactId, name: presentName }),
  examples: [{ contact_id: "personal/3f0c6d1e-8a1b-4b7e-9d55-0f2a7c6e1b90.vcf", name: "Ana Example" }],
  askBefore: ["Which contact is deleted?"],
  preview: ({ contact_id, name }, books) => books.previewRemoval({ contactId: contact_id, name }),
  run: ({ contact_id, name }, books) => books.remove({ contactId: contact_id, name }),
  keeps: keepsItems,
});
