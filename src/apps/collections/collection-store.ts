import { sha256Hex } from "../../../base/hash.ts";
import { isWindowsDevice } from "../../../base/windows-names.ts";
import { refuseValue, ServiceError } from "../../service-error.ts";
import type { NotShown } from "../not-shown.ts";

/** A calendar or an address book. */
export interface Collection {
  /** As the arguments name it. */
  readonly id: string;
  /** For people. */
  readonly name: string;
}

/** A file of a collection: an event or a person's card, as a rule one each. */
export interface StoredItem {
  /** The id of its collection and its name in there, divided by a slash: opaque to callers. */
  readonly id: string;
  readonly collection: Collection;
  /** Changes whenever its content does. */
  readonly etag: string;
  readonly bytes: Buffer;
}

/** Items of a listing. */
export interface FoundItems {
  readonly items: readonly StoredItem[];
  /** Those that could not be read, or were too many. */
  readonly left: readonly NotShown[];
}

/** Which items are wanted; a store may give more. */
export interface ItemFilter {
  /** Only those that touch this span, in milliseconds since the epoch. */
  readonly span?: { readonly from: number; readonly to: number };
}

/**
 * The collections of one connection for the length of one call: folders of this machine, or those of an account on a server.
 * Every method throws ServiceError for failures it can name; `field` is the argument at fault. Nothing that was written by
 * others after an item was read is ever overwritten: then the answer is 409 `conflict`.
 */
export interface CollectionStore {
  list(): Promise<readonly Collection[]>;
  read(collections: readonly Collection[], filter: ItemFilter): Promise<FoundItems>;
  /** Throws ServiceError 404. */
  find(id: string, field: string): Promise<StoredItem>;
  /** Creates an item of a new name, without an ending. */
  create(collection: Collection, item: { readonly name: string; readonly bytes: Buffer }): Promise<StoredItem>;
  replace(item: StoredItem, bytes: Buffer): Promise<StoredItem>;
  /** Where a human finds it afterwards; undefined where it is gone. */
  remove(item: StoredItem): Promise<string | undefined>;
  /** Mail addresses of the account as its server knows them. */
  listOwnAddresses(): Promise<readonly string[]>;
}

/** What differs between calendars and address books. */
export interface CollectionKind {
  /** Ending of files, with its dot. */
  readonly ending: ".ics" | ".vcf";
  /** Media type of an item. */
  readonly mimetype: string;
  /** The app as error texts name it. */
  readonly app: "The calendar server" | "The contacts server";
  /** The service of an account (RFC 6764). */
  readonly accountType: "caldav" | "carddav";
  /** The collection that a folder without any gets with its first item. */
  readonly first: Collection;
}

/** Longest item that is read, in bytes. */
export const MAX_ITEM_BYTES = 2 * 1024 * 1024;
/** Most items that one call looks at. */
export const MAX_ITEMS = 10_000;
/** Said of a collection that holds more than one call looks at. */
export const TOO_MANY = "It holds more than one call reads; some of it was not looked at.";
/** Most of their bytes, about. */
export const MAX_READ_BYTES = 64 * 1024 * 1024;

/**
 * The item that an id names, and the mark of one of several things in it, which stands behind a `#`. Names of files may hold
 * that sign, too.
 */
export function splitItemId(id: string, { ending }: CollectionKind): { itemId: string; mark: string | undefined } {
  const end = id.toLowerCase().indexOf(`${ending}#`);
  const at = end >= 0 ? end + ending.length : id.toLowerCase().endsWith(ending) ? -1 : id.indexOf("#");
  return at < 0 ? { itemId: id, mark: undefined } : { itemId: id.slice(0, at), mark: id.slice(at + 1) };
}

/** 409 `conflict`: somebody else was faster. */
export function refuseConflict(what: string): ServiceError {
  return new ServiceError(
    409,
    "conflict",
    `${what} was changed by somebody else in the meantime; nothing was written.`,
    {
      type: "provider",
      hint: "Read it again, then decide whether the change still makes sense.",
    },
  );
}

/** 400: what is meant stands in a block whose end is missing, so that nobody knows what belongs to it. */
export function refuseDamaged(field: string): ServiceError {
  return refuseValue(
    field,
    "cannot be changed: the file is damaged there, as an END is missing.",
    "Repair the file with another program first.",
  );
}

/** A name that every file system and every server takes. */
export function toFileStem(uid: string): string {
  return /^[A-Za-z0-9][A-Za-z0-9@._-]{0,150}$/.test(uid) && !isWindowsDevice(uid) ? uid : sha256Hex(uid);
}

/** 500 `provider_error`: an item that is there, and cannot be understood. */
export function refuseUnreadable(id: string): ServiceError {
  return new ServiceError(500, "provider_error", `"${id}" cannot be read.`, {
    type: "provider",
    hint: "Open it with another program and repair it.",
  });
}
