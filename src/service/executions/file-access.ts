import { MAX_FILE_BYTES } from "../../wire/constants.ts";
import type { UrlFiles } from "../fetch/url-files.ts";
import type { BlobStore } from "../files/blob-store.ts";
import type { IngestTokens } from "../files/ingest-tokens.ts";
import type { ReceivedFile } from "../files/read-envelope.ts";
import type { ToolCall } from "./execute-tool.ts";
import { resolveFiles } from "./resolve-files.ts";

/** What files of a call are made of. */
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
  {
    account,
    toolName,
    received,
  }: { account: string; toolName: string; received?: readonly ReceivedFile[] | undefined },
): Pick<ToolCall, "resolveFiles" | "keepFile"> {
  return {
    keepFile: ({ name, mimetype }, bytes) =>
      parts.blobs.receive(account, { name, mimetype, tool: toolName }, bytes, { maxBytes: MAX_FILE_BYTES }),
    resolveFiles: ({ toolName: tool, action: { inputSchema } }, args, signal) =>
      resolveFiles({
        inputSchema,
        args,
        received,
        account,
        tool,
        blobs: parts.blobs,
        urlFiles: parts.urlFiles,
        signal,
        mintUpload: async (field, reference) => parts.ingestTokens?.mint({ account, tool, field, reference }),
      }),
  };
}
