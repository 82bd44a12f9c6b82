import { addressParser } from "postal-mime";
import { refuseValue } from "../../files/folder-error.ts";

const ADDRESS = /^[^\s@<>()[\],;:"\\\p{Cc}]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]{0,251}[\p{L}\p{N}])?$/u;

/** A mail address with the name beside it, which may be empty. */
export interface Mailbox {
  readonly name: string;
  readonly address: string;
}

/** The one mailbox in `text` (`a@b.org` or `Name <a@b.org>`); undefined when it is not exactly one, or has control characters. */
export function parseAddress(text: string): Mailbox | undefined {
  if (/\p{Cc}/u.test(text)) return undefined;
  const found = addressParser(text);
  const [one] = found;
  if (found.length !== 1 || one?.address === undefined || !ADDRESS.test(one.address)) return undefined;
  return { name: one.name, address: one.address };
}

/** Parses every entry of a list argument. Throws ServiceError 400 naming the entry, e.g. `arguments.to[1]`. */
export function parseAddresses(list: readonly string[], field: string): Mailbox[] {
  return list.map((text, index) => {
    const mailbox = parseAddress(text);
    if (mailbox === undefined)
      throw refuseValue(
        `${field}[${index}]`,
        "is not one mail address.",
        'Write "name@example.org" or "Name <name@example.org>".',
      );
    return mailbox;
  });
}
