import { fileTypeFromBuffer, supportedMimeTypes } from "file-type";
import mime from "mime";

/** The type a file is sent as, or that it must not be sent because its name lies about its content. */
export type MimeVerdict =
  | { readonly ok: true; readonly mimetype: string; readonly note?: string }
  | { readonly ok: false; readonly detail: string };

/** Facts about a file that tell its type. */
export interface MimeEvidence {
  /** The first 64 KiB, or all when the file is shorter. */
  readonly head: Uint8Array;
  /** Type by content; undefined when none is recognised. */
  readonly sniffed: string | undefined;
  /** Name of the file that was opened. */
  readonly name: string;
  /** Name in the caller's arguments. */
  readonly declaredName?: string | undefined;
  /** Type in the caller's arguments. */
  readonly declared?: string | undefined;
}

/** Bytes from the start of a file that decide its type. */
export const SNIFF_BYTES = 64 * 1024;

/** Damaged containers could keep the detection busy. */
const SNIFF_TIMEOUT_MS = 250;
const GENERIC = "application/octet-stream";
const EXECUTABLE = /^application\/(x-elf|x-msdownload|x-mach-binary|x-dosexec|vnd\.microsoft\.portable-executable)$/;
const MEDIA = /^(image|audio|video|font)\/|^application\/(pdf|rtf|msword|vnd\.|epub)/;
const TEXT =
  /^text\/|[/+](json|xml|yaml|x-yaml|javascript|ecmascript|x-sh|sql|toml|x-www-form-urlencoded|rtf|x-subrip|rls-services\+xml)$/;

/** Different spellings of one type; the first is ours. */
const ALIASES: readonly (readonly string[])[] = [
  ["audio/mp4", "audio/x-m4a", "audio/m4a"],
  ["text/vcard", "text/x-vcard", "text/directory"],
  ["audio/wav", "audio/x-wav", "audio/wave", "audio/vnd.wave"],
  ["audio/mpeg", "audio/mp3"],
  ["image/jpeg", "image/jpg", "image/pjpeg"],
  ["application/zip", "application/x-zip-compressed"],
  ["application/gzip", "application/x-gzip"],
  ["application/xml", "text/xml"],
  ["application/javascript", "text/javascript"],
  ["application/yaml", "text/yaml", "application/x-yaml"],
  ["image/x-icon", "image/vnd.microsoft.icon"],
  ["image/bmp", "image/x-ms-bmp"],
  ["audio/flac", "audio/x-flac"],
  ["video/vnd.avi", "video/x-msvideo", "video/avi"],
  ["application/rtf", "text/rtf"],
];

/** Types whose content is a general container, and which more exact types live in it. */
const CONTAINERS: Readonly<Record<string, RegExp>> = {
  "application/zip":
    /^application\/(vnd\.openxmlformats-|vnd\.oasis\.|vnd\.ms-|epub|java-archive|x-java-archive|vnd\.android|vnd\.apple\.|vnd\.google-earth\.kmz|x-xpinstall|zip)|\+zip$/,
  "application/x-cfb": /^application\/(msword|vnd\.ms-|x-msi|vnd\.visio|x-ole-storage)/,
  "application/xml": /[/+]xml$|^application\/(xml-dtd|xslt)/,
  "application/gzip": /^application\/(gzip|x-gtar|x-tgz|x-compressed-tar|x-gzip)|^image\/svg\+xml$/,
};

/**
 * Decides the one MIME type that goes into both the arguments and the envelope. Content beats the ending, the ending
 * beats what the caller declared; a declared type survives whenever it does not contradict the content.
 */
export function decideMimeType(evidence: MimeEvidence): MimeVerdict {
  const { sniffed } = evidence;
  const byName = [evidence.name, evidence.declaredName ?? ""].map(typeOfName).find((type) => type !== undefined);
  const declared = normalise(evidence.declared);
  if (sniffed === undefined) return decideUnknown(evidence, byName, declared);
  if (EXECUTABLE.test(sniffed) && [byName, declared].some((type) => type !== undefined && isMedia(type))) {
    return { ok: false, detail: "it is a program" };
  }
  const family = CONTAINERS[canonical(sniffed)];
  const exact = [byName, declared].find((type) => type !== undefined && family?.test(type) === true);
  return settle(exact ?? sniffed, declared, evidence.declared);
}

/** No signature was found: text, or a format without one. */
function decideUnknown(evidence: MimeEvidence, byName: string | undefined, declared: string | undefined): MimeVerdict {
  const text = looksLikeText(evidence.head);
  if (byName !== undefined && isSniffable(byName) && !hasLateSignature(byName, evidence.head)) {
    // ".ts" names a video to the table and a program text to most people.
    if (text && byName === "video/mp2t") return settle("text/plain", declared, evidence.declared);
    return { ok: false, detail: `its content is not ${byName}` };
  }
  const chosen = declared !== undefined && TEXT.test(declared) && (byName === undefined ? text : TEXT.test(byName));
  if (chosen) return settle(declared, declared, evidence.declared);
  const plausible = declared !== undefined && !isSniffable(declared) && !TEXT.test(declared) ? declared : undefined;
  return settle(byName ?? plausible ?? (text ? "text/plain" : GENERIC), declared, evidence.declared);
}

/** Keeps the caller's spelling when it means the same type, and says so when it does not. */
function settle(type: string, declared: string | undefined, spelled: string | undefined): MimeVerdict {
  if (declared === undefined || declared === GENERIC) return { ok: true, mimetype: type };
  if (canonical(declared) === canonical(type))
    return { ok: true, mimetype: spelled !== undefined && /^[\x20-\x7e]{1,200}$/.test(spelled) ? spelled : declared };
  return { ok: true, mimetype: type, note: `declared ${declared}, sent as ${type}` };
}

/** Undefined also for endings such as `.bin`, which say nothing. */
function typeOfName(name: string): string | undefined {
  const type = mime.getType(name);
  return type === null || type === GENERIC ? undefined : type;
}

function isMedia(type: string): boolean {
  return MEDIA.test(type) && !EXECUTABLE.test(type);
}

/** The type whose signature the first bytes of a file hold; undefined when none is known. */
export async function sniffType(head: Uint8Array): Promise<string | undefined> {
  try {
    const found = await fileTypeFromBuffer(head, { signal: AbortSignal.timeout(SNIFF_TIMEOUT_MS) });
    return normalise(found?.mime);
  } catch {
    return undefined;
  }
}

/** Lower case without parameters; undefined for anything that is not `type/subtype` of at most 127 characters each. */
function normalise(type: string | undefined): string | undefined {
  const bare = type?.split(";")[0]?.trim().toLowerCase();
  return bare !== undefined && /^[a-z0-9!#$&^_.+-]{1,127}\/[a-z0-9!#$&^_.+-]{1,127}$/.test(bare) ? bare : undefined;
}

function canonical(type: string): string {
  return ALIASES.find((group) => group.includes(type))?.[0] ?? type;
}

/** True when file-type would have recognised real content of this type. */
function isSniffable(type: string): boolean {
  if (TEXT.test(type)) return false;
  return (ALIASES.find((group) => group.includes(type)) ?? [type]).some((one) => supportedMimeTypes.has(one));
}

/** Real files whose signature the first 64 KiB do not show: PDF behind stray bytes, MP3 behind a large tag. */
function hasLateSignature(type: string, head: Uint8Array): boolean {
  const start = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, 1024)).toString("latin1");
  return (type === "application/pdf" && start.includes("%PDF-")) || (type === "audio/mpeg" && start.startsWith("ID3"));
}

function looksLikeText(head: Uint8Array): boolean {
  if ((head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff)) return true;
  if (head.includes(0)) return false;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    return false;
  }
}
