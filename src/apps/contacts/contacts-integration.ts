import type { AllowedHosts } from "../../service/fetch/address-rules.ts";
import { createStoreFields } from "../collections/dav-settings.ts";
import { createStores } from "../collections/open-stores.ts";
import type { Integration } from "../port/integration.ts";
import { ADDRESS_BOOKS, type OpenAddressBooks } from "./address-books.ts";
import { createContact, deleteContact, readContact, searchContacts, updateContact } from "./contact-actions.ts";

const actions = [searchContacts, readContact, createContact, updateContact, deleteContact];

/**
 * Contacts: folders of vCard files (setting `folder`, an absolute path), or an account on a CardDAV server (`server`, with
 * the settings of `readDavSettings`). The code of either is loaded by the first call that needs it.
 *
 * @param o.allowed hosts of the owner that may be reached although they are not public
 */
export function createContactsIntegration(o: { readonly allowed?: AllowedHosts } = {}): Integration {
  const stores = createStores(ADDRESS_BOOKS, o);
  const open: OpenAddressBooks = async (context, action) => {
    const { StoredAddressBooks } = await import("./stored-address-books.ts");
    return new StoredAddressBooks(await stores.open(context, action), context);
  };
  return {
    slug: "contacts",
    name: "Contacts",
    description:
      "Address books on a server (CardDAV), or in a folder of the machine that runs the service, as vCard files.",
    category: "contacts",
    scopes: ["contacts.read", "contacts.write"],
    actions: actions.map((action) => action(open)),
    settingsForm: createStoreFields({
      server: "Contacts server (CardDAV)",
      folder: {
        name: "folder",
        label: "Folder of the address books",
        kind: "folder",
        help: "Each folder in it is an address book, with one .vcf file a contact, as vdirsyncer and khard have them.",
      },
    }),
    settingsHelp: "Fill in a server with user name and password, or else only the folder at the end.",
    firstStep: {
      setting: "address",
      async suggest(address) {
        const { findDavServer } = await import("../collections/find-dav-server.ts");
        return findDavServer(address, ADDRESS_BOOKS);
      },
    },
    checkSettings: stores.checkSettings,
    testSettings: stores.testSettings,
    close: stores.close,
  };
}
