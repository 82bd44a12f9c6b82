import { refuseValue } from "../../service/service-error.ts";

const INBOX = "INBOX";
const PLAIN = /[\x20-\x25\x27-\x7e]+|&|[^\x20-\x7e]+/g;

/** Modified UTF-7 (RFC 3501, 5.1.3), the spelling Maildir++ servers use on the disk. */
function encode(text: string): string {
  return text.replaceAll(PLAIN, (run) => {
    if (run === "&") return "&-";
    if (/^[\x20-\x7e]/.test(run)) return run;
    const base64 = Buffer.from(run, "utf16le").swap16().toString("base64");
    return `&${base64.replace(/=+$/, "").replaceAll("/", ",")}-`;
  });
}

function decode(text: string): string {
  return text.replaceAll(/&([A-Za-z0-9+,]*)-/g, (_whole, base64: string) => {
    if (base64 === "") return "&";
    const bytes = Buffer.from(base64.replaceAll(",", "/"), "base64");
    return bytes
      .subarray(0, bytes.length - (bytes.length % 2))
      .swap16()
      .toString("utf16le");
  });
}

/** Path components of a mail folder such as `INBOX` or `Work/2026` below the Maildir. Throws ServiceError 400 naming `field`. */
export function toFolderParts(folder: string, field: string): string[] {
  if (folder.toUpperCase() === INBOX) return [];
  const levels = folder.split("/");
  if (folder.length > 200 || levels.some((level) => !/^[^./\\\p{Cc}]+$/u.test(level) || level.trim() === ""))
    throw refuseValue(
      field,
      `is not a folder name: "${folder}".`,
      'Separate levels with "/" and leave out dots, for example "Work/2026".',
    );
  return [`.${levels.map(encode).join(".")}`];
}

/** The name of the folder kept at `diskName`; undefined when that is no mail folder. */
export function fromDiskName(diskName: string): string | undefined {
  if (!/^\.[^.]/.test(diskName)) return undefined;
  return diskName.slice(1).split(".").map(decode).join("/");
}
