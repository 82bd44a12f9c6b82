import { isDeepStrictEqual } from "node:util";
import { z } from "zod";
import { ServiceError } from "../../service/service-error.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord, setOwn } from "../../shared/base/json.ts";
import type { ActionContext } from "../port/integration.ts";
import { readProblem } from "../port/provider-words.ts";

const MESSAGE_MAX = 500;
const DETAILS_MAX = 10;
const NOT_SHOWN = "This part of the answer is of a kind that is not read here.";

/** A `CallToolResult` of the protocol, with parts that nobody knows yet. */
export const mcpResultSchema = z.looseObject({
  content: z.array(z.unknown()).nullish(),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().nullish(),
});
type McpResult = z.output<typeof mcpResultSchema>;

const media = { data: z.string(), mimeType: z.string() };
const textSchema = z.looseObject({ type: z.literal("text"), text: z.string() });
const resourceSchema = z.looseObject({
  uri: z.string(),
  mimeType: z.string().optional().catch(undefined),
  text: z.string().optional(),
  blob: z.string().optional(),
});
const partSchema = z.discriminatedUnion("type", [
  textSchema,
  z.looseObject({ type: z.literal("image"), ...media }),
  z.looseObject({ type: z.literal("audio"), ...media }),
  z.looseObject({ type: z.literal("resource"), resource: resourceSchema }),
  z.looseObject({
    type: z.literal("resource_link"),
    uri: z.string(),
    name: z.string().optional(),
    description: z.string().optional(),
  }),
]);
type Part = z.output<typeof partSchema>;

const namedSchema = z.looseObject({ type: z.string().max(40) });

/**
 * A tool's result as the service gives it: the structured content, a single text as its JSON value or as `{ text }`,
 * otherwise the list of parts; `{ structured, content }` where the parts say more than the structured content. Images,
 * sounds and files become service files (`s3key`), never base64, wherever they stand. A part that cannot be read is named
 * with its type and `not_shown`.
 *
 * @throws ServiceError 500 `execution_failed` with the server's words when the tool reports a failure.
 */
export async function readMcpResult(result: McpResult, context: ActionContext): Promise<unknown> {
  if (result.isError === true) throw createFailure(result);
  const content = result.content ?? [];
  const { structuredContent } = result;
  if (structuredContent === undefined || structuredContent === null) {
    const only = content.length === 1 ? textSchema.safeParse(content[0]).data : undefined;
    return only === undefined ? { content: await readParts(content, context) } : readText(only.text);
  }
  const beside = content.filter((part) => {
    const text = textSchema.safeParse(part).data?.text;
    return text === undefined || !repeats(text, structuredContent);
  });
  const kept = new Map<string, string>();
  const parts = await readParts(beside, context, kept);
  const structured = await replaceFiles(structuredContent, context, kept);
  return parts.length === 0 ? structured : { structured, content: parts };
}

/** Servers repeat the structured content, or a text in it, for clients that do not know it. */
function repeats(text: string, structured: unknown): boolean {
  const holds = (value: unknown): boolean =>
    value === text || (typeof value === "object" && value !== null && Object.values(value).some(holds));
  return holds(structured) || isDeepStrictEqual(readText(text), structured);
}

function createFailure({ content, structuredContent }: McpResult): ServiceError {
  const told = structuredContent === undefined ? {} : readProblem(structuredContent);
  const texts = (content ?? []).map((part) => textSchema.safeParse(part).data?.text ?? "");
  const lines = texts.flatMap((text) => text.split("\n")).filter(Boolean);
  const message = (lines[0] ?? told.message ?? "The tool reports a failure without saying why.").slice(0, MESSAGE_MAX);
  const details = [...lines.slice(1), ...(told.details ?? [])]
    .slice(0, DETAILS_MAX)
    .map((line) => line.slice(0, MESSAGE_MAX));
  return new ServiceError(500, "execution_failed", message, {
    type: "provider",
    ...(details.length > 0 && { details }),
  });
}

/** @param kept - is given the storage key of each file by its base64 */
async function readParts(content: readonly unknown[], context: ActionContext, kept?: Map<string, string>) {
  const parts = [];
  for (const raw of content) {
    const part = partSchema.safeParse(raw).data;
    const type = namedSchema.safeParse(raw).data?.type ?? "unknown";
    parts.push(part === undefined ? { type, not_shown: NOT_SHOWN } : await toPart(part, context, kept));
  }
  return parts;
}

/** Files in structured content as files: one that is a part as well by the same storage key, others as parts are. */
async function replaceFiles(value: unknown, context: ActionContext, kept: Map<string, string>): Promise<unknown> {
  if (typeof value === "string") return kept.get(value) ?? value;
  if (Array.isArray(value)) {
    const items = [];
    for (const item of value) items.push(await replaceFiles(item, context, kept));
    return items;
  }
  if (!isRecord(value)) return value;
  const part = partSchema.safeParse(value).data;
  const isFile = part?.type === "image" || part?.type === "audio" || (part?.type === "resource" && part.resource.blob);
  if (part !== undefined && isFile) return toPart(part, context, kept);
  const copy: Record<string, unknown> = {};
  for (const [key, member] of Object.entries(value)) setOwn(copy, key, await replaceFiles(member, context, kept));
  return copy;
}

function readText(text: string): unknown {
  try {
    const value: unknown = parseExactly(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Plain text.
  }
  return { text };
}

async function toPart(part: Part, context: ActionContext, kept?: Map<string, string>): Promise<unknown> {
  const keep = (file: NewFile) => keepOnce(file, context, kept);
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
    case "audio":
      return keep({ type: part.type, mimetype: part.mimeType, base64: part.data });
    case "resource": {
      const { uri, mimeType: mimetype = "application/octet-stream", text, blob } = part.resource;
      if (blob === undefined) return { type: "resource", uri, mimetype, text: text ?? "" };
      return { uri, ...(await keep({ type: "resource", mimetype, base64: blob, name: nameOf(uri) })) };
    }
    case "resource_link": {
      const { uri, name, description } = part;
      return { type: "link", uri, ...(name && { name }), ...(description && { description }) };
    }
  }
}

interface NewFile {
  readonly type: string;
  readonly mimetype: string;
  readonly base64: string;
  readonly name?: string;
}

async function keepOnce(
  { base64, name, ...part }: NewFile,
  { keepFile }: ActionContext,
  kept: Map<string, string> = new Map(),
) {
  const bytes = Buffer.from(base64, "base64");
  if (keepFile === undefined) return { ...part, size: bytes.length };
  const extension = part.mimetype.split(/[/+;]/)[1] ?? "bin";
  const file = { name: name ?? `${part.type}.${extension}`, mimetype: part.mimetype };
  const known = kept.get(base64);
  const { s3key, size } =
    known === undefined ? await keepFile(file, chunk(bytes)) : { s3key: known, size: bytes.length };
  kept.set(base64, s3key);
  return { ...part, name: file.name, s3key, size };
}

async function* chunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function nameOf(uri: string): string {
  const last = URL.parse(uri)?.pathname.split("/").at(-1);
  return last ? last.slice(0, 200) : "resource.bin";
}
