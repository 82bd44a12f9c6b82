import { isDeepStrictEqual } from "node:util";
import { applyEdits, modify, type ParseError, parse as parseJsonc } from "jsonc-parser";
import { parse as parseToml, stringify as stringifyToml } from "smol-toml";
import { isRecord } from "../shared/base/json.ts";
import { SvcError } from "../shared/errors.ts";

/** Where a client's file has its servers. */
export interface ServersPlace {
  readonly file: string;
  /** `json` may have comments and trailing commas, as editors allow them. */
  readonly format: "json" | "toml";
  /** Member of the file that holds the servers by name. */
  readonly serversKey: string;
}

/** A server in a client's file. */
export interface ServerEntry {
  readonly serverName: string;
  readonly entry: Readonly<Record<string, unknown>>;
}

/**
 * Puts a server into the text of a configuration file; an empty text is an empty configuration. Everything else stays as
 * it is, comments too. `replaced`: a server of this name was there.
 *
 * @throws SvcError `invalid_config` naming the file when it is damaged, has something else in the servers' place, or
 *   names the server in a way that cannot be replaced.
 */
export function mergeConfig(
  place: ServersPlace,
  text: string,
  server: ServerEntry,
): { readonly text: string; readonly replaced: boolean } {
  const config = readConfig(place, text);
  const servers = readObject(place, config[place.serversKey] ?? {}, `"${place.serversKey}"`);
  const merged = place.format === "json" ? mergeJson(place, text, server) : mergeToml(place, text, server);
  const expected = { ...config, [place.serversKey]: { ...servers, [server.serverName]: server.entry } };
  if (!isDeepStrictEqual(toPlain(readConfig(place, merged)), toPlain(expected))) {
    throw refuse(place, `names "${server.serverName}" in a way that cannot be replaced`);
  }
  return { text: merged, replaced: Object.hasOwn(servers, server.serverName) };
}

/** The server that a file has under `name`; undefined when there is none, also in a damaged file. */
export function findServer(place: ServersPlace, text: string, name: string): unknown {
  try {
    const servers = readConfig(place, text)[place.serversKey];
    return isRecord(servers) ? servers[name] : undefined;
  } catch {
    return undefined;
  }
}

/** The text that a server alone makes, in the language of the file. */
export function showServer({ format, serversKey }: ServersPlace, { serverName, entry }: ServerEntry): string {
  const config = { [serversKey]: { [serverName]: entry } };
  return format === "json" ? JSON.stringify(config, null, 2) : stringifyToml(config).trim();
}

const BYTE_ORDER_MARK = /^\uFEFF/;

function readConfig(place: ServersPlace, text: string): Record<string, unknown> {
  const bare = text.replace(BYTE_ORDER_MARK, "");
  if (bare.trim() === "") return {};
  return readObject(place, place.format === "json" ? readJson(place, bare) : readToml(place, bare), "The file");
}

function readJson(place: ServersPlace, text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parseJsonc(text, errors, { allowTrailingComma: true });
  if (errors.length > 0) throw refuse(place, "is damaged: it is not JSON");
  return value;
}

function readToml(place: ServersPlace, text: string): unknown {
  try {
    return parseToml(text);
  } catch {
    throw refuse(place, "is damaged: it is not TOML");
  }
}

function mergeJson({ serversKey }: ServersPlace, text: string, { serverName, entry }: ServerEntry): string {
  const bare = text.replace(BYTE_ORDER_MARK, "");
  const source = bare.trim() === "" ? "{}" : bare;
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(source)?.[1] ?? "  ";
  const eol = source.includes("\r\n") ? "\r\n" : "\n";
  const edits = modify(source, [serversKey, serverName], entry, {
    formattingOptions: {
      insertSpaces: !indent.includes("\t"),
      tabSize: indent.includes("\t") ? 1 : indent.length,
      eol,
    },
  });
  const merged = applyEdits(source, edits);
  return merged.endsWith("\n") ? merged : `${merged}${eol}`;
}

/** Writes the tables of the server anew, in the place of the first one that was there, or at the end. */
function mergeToml(place: ServersPlace, text: string, { serverName, entry }: ServerEntry): string {
  const isOwn = (line: string) =>
    new RegExp(`^\\s*\\[\\s*${place.serversKey}\\s*\\.\\s*["']?${serverName}["']?\\s*[.\\]]`).test(line);
  const block = showServer(place, { serverName, entry }).split("\n");
  const kept: string[] = [];
  let at: number | undefined;
  let isInside = false;
  for (const line of text.trimEnd().split("\n")) {
    if (/^\s*\[/.test(line)) isInside = isOwn(line);
    if (isInside) at ??= kept.length;
    else kept.push(line);
  }
  if (at === undefined) return [...kept, ...(kept.join("") === "" ? [] : [""]), ...block, ""].join("\n").trimStart();
  const rest = kept.slice(at);
  return [...kept.slice(0, at), ...block, ...(rest.length === 0 ? [] : ["", ...rest]), ""].join("\n");
}

/** Without what tells apart objects of two makers. */
function toPlain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_key, one: unknown) => (typeof one === "bigint" ? String(one) : one)));
}

function readObject(place: ServersPlace, value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw refuse(place, `cannot take a server: ${what} is not an object`);
}

function refuse({ file }: ServersPlace, reason: string): SvcError {
  return new SvcError("invalid_config", `${file} ${reason}. Nothing was changed.`, {
    field: "file",
    hint: "Correct the file, or add the server by hand: the same command with --print shows it.",
  });
}
