import mime from "mime";

/** Kinds of file reference: a file of this machine, a web address, or a storage key of the service. */
export type ReferenceKind = "local" | "url" | "storage_key";

/**
 * Sorts a reference by its text alone. Text that could mean this machine, or has no usable form (`data:`), is
 * `local`: the media checks refuse it with a reason, instead of its being sent on.
 */
export function classifyReference(reference: string): ReferenceKind {
  const text = reference.trim();
  if (/^https?:\/\//i.test(text)) return "url";
  if (text === "" || looksLocal(text)) return "local";
  if (/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) return "local";
  return isBareFileName(text) ? "local" : "storage_key";
}

const LOCAL_START = /^\s*(\/|~|\\|\.|[A-Za-z]:[\\/]|MEDIA:|media\/inbound\/)/;
const LOCAL_SCHEME = /^\s*(file:|media:\/\/)/i;

/** True for text that can only be meant as a file of this machine; required outside marked fields. */
export function looksLocal(text: string): boolean {
  return LOCAL_START.test(text) || LOCAL_SCHEME.test(text) || text.includes("\\");
}

/** `photo.jpg`: a key of the service has no ending that names a file type unless it has folders too. */
function isBareFileName(reference: string): boolean {
  return !reference.includes("/") && mime.getType(reference) !== null && reference.includes(".");
}

/** Drops the `MEDIA:` mark in front of a web address. */
export function unmarkUrl(reference: string): string {
  const inner = /^MEDIA:\s*["'`]?(https?:\/\/[^"'`\s]+)["'`]?\s*$/i.exec(reference)?.[1];
  return inner !== undefined && reference.startsWith("MEDIA:") ? inner : reference;
}

/** Last component of a path, URL or key, fit to be a file name; undefined when there is none. */
export function nameOfReference(reference: string): string | undefined {
  const isUrl = /^[A-Za-z][A-Za-z0-9+.-]+:\/\//.test(reference);
  const path = isUrl
    ? reference.replace(/[?#].*$/s, "").replace(/^[^:]+:\/\/[^/]*/, "")
    : reference.replace(/["'`]\s*$/, "");
  const last = path.split(/[\\/]/).findLast((part) => part.trim() !== "");
  const name = last === undefined ? undefined : cleanFileName(isUrl ? decodeOrKeep(last) : last);
  return name === undefined || /^https?:/i.test(reference) ? name : dropReceivedId(name);
}

function decodeOrKeep(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const MAX_NAME = 255;

/** Makes one line without folders or invisible characters, at most 255 characters; undefined when nothing is left. */
export function cleanFileName(name: string): string | undefined {
  const last = name.split(/[\\/]/).findLast((part) => part.trim() !== "");
  const clean = last
    ?.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, "")
    .trim()
    .toWellFormed();
  if (clean === undefined || clean === "" || clean === "." || clean === "..") return undefined;
  // A character of two code units is not cut in half.
  return clean.slice(0, MAX_NAME).replace(/[\ud800-\udbff]$/, "");
}

const STAGED_FOLDER = /^openclaw-staged-[0-9a-f-]{36,64}$/;
const STAGED_PREFIX = "input-";
const RECEIVED_ID = /^(?!\.+---)(.+)---[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(\.[^.]*)?$/i;

/**
 * For a path that names the copy a runtime made of an attachment in an agent's workspace: the attachment's own path
 * below the inbound folder of the media root, as components. An agent may change the copy; the human sent the
 * original file.
 *
 * Known forms: `media/inbound/<path>` relative to the workspace, and
 * `<anything>/media/inbound/openclaw-staged-<id>/input-<name>`. Undefined for every other path.
 */
export function receivedOriginal(components: readonly string[], isRelative: boolean): readonly string[] | undefined {
  const staged = stagedName(components);
  if (staged !== undefined) return [staged];
  const [media, inbound, ...rest] = components;
  return isRelative && media === "media" && inbound === "inbound" && rest.length > 0 ? rest : undefined;
}

function stagedName(components: readonly string[]): string | undefined {
  const [media, inbound, folder, name] = components.slice(-4);
  if (media !== "media" || inbound !== "inbound" || folder === undefined || !STAGED_FOLDER.test(folder))
    return undefined;
  return name?.startsWith(STAGED_PREFIX) === true ? name.slice(STAGED_PREFIX.length) || undefined : undefined;
}

/** `invoice---<uuid>.pdf`, as a runtime stores attachments, without its id: `invoice.pdf`. Never dots alone. */
export function dropReceivedId(name: string): string {
  const [, base, ending = ""] = RECEIVED_ID.exec(name) ?? [];
  return base === undefined ? name : `${base}${ending}`;
}
