import { SvcError } from "../../shared/errors.ts";

/**
 * Every reason a local file is not sent, with the problem and the next step.
 * The keys are the closed set of refusal codes.
 */
const REFUSALS = {
  not_string: ["is not text", "Give one file reference as a string."],
  empty: ["is empty", "Leave the field out, or give the absolute path of a file in the media folder."],
  too_long: ["is longer than a path can be", "Give the file's own path, at most 4096 bytes."],
  name_too_long: ["has a name longer than 255 bytes", "Rename the file to something shorter."],
  control_char: ["holds a control character", "Remove line breaks and other invisible characters."],
  unsupported_scheme: [
    "uses a kind of address that cannot be attached",
    "Use a path in the media folder, media://inbound/<name>, or a public https URL.",
  ],
  bad_media_ref: ["is not a usable media:// reference", "Write media://inbound/<file name>, without folders."],
  bad_file_url: ["is not a usable file:// URL", "Write file:// followed by an absolute path, with % signs encoded."],
  remote_file_url: ["is a file:// URL of another machine", "Use file:/// and a path on this machine."],
  file_url_query: ["is a file:// URL with a query or fragment", "Remove what follows ? or #, or encode it."],
  encoded_separator: ["is a file:// URL with an encoded slash", "Write the folders with plain slashes."],
  network_path: ["is a network path", "Copy the file into the media folder first."],
  windows_path: ["is a Windows path, and this is not Windows", "Use a path with forward slashes."],
  other_user_home: ["points to another user's home folder", "Copy the file into the media folder first."],
  relative_path: ["is not an absolute path", "Give the absolute path, or media://inbound/<name>."],
  dotdot: ["contains ..", "Write the path without .. parts."],
  hidden_component: ["names a hidden file or folder", "Copy the file under a name that does not start with a dot."],
  denied_name: ["names a file or folder that usually holds secrets", "Files like this are never sent."],
  reserved_name: ["uses a name that Windows reserves", "Rename the file."],
  outside_roots: ["is outside the media folders", "Copy the file into a media folder, or allow its folder as one."],
  not_found: ["was not found", "Check the name; the file may have been moved or removed."],
  symlink: ["goes through a symbolic link", "Copy the file itself into the media folder."],
  hardlink: ["has more than one name (hard links)", "Make a copy of the file and send the copy."],
  is_directory: ["is a folder", "Name one file in it."],
  not_regular: ["is not an ordinary file", "Only ordinary files can be sent."],
  empty_file: ["has no bytes", "Check that the file was written completely."],
  too_large: ["is larger than 25 MiB", "Make it smaller, or give a public https URL instead."],
  total_too_large: ["brings this call above 100 MiB of files", "Send fewer or smaller files in one call."],
  unreadable: ["could not be read", "Check the file's permissions and its disk."],
  unsafe_folder: [
    "lies in a folder that other users can change",
    "Remove write access for other users from the media folder and the folders above it.",
  ],
  changed_while_reading: ["changed while it was being read", "Wait until it is complete and try again."],
  file_changed: ["is not the file that was inspected any more", "Ask again, so that the new content is approved."],
  file_type_mismatch: ["does not contain what its name says", "Give it the ending that fits its content."],
} as const satisfies Record<string, readonly [string, string]>;

/** Why a local file is not sent; closed. */
export type MediaRefusalCode = keyof typeof REFUSALS;

/** One refused file: which argument, why, and what to do next. Holds no path and no byte of the file. */
export interface MediaRefusal {
  readonly code: MediaRefusalCode;
  readonly field: string;
  readonly message: string;
  readonly hint: string;
}

/** Builds the refusal for `field`; `detail` is added in brackets, e.g. `31 MB`. */
export function refuseMedia(code: MediaRefusalCode, field: string, detail?: string): MediaRefusal {
  const [wrong, hint] = REFUSALS[code];
  return { code, field, message: `${field}: the file ${wrong}${detail === undefined ? "" : ` (${detail})`}.`, hint };
}

/** The refusal as an error, for places that cannot return a value (a body that is already being sent). */
export function toMediaError(refusal: MediaRefusal): SvcError {
  return new SvcError(refusal.code === "not_found" ? "file_missing" : "media_refused", refusal.message, {
    serviceCode: refusal.code,
    hint: refusal.hint,
    field: refusal.field,
  });
}
