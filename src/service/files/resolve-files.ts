import type { HeldFile } from "../integrations/integration.ts";
import { ServiceError } from "../service-error.ts";
import type { BlobStore, StoredFile } from "./blob-store.ts";
import { type FileField, findFileFields, recoverFileReferences } from "./file-fields.ts";
import { isPublicHttpsUrl } from "./file-reference.ts";
import type { UploadOffer } from "./ingest-tokens.ts";
import type { ReceivedFile } from "./read-envelope.ts";

/** What {@link resolveFiles} works on. */
export interface ResolveFilesOptions {
  readonly inputSchema: unknown;
  /** Valid arguments; not changed. */
  readonly args: Record<string, unknown>;
  readonly received?: readonly ReceivedFile[] | undefined;
  readonly account: string;
  /** Full tool name; part of the storage key. */
  readonly tool: string;
  readonly blobs: BlobStore;
  /** Offers an upload for one field; undefined when ingest is not configured. Called for the first missing file only. */
  mintUpload(field: string, reference: string): Promise<UploadOffer | undefined>;
}

/** Arguments whose file fields all carry storage keys, and the bytes behind them. */
export interface ResolvedFiles {
  readonly args: Record<string, unknown>;
  /** Throws for a key that is not in the arguments. */
  file(s3key: string): HeldFile;
}

type Source = { readonly received: ReceivedFile } | { readonly stored: StoredFile };

function bareType(mimetype: string): string {
  return (mimetype.split(";")[0] ?? "").trim().toLowerCase();
}

function toText(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function refuseType(field: FileField, received: ReceivedFile): ServiceError {
  const path = `arguments.${field.field}.mimetype`;
  return new ServiceError(
    400,
    "file_mimetype_mismatch",
    `${path} says ${toText(field.value.mimetype)}, but files[${received.index}].mimetype says ${received.mimetype}.`,
    {
      type: "validation",
      hint: "Send the same MIME type in both places.",
      extra: { invalidFields: [path] },
    },
  );
}

function refuseUrl(field: FileField): ServiceError {
  const path = `arguments.${field.field}.s3key`;
  return new ServiceError(
    400,
    "unsupported_operation",
    `${path} is a URL, and this service does not fetch files from URLs.`,
    {
      type: "validation",
      hint: `Download the file and send its bytes in the files envelope: put any placeholder into ${path} and the same text into files[].pointer.`,
      extra: { invalidFields: [path] },
    },
  );
}

async function refuseMissing(missing: readonly FileField[], options: ResolveFilesOptions): Promise<ServiceError> {
  const [first] = missing;
  const paths = missing.map(({ field }) => `arguments.${field}.s3key`);
  const reference = toText(first?.value.s3key);
  const offer = first === undefined ? undefined : await options.mintUpload(first.field, reference);
  const { command, ...upload } = offer ?? { command: undefined };
  const hint =
    command === undefined
      ? `Send the bytes in the files envelope: add a files[] entry whose pointer equals ${paths[0]}, with name, mimetype, md5 and dataBase64, and repeat the call.`
      : `Upload the file with this command, then repeat the call with the returned s3key in ${paths[0]}:\n${command}`;
  return new ServiceError(
    400,
    "missing_file_bytes",
    `The bytes of ${paths.join(", ")} are missing: the service cannot read "${reference}".`,
    {
      type: "validation",
      hint,
      details: missing.map(({ value }, index) => `${paths[index]}: no bytes for "${toText(value.s3key)}"`),
      extra: { invalidFields: paths, ...(offer === undefined ? {} : { upload }) },
    },
  );
}

/** The document's "File-uploadable object" requires all three members. */
function checkComplete(fields: readonly FileField[]): void {
  const missing = fields.flatMap(({ field, value }) =>
    ["name", "mimetype", "s3key"].filter((key) => toText(value[key]).trim() === "").map((key) => `${field}.${key}`),
  );
  if (missing.length === 0) return;
  const details = missing.map((path) => `arguments.${path} is required and must be a text that is not empty`);
  throw new ServiceError(400, "invalid_arguments", `${details[0]}.`, {
    type: "validation",
    details,
    hint: "A file argument is an object with name, mimetype and s3key.",
    extra: { missingFields: missing, invalidFields: [] },
  });
}

async function findSources(
  fields: readonly FileField[],
  options: ResolveFilesOptions,
): Promise<Map<FileField, Source>> {
  const pointers = new Map((options.received ?? []).map((file) => [file.pointer, file]));
  const sources = new Map<FileField, Source>();
  const missing: FileField[] = [];
  for (const field of fields) {
    const reference = toText(field.value.s3key);
    const received = pointers.get(reference);
    if (received !== undefined) {
      if (bareType(toText(field.value.mimetype)) !== bareType(received.mimetype)) throw refuseType(field, received);
      sources.set(field, { received });
      continue;
    }
    const stored = await options.blobs.get(options.account, reference);
    if (stored !== undefined) sources.set(field, { stored });
    else if (isPublicHttpsUrl(reference)) throw refuseUrl(field);
    else missing.push(field);
  }
  if (missing.length > 0) throw await refuseMissing(missing, options);
  return sources;
}

function hold(stored: StoredFile, field: FileField, blobs: BlobStore): HeldFile {
  const { size, sha256 } = stored;
  return {
    name: toText(field.value.name).trim() || stored.name,
    mimetype: toText(field.value.mimetype).trim() || stored.mimetype,
    size,
    sha256,
    open: () => blobs.open(stored),
  };
}

/**
 * Gives every file-uploadable argument its bytes ("File rules" 4, 6, 8): an envelope entry whose `pointer` equals the
 * `s3key`, or a storage key of this account. Nothing is stored before all fields have a source.
 *
 * Throws ServiceError 400 `invalid_arguments` for an incomplete file object, `file_mimetype_mismatch` when argument and envelope disagree, `unsupported_operation` for a public
 * https URL, `missing_file_bytes` for everything else, with a `hint` and, where ingest is configured, `error.upload`.
 */
export async function resolveFiles(options: ResolveFilesOptions): Promise<ResolvedFiles> {
  const args = recoverFileReferences(options.inputSchema, options.args);
  const fields = findFileFields(options.inputSchema, args);
  checkComplete(fields);
  const sources = await findSources(fields, options);
  const adopted = new Map<ReceivedFile, StoredFile>();
  const held = new Map<string, HeldFile>();
  for (const [field, source] of sources) {
    let stored = "stored" in source ? source.stored : adopted.get(source.received);
    if (stored === undefined && "received" in source) {
      const { name, mimetype, staged } = source.received;
      stored = await options.blobs.adopt(options.account, { name, mimetype, tool: options.tool }, staged);
      adopted.set(source.received, stored);
    }
    if (stored === undefined) continue;
    field.value.s3key = stored.s3key;
    held.set(stored.s3key, hold(stored, field, options.blobs));
  }
  return {
    args,
    file(s3key) {
      const file = held.get(s3key);
      if (file === undefined) throw new Error("The action asked for a file that its arguments do not name.");
      return file;
    },
  };
}
