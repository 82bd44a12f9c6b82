import { rename } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { withWriteLock } from "../approvals/write-lock.ts";
import { isSvcError, SvcError } from "../errors.ts";
import { deleteSecretFile, prepareFolder, readSecretFile, writeSecretFile } from "./secret-file.ts";
import { spellAddress } from "./service-address.ts";

/** Compared as text, so it is read in its one spelling however it was stored. */
const addressSchema = z.string().min(1).transform(spellAddress);

const credentialsSchema = z.object({
  baseUrl: addressSchema,
  apiKey: z.string().min(1),
  apiKeyId: z.string(),
  deviceLabel: z.string().exactOptional(),
  pairedAt: z.string(),
});

/** What a finished pairing leaves on this machine. */
export type Credentials = Readonly<z.infer<typeof credentialsSchema>>;

const pendingPairingSchema = z.object({
  baseUrl: addressSchema,
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

const signInSchema = z.object({
  /** Base URL of the service that was signed in to. */
  baseUrl: addressSchema,
  /** Non-secret name of this sign-in. */
  signInId: z.string().min(1),
  /** What is needed of the authorization server's metadata from now on, as it spells it. */
  server: z.object({
    issuer: z.string(),
    token_endpoint: z.string(),
    revocation_endpoint: z.string().exactOptional(),
    id_token_signing_alg_values_supported: z.array(z.string()).exactOptional(),
  }),
  /** What the tokens are good for. */
  resource: z.string(),
  clientId: z.string().min(1),
  accessToken: z.string().min(1),
  /** Absent when the service did not say. */
  expiresAt: z.string().exactOptional(),
  /** Absent when the service gave none, and once it refused it. */
  refreshToken: z.string().min(1).exactOptional(),
  signedInAt: z.string(),
});

/** What an OAuth sign-in leaves on this machine. */
export type SignIn = Readonly<z.infer<typeof signInSchema>>;

const FILE_VERSION = 1;
const fileSchema = z.object({
  version: z.literal(FILE_VERSION),
  credentials: credentialsSchema.exactOptional(),
  pending: pendingPairingSchema.exactOptional(),
  signIn: signInSchema.exactOptional(),
});

/** Everything in the file. */
type FileContent = Omit<z.infer<typeof fileSchema>, "version">;

/** The one file that holds secrets. Every change is atomic, durable and safe beside other processes. */
export interface CredentialFile {
  readonly path: string;
  /**
   * What is in the file.
   *
   * @throws SvcError `invalid_config` for a file that is a link, not ours, or open to others, with the fix;
   * `credentials_missing` once for a damaged file, which is kept under another name
   */
  read(): Promise<FileContent>;
  /** Like {@link CredentialFile.read}, but a damaged file is left for somebody else to find, and holds nothing. */
  peek(): Promise<FileContent>;
  /** Changes the file; what is there when nothing is left in it is no file. */
  update(edit: (content: FileContent) => FileContent): Promise<void>;
  /** Like {@link CredentialFile.update}, and rids the place of a file that cannot be read. */
  strip(edit: (content: FileContent) => FileContent): Promise<void>;
}

/** Where the file is kept and who owns it. */
export interface CredentialFileOptions {
  readonly now?: () => number;
  /** The user the file must belong to, by default the one of this process. */
  readonly uid?: number | undefined;
}

/** Opens `credentials.json` of mode 0600 in `folder`, which is made with mode 0700. */
export function openCredentialFile(
  folder: string,
  { now = Date.now, uid = process.getuid?.() }: CredentialFileOptions = {},
): CredentialFile {
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
  const store = async (content: FileContent): Promise<void> => {
    if (Object.values(content).every((part) => part === undefined)) return deleteSecretFile(path);
    await writeSecretFile(path, `${JSON.stringify({ version: FILE_VERSION, ...content }, undefined, 2)}\n`);
  };

  return {
    path,
    async read() {
      const content = await load();
      if (content !== DAMAGED) return content;
      // Looked at again under the lock: another process may have repaired it meanwhile.
      return change(async () => {
        const again = await load();
        if (again !== DAMAGED) return again;
        throw damaged(path, await moveAside());
      });
    },
    async peek() {
      const content = await load();
      return content === DAMAGED ? {} : content;
    },
    update: (edit) =>
      change(async () => {
        const content = await load();
        if (content === DAMAGED) await moveAside();
        await store(edit(content === DAMAGED ? {} : content));
      }),
    strip: (edit) =>
      change(async () => {
        const content = await load().catch((): Damaged => DAMAGED);
        await store(content === DAMAGED ? {} : edit(content));
      }),
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
