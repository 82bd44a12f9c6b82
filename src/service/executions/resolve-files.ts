import { Readable } from "node:stream";
import type { HeldFile, PreviewFile } from "../../apps/port/integration.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import { createFetchedFiles, type FetchedFiles, isWebUrl } from "../fetch/fetched-files.ts";
import type { UrlFiles } from "../fetch/url-files.ts";
import type { BlobStore, StoredFile } from "../files/blob-store.ts";
import { type FileField, findFileFields, findUrlFields, recoverFileReferences } from "../files/file-fields.ts";
import type { IngestTokens } from "../files/ingest-tokens.ts";
import type { ReceivedFile } from "../files/read-execute-body.ts";
import { bareType } from "../files/sniff-mimetype.ts";
import { ServiceError } from "../service-error.ts";
import type { LookedFiles } from "./preview-call.ts";
import type { ResolvedFiles } from "./run-action.ts";
import type { ToolCall } from "./tool-call.ts";

/** Input of {@link resolveFiles}. */
interface ResolveFilesOptions extends FileAccessParts {
  readonly inputSchema: unknown;
  /** Valid arguments; not changed. */
  readonly args: Record<string, unknown>;
  readonly received?: readonly ReceivedFile[] | undefined;
  readonly account: string;
  /** Full tool name; part of the storage key. */
  readonly tool: string;
  /** Ends fetches; aborted when the caller went away. */
  readonly signal?: AbortSignal | undefined;
}

type IncomingFile = Pick<ReceivedFile, "name" | "mimetype" | "staged">;
type Source = { readonly incoming: IncomingFile } | { readonly stored: StoredFile };

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

/** Offers an upload for the first missing file. */
function refuseMissing(missing: readonly FileField[], { account, tool, ingestTokens }: ResolveFilesOptions) {
  const [first] = missing;
  const paths = missing.map(({ field }) => `arguments.${field}.s3key`);
  const reference = toText(first?.value.s3key);
  const offer = first && ingestTokens?.mint({ account, tool, field: first.field, reference });
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

/** A source for every field: files sent with the call or stored come first, then files to fetch. */
async function findSources(
  fields: readonly FileField[],
  options: ResolveFilesOptions,
  fetched: FetchedFiles,
): Promise<Map<FileField, Source>> {
  const pointers = new Map((options.received ?? []).map((file) => [file.pointer, file]));
  const sources = new Map<FileField, Source>();
  const missing: FileField[] = [];
  const remote: FileField[] = [];
  for (const field of fields) {
    const reference = toText(field.value.s3key);
    const received = pointers.get(reference);
    if (received !== undefined) {
      if (bareType(field.value.mimetype) !== bareType(received.mimetype)) throw refuseType(field, received);
      sources.set(field, { incoming: received });
      continue;
    }
    const stored = await options.blobs.get(options.account, reference);
    if (stored !== undefined) sources.set(field, { stored });
    else (isWebUrl(reference) ? remote : missing).push(field);
  }
  if (missing.length > 0) throw refuseMissing(missing, options);
  for (const field of remote) sources.set(field, { incoming: await fetched.fill(field) });
  return sources;
}

function hold(stored: StoredFile, value: FileField["value"], blobs: BlobStore): HeldFile {
  const { size, sha256 } = stored;
  return {
    name: toText(value.name).trim() || stored.name,
    mimetype: toText(value.mimetype).trim() || stored.mimetype,
    size,
    sha256,
    open: () => blobs.open(stored),
  };
}

/** Puts files into the store, each once, and storage keys into the arguments. */
async function holdAll(
  args: Record<string, unknown>,
  options: ResolveFilesOptions,
  fetched: FetchedFiles,
): Promise<{ held: Map<string, HeldFile>; stored: readonly string[] }> {
  const { account, blobs, inputSchema, tool } = options;
  const fields = findFileFields(inputSchema, args);
  checkComplete(fields);
  const sources = await findSources(fields, options, fetched);
  const texts: (readonly [replace: (s3key: string) => void, source: Source])[] = [];
  for (const { field, reference, replace } of findUrlFields(inputSchema, args)) {
    const stored = await blobs.get(account, reference);
    const source =
      stored === undefined ? { incoming: await fetched.fetch(reference, `arguments.${field}`) } : { stored };
    texts.push([replace, source]);
  }
  const adopted = new Map<IncomingFile, StoredFile>();
  const keep = async (source: Source): Promise<StoredFile> => {
    if ("stored" in source) return source.stored;
    const { name, mimetype, staged } = source.incoming;
    const stored = adopted.get(source.incoming) ?? (await blobs.adopt(account, { name, mimetype, tool }, staged));
    adopted.set(source.incoming, stored);
    return stored;
  };
  const held = new Map<string, HeldFile>();
  for (const [field, source] of sources) {
    const stored = await keep(source);
    field.value.s3key = stored.s3key;
    held.set(stored.s3key, hold(stored, field.value, blobs));
  }
  for (const [replace, source] of texts) {
    const stored = await keep(source);
    replace(stored.s3key);
    if (!held.has(stored.s3key)) held.set(stored.s3key, hold(stored, {}, blobs));
  }
  return { held, stored: [...adopted.values()].map(({ s3key }) => s3key) };
}

/**
 * Gives every file argument its bytes ("File rules" 1 to 6, 8): for a file-uploadable object an envelope entry whose
 * `pointer` equals the `s3key`, a storage key of this account or a public https URL; for a URL field the last two. Nothing
 * is stored before all fields have a source.
 *
 * Throws ServiceError 400 `invalid_arguments` for an incomplete file object, `file_mimetype_mismatch` when argument and
 * envelope disagree, the codes of fetching for a URL, and `missing_file_bytes` for everything else, with a `hint` and,
 * where ingest is configured, `error.upload`.
 */
export async function resolveFiles(options: ResolveFilesOptions): Promise<ResolvedFiles> {
  const args = recoverFileReferences(options.inputSchema, options.args);
  const fetched = createFetchedFiles(options.urlFiles, options.signal);
  try {
    const { held, stored } = await holdAll(args, options, fetched);
    return {
      args,
      stored,
      file(s3key) {
        const file = held.get(s3key);
        if (file === undefined) throw new Error("The action asked for a file that its arguments do not name.");
        return file;
      },
    };
  } finally {
    await fetched.discard();
  }
}

/** A file of a call that is only looked at, by the text that its argument has as `s3key`. */
export interface AnnouncedFile extends PreviewFile {
  readonly pointer: string;
}

/** A file that came with a call, as whoever looks at the call sees it: with its bytes, where all of them are in memory. */
function seeReceived({ pointer, name, mimetype, size, md5, sha256, staged: { head } }: ReceivedFile): AnnouncedFile {
  const facts = { pointer, name, mimetype, size, md5, sha256 };
  return head.length === size ? { ...facts, open: () => Readable.from([head]) } : facts;
}

/** What is known of the files of a call: of those that came with it, of stored ones, and what its arguments say of others. */
async function describeFiles(
  { blobs, account, args: given, inputSchema }: Pick<ResolveFilesOptions, "blobs" | "account" | "args" | "inputSchema">,
  sent: readonly AnnouncedFile[],
): Promise<LookedFiles> {
  const args = recoverFileReferences(inputSchema, given);
  const known = new Map<string, PreviewFile>(sent.map(({ pointer, ...facts }) => [pointer, facts]));
  const look = async (reference: string, { name, mimetype }: Record<string, unknown>) => {
    const stored = known.has(reference) ? undefined : await blobs.get(account, reference);
    if (stored !== undefined) known.set(reference, hold(stored, { name, mimetype }, blobs));
    else if (!known.has(reference)) known.set(reference, { name: toText(name), mimetype: toText(mimetype) });
  };
  for (const { value } of findFileFields(inputSchema, args)) await look(toText(value.s3key), value);
  for (const { reference } of findUrlFields(inputSchema, args)) await look(reference, {});
  return { args, file: (s3key) => known.get(s3key) ?? { name: "", mimetype: "" } };
}

/** Parts that {@link createFileAccess} needs. */
export interface FileAccessParts {
  readonly blobs: BlobStore;
  /** Undefined when no ingest secret is configured. */
  readonly ingestTokens: IngestTokens | undefined;
  readonly urlFiles: UrlFiles;
}

/**
 * How the calls of one account reach files, the same for every endpoint that executes. `received` holds the files of a
 * `files` envelope, which only the tool-name endpoint takes.
 */
export function createFileAccess(
  parts: FileAccessParts,
  o: { account: string; toolName: string; received?: readonly ReceivedFile[] | undefined },
): Pick<ToolCall, "describeFiles" | "resolveFiles" | "keepFile"> {
  const { account, toolName, received } = o;
  return {
    ...createFileLook(parts, account, received?.map(seeReceived)),
    keepFile: ({ name, mimetype }, bytes) =>
      parts.blobs.receive(account, { name, mimetype, tool: toolName }, bytes, { maxBytes: MAX_FILE_BYTES }),
    resolveFiles: ({ toolName: tool, action: { inputSchema } }, args, signal) =>
      resolveFiles({ ...parts, inputSchema, args, received, account, tool, signal }),
  };
}

/** The same for calls that are only looked at, whose files are announced, if at all. */
export function createFileLook(
  { blobs }: Pick<FileAccessParts, "blobs">,
  account: string,
  sent: readonly AnnouncedFile[] = [],
): Pick<ToolCall, "describeFiles"> {
  return {
    describeFiles: ({ action: { inputSchema } }, args) => describeFiles({ blobs, account, args, inputSchema }, sent),
  };
}
