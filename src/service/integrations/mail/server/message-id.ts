import { createHash } from "node:crypto";

/** A message on an IMAP server: a folder keeps a UID for good as long as its validity is the same. */
export interface ImapPlace {
  /** Digest of user and path, see {@link digestPath}. */
  readonly folder: string;
  readonly validity: bigint;
  readonly uid: number;
}

/** Short stand-in for a folder of a user: its path may be longer than an id, and another account has the same ones. */
export function digestPath(user: string, path: string): string {
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
