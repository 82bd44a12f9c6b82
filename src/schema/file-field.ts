import { getOwn, isRecord, type SchemaDraft } from "./json-schema.ts";

/**
 * True for a schema of a file argument: marked `file_uploadable`, or an object with `name`, `mimetype` and `s3key`.
 */
export function isFileSchema(node: Readonly<Record<string, unknown>>): boolean {
  if (getOwn(node, "file_uploadable") === true) return true;
  const properties = getOwn(node, "properties");
  return isRecord(properties) && ["name", "mimetype", "s3key"].every((key) => Object.hasOwn(properties, key));
}

/**
 * What the model is shown for a file argument: a reference is enough, the plugin finds out name and type.
 * Title and description of the service's own schema are kept.
 */
export function showFileSchema(node: Readonly<Record<string, unknown>>): SchemaDraft {
  const shown: SchemaDraft = { type: "object" };
  for (const keyword of ["title", "description"]) {
    const text = getOwn(node, keyword);
    if (typeof text === "string") shown[keyword] = text;
  }
  shown.properties = {
    s3key: { type: "string", description: "A public HTTPS URL, or the path of a file in the media directory." },
    name: { type: "string", description: "File name. Left out: taken from the file." },
    mimetype: { type: "string", description: "MIME type. Left out: found out from the file." },
  };
  shown.required = ["s3key"];
  return shown;
}
