import { refuseValue } from "./folder-error.ts";

const MAX_NAME_BYTES = 255;
const MAX_PATH_BYTES = 2048;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Components of a path below a connection's folder; none for the folder itself. Throws ServiceError 400 naming `field` for
 * absolute paths, `.` and `..`, backslashes, control characters, and names or paths that are too long.
 */
export function parseFolderPath(path: string, field: string): string[] {
  if (CONTROL.test(path)) throw refuseValue(field, "holds a control character.");
  if (path.includes("\\")) throw refuseValue(field, 'holds a backslash; separate folders with "/".');
  if (/^[/~]/.test(path) && path !== "/")
    throw refuseValue(field, "must be relative to the connection's folder.", 'Leave out the leading "/" or "~".');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refuseValue(field, `is longer than ${MAX_PATH_BYTES} bytes.`);
  const parts = path.split("/").filter((part) => part !== "");
  for (const part of parts) {
    if (part === "." || part === "..")
      throw refuseValue(field, `must not contain "${part}".`, "Write the path from the connection's folder on.");
    if (Buffer.byteLength(part) > MAX_NAME_BYTES)
      throw refuseValue(field, `has a name of more than ${MAX_NAME_BYTES} bytes.`);
  }
  return parts;
}

/** As {@link parseFolderPath}, split into the folder and the last name; refuses the connection's folder itself. */
export function parseEntryPath(path: string, field: string): { parents: string[]; name: string } {
  const parents = parseFolderPath(path, field);
  const name = parents.pop();
  if (name === undefined) throw refuseValue(field, "must name something inside the connection's folder.");
  return { parents, name };
}

/** The single path component in `name`, or ServiceError 400. */
export function parseEntryName(name: string, field: string): string {
  const { parents, name: last } = parseEntryPath(name, field);
  if (parents.length > 0) throw refuseValue(field, 'must be a plain name without "/".');
  return last;
}
