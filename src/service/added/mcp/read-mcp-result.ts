import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client";
import type { ActionContext } from "../../integrations/integration.ts";
import { ServiceError } from "../../service-error.ts";

const MESSAGE_MAX = 500;
const DETAILS_MAX = 10;

/**
 * A tool's result as the service gives it: the structured content when there is one, a single text as its JSON value or
 * as `{ text }`, otherwise the list of parts. Images, sounds and files become service files (`s3key`), never base64.
 *
 * @throws ServiceError 500 `execution_failed` with the server's words when the tool reports a failure.
 */
export async function readMcpResult(result: CallToolResult, context: ActionContext): Promise<unknown> {
  if (result.isError === true) throw createFailure(result);
  const content = result.content ?? [];
  const files = content.filter((part) => part.type !== "text");
  if (result.structuredContent !== undefined && files.length === 0) return result.structuredContent;
  const [only] = content;
  if (content.length === 1 && only?.type === "text") return readText(only.text);
  const parts = [];
  for (const part of content) parts.push(await toPart(part, context));
  const structured = result.structuredContent === undefined ? {} : { structured: result.structuredContent };
  return { ...structured, content: parts };
}

function createFailure({ content = [] }: CallToolResult): ServiceError {
  const lines = content.flatMap((part) => (part.type === "text" ? part.text.split("\n") : [])).filter(Boolean);
  const message = (lines[0] ?? "The tool reports a failure without saying why.").slice(0, MESSAGE_MAX);
  const details = lines.slice(1, 1 + DETAILS_MAX).map((line) => line.slice(0, MESSAGE_MAX));
  return new ServiceError(500, "execution_failed", message, {
    type: "provider",
    ...(details.length > 0 && { details }),
  });
}

function readText(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Plain text.
  }
  return { text };
}

async function toPart(part: ContentBlock, context: ActionContext): Promise<unknown> {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text };
    case "image":
    case "audio":
      return keep(context, { type: part.type, mimetype: part.mimeType, base64: part.data });
    case "resource": {
      const { resource } = part;
      const { uri, mimeType: mimetype = "application/octet-stream" } = resource;
      if ("text" in resource) return { type: "resource", uri, mimetype, text: resource.text };
      return {
        uri,
        ...(await keep(context, { type: "resource", mimetype, base64: resource.blob, name: nameOf(uri) })),
      };
    }
    case "resource_link":
      return {
        type: "link",
        uri: part.uri,
        name: part.name,
        ...(part.description && { description: part.description }),
      };
  }
}

async function keep(
  { keepFile }: ActionContext,
  { base64, name, ...part }: { type: string; mimetype: string; base64: string; name?: string },
) {
  const bytes = Buffer.from(base64, "base64");
  if (keepFile === undefined) return { ...part, size: bytes.length };
  const extension = part.mimetype.split(/[/+;]/)[1] ?? "bin";
  const file = { name: name ?? `${part.type}.${extension}`, mimetype: part.mimetype };
  const { s3key, size } = await keepFile(file, chunk(bytes));
  return { ...part, name: file.name, s3key, size };
}

async function* chunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function nameOf(uri: string): string {
  const last = URL.parse(uri)?.pathname.split("/").at(-1);
  return last ? last.slice(0, 200) : "resource.bin";
}
