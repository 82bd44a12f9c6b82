import { join } from "node:path";
import { z } from "zod";
import { renameFile } from "../../shared/base/disk.ts";
import { errorCode } from "../../shared/base/error-code.ts";
import { parseJson } from "../../shared/base/json.ts";
import { withWriteLock } from "../../shared/base/write-lock.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import { keyScopesSchema } from "../../shared/wire/key-scopes.ts";
import { spellAddress } from "../client/base-url.ts";
import { deleteSecretFile, prepareFolder, readSecretFile, writeSecretFile } from "./secret-file.ts";

/** Addresses are compared as text, so they are normalised when read. */
const addressSchema = z.string().min(1).transform(spellAddress);

const credentialsSchema = z.object({
  baseUrl: addressSchema,
  apiKey: z.string().min(1),
  apiKeyId: z.string(),
  deviceLabel: z.string().exactOptional(),
  pairedAt: z.string(),
  /** The account under which this machine keeps its state, since the service has moved. */
  principal: z
    .string()
    .regex(/^[0-9a-f]{16}$/)
    .exactOptional(),
});

/** The result of a finished pairing, kept on this machine. */
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

const pendingPairingSchema = z.object({
  baseUrl: addressSchema,
  sessionToken: z.string().min(1),
  /** Secret: proves that the exchange comes from the machine that started the session. */
  verifier: z.string().min(1),
  pairUrl: z.string().min(1),
  displayCode: z.string().exactOptional(),
  deviceLabel: z.string().exactOptional(),
  scopes: keyScopesSchema.exactOptional(),
  startedAt: z.string(),
  expiresAt: z.string(),
  pollIntervalMs: z.number().exactOptional(),
});

/** A pairing that was started and not exchanged yet; enough to continue after a crash. */
export type PendingPairing = Readonly<z.infer<typeof pendingPairingSchema>>;

const FILE_VERSION = 1;
const fileSchema = z.object({
  version: z.literal(FILE_VERSION),
  credentials: credentialsSchema.exactOptional(),
  pending: pendingPairingSchema.exactOptional(),
});

type FileContent = Omit<z.infer<typeof fileSchema>, "version">;

/** Stores the API key. Every change is atomic, durable and safe beside other processes. */
export interface CredentialStore {
  readonly path: string;
  /**
   * The stored credentials, or undefined.
   *
   * @throws SvcError `invalid_config` for a file that is a link, not ours, or open to others, with the fix;
   * `credentials_missing` once for a damaged file, which is kept under another name
   */
  read(): Promise<Credentials | undefined>;
  /** Stores credentials and drops the pending pairing in one step. They are on disk when it resolves. */
  write(credentials: Credentials): Promise<void>;
  clear(): Promise<void>;
  readPending(): Promise<PendingPairing | undefined>;
  writePending(pending: PendingPairing): Promise<void>;
  clearPending(): Promise<void>;
}

/**
 * Opens the store in `folder`: one file `credentials.json` of mode 0600, in a folder made with mode 0700.
 * `uid` is the user the file must belong to, by default the one of this process.
 */
export function openCredentialStore(folder: string, options: CredentialFileOptions = {}): CredentialStore {
  const file = openCredentialFile(folder, options);
  return {
    path: file.path,
    read: async () => (await file.read()).credentials,
    write: (credentials) => file.update(({ pending: _ended, ...kept }) => ({ ...kept, credentials })),
    clear: () => file.strip(({ credentials: _key, pending: _ended, ...kept }) => kept),
    readPending: async () => (await file.peek()).pending,
    writePending: (pending) => file.update((content) => ({ ...content, pending })),
    clearPending: () => file.update(({ pending: _dropped, ...kept }) => kept),
  };
}

interface CredentialFileOptions {
  readonly now?: () => number;
  /** The user the file must belong to, by default the one of this process. */
  readonly uid?: number | undefined;
}

/** The one file with secrets. Every change is atomic, durable and safe beside other processes. */
export function openCredentialFile(
  folder: string,
  { now = Date.now, uid = process.getuid?.() }: CredentialFileOptions = {},
) {
  const path = join(folder, "credentials.json");

  /** Undefined for a damaged file. */
  const load = async (): Promise<FileContent | undefined> => {
    const text = await readSecretFile(path, uid);
    return text === undefined ? {} : parseContent(text, path);
  };
  const moveAside = async (): Promise<string> => {
    const aside = `${path}.corrupt-${new Date(now()).toISOString().replace(/[:.]/g, "-")}`;
    await renameFile(path, aside);
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
  const store = async (content: FileContent): Promise<void> => {
    if (Object.values(content).every((part) => part === undefined)) return deleteSecretFile(path);
    await writeSecretFile(path, `${JSON.stringify({ version: FILE_VERSION, ...content }, undefined, 2)}\n`);
  };

  return {
    path,
    /** Moves a damaged file aside and reports it once. */
    async read(): Promise<FileContent> {
      const content = await load();
      if (content !== undefined) return content;
      // Checked again under the lock: another process may have repaired it.
      return change(async () => {
        const again = await load();
        if (again !== undefined) return again;
        throw damaged(path, await moveAside());
      });
    },
    /** Like `read`, but leaves a damaged file in place and treats it as empty. */
    async peek(): Promise<FileContent> {
      return (await load()) ?? {};
    },
    /** Changes the file; without content it is deleted. */
    update: (edit: (content: FileContent) => FileContent) =>
      change(async () => {
        const content = await load();
        if (content === undefined) await moveAside();
        await store(edit(content ?? {}));
      }),
    /** Like `update`, and deletes a file that cannot be read. */
    strip: (edit: (content: FileContent) => FileContent) =>
      change(async () => {
        const content = await load().catch(() => undefined);
        await store(content === undefined ? {} : edit(content));
      }),
  };
}

/** Undefined for text that no version of this program wrote. */
function parseContent(text: string, path: string): FileContent | undefined {
  const json = parseJson(text);
  const parsed = fileSchema.safeParse(json);
  if (parsed.success) {
    const { version: _ours, ...content } = parsed.data;
    return content;
  }
  const version = z.looseObject({ version: z.number() }).safeParse(json);
  if (version.success && version.data.version > FILE_VERSION) {
    throw new SvcError("unsupported", `The credential file ${path} was written by a newer version of this program.`, {
      field: "credentials",
      hint: "Update this program, or point it at another folder.",
    });
  }
  return undefined;
}

function unwritable(folder: string, cause: unknown): SvcError {
  const code = errorCode(cause);
  const reason = code === undefined ? "" : ` (${code})`;
  return new SvcError("invalid_config", `The credential folder ${folder} cannot be written${reason}.`, {
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
