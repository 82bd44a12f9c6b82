import { isReservedOnWindows } from "../../../shared/base/windows-names.ts";
import type { MediaRefusalCode } from "../media-refusal.ts";
import { foldName, isDeniedName } from "../open/denied-names.ts";
import type { MediaRoot, MediaRoots } from "../open/roots.ts";
import { receivedOriginal } from "./classify-reference.ts";

/** A place below a root, as path components that hold no `..`, no separator and no control character. */
export interface PlaceBelowRoot {
  readonly root: MediaRoot;
  readonly components: readonly string[];
  /** The reference names a workspace copy of this file; see `receivedOriginal`. */
  readonly isOriginal?: true;
}

/** Where a reference may point, in the order to try; or why it is refused. Nothing was looked up on disk. */
type ParsedReference =
  | { readonly ok: true; readonly places: readonly PlaceBelowRoot[] }
  | { readonly ok: false; readonly code: MediaRefusalCode };

type Scope = Pick<MediaRoots, "list" | "home" | "platform">;

/** PATH_MAX and NAME_MAX of Linux; longer ones cannot exist. */
const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;
// Control characters, line separators and the marks that reverse the direction of text.
const INVISIBLE = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
const SCHEME = /^([A-Za-z][A-Za-z0-9+.-]+):/;

/**
 * Reads a file reference: an absolute path, `~/…`, `file://…`, `MEDIA:…`, `media://inbound/<name>`, or
 * `media/inbound/…` relative to a workspace. Purely textual; nothing is normalised before it is checked.
 */
export function parseReference(reference: unknown, scope: Scope): ParsedReference {
  if (typeof reference !== "string") return refuse("not_string");
  if (reference.trim() === "") return refuse("empty");
  if (Buffer.byteLength(reference) > MAX_PATH_BYTES) return refuse("too_long");
  if (!reference.isWellFormed() || INVISIBLE.test(reference)) return refuse("control_char");
  const text = isMarked(reference.trim()) ? reference.trim() : reference;
  // "MEDIA:" in capitals is a mark before another form, unless it is the scheme of a media URL.
  if (!text.startsWith("MEDIA:") || text.startsWith("MEDIA://")) return parseBare(text, scope);
  const inner = unquote(text.slice("MEDIA:".length).trim());
  if (inner === "") return refuse("empty");
  return inner.startsWith("MEDIA:") ? refuse("relative_path") : parseBare(inner, scope);
}

/** Blanks around these forms are never part of a name. */
function isMarked(text: string): boolean {
  return text.startsWith("MEDIA:") || /^(media|file):\/\//i.test(text);
}

function unquote(text: string): string {
  const quote = text[0];
  const quoted = text.length >= 2 && text.at(-1) === quote && (quote === '"' || quote === "'" || quote === "`");
  return quoted ? text.slice(1, -1) : text;
}

function parseBare(text: string, scope: Scope): ParsedReference {
  switch (SCHEME.exec(text)?.[1]?.toLowerCase()) {
    case undefined:
      return parsePath(text, scope);
    case "file":
      return parseFileUrl(text.slice("file:".length), scope);
    case "media":
      return parseMediaRef(text.slice("media:".length), scope);
    default:
      return refuse("unsupported_scheme");
  }
}

/** `file://[localhost]/path` or `file:/path`; decoded once, component by component. */
function parseFileUrl(rest: string, scope: Scope): ParsedReference {
  if (/[?#]/.test(rest)) return refuse("file_url_query");
  if (rest.includes("\\")) return refuse("windows_path");
  let encoded = rest;
  if (rest.startsWith("//")) {
    const slash = rest.indexOf("/", 2);
    const host = rest.slice(2, slash === -1 ? undefined : slash).toLowerCase();
    if (host !== "" && host !== "localhost") return refuse("remote_file_url");
    encoded = slash === -1 ? "" : rest.slice(slash);
  }
  if (/%(2f|5c)/i.test(encoded)) return refuse("encoded_separator");
  const decoded = decode(encoded);
  if (decoded === undefined) return refuse("bad_file_url");
  if (INVISIBLE.test(decoded)) return refuse("control_char");
  const onWindows = scope.platform === "win32" && /^\/[A-Za-z]:\//.test(decoded);
  return parsePath(onWindows ? decoded.slice(1) : decoded, scope);
}

/** `media://inbound/<name>`: the file `inbound/<name>` of a root. */
function parseMediaRef(rest: string, scope: Scope): ParsedReference {
  const [, area, encoded] = /^\/\/([^/]*)\/(.*)$/.exec(rest) ?? [];
  if (area === undefined || encoded === undefined) return refuse("bad_media_ref");
  if (area !== "inbound") return refuse("unsupported_scheme");
  const name = decode(encoded);
  if (!name || /[\\/?#]/.test(encoded) || /[\\/]/.test(name) || INVISIBLE.test(name)) return refuse("bad_media_ref");
  if (name === "." || name === "..") return refuse("bad_media_ref");
  const code = judgeComponents([name], scope);
  if (code !== undefined) return refuse(code);
  const places = scope.list.flatMap((root) => placesInInbound(root, [name], scope));
  return places.length === 0 ? refuse("outside_roots") : { ok: true, places };
}

/** A root for one named file holds nothing else, one with areas nothing outside them. */
function mayReach({ only, areas }: MediaRoot, components: readonly string[], platform: NodeJS.Platform): boolean {
  const fold = platform === "win32" || platform === "darwin" ? foldName : (name: string) => name;
  if (only !== undefined) return components.length === 1 && fold(components[0] ?? "") === fold(only);
  return areas === undefined || areas.some((area) => area === components[0]);
}

/** Files received by the runtime: below `inbound` of a root, or a root of that name itself. */
function placesInInbound(root: MediaRoot, name: readonly string[], { platform }: Scope): PlaceBelowRoot[] {
  const below = { root, components: ["inbound", ...name] };
  const places = /[\\/]inbound$/.test(root.canonical) ? [{ root, components: name }, below] : [below];
  return places.filter(({ components }) => mayReach(root, components, platform));
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

function parsePath(text: string, scope: Scope): ParsedReference {
  if (text.startsWith("~")) {
    const isOwn = text === "~" || text.startsWith("~/") || (scope.platform === "win32" && text.startsWith("~\\"));
    if (!isOwn) return refuse("other_user_home");
    return parsePath(scope.home + text.slice(1), scope);
  }
  const split = splitPath(text, scope.platform);
  if (typeof split === "string") return refuse(split);
  if (split.volume === undefined) return parseRelative(split.components, scope);
  if (split.components.includes("..")) return refuse("dotdot");
  const places = scope.list.flatMap((root) => {
    const components = below(root, text, scope.platform);
    return components === undefined || !mayReach(root, components, scope.platform) ? [] : [{ root, components }];
  });
  const all = places.length > 0 ? places : placesOfOriginal(split.components, false, scope);
  if (all.length === 0) return refuse("outside_roots");
  return split.folder ? refuse("is_directory") : finish(all, scope);
}

/** `media/inbound/x` of a workspace; every other relative path is refused. */
function parseRelative(components: readonly string[], scope: Scope): ParsedReference {
  const places = placesOfOriginal(components, true, scope);
  if (places.length === 0) return refuse("relative_path");
  if (components.includes("..")) return refuse("dotdot");
  return finish(places, scope);
}

function placesOfOriginal(components: readonly string[], isRelative: boolean, scope: Scope): PlaceBelowRoot[] {
  const name = receivedOriginal(components, isRelative);
  if (name === undefined) return [];
  return scope.list.flatMap((root) =>
    placesInInbound(root, name, scope).map((place) => ({ ...place, isOriginal: true })),
  );
}

function finish(places: readonly PlaceBelowRoot[], scope: Scope): ParsedReference {
  if (places.some(({ components }) => components.length === 0)) return refuse("is_directory");
  const codes = places.map((place) => judgeComponents(place.components, scope));
  const allowed = places.filter((_, index) => codes[index] === undefined);
  if (allowed.length > 0) return { ok: true, places: allowed };
  return refuse(codes.find((code) => code !== undefined) ?? "outside_roots");
}

/** Components of `text` below the root, under either spelling of it; undefined when it lies elsewhere. */
function below(root: MediaRoot, text: string, platform: NodeJS.Platform): readonly string[] | undefined {
  const target = splitPath(text, platform);
  if (typeof target === "string") return undefined;
  for (const spelling of [root.configured, root.canonical]) {
    const base = splitPath(spelling, platform);
    if (typeof base === "string" || base.volume !== target.volume) continue;
    if (!startsWith(target.components, base.components, platform)) continue;
    return target.components.slice(base.components.length);
  }
  return undefined;
}

function startsWith(components: readonly string[], prefix: readonly string[], platform: NodeJS.Platform): boolean {
  const fold = (text: string | undefined) => (platform === "win32" ? text?.toLowerCase() : text);
  return prefix.every((part, index) => fold(components[index]) === fold(part));
}

function judgeComponents(components: readonly string[], scope: Scope): MediaRefusalCode | undefined {
  if (components.some((name) => Buffer.byteLength(name) > MAX_NAME_BYTES)) return "name_too_long";
  if (components.some((name) => foldName(name).startsWith("."))) return "hidden_component";
  if (components.some(isDeniedName)) return "denied_name";
  return scope.platform === "win32" && components.some(isReservedOnWindows) ? "reserved_name" : undefined;
}

function refuse(code: MediaRefusalCode): ParsedReference {
  return { ok: false, code };
}

/** A path cut into components; `.` and doubled separators are gone, `..` is kept so that it can be refused. */
interface SplitPath {
  /** `""` for a POSIX absolute path, `c:` for a Windows one, undefined for a relative path. */
  readonly volume: string | undefined;
  readonly components: readonly string[];
  /** The path ends as only a folder's can: in a separator or `/.`. */
  readonly folder: boolean;
}

/** Cuts a path by the rules of `platform`; the code says why a path cannot be judged at all. */
function splitPath(text: string, platform: NodeJS.Platform): SplitPath | "network_path" | "windows_path" {
  if (/^([\\/])\1/.test(text) || /^[\\/]\?\?[\\/]/.test(text)) return "network_path";
  return platform === "win32" ? splitWindows(text) : splitPosix(text);
}

function splitPosix(text: string): SplitPath | "windows_path" {
  if (text.includes("\\") || /^[A-Za-z]:\//.test(text)) return "windows_path";
  return cut(text, text.startsWith("/") ? "" : undefined, "/");
}

function splitWindows(text: string): SplitPath | "network_path" {
  const drive = /^([A-Za-z]:)[\\/]/.exec(text)?.[1];
  if (drive !== undefined) return cut(text.slice(drive.length), drive.toLowerCase(), /[\\/]/);
  // A runtime in a Linux container names its own paths, also to Windows.
  if (/^\/[^\\]*$/.test(text)) return cut(text, "", "/");
  // "\x" depends on the current drive and "C:x" on its current folder.
  if (/^[\\/]/.test(text)) return "network_path";
  return cut(text, undefined, /[\\/]/);
}

function cut(text: string, volume: string | undefined, separator: string | RegExp): SplitPath {
  const parts = text.split(separator);
  const last = parts.at(-1);
  return {
    volume,
    components: parts.filter((part) => part !== "" && part !== "."),
    folder: last === "" || last === ".",
  };
}
