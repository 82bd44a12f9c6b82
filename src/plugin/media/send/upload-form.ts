import { randomUUID } from "node:crypto";

/** A form option of an upload command that names the file, and the name of the part it stands in. */
export interface FormOption {
  /** As it stands in the command, from the space before it on. */
  readonly text: string;
  readonly part: string;
}

const OPTION = String.raw`[ \t](?:-F ?|--form[ =])`;
const PART = new RegExp(String.raw`${OPTION}["']?([A-Za-z][\w.-]{0,63})=@`);
/** What curl takes behind the file; the plugin says type and name itself. */
const SUFFIX = String.raw`(?:\\?;(?:type|filename)=[\w.+/-]+)*`;

/** The form option for exactly this file, in any spelling; `quote` gives the spellings of a word in a shell. */
export function findFormOption(
  command: string,
  reference: string,
  quote: (text: string) => string[],
): FormOption | undefined {
  const part = PART.exec(command)?.[1];
  if (part === undefined) return undefined;
  // Curl has quotes of its own, for names with a comma or a semicolon.
  const files = [reference, `"${reference.replaceAll(/["\\]/g, "\\$&")}"`];
  const words = [
    ...files.flatMap((file) => quote(`${part}=@${file}`)),
    ...quote(reference).map((text) => `${part}=@${text}`),
  ];
  for (const word of words) {
    const [head, close] = /^["']/.test(word) ? [word.slice(0, -1), word.slice(-1)] : [word, ""];
    const found = new RegExp(`${OPTION}${escapeSigns(head)}${SUFFIX}${close}(?=\\s|$)`).exec(command);
    if (found !== null) return { text: found[0], part };
  }
  return undefined;
}

const escapeSigns = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

interface FormFile {
  readonly name: string;
  readonly mimetype: string;
  readonly size: number;
}

/** The body of a form with one part, a file. `open` gives the file's bytes. */
export function createFormBody(part: string, file: FormFile, open: () => AsyncIterable<Uint8Array>) {
  const boundary = `svc-${randomUUID()}`;
  // As browsers write it.
  const name = file.name.replaceAll(/["\r\n]/g, (sign) => encodeURIComponent(sign));
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${part}"; filename="${name}"\r\nContent-Type: ${file.mimetype}\r\n\r\n`,
  );
  const end = Buffer.from(`\r\n--${boundary}--\r\n`);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    contentLength: head.length + file.size + end.length,
    async *open() {
      yield head;
      yield* open();
      yield end;
    },
  };
}
