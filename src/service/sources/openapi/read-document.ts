import { SvcError } from "../../../errors.ts";
import { createDocumentReader } from "./document-reader.ts";

/** Longest document, bytes: the largest public ones have about 13 MB. */
const MAX_DOCUMENT = 64 * 1024 * 1024;

/**
 * Reads an OpenAPI document and everything it refers to into one value whose references all lead into itself.
 *
 * It may refer to what lies beside it and nowhere else: see {@link createDocumentReader}.
 *
 * @param place path of a file, or http(s) address, of JSON or YAML.
 * @throws SvcError `invalid_config`, field `document`
 */
export async function readDocument(place: string): Promise<unknown> {
  const { default: SwaggerParser } = await import("@apidevtools/swagger-parser");
  const reader = createDocumentReader(place, MAX_DOCUMENT);
  try {
    const document: unknown = await SwaggerParser.bundle(place, { resolve: reader.resolvers });
    return checkSize(document);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    throw unreadable(reader.problem ?? firstLine(cause), cause);
  }
}

function checkSize(document: unknown): unknown {
  const { length } = JSON.stringify(document) ?? "";
  if (length <= MAX_DOCUMENT) return document;
  throw new SvcError("invalid_config", `The document has ${length} characters; ${MAX_DOCUMENT} are the most.`, {
    field: "document",
  });
}

function firstLine(cause: unknown): string {
  return cause instanceof Error ? (cause.message.split("\n")[0] ?? "") : "";
}

function unreadable(reason: string, cause: unknown): SvcError {
  return new SvcError("invalid_config", `The document cannot be read: ${reason.replace(/\.?\s*$/, ".")}`, {
    field: "document",
    hint: "Name a file or an address of an OpenAPI 3.0 or 3.1 document, in JSON or YAML.",
    cause,
  });
}
