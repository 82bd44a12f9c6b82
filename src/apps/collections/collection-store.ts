import { refuseValue, ServiceError } from "../../service/service-error.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { isWindowsDevice } from "../../shared/base/windows-names.ts";
import type { NotShown } from "../port/not-shown.ts";

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

/** An item that is not there yet; see {@link CollectionStore.nameNew}. */
export type NewItem = Pick<StoredItem, "id" | "collection" | "bytes">;

/** An item as a write left it. */
export interface WrittenItem extends StoredItem {
  /** True where this is known to be as the write left it, so that nobody was faster than the look at it. */
  readonly isOurs: boolean;
}

/** Items of a listing. */
export interface FoundItems {
  readonly items: readonly StoredItem[];
  /** Those that could not be read, or were too many. */
  readonly left: readonly NotShown[];
}

/** What stays of an item when it is changed or removed. */
export interface LeftOver {
  /** True where a human finds it afterwards as it is now. */
  readonly isKept: boolean;
  /** True where what goes by it is lost for this service. */
  readonly isFinal: boolean;
  /** How a human can take the change back, as a sentence. */
  readonly left: string;
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
  /** The id of a new item of this name, without an ending. */
  nameNew(collection: Collection, name: string): string;
  /**
   * Creates an item where there is none: 409 `conflict` otherwise. With `trashedTo` the one that lies there, which is the same,
   * is moved back.
   */
  create(item: NewItem, trashedTo?: string): Promise<WrittenItem>;
  replace(item: StoredItem, bytes: Buffer): Promise<WrittenItem>;
  /** Where a human finds an item that is about to be removed; undefined where it is gone then. Another place each time. */
  chooseTrash(item: StoredItem): string | undefined;
  /** Removes it, to the place of {@link chooseTrash}. */
  remove(item: StoredItem, trashedTo: string | undefined): Promise<void>;
  /** Whether an item lies where it was removed to, unchanged. */
  isTrashed(item: StoredItem, trashedTo: string): Promise<boolean>;
  /**
   * Whether an item with the bytes `present` is as a write of `written` leaves it: byte for byte in a folder; in meaning on a
   * server, which may write it in its own way.
   */
  isSame(present: Buffer, written: Buffer): boolean;
  /** Mail addresses of the account as its server knows them. */
  listOwnAddresses(): Promise<readonly string[]>;
  /** What stays when an item gets these bytes, or is removed. */
  sayLeft(item: StoredItem, bytes: Buffer | undefined): LeftOver;
  /**
   * Whether those who are invited hear of a change because the server tells them by itself (RFC 6638); undefined where that
   * cannot be found out.
   */
  tellsPeople(): Promise<boolean | undefined>;
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

/** Id of the collection that lies in a connection's folder itself: it is always there. */
export const TOP = ".";
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
