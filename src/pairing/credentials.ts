import { rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { isSvcError, SvcError } from "../errors.ts";
import { deleteSecretFile, prepareFolder, readSecretFile, writeSecretFile } from "./secret-file.ts";
import { withWriteLock } from "./write-lock.ts";

const credentialsSchema = z.object({
  baseUrl: z.string().min(1),
  apiKey: z.string().min(1),
  apiKeyId: z.string(),
  deviceLabel: z.string().exactOptional(),
  pairedAt: z.string(),
});

/** What a finished pairing leaves on this machine. */
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

const pendingPairingSchema = z.object({
  baseUrl: z.string().min(1),
  sessionToken: z.string().min(1),
  /** Secret: proves that the exchange comes from the machine that started the session. */
  verifier: z.string().min(1),
  pairUrl: z.string().min(1),
  displayCode: z.string().exactOptional(),
  deviceLabel: z.string().exactOptional(),
  startedAt: z.string(),
  expiresAt: z.string(),
  pollIntervalMs: z.number().exactOptional(),
});

/** A pairing that was started and not exchanged yet: all that is needed to go on after a crash. */
export type PendingPairing = Readonly<z.infer<typeof pendingPairingSchema>>;

const FILE_VERSION = 1;
const fileSchema = z.object({
  version: z.literal(FILE_VERSION),
  credentials: credentialsSchema.exactOptional(),
  pending: pendingPairingSchema.exactOptional(),
});
type FileContent = Pick<z.infer<typeof fileSchema>, "credentials" | "pending">;

/** The one place where the API key is kept. Every change is atomic, durable and safe beside other processes. */
export interface CredentialStore {
  /** Path of the file. */
  readonly path: string;
  /**
   * The stored credentials, or undefined.
   *
   * @throws SvcError `invalid_config` for a file that is a link, not ours, or open to others, with the fix;
   * `credentials_missing` once for a damaged file, which is kept under another name
   */
  read(): Promise<Credentials | undefined>;
  /** Stores credentials and drops the pending pairing, in one step. On return they are on the disk. */
  write(credentials: Credentials): Promise<void>;
  /** Forgets everything: credentials and pending pairing. */
  clear(): Promise<void>;
  readPending(): Promise<PendingPairing | undefined>;
  writePending(pending: PendingPairing): Promise<void>;
  clearPending(): Promise<void>;
}

/**
 * Opens the store in `folder`: one file `credentials.json` of mode 0600, in a folder made with mode 0700.
 * `uid` is the user the file must belong to, by default the one of this process.
 */
export function openCredentialStore(
  folder: string,
  { now = Date.now, uid = process.getuid?.() }: { now?: () => number; uid?: number | undefined } = {},
): CredentialStore {
  const path = join(folder, "credentials.json");

  const load = async (): Promise<FileContent | Damaged> => {
    const text = await readSecretFile(path, uid);
    return text === undefined ? {} : parseContent(text, path);
  };
  const moveAside = async (): Promise<string> => {
    const aside = `${path}.corrupt-${new Date(now()).toISOString().replace(/[:.]/g, "-")}`;
    await rename(path, aside);
    return aside;
  };
  const change = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      await prepareFolder(folder);
      return await withWriteLock(`${path}.lock`, work);
    } catch (error) {
      throw isSvcError(error) ? error : unwritable(folder, error);
    }
  };
  const update = (edit: (content: FileContent) => FileContent) =>
    change(async () => {
      const content = await load();
      const isDamaged = content === DAMAGED;
      if (isDamaged) await moveAside();
      const next = { version: FILE_VERSION, ...edit(isDamaged ? {} : content) };
      await writeSecretFile(path, `${JSON.stringify(next, undefined, 2)}\n`);
    });

  return {
    path,
    read: async () => {
      const content = await load();
      if (content !== DAMAGED) return content.credentials;
      // Looked at again under the lock: another process may have repaired it meanwhile.
      return change(async () => {
        const again = await load();
        if (again !== DAMAGED) return again.credentials;
        throw damaged(path, await moveAside());
      });
    },
    write: (credentials) => update(() => ({ credentials })),
    clear: () => change(() => deleteSecretFile(path)),
    readPending: async () => {
      const content = await load();
      return content === DAMAGED ? undefined : content.pending;
    },
    writePending: (pending) => update((content) => ({ ...content, pending })),
    clearPending: () => update(({ pending: _dropped, ...kept }) => kept),
  };
}

const DAMAGED = Symbol("damaged");
type Damaged = typeof DAMAGED;

function parseContent(text: string, path: string): FileContent | Damaged {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return DAMAGED;
  }
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const version = z.looseObject({ version: z.number() }).safeParse(json);
  if (version.success && version.data.version > FILE_VERSION) {
    throw new SvcError("unsupported", `The credential file ${path} was written by a newer version of this program.`, {
      field: "credentials",
      hint: "Update this program, or point it at another folder.",
    });
  }
  return DAMAGED;
}

function unwritable(folder: string, cause: unknown): SvcError {
  const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
  return new SvcError("invalid_config", `The credential folder ${folder} cannot be written${code}.`, {
    field: "credentials",
    hint: "Check its owner, its mode and the space on the disk.",
    cause,
  });
}

function damaged(path: string, aside: string): SvcError {
  return new SvcError("credentials_missing", `The credential file ${path} was damaged. It is kept as ${aside}.`, {
    field: "credentials",
    hint: "Pair this device again.",
  });
}
