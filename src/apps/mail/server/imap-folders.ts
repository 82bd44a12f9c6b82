import { createHash } from "node:crypto";
import { refuseMissing, refuseValue } from "../../../service/service-error.ts";
import { isPutAway } from "../../port/put-away.ts";
import { normaliseFolder } from "../mail-box.ts";
import type { ImapLine } from "./imap-session.ts";

/** A folder of an IMAP account. */
export interface ImapFolder {
  /** The path the server knows. */
  readonly path: string;
  /** The path as people write it here: levels separated by "/". */
  readonly name: string;
  /** See `ImapPlace.folder`. */
  readonly digest: string;
  readonly specialUse: string | undefined;
}

/** Uses that stand for the standard names on a server with other folder names. */
const SPECIAL_USES: Readonly<Record<string, string>> = {
  Sent: "\\Sent",
  Drafts: "\\Drafts",
  Archive: "\\Archive",
  Junk: "\\Junk",
  Trash: "\\Trash",
};

/** All folders that can hold messages. */
export async function listImapFolders({ client, user }: ImapLine): Promise<ImapFolder[]> {
  const listed = await client.list();
  return listed
    .filter(({ flags }) => ![...flags].some((flag) => /^\\(noselect|nonexistent)$/i.test(flag)))
    .map(({ path, delimiter, specialUse }) => {
      const name = delimiter === "" || delimiter === "/" ? path : path.split(delimiter).join("/");
      return { path, name, digest: digestPath(user, path), specialUse };
    });
}

/** The folder that `name` means: exactly, by what the server uses it for, then whatever the case; undefined without one. */
export function pickFolder(folders: readonly ImapFolder[], name: string): ImapFolder | undefined {
  const standard = normaliseFolder(name);
  return (
    folders.find((one) => one.name === standard) ??
    folders.find((one) => one.specialUse !== undefined && one.specialUse === SPECIAL_USES[standard]) ??
    folders.find((one) => one.name.toLowerCase() === name.toLowerCase())
  );
}

/** Whether the folder that `name` means, or one above it, hides what is in there, by the marks of the server or by its name. */
export function isPutAwayIn(folders: readonly ImapFolder[], name: string): boolean {
  const levels = (pickFolder(folders, name)?.name ?? name).split("/");
  const above = levels.map((_, index) => levels.slice(0, index + 1).join("/"));
  const marked = folders.filter(({ specialUse }) => specialUse !== undefined && HIDES.has(specialUse.toLowerCase()));
  return [name, ...levels].some(isPutAway) || marked.some((folder) => above.includes(folder.name));
}

const HIDES: ReadonlySet<string> = new Set(["\\trash", "\\junk"]);

/** 404 `not_found`, type `provider`. */
export function refuseMissingFolder(folders: readonly ImapFolder[], name: string): Error {
  const names = folders.map((one) => one.name).join(", ");
  return refuseMissing(`There is no mail folder "${name}".`, `Folders: ${names.slice(0, 1000)}.`);
}

/** Throws ServiceError 400 naming `folder` for a name that no folder can have. */
export function checkFolderName(name: string): void {
  const levels = name.split("/");
  if (levels.some((level) => !/^[^\\%*"\p{Cc}]+$/u.test(level) || level.trim() === "" || /^\.+$/.test(level)))
    throw refuseValue(
      "folder",
      `is not a folder name: "${name}".`,
      'Separate levels with "/", for example "Work/2026".',
    );
}

/** A message on an IMAP server: a folder keeps a UID for good as long as its validity is the same. */
export interface ImapPlace {
  /** Digest of user and path, see {@link digestPath}. */
  readonly folder: string;
  readonly validity: bigint;
  readonly uid: number;
}

/** Short stand-in for a folder of a user: its path may be longer than an id, and another account has the same ones. */
function digestPath(user: string, path: string): string {
  return createHash("sha256").update(`${user}\n${path}`).digest("base64url").slice(0, 16);
}

/** `imap.<folder>.<validity>.<uid>` */
export function writeImapId({ folder, validity, uid }: ImapPlace): string {
  return `imap.${folder}.${validity.toString(36)}.${uid.toString(36)}`;
}

/** Undefined for a text that is not one of {@link writeImapId}. */
export function readImapId(id: string): ImapPlace | undefined {
  const [, folder, validity, uid] = /^imap\.([\w-]{16})\.([0-9a-z]{1,8})\.([0-9a-z]{1,8})$/.exec(id) ?? [];
  if (folder === undefined || validity === undefined || uid === undefined) return undefined;
  return { folder, validity: BigInt(Number.parseInt(validity, 36)), uid: Number.parseInt(uid, 36) };
}
