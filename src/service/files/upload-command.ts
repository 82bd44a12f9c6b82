/** Quotes one shell word so that every POSIX shell, and a careful reader, gets exactly `text`. */
function quote(text: string): string {
  // Inside double quotes these keep a meaning; "!" only in interactive shells, which is where the line is pasted.
  return /["$`\\!]/.test(text) ? `'${text.replaceAll("'", "'\\''")}'` : `"${text}"`;
}

/** True when curl can be told to read `reference`: no control characters, not standard input. */
export function canNameInCommand(reference: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
  return reference !== "" && reference !== "-" && !/[\u0000-\u001f\u007f]/.test(reference);
}

/** The ready-to-run line of a `missing_file_bytes` hint ("File rules" 8): one command, one file, one token. */
export function writeUploadCommand(upload: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly reference: string;
}): string {
  const headers = Object.entries(upload.headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`);
  return ["curl -sS -X POST", quote(upload.url), ...headers, `--data-binary ${quote(`@${upload.reference}`)}`].join(
    " ",
  );
}
