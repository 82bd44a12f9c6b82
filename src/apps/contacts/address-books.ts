import type { CollectionKind } from "../collections/collection-store.ts";
import type { KeepsItems } from "../collections/kept-item.ts";
import { createActionDefiner, type PlaceAction } from "../port/define-action.ts";
import type { PreviewDraft } from "../port/preview.ts";

/** Address books as collections of files. */
export const ADDRESS_BOOKS: CollectionKind = {
  ending: ".vcf",
  mimetype: "text/vcard; charset=utf-8",
  app: "The contacts server",
  accountType: "carddav",
  first: { id: "personal", name: "personal" },
};

/** A mail address or a telephone number, and what it is for, such as "home" or "work". */
export interface GivenWay {
  readonly value: string;
  readonly type?: string | undefined;
}

/** A postal address. */
export interface GivenAddress {
  readonly street?: string | undefined;
  readonly city?: string | undefined;
  readonly region?: string | undefined;
  readonly postal_code?: string | undefined;
  readonly country?: string | undefined;
  readonly type?: string | undefined;
}

/** What of a contact is set; what is undefined stays as it is, and an empty text or list is taken away. */
export interface ContactChange {
  readonly name?: string | undefined;
  readonly given_name?: string | undefined;
  readonly family_name?: string | undefined;
  readonly nickname?: string | undefined;
  readonly organization?: string | undefined;
  readonly title?: string | undefined;
  /** `YYYY-MM-DD`, or `--MM-DD` without the year. */
  readonly birthday?: string | undefined;
  readonly note?: string | undefined;
  readonly website?: string | undefined;
  readonly emails?: readonly GivenWay[] | undefined;
  readonly phones?: readonly GivenWay[] | undefined;
  readonly addresses?: readonly GivenAddress[] | undefined;
}

/** Which contact is meant, and the name that whoever approves saw. */
export interface ContactTarget {
  readonly contactId: string;
  /** Has to be the present one. */
  readonly name: string;
}

type Answer = Readonly<Record<string, unknown>>;

/**
 * The address books of one connection for the length of one call. Every method gives the answer of its action, and throws
 * ServiceError for failures it can name; arguments are named as the actions name them.
 */
export interface AddressBooks extends KeepsItems {
  search(o: {
    readonly query: string;
    readonly addressBook: string | undefined;
    readonly offset: number;
    readonly limit: number;
  }): Promise<Answer>;
  read(contactId: string): Promise<Answer>;
  create(contact: ContactChange & { readonly name: string }, addressBook: string | undefined): Promise<Answer>;
  change(target: ContactTarget, change: ContactChange): Promise<Answer>;
  remove(target: ContactTarget): Promise<Answer>;
  /** What `create` would do; like the other previews by reads alone, refused as that would be. */
  previewCreate(
    contact: ContactChange & { readonly name: string },
    addressBook: string | undefined,
  ): Promise<PreviewDraft>;
  previewChange(target: ContactTarget, change: ContactChange): Promise<PreviewDraft>;
  previewRemoval(target: ContactTarget): Promise<PreviewDraft>;
}

/** Opens the address books of the connection in `context`; does no I/O yet. */
export type OpenAddressBooks = Parameters<PlaceAction<AddressBooks>>[0];

/** Defines an action on the address books of the connection it is called with. */
export const defineContactsAction = createActionDefiner<AddressBooks>();
