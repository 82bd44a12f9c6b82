import { constants, createWriteStream } from "node:fs";
import { mkdtemp, open, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import mime from "mime";
import type { JsonSchema } from "../../../wire/tool.ts";
import { findFileFields } from "../../files/file-fields.ts";
import { sanitiseFileName } from "../../files/file-name.ts";
import type { ActionContext } from "../../integrations/integration.ts";
import { MAX_JSON_DEPTH } from "../../json-depth.ts";

type Args = Readonly<Record<string, unknown>>;

/** The working folder of one call, through which its files pass, so that no process holds them in memory whole. */
export interface CallFolder {
  /** As `realpath` gives it. */
  readonly path: string;
  /** A copy of the arguments in which each file is `{ file, name, mimetype }`, its bytes being a file of the folder. */
  takeFiles(inputSchema: JsonSchema, args: Args, context: ActionContext): Promise<Record<string, unknown>>;
  /** Keeps a file of the folder as a file of the service; resolves with the text that stands for it in the result. */
  keep(file: { file: string; name: string }, context: ActionContext): Promise<string>;
  /** A result in which each such text is the file it stands for; what nests deeper than any request stays as it is. */
  nameFiles(value: unknown): unknown;
  remove(): Promise<void>;
}

/** Makes an empty folder that nobody else may read. */
export async function openCallFolder(): Promise<CallFolder> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "svc-piece-")));
  const kept = new Map<string, unknown>();

  return {
    path,

    async takeFiles(inputSchema, args, context) {
      const copy: Record<string, unknown> = structuredClone(args);
      for (const [index, { value }] of findFileFields(inputSchema, copy).entries()) {
        const file = `in-${index}`;
        await pipeline(context.file(String(value.s3key)).open(), createWriteStream(join(path, file), { mode: 0o600 }));
        delete value.s3key;
        value.file = file;
      }
      return copy;
    },

    async keep({ file, name: given }, { keepFile }) {
      const name = sanitiseFileName(given);
      const mimetype = mime.getType(name) ?? "application/octet-stream";
      // The piece wrote it: a link would lead to a file that it may not read itself.
      const handle = await open(join(path, file), constants.O_RDONLY | constants.O_NOFOLLOW);
      try {
        const text = `svc-file:${kept.size}:${name}`;
        // Reserved before anything is awaited: several files may be kept at a time.
        kept.set(text, undefined);
        if (keepFile === undefined) {
          kept.set(text, { name, mimetype, size: (await handle.stat()).size });
        } else {
          const { s3key, size } = await keepFile({ name, mimetype }, handle.createReadStream({ autoClose: false }));
          kept.set(text, { name, mimetype, size, s3key });
        }
        return text;
      } finally {
        await handle.close();
      }
    },

    nameFiles: (value) => replaceTexts(value, kept),

    remove: () => rm(path, { recursive: true, force: true }),
  };
}

function replaceTexts(value: unknown, by: ReadonlyMap<string, unknown>, depth = 0): unknown {
  if (by.size === 0 || depth > MAX_JSON_DEPTH) return value;
  if (typeof value === "string") return by.get(value) ?? value;
  const replace = (item: unknown) => replaceTexts(item, by, depth + 1);
  if (Array.isArray(value)) return value.map(replace);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replace(item)]));
}
